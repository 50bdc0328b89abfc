package endpoint_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/wire"
)

// remoteTo is a work request on all of the other side's memory from offset on.
func remoteTo(b *side, op endpoint.Op, sgl []endpoint.SGE, offset int) endpoint.WorkRequest {
	return endpoint.WorkRequest{ID: 1, Op: op, SGL: sgl, RemoteAddr: b.region.VA() + uint64(offset), RKey: b.region.RKey()}
}

func TestRCWriteAndReadMoveMemory(t *testing.T) {
	left, right := options(4500)
	a, b := connected(t, endpoint.RC, left, right, 0, 1<<20)
	random(a.mem, 1)
	const n = 300_001
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, n), 5))
	a.want(1, endpoint.Success)
	a.send(remoteTo(b, endpoint.Read, a.region.SGL(n, n), 5))
	a.want(1, endpoint.Success)
	if !bytes.Equal(a.mem[n:2*n], a.mem[:n]) {
		t.Error("what was read is not what was written")
	}
}

func TestRCAtomicsChangeMemoryOnce(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.RC, left, right, 1, 64)
	binary.NativeEndian.PutUint64(b.mem[8:], 40)
	add := remoteTo(b, endpoint.FetchAdd, a.region.SGL(0, 8), 8)
	add.SwapAdd = 2
	a.send(add)
	a.want(1, endpoint.Success)
	swap := remoteTo(b, endpoint.CompareSwap, a.region.SGL(8, 8), 8)
	swap.Compare, swap.SwapAdd = 42, 7
	a.send(swap)
	a.want(1, endpoint.Success)
	final := remoteTo(b, endpoint.Read, a.region.SGL(16, 8), 8)
	a.send(final)
	a.want(1, endpoint.Success)
	for i, want := range []uint64{40, 42, 7} {
		if got := binary.NativeEndian.Uint64(a.mem[8*i:]); got != want {
			t.Errorf("value %d is %d, want %d", i, got, want)
		}
	}
}

func TestImmediateDataCompletesAtTheReceiver(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	b.recv(endpoint.RecvRequest{ID: 9})
	wr := remoteTo(b, endpoint.WriteImmediate, a.region.SGL(0, 100), 0)
	wr.Immediate = 0xCAFE
	a.send(wr)
	a.want(1, endpoint.Success)
	if c := b.want(9, endpoint.Success); !c.HasImmediate || c.Immediate != 0xCAFE || c.Op != endpoint.ReceiveWrite {
		t.Errorf("%+v", c)
	}
}

func TestAWrongKeyEndsInErrorOnBothSides(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	wr := remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0)
	wr.RKey ^= 0x100
	a.send(wr)
	a.want(1, endpoint.RemoteAccessError)
	for _, s := range []*side{a, b} {
		if e := <-s.dev.Events(); e.Kind != endpoint.AsyncQPFatal || e.QPN != s.qp.QPN() {
			t.Errorf("event %v of QP %#x", e.Kind, e.QPN)
		}
	}
	if a.qp.State() != endpoint.Error {
		t.Errorf("state %v", a.qp.State())
	}
}

func TestUCSendArrives(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.UC, left, right, 0, 1<<16)
	random(a.mem, 3)
	b.recv(endpoint.RecvRequest{ID: 7, SGL: b.region.SGL(0, len(b.mem))})
	a.send(endpoint.WorkRequest{ID: 8, Op: endpoint.Send, SGL: a.region.SGL(0, 10000)})
	a.want(8, endpoint.Success)
	b.want(7, endpoint.Success)
	if !bytes.Equal(a.mem[:10000], b.mem[:10000]) {
		t.Error("other bytes")
	}
}

// The receiver finds the address of the sender before the data, where IPv4's
// header is the last 20 of 40 bytes, and can answer to it.
func TestUDDatagramsNameTheirSender(t *testing.T) {
	for gid, name := range []string{"IPv4", "IPv6"} {
		t.Run(name, func(t *testing.T) {
			left, right := options(1500)
			a, b := connected(t, endpoint.UD, left, right, 0, 4096)
			ah, err := a.dev.CreateAH(within(t), endpoint.Address{DGID: b.dev.GID(gid)})
			if err != nil {
				t.Fatal(err)
			}
			random(a.mem, 4)
			b.recv(endpoint.RecvRequest{ID: 7, SGL: b.region.SGL(0, 2000)})
			a.send(endpoint.WorkRequest{
				ID: 8, Op: endpoint.Send, SGL: a.region.SGL(0, 1000),
				To: ah, DestQP: b.qp.QPN(), QKey: endpoint.DefaultQKey,
			})
			a.want(8, endpoint.Success)
			c := b.want(7, endpoint.Success)
			if c.Bytes != 1040 || c.SrcQP != a.qp.QPN() || !c.HasGRH || !bytes.Equal(b.mem[40:1040], a.mem[:1000]) {
				t.Errorf("%+v", c)
			}
			from, at := a.dev.GID(gid).AsSlice(), 8
			if gid == 0 {
				at = 32
			}
			if !bytes.Equal(b.mem[at:at+len(from)], from) {
				t.Errorf("header %x does not have %x", b.mem[:40], from)
			}
		})
	}
}

func TestASharedReceiveQueueServesSeveralQueuePairs(t *testing.T) {
	left, right := options(1500)
	a, b := sides(t, endpoint.RC, left, right, 4096)
	srq, err := b.dev.CreateSRQ(endpoint.SRQOptions{PD: b.pd, Limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		if err := srq.PostRecv(endpoint.RecvRequest{ID: uint64(i), SGL: b.region.SGL(0, 100)}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 3 {
		one, other := *a, *b
		if one.qp, err = a.dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: a.pd, SendCQ: a.cq, RecvCQ: a.cq, SignalAll: true}); err != nil {
			t.Fatal(err)
		}
		if other.qp, err = b.dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: b.pd, SendCQ: b.cq, RecvCQ: b.cq, SRQ: srq}); err != nil {
			t.Fatal(err)
		}
		join(t, &one, &other, 0)
		one.send(endpoint.WorkRequest{ID: 5, Op: endpoint.Send, SGL: a.region.SGL(0, 50)})
		one.want(5, endpoint.Success)
		other.want(uint64(i), endpoint.Success)
	}
	for e := range b.dev.Events() {
		if e.Kind == endpoint.AsyncSRQLimit {
			break
		}
	}
	if err := srq.Destroy(); err == nil {
		t.Error("destroyed while queue pairs use it")
	}
}

// One frame in twenty is lost, in either direction, and one in fifty damaged.
func TestRCSurvivesLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := options(1500)
		for i, o := range []*endpoint.Options{&left, &right} {
			chance := rand.New(rand.NewPCG(uint64(i), 7))
			o.BeforeSend = func(frame []byte) endpoint.Verdict {
				switch chance.IntN(100) {
				case 0, 1, 2, 3, 4:
					return endpoint.Drop
				case 5, 6:
					frame[len(frame)-1-chance.IntN(40)] ^= 0x10
				}
				return endpoint.Pass
			}
		}
		a, b := connected(t, endpoint.RC, left, right, 0, 1<<19)
		random(a.mem, 1)
		half := len(a.mem) / 2
		a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, half), 0))
		a.want(1, endpoint.Success)
		a.send(remoteTo(b, endpoint.Read, a.region.SGL(half, half), 0))
		a.want(1, endpoint.Success)
		if !bytes.Equal(a.mem[:half], a.mem[half:]) {
			t.Error("other bytes")
		}
		if s := b.dev.Stats(); s.BadICRC == 0 {
			t.Errorf("nothing was damaged: %+v", s)
		}
		_ = a.dev.Close()
		_ = b.dev.Close()
	})
}

// A peer that is gone is noticed after the retries, in virtual time.
func TestRetriesEndWithoutAPeer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := options(1500)
		a, b := connected(t, endpoint.RC, left, right, 0, 4096)
		if err := b.qp.Destroy(); err != nil {
			t.Fatal(err)
		}
		a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0))
		a.want(1, endpoint.RetryExceeded)
		if s := b.dev.Stats(); s.UnknownQP != 8 {
			t.Errorf("%d packets came, want the first and 7 retries", s.UnknownQP)
		}
		_ = a.dev.Close()
		_ = b.dev.Close()
	})
}

func TestACompletionQueueWithoutRoomIsBroken(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	small := a.dev.CreateCQ(1)
	var err error
	a.qp, err = a.dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: a.pd, SendCQ: small, SignalAll: true})
	if err != nil {
		t.Fatal(err)
	}
	if b.qp, err = b.dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: b.pd, SendCQ: b.cq, RecvCQ: b.cq}); err != nil {
		t.Fatal(err)
	}
	join(t, a, b, 0)
	for range 2 {
		a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0))
	}
	for e := range a.dev.Events() {
		if e.Kind == endpoint.AsyncCQError {
			break
		}
	}
	if _, err := small.Next(within(t)); err != nil {
		t.Errorf("the first completion: %v", err)
	}
	if _, err := small.Next(within(t)); !errors.Is(err, endpoint.ErrCQOverrun) {
		t.Errorf("then: %v", err)
	}
	if s := a.qp.State(); s != endpoint.Error {
		t.Errorf("the queue pair that has lost a completion is in %v", s)
	}
}

func TestDestroyedObjectsSayNo(t *testing.T) {
	left, right := options(1500)
	a, _ := connected(t, endpoint.RC, left, right, 0, 4096)
	if err := a.pd.Dealloc(); err == nil {
		t.Error("the protection domain ended while in use")
	}
	if err := a.qp.Destroy(); err != nil {
		t.Fatal(err)
	}
	if err := a.qp.PostSend(endpoint.WorkRequest{Op: endpoint.Send}); err == nil {
		t.Error("a destroyed queue pair took a work request")
	}
	if err := a.region.Deregister(); err != nil {
		t.Error(err)
	}
	if err := a.pd.Dealloc(); err != nil {
		t.Error(err)
	}
}

// Queue pairs of the same device, which no link joins.
func TestADeviceTalksToItself(t *testing.T) {
	left, _ := options(1500)
	dev := openDevice(t, left)
	a, b := newSide(t, dev, endpoint.RC, 1<<17), newSide(t, dev, endpoint.RC, 1<<17)
	join(t, a, b, 1)
	random(a.mem, 9)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, len(a.mem)), 0))
	a.want(1, endpoint.Success)
	b.recv(endpoint.RecvRequest{ID: 2})
	a.send(endpoint.WorkRequest{ID: 3, Op: endpoint.Send})
	b.want(2, endpoint.Success)
	if !bytes.Equal(a.mem, b.mem) {
		t.Error("other bytes")
	}
}

// Many queue pairs send themselves more than the device keeps, and no packet is
// lost: no time passes.
func TestADeviceTalksToItselfWithoutLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, _ := options(1500)
		dev := openDevice(t, left)
		begin := time.Now()
		sides := make([]*side, 32)
		for i := range sides {
			sides[i] = newSide(t, dev, endpoint.RC, 1<<16)
			if err := sides[i].qp.Connect(t.Context(), sides[i].qp.Local()); err != nil {
				t.Fatal(err)
			}
		}
		for _, s := range sides {
			s.send(remoteTo(s, endpoint.Write, s.region.SGL(0, 1<<16), 0))
		}
		for _, s := range sides {
			if c, err := s.cq.Next(t.Context()); err != nil || c.Status != endpoint.Success {
				t.Fatalf("%v, %v", c.Status, err)
			}
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("it took %v", took)
		}
		_ = dev.Close()
	})
}

func TestXRCPutsMessagesIntoTheSharedQueueThatTheyName(t *testing.T) {
	left, right := options(1500)
	a, b := sides(t, endpoint.RC, left, right, 4096)
	var err error
	if a.qp, err = a.dev.CreateQP(endpoint.QPOptions{Type: endpoint.XRCSend, PD: a.pd, SendCQ: a.cq, SignalAll: true}); err != nil {
		t.Fatal(err)
	}
	if b.qp, err = b.dev.CreateQP(endpoint.QPOptions{Type: endpoint.XRCRecv, PD: b.pd, RecvCQ: b.cq}); err != nil {
		t.Fatal(err)
	}
	join(t, a, b, 0)
	random(a.mem, 6)
	for i := range uint64(3) {
		srq, err := b.dev.CreateSRQ(endpoint.SRQOptions{PD: b.pd})
		if err != nil {
			t.Fatal(err)
		}
		if err := srq.PostRecv(endpoint.RecvRequest{ID: 10 + i, SGL: b.region.SGL(0, 4096)}); err != nil {
			t.Fatal(err)
		}
		a.send(endpoint.WorkRequest{ID: 1, Op: endpoint.Send, SGL: a.region.SGL(0, 3000), SRQ: srq.Number()})
		a.want(1, endpoint.Success)
		b.want(10+i, endpoint.Success)
	}
	if !bytes.Equal(a.mem[:3000], b.mem[:3000]) {
		t.Error("other bytes")
	}
}

func TestAnUnknownOperationIsAnInvalidRequest(t *testing.T) {
	left, right := options(1500)
	left.Policy.Mutate = func(p wire.Packet) int {
		p.BTH().SetOpcode(wire.BaseRC | 0x1F)
		return len(p)
	}
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	b.recv(endpoint.RecvRequest{ID: 2, SGL: b.region.SGL(0, 100)})
	a.send(endpoint.WorkRequest{ID: 1, Op: endpoint.Send, SGL: a.region.SGL(0, 8)})
	a.want(1, endpoint.RemoteInvalidRequest)
}
