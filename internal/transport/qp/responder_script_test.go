package qp

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// responderTest is a script for a responder: packets go in by name, and what
// comes out is asked for. PSNs are relative to the first, which is near the wrap.
type responderTest struct {
	*testing.T
	q      *QP
	now    time.Time
	start  wire.PSN
	table  *mr.Table
	pd     mr.PD
	remote *guarded // what peers reach, at remoteVA
	local  *guarded // receive buffers, at localVA
	events []Event
}

const (
	testMTU  = 256
	remoteVA = 0x10000
	localVA  = 0x7000000
	everyone = mr.LocalWrite | mr.RemoteWrite | mr.RemoteRead | mr.RemoteAtomic | mr.FlushGlobal
)

// guarded is a region with bytes around it that nobody may change.
type guarded struct {
	*mr.Region
	all, mem []byte
}

const guardLen = 64

func newGuarded(t testing.TB, table *mr.Table, pd mr.PD, n int, va uint64, access mr.Access) *guarded {
	all := bytes.Repeat([]byte{0xA5}, n+2*guardLen)
	g := &guarded{all: all, mem: all[guardLen : guardLen+n]}
	clear(g.mem)
	var err error
	if g.Region, err = table.Register(pd, g.mem, va, access); err != nil {
		t.Fatal(err)
	}
	return g
}

// check fails if a guard byte has changed.
func (g *guarded) check(t testing.TB) {
	t.Helper()
	guard := bytes.Repeat([]byte{0xA5}, guardLen)
	if !bytes.Equal(g.all[:guardLen], guard) || !bytes.Equal(g.all[guardLen+len(g.mem):], guard) {
		t.Error("bytes outside a region have changed")
	}
}

type setup struct {
	Config
	Attributes
}

func newResponderTest(t *testing.T, change func(s *setup)) *responderTest {
	t.Helper()
	rt := &responderTest{T: t, now: time.Unix(1000, 0)}
	rt.table = mr.NewTable(1)
	rt.pd = rt.table.AllocPD()
	rt.remote = newGuarded(t, rt.table, rt.pd, 8192, remoteVA, everyone)
	rt.local = newGuarded(t, rt.table, rt.pd, 8192, localVA, mr.LocalWrite)
	s := setup{
		Config: Config{Number: 0x11, Type: RC, PD: rt.pd, Memory: rt.table, MaxSend: 4, MaxRecv: 8, MaxSGE: 3},
		Attributes: Attributes{
			PKey: 0x8001, Access: everyone &^ mr.LocalWrite, QKey: 0x1234, DestQP: 0x22, PathMTU: testMTU, RQPSN: 0xFFFFFE,
			MaxDestRdAtomic: 2, MinRNRTimer: 12, Address: &Address{},
		},
	}
	if change != nil {
		change(&s)
	}
	if s.Type == XRCRecv {
		s.MaxSend = 0
	}
	s.Trace = func(e Event) { rt.events = append(rt.events, e) }
	var err error
	if rt.q, err = New(s.Config); err != nil {
		t.Fatal(err)
	}
	for _, to := range []State{Init, RTR} {
		if err := rt.q.Modify(rt.now, to, s.Attributes); err != nil {
			t.Fatal(err)
		}
	}
	rt.start = s.RQPSN
	rt.events = nil
	t.Cleanup(func() {
		rt.remote.check(t)
		rt.local.check(t)
	})
	return rt
}

// step says what the script does next.
func (rt *responderTest) step(format string, args ...any) {
	rt.Helper()
	rt.Logf("# "+format, args...)
}

// msg is a packet; what is not given is a valid default.
type msg struct {
	op      uint8
	psn     int // relative
	payload []byte
	ack     bool
	se      bool
	fecn    bool

	va     uint64 // offset in the remote region
	rkey   uint32 // 0: the remote region's
	size   int    // of the RETH; 0: the payload's
	imm    uint32
	inv    uint32
	swap   uint64
	cmp    uint64
	sel    uint8
	plt    uint8
	srqn   uint32
	qkey   uint32
	change func(p wire.Packet) wire.Packet
}

func (rt *responderTest) packet(m msg) wire.Packet {
	opcode := rt.q.Type().Base() | wire.Opcode(m.op)
	info := opcode.Info()
	pad := -len(m.payload) & 3
	p := make(wire.Packet, info.HeaderLen()+len(m.payload)+pad)
	h := wire.BTH(p)
	h.SetOpcode(opcode)
	h.SetPadCount(pad)
	h.SetPSN(rt.at(m.psn))
	h.SetAckReq(m.ack)
	h.SetSolicited(m.se)
	h.SetFECN(m.fecn)
	h.SetPKey(0xFFFF)
	rkey := m.rkey
	if rkey == 0 {
		rkey = rt.remote.RKey()
	}
	if m.size == 0 {
		m.size = len(m.payload)
	}
	for _, id := range info.Extended() {
		v := p.View(id)
		switch id {
		case wire.HdrRETH:
			h := wire.RETH(v)
			h.SetVA(remoteVA + m.va)
			h.SetRKey(rkey)
			h.SetDMALen(uint32(m.size))
		case wire.HdrAtomicETH:
			h := wire.AtomicETH(v)
			h.SetVA(remoteVA + m.va)
			h.SetRKey(rkey)
			h.SetSwapAdd(m.swap)
			h.SetCompare(m.cmp)
		case wire.HdrImmDt:
			wire.ImmDt(v).SetData(m.imm)
		case wire.HdrIETH:
			wire.IETH(v).SetRKey(m.inv)
		case wire.HdrFETH:
			wire.FETH(v).SetPlacement(m.plt)
			wire.FETH(v).SetSelectivity(m.sel)
		case wire.HdrXRCETH:
			wire.XRCETH(v).SetSRQN(m.srqn)
		case wire.HdrDETH:
			wire.DETH(v).SetQKey(m.qkey)
			wire.DETH(v).SetSrcQP(0x33)
		}
	}
	copy(p[info.HeaderLen():], m.payload)
	if m.change != nil {
		return m.change(p)
	}
	return p
}

func (rt *responderTest) at(psn int) wire.PSN { return rt.start.Add(psn) }

// get is the arrival of a packet.
func (rt *responderTest) get(m msg) {
	rt.Helper()
	rt.now = rt.now.Add(time.Microsecond)
	rt.Logf("< %v PSN+%d, %d bytes", rt.q.Type().Base()|wire.Opcode(m.op), m.psn, len(m.payload))
	rt.q.Receive(rt.now, Inbound{Packet: rt.packet(m)})
}

// post posts a receive request of n bytes at an offset of the local region.
func (rt *responderTest) post(id uint64, offset, n int) {
	rt.Helper()
	if err := rt.q.PostRecv(rt.now, rt.recvRequest(id, offset, n)); err != nil {
		rt.Fatal(err)
	}
}

func (rt *responderTest) recvRequest(id uint64, offset, n int) RecvRequest {
	return RecvRequest{ID: id, SGL: []SGE{{Addr: localVA + uint64(offset), Length: uint32(n), LKey: rt.local.LKey()}}}
}

// emit is the next packet that goes out, nil if there is none.
func (rt *responderTest) emit() wire.Packet {
	rt.Helper()
	buf := bytes.Repeat([]byte{0xEE}, 64+testMTU)
	n, to := rt.q.Emit(rt.now, buf)
	if n == 0 {
		return nil
	}
	p := wire.Packet(buf[:n])
	if !p.Valid() || to != rt.q.attr.Address {
		rt.Fatalf("sent %x to %v", buf[:n], to)
	}
	rt.Logf("> %v PSN+%d, %d bytes", p.Opcode(), p.PSN().Diff(rt.start), len(p.Payload()))
	return p
}

// next is the next packet, which has to be of the operation and PSN.
func (rt *responderTest) next(op uint8, psn int) wire.Packet {
	rt.Helper()
	p := rt.emit()
	if p == nil {
		rt.Fatalf("silence, want operation %#02x of PSN+%d", op, psn)
	}
	if p.Opcode() != rt.q.Type().Base()|wire.Opcode(op) || p.PSN() != rt.at(psn) {
		rt.Fatalf("%v of PSN+%d, want operation %#02x of PSN+%d", p.Opcode(), p.PSN().Diff(rt.start), op, psn)
	}
	if h := p.BTH(); h.DestQP() != 0x22 || h.PKey() != 0x8001 && !rt.q.cfg.Policy.DefaultPKey {
		rt.Errorf("to QP %#x with P_Key %#x", h.DestQP(), h.PKey())
	}
	return p
}

func (rt *responderTest) wantSilence() {
	rt.Helper()
	if p := rt.emit(); p != nil {
		rt.Fatalf("%v of PSN+%d, want silence", p.Opcode(), p.PSN().Diff(rt.start))
	}
}

func (rt *responderTest) wantAETH(p wire.Packet, s wire.Syndrome, msn uint32) {
	rt.Helper()
	h := wire.AETH(p.View(wire.HdrAETH))
	if h.Syndrome() != s || h.MSN() != msn {
		rt.Fatalf("syndrome %#02x and MSN %d, want %#02x and %d", h.Syndrome(), h.MSN(), s, msn)
	}
}

const unlimited = wire.CreditsInvalid

func (rt *responderTest) wantAck(psn int, msn uint32) {
	rt.Helper()
	rt.wantAETH(rt.next(wire.OpAcknowledge, psn), wire.NewSyndrome(wire.Ack, unlimited), msn)
}

func (rt *responderTest) wantNak(code uint8, psn int, msn uint32) {
	rt.Helper()
	rt.wantAETH(rt.next(wire.OpAcknowledge, psn), wire.NewSyndrome(wire.Nak, code), msn)
}

// wantFatal is a NAK, and then an end.
func (rt *responderTest) wantFatal(code uint8, psn int, msn uint32) {
	rt.Helper()
	rt.wantNak(code, psn, msn)
	rt.wantSilence()
	rt.wantState(Error)
}

func (rt *responderTest) wantRNR(psn int, msn uint32) {
	rt.Helper()
	rt.wantAETH(rt.next(wire.OpAcknowledge, psn), wire.NewSyndrome(wire.RNRNak, 12), msn)
}

// wantRead takes a whole READ response.
func (rt *responderTest) wantRead(psn int, msn uint32, data []byte) {
	rt.Helper()
	n := packets(uint32(len(data)), testMTU)
	for i := range n {
		p := rt.next(readPlace(i == 0, i == n-1), psn+i)
		if p.View(wire.HdrAETH) != nil {
			rt.wantAETH(p, wire.NewSyndrome(wire.Ack, unlimited), msn)
		}
		want := data[min(len(data), i*testMTU):min(len(data), (i+1)*testMTU)]
		if !bytes.Equal(p.Payload(), want) {
			rt.Fatalf("READ response %d: %x, want %x", i, p.Payload(), want)
		}
		for _, b := range p[len(p)-p.BTH().PadCount():] {
			if b != 0 {
				rt.Fatal("pad is not zero")
			}
		}
	}
}

func (rt *responderTest) wantAtomic(psn int, msn uint32, original uint64) {
	rt.Helper()
	p := rt.next(wire.OpAtomicAcknowledge, psn)
	rt.wantAETH(p, wire.NewSyndrome(wire.Ack, unlimited), msn)
	if got := wire.AtomicAckETH(p.View(wire.HdrAtomicAckETH)).Original(); got != original {
		rt.Fatalf("original %#x, want %#x", got, original)
	}
}

func (rt *responderTest) wantState(s State) {
	rt.Helper()
	if rt.q.State() != s {
		rt.Fatalf("state %v, want %v", rt.q.State(), s)
	}
}

func (rt *responderTest) wantCompletion(want Completion) {
	rt.Helper()
	want.QPN = rt.q.Number()
	got, ok := rt.q.Completion()
	if !ok || got != want {
		rt.Fatalf("completion %+v (%v), want %+v", got, ok, want)
	}
}

func (rt *responderTest) wantNoCompletion() {
	rt.Helper()
	if c, ok := rt.q.Completion(); ok {
		rt.Fatalf("completion %+v, want none", c)
	}
}

// wantBytes holds memory of a region against what is expected there.
func (rt *responderTest) wantBytes(g *guarded, offset int, want []byte) {
	rt.Helper()
	if got := g.mem[offset : offset+len(want)]; !bytes.Equal(got, want) {
		rt.Fatalf("memory is %x, want %x", got, want)
	}
}

// wantEvents holds the kinds of the events since the last call against a list.
func (rt *responderTest) wantEvents(want ...EventKind) {
	rt.Helper()
	var got []EventKind
	for _, e := range rt.events {
		if e.QPN != rt.q.Number() {
			rt.Errorf("event of QP %#x", e.QPN)
		}
		got = append(got, e.Kind)
	}
	rt.events = nil
	if fmt.Sprint(got) != fmt.Sprint(want) {
		rt.Fatalf("events %v, want %v", got, want)
	}
}

// data is n bytes that are not zero and differ by seed.
func data(n int, seed byte) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7) ^ seed | 1
	}
	return b
}
