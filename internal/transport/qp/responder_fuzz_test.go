package qp

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// FuzzResponder gives a queue pair hostile packets: no panic, no byte changed
// outside the regions or in one that is only to be read, no packet sent that is
// not valid, and no more answers kept than there is room for.
//
// Input: a byte for the type and the policy, then packets, each behind a byte of
// half its length and one of what is put right in it, so that the fuzzer comes
// further than the PSN. The corpus has all requests of each type.
func FuzzResponder(f *testing.F) {
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 {
			return
		}
		h := newHostile(t, in[0])
		for in = in[1:]; len(in) > 2; {
			n, right := min(2*int(in[0]), len(in)-2), in[1]
			h.feed(bytes.Clone(in[2:2+n]), right)
			in = in[2+n:]
		}
		h.drain()
		h.check()
	})
}

type hostile struct {
	testing.TB
	q                       *QP
	open, readOnly, foreign *guarded
	buf                     []byte
}

const hostileVA = 1<<64 - 4096 // the region ends where addresses do, less one page

func newHostile(t testing.TB, choice byte) *hostile {
	table := mr.NewTable(uint64(choice))
	pd := table.AllocPD()
	h := &hostile{TB: t, buf: make([]byte, 64+testMTU)}
	h.open = newGuarded(t, table, pd, 2048, hostileVA, everyone)
	h.readOnly = newGuarded(t, table, pd, 2048, remoteVA, mr.RemoteRead)
	h.foreign = newGuarded(t, table, table.AllocPD(), 2048, localVA, everyone)
	srq := NewSRQ(0x55, pd, 8, 1)
	cfg := Config{
		Number: 0x11, Type: []Type{RC, UC, UD, XRCRecv}[choice&3], PD: pd, Memory: table, MaxRecv: 8,
		FindSRQ: func(uint32) *SRQ { return srq },
		Policy: Policy{
			RecycleDepth: choice&4 != 0, RepeatNak: choice&8 != 0, ExtraAck: choice&16 != 0, Credits: choice&32 != 0,
		},
	}
	var err error
	if h.q, err = New(cfg); err != nil {
		t.Fatal(err)
	}
	for _, to := range []State{Init, RTR} {
		if err := h.q.Modify(time.Time{}, to, Attributes{
			Access: everyone, PathMTU: testMTU, MaxDestRdAtomic: 2, RQPSN: 0xFFFFFE, Address: &Address{},
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, size := range []uint32{600, 600, 600, 600, 100, 1000, 1000, 0} { // 1000 reaches beyond the region
		req := RecvRequest{SGL: []SGE{{Addr: hostileVA + 1400, Length: size, LKey: h.open.LKey()}}}
		_ = h.q.PostRecv(time.Time{}, req)
		_ = srq.Post(req)
	}
	return h
}

// feed makes some of the packet right, and lets it arrive.
func (h *hostile) feed(p wire.Packet, right byte) {
	if len(p) == 0 {
		return
	}
	if right&1 != 0 {
		p[0] = p[0]&0x1F | byte(h.q.Type().Base())
	}
	if len(p) >= wire.BTHLen && right&2 != 0 {
		p.BTH().SetPSN(h.q.responder.psn.Add(-int(right >> 6)))
	}
	if p.Valid() {
		if v := wire.RETH(p.View(wire.HdrRETH)); v != nil && right&4 != 0 {
			v.SetRKey([]uint32{h.open.RKey(), h.readOnly.RKey()}[right>>5&1])
			if right&8 != 0 {
				v.SetVA(hostileVA + v.VA()%4096)
			}
			if right&16 != 0 {
				v.SetDMALen(uint32(len(p.Payload())))
			}
		}
		if v := wire.AtomicETH(p.View(wire.HdrAtomicETH)); v != nil && right&4 != 0 {
			v.SetRKey(h.open.RKey())
			v.SetVA(hostileVA + v.VA()%4096)
		}
	}
	if p.Opcode().Info().Response { // the requester's
		return
	}
	h.q.Receive(time.Time{}, Inbound{Packet: p})
	if most := spareResponses + 2*2 + 2; h.q.responder.responses.len() > most {
		h.Fatalf("%d responses wait", h.q.responder.responses.len())
	}
	if right&32 != 0 {
		h.drain()
	}
}

// drain takes up to 64 packets: a READ may be of gigabytes.
func (h *hostile) drain() {
	for range 64 {
		n, _ := h.q.Emit(time.Time{}, h.buf)
		if n == 0 {
			return
		}
		if p := wire.Packet(h.buf[:n]); !p.Valid() || !p.Opcode().Info().Response {
			h.Fatalf("sent %x", h.buf[:n])
		}
	}
}

func (h *hostile) check() {
	for _, g := range []*guarded{h.open, h.readOnly, h.foreign} {
		g.check(h)
	}
	for _, g := range []*guarded{h.readOnly, h.foreign} {
		if !bytes.Equal(g.mem, make([]byte, len(g.mem))) {
			h.Error("memory has changed that was not open")
		}
	}
}
