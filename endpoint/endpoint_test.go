package endpoint_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/simnet"
)

// side is a device with a queue pair and memory.
type side struct {
	t      testing.TB
	dev    *endpoint.Device
	pd     *endpoint.PD
	cq     *endpoint.CQ
	qp     *endpoint.QP
	mem    []byte
	region *endpoint.Region
}

const allAccess = endpoint.LocalWrite | endpoint.RemoteWrite | endpoint.RemoteRead | endpoint.RemoteAtomic |
	endpoint.BindWindow | endpoint.FlushGlobal

func prefixes(list ...string) (all []netip.Prefix) {
	for _, p := range list {
		all = append(all, netip.MustParsePrefix(p))
	}
	return all
}

func openDevice(t testing.TB, o endpoint.Options) *endpoint.Device {
	t.Helper()
	dev, err := endpoint.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

func newSide(t testing.TB, dev *endpoint.Device, typ endpoint.Type, size int) *side {
	t.Helper()
	s := &side{t: t, dev: dev, pd: dev.AllocPD(), cq: dev.CreateCQ(1024), mem: make([]byte, size)}
	var err error
	if s.region, err = s.pd.RegisterMemory(s.mem, allAccess); err != nil {
		t.Fatal(err)
	}
	s.qp, err = dev.CreateQP(endpoint.QPOptions{Type: typ, PD: s.pd, SendCQ: s.cq, RecvCQ: s.cq, SignalAll: true, MaxInline: 64})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// options make the two ends of a cable in memory.
func options(mtu int) (left, right endpoint.Options) {
	a, b := simnet.Pair(mtu)
	return endpoint.Options{Link: a, Seed: 1, Addresses: prefixes("10.0.0.1/24", "fd00::1/64")},
		endpoint.Options{Link: b, Seed: 2, Addresses: prefixes("10.0.0.2/24", "fd00::2/64")}
}

func within(t testing.TB) context.Context { return withinTime(t, 10*time.Second) }

func withinTime(t testing.TB, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

// sides makes two sides whose queue pairs are not connected.
func sides(t testing.TB, typ endpoint.Type, left, right endpoint.Options, size int) (a, b *side) {
	t.Helper()
	return newSide(t, openDevice(t, left), typ, size), newSide(t, openDevice(t, right), typ, size)
}

// connected makes two sides with connected queue pairs.
func connected(t testing.TB, typ endpoint.Type, left, right endpoint.Options, gid, size int) (a, b *side) {
	t.Helper()
	a, b = sides(t, typ, left, right, size)
	join(t, a, b, gid)
	return a, b
}

func join(t testing.TB, a, b *side, gid int) {
	t.Helper()
	if err := a.qp.Connect(within(t), b.qp.LocalFor(gid)); err != nil {
		t.Fatal(err)
	}
	if err := b.qp.Connect(within(t), a.qp.LocalFor(gid)); err != nil {
		t.Fatal(err)
	}
}

func (s *side) send(wr endpoint.WorkRequest) {
	s.t.Helper()
	if err := s.qp.PostSend(wr); err != nil {
		s.t.Fatal(err)
	}
}

func (s *side) recv(wr endpoint.RecvRequest) {
	s.t.Helper()
	if err := s.qp.PostRecv(wr); err != nil {
		s.t.Fatal(err)
	}
}

// want waits for a completion with a status.
func (s *side) want(id uint64, status endpoint.Status) endpoint.Completion {
	s.t.Helper()
	c, err := s.cq.Next(within(s.t))
	if err != nil {
		s.t.Fatalf("no completion: %v; %+v", err, s.dev.Stats())
	}
	if c.ID != id || c.Status != status {
		s.t.Fatalf("completion %d %v, want %d %v", c.ID, c.Status, id, status)
	}
	return c
}

func random(b []byte, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
}

func TestRCSendReachesTheReceiversMemory(t *testing.T) {
	for name, gid := range map[string]int{"IPv4": 0, "IPv6": 1} {
		t.Run(name, func(t *testing.T) {
			left, right := options(1500)
			a, b := connected(t, endpoint.RC, left, right, gid, 1<<16)
			random(a.mem, 1)
			b.recv(endpoint.RecvRequest{ID: 7, SGL: b.region.SGL(0, len(b.mem))})
			a.send(endpoint.WorkRequest{ID: 8, Op: endpoint.Send, SGL: a.region.SGL(0, 50000)})
			a.want(8, endpoint.Success)
			if c := b.want(7, endpoint.Success); c.Bytes != 50000 || !bytes.Equal(b.mem[:50000], a.mem[:50000]) {
				t.Errorf("%d bytes, or the wrong ones", c.Bytes)
			}
		})
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
