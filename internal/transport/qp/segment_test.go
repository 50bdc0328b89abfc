package qp

import (
	"bytes"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestMessagesAreCutByThePathMTU(t *testing.T) {
	for _, test := range []struct {
		name string
		wr   WorkRequest
		n    int
		want []string
	}{
		{"nothing", WorkRequest{Op: Send}, 0, []string{"+0 SEND Only 0 A"}},
		{"one byte", WorkRequest{Op: Send, Flags: Solicited}, 1, []string{"+0 SEND Only 1 A S"}},
		{"one packet", WorkRequest{Op: Write, Flags: Solicited}, 256, []string{"+0 RDMA WRITE Only 256 A"}},
		{"a multiple", WorkRequest{Op: Send}, 512, []string{"+0 SEND First 256", "+1 SEND Last 256 A"}},
		{"one more", WorkRequest{Op: Send, Flags: Solicited}, 513, []string{"+0 SEND First 256", "+1 SEND Middle 256", "+2 SEND Last 1 A S"}},
		{"immediate", WorkRequest{Op: SendImmediate, Immediate: 5}, 300, []string{"+0 SEND First 256", "+1 SEND Last Immediate 44 A"}},
		{"invalidate", WorkRequest{Op: SendInvalidate, Invalidate: 5}, 300, []string{"+0 SEND First 256", "+1 SEND Last Invalidate 44 A"}},
		{"invalidate, short", WorkRequest{Op: SendInvalidate}, 3, []string{"+0 SEND Only Invalidate 3 A"}},
		{"write", WorkRequest{Op: Write}, 3*256 + 5, []string{"+0 RDMA WRITE First 256", "+1 RDMA WRITE Middle 256", "+2 RDMA WRITE Middle 256", "+3 RDMA WRITE Last 5 A"}},
		{"write immediate", WorkRequest{Op: WriteImmediate, Flags: Solicited}, 257, []string{"+0 RDMA WRITE First 256", "+1 RDMA WRITE Last Immediate 1 A S"}},
		{"write immediate of nothing", WorkRequest{Op: WriteImmediate}, 0, []string{"+0 RDMA WRITE Only Immediate 0 A"}},
		{"read", WorkRequest{Op: Read}, 1000, []string{"+0 RDMA READ Request A"}},
		{"atomic", WorkRequest{Op: FetchAdd}, 8, []string{"+0 Fetch Add A"}},
		{"atomic write", WorkRequest{Op: AtomicWrite}, 8, []string{"+0 ATOMIC WRITE 8 A"}},
		{"flush", WorkRequest{Op: Flush}, 0, []string{"+0 FLUSH A"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, RC, nil)
			test.wr.SGL = x.local(100, test.n)
			x.post(test.wr)
			var data []byte
			for _, p := range x.wantSent(test.want...) {
				data = append(data, p.Payload()...)
				for _, b := range p[len(p)-p.BTH().PadCount():] {
					if b != 0 {
						t.Error("pad is not zero")
					}
				}
			}
			if operations[test.wr.Op].payload && !bytes.Equal(data, x.buf[100:100+test.n]) {
				t.Error("wrong bytes")
			}
			x.wantDeadline(sendTimeout)
		})
	}
}

func TestEveryPacketHasTheQueuePairsFields(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(300))
	for _, p := range x.wantSent("+0 SEND First 256", "+1 SEND Last 44 A") {
		if b := p.BTH(); b.DestQP() != sendPeerQP || b.PKey() != 0x8001 || !b.MigReq() || b.TVer() != 0 || b.FECN() || b.BECN() {
			t.Errorf("BTH % x", b)
		}
	}
	x = newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.ClearMigReq = true })
	x.post(x.send(1))
	if x.emit().BTH().MigReq() {
		t.Error("MigReq is set against the policy")
	}
}

func TestExtendedHeadersSayWhatTheRequestSays(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(
		WorkRequest{Op: Write, SGL: x.local(0, 300), RemoteAddr: 0x123456789A, RKey: 0xCAFE},
		WorkRequest{Op: SendImmediate, Immediate: 0xA1B2C3D4},
		WorkRequest{Op: SendInvalidate, Invalidate: 0x55},
		WorkRequest{Op: CompareSwap, SGL: x.local(0, 8), RemoteAddr: 8, RKey: 9, Compare: 10, SwapAdd: 11},
		WorkRequest{Op: Flush, RemoteAddr: 12, RKey: 13, Length: 14, Placement: wire.FlushPersistent},
		WorkRequest{Op: Flush, WholeMR: true},
		WorkRequest{Op: AtomicWrite, Inline: []byte("12345678"), RemoteAddr: 16, RKey: 17},
	)
	first, _ := x.emit(), x.emit()
	if h := wire.RETH(first.View(wire.HdrRETH)); h.VA() != 0x123456789A || h.RKey() != 0xCAFE || h.DMALen() != 300 {
		t.Errorf("RETH of WRITE % x", h)
	}
	if h := wire.ImmDt(x.emit().View(wire.HdrImmDt)); h.Data() != 0xA1B2C3D4 {
		t.Errorf("ImmDt % x", h)
	}
	if h := wire.IETH(x.emit().View(wire.HdrIETH)); h.RKey() != 0x55 {
		t.Errorf("IETH % x", h)
	}
	if h := wire.AtomicETH(x.emit().View(wire.HdrAtomicETH)); h.VA() != 8 || h.RKey() != 9 || h.Compare() != 10 || h.SwapAdd() != 11 {
		t.Errorf("AtomicETH % x", h)
	}
	p := x.emit()
	if h := wire.FETH(p.View(wire.HdrFETH)); h.Placement() != wire.FlushPersistent || h.Selectivity() != wire.FlushRange {
		t.Errorf("FETH % x", h)
	}
	if h := wire.RETH(p.View(wire.HdrRETH)); h.VA() != 12 || h.RKey() != 13 || h.DMALen() != 14 {
		t.Errorf("RETH of FLUSH % x", h)
	}
	if h := wire.FETH(x.emit().View(wire.HdrFETH)); h.Selectivity() != wire.FlushRegion {
		t.Errorf("FETH of the whole region % x", h)
	}
	p = x.emit()
	if h := wire.RETH(p.View(wire.HdrRETH)); h.VA() != 16 || h.RKey() != 17 || h.DMALen() != 8 || string(p.Payload()) != "12345678" {
		t.Errorf("ATOMIC WRITE % x", p)
	}
}

func TestXRCNamesTheReceiveQueueInEveryPacket(t *testing.T) {
	x := newSendTest(t, XRCSend, nil)
	wr := x.send(600)
	wr.SRQ = 0x20001
	x.post(wr)
	for _, p := range x.wantSent("+0 SEND First 256", "+1 SEND Middle 256", "+2 SEND Last 88 A") {
		if got := wire.XRCETH(p.View(wire.HdrXRCETH)).SRQN(); got != 0x20001 || p.Opcode().Service() != wire.XRC {
			t.Errorf("%v to receive queue %#x", p.Opcode(), got)
		}
	}
	x.ack(2)
	x.wantDone("1 success")
}

func TestDataIsGatheredFromManyPieces(t *testing.T) {
	x := newSendTest(t, RC, nil)
	sgl := []SGE{x.local(10, 200)[0], x.local(5, 0)[0], x.local(1000, 1)[0], x.local(0, 400)[0]}
	x.post(WorkRequest{Op: Send, SGL: sgl})
	want := append(append(append([]byte{}, x.buf[10:210]...), x.buf[1000]), x.buf[:400]...)
	var got []byte
	for _, p := range x.wantSent("+0 SEND First 256", "+1 SEND Middle 256", "+2 SEND Last 89 A") {
		got = append(got, p.Payload()...)
	}
	if !bytes.Equal(got, want) {
		t.Error("wrong bytes")
	}
}

func TestInlineDataIsCopiedAtOnce(t *testing.T) {
	x := newSendTest(t, RC, nil)
	data := []byte("now")
	x.post(WorkRequest{Op: Send, Inline: data})
	copy(data, "???")
	if p := x.emit(); string(p.Payload()) != "now" {
		t.Errorf("sent %q", p.Payload())
	}
}

func TestAcknowledgementsAreAskedForWithinLongMessages(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.Policy.AckEvery = 2 })
	x.post(x.send(5 * sendMTU))
	x.wantSent("+0 SEND First 256", "+1 SEND Middle 256 A", "+2 SEND Middle 256", "+3 SEND Middle 256 A", "+4 SEND Last 256 A")
}
