package endpoint_test

import (
	"bytes"
	"math/rand/v2"
	"net"
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// TestHostilePacketsChangeNothingOutsideRegions sends packets of every kind,
// with right and wrong fields and right ICRCs, to queue pairs of every kind.
func TestHostilePacketsChangeNothingOutsideRegions(t *testing.T) {
	dev, _, w := wired(t, nil)
	if _, err := dev.Listen(endpoint.TCPPort(1)); err != nil {
		t.Fatal(err)
	}
	const guard = 1 << 14
	memory := bytes.Repeat([]byte{0xA5}, 3*guard)
	pd, cq := dev.AllocPD(), dev.CreateCQ(1<<20)
	region, err := pd.RegisterMemory(memory[guard:2*guard], allAccess)
	if err != nil {
		t.Fatal(err)
	}
	var qps []*endpoint.QP
	for _, typ := range []endpoint.Type{endpoint.RC, endpoint.RC, endpoint.UC, endpoint.UD} {
		qp, err := dev.CreateQP(endpoint.QPOptions{Type: typ, PD: pd, SendCQ: cq, RecvCQ: cq, SignalAll: true})
		if err != nil {
			t.Fatal(err)
		}
		qps = append(qps, qp)
		revive(t, qp, region)
	}
	random := rand.New(rand.NewPCG(1, 2))
	var before uint64
	for i := range 60_000 {
		frame := hostile(random, dev.MAC(), qps, region)
		put(t, w, frame)
		if i%500 == 499 {
			waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames >= uint64(i) })
			for _, qp := range qps {
				if qp.State() == endpoint.Error {
					revive(t, qp, region)
				}
			}
			drain(cq)
		}
		if i == 20_000 {
			before = heap()
		}
	}
	waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames >= 60_000 })
	after := heap()
	_ = dev.Close()
	for i, v := range memory {
		if (i < guard || i >= 2*guard) && v != 0xA5 {
			t.Fatalf("byte %d outside the region changed", i)
		}
	}
	if bytes.Equal(memory[guard:2*guard], bytes.Repeat([]byte{0xA5}, guard)) {
		t.Error("nothing got through: the packets are not hostile enough")
	}
	if after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d", before, after)
	}
	if s := dev.Stats(); s.ReceivedPackets < 10_000 {
		t.Errorf("%+v", s)
	}
}

func drain(cq *endpoint.CQ) {
	var done [256]endpoint.Completion
	for cq.Poll(done[:]) > 0 {
		continue
	}
}

// revive connects a queue pair to nobody who is there.
func revive(t *testing.T, qp *endpoint.QP, region *endpoint.Region) {
	t.Helper()
	a := endpoint.Attributes{
		Access: allAccess &^ endpoint.BindWindow, DestQP: 5, PathMTU: 1024, QKey: endpoint.DefaultQKey,
		MaxDestRdAtomic: 4, MaxRdAtomic: 4, RQPSN: 0xFFFFF0, SQPSN: 0xFFFFF8,
		Address: &endpoint.Address{
			DGID: netip.MustParseAddr("10.0.0.2"), SGID: netip.MustParseAddr("10.0.0.1"), Head: peerHead(),
		},
	}
	for _, s := range []endpoint.State{endpoint.Reset, endpoint.Init, endpoint.RTR, endpoint.RTS} {
		if err := qp.Modify(t.Context(), s, a); err != nil {
			t.Fatal(err)
		}
	}
	for range 64 {
		if err := qp.PostRecv(endpoint.RecvRequest{SGL: region.SGL(0, 2048)}); err != nil {
			t.Fatal(err)
		}
	}
	if qp.Type() == endpoint.RC {
		read := endpoint.WorkRequest{Op: endpoint.Read, SGL: region.SGL(0, 5000)}
		if err := qp.PostSend(read, read); err != nil {
			t.Fatal(err)
		}
	}
}

// peerHead stands before what the device sends.
func peerHead() []byte {
	b := make([]byte, wire.EthernetLen+wire.IPv4MinLen+wire.UDPLen)
	wire.Ethernet(b).SetType(wire.EtherTypeIPv4)
	ip := wire.IPv4Header(b[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
	ip.SetVersion(4)
	ip.SetHeaderLen(wire.IPv4MinLen)
	ip.SetProtocol(wire.IPProtoUDP)
	ip.SetSrc([4]byte{10, 0, 0, 1})
	ip.SetDst([4]byte{10, 0, 0, 2})
	wire.UDP(b[wire.EthernetLen+wire.IPv4MinLen:]).SetDstPort(wire.PortRoCEv2)
	return b
}

// hostile makes a packet that is partly right: an opcode, a queue pair and a
// PSN that may be expected, and headers that are noise, or name the region.
func hostile(random *rand.Rand, to net.HardwareAddr, qps []*endpoint.QP, region *endpoint.Region) []byte {
	head := peerHead()
	frame := append(head, make([]byte, wire.BTHLen+random.IntN(300))...)
	for i := len(head); i < len(frame); i++ {
		frame[i] = byte(random.Uint32())
	}
	copy(frame, to)
	ip := wire.IPv4Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
	ip.SetSrc([4]byte{10, 0, 0, 2})
	ip.SetDst([4]byte{10, 0, 0, 1})
	qp := qps[random.IntN(len(qps))]
	bth := wire.BTH(frame[len(head):])
	bth.SetOpcode(qp.Type().Base() + wire.Opcode(random.IntN(0x1E)))
	bth.SetDestQP(qp.QPN())
	bth.SetTVer(0)
	bth.SetPKey(0xFFFF)
	bth.SetPSN(wire.PSN(0xFFFFF0).Add(random.IntN(24)))
	if random.IntN(4) > 0 {
		frame = append(frame, make([]byte, -(len(frame)-len(head))&3)...)
		bth.SetPadCount(0)
	}
	packet := wire.Packet(frame[len(head):])
	if packet.Valid() && random.IntN(3) > 0 {
		reach(random, packet, region)
	}
	if random.IntN(50) == 0 { // a datagram for the connection manager
		mad := make([]byte, wire.BTHLen+wire.DETHLen+wire.MADLen)
		copy(mad, packet[:min(len(packet), len(mad))])
		frame = append(frame[:len(head)], mad...)
		bth = wire.BTH(frame[len(head):])
		bth.SetOpcode(wire.BaseUD + wire.OpSendOnly)
		bth.SetPadCount(0)
		bth.SetDestQP(1)
		deth := wire.DETH(frame[len(head)+wire.BTHLen:])
		deth.SetQKey(0x80010000)
		deth.SetSrcQP(1)
		copy(frame[len(head)+wire.BTHLen+wire.DETHLen:], []byte{1, 7, 2, 3})
		frame[len(head)+wire.BTHLen+wire.DETHLen+17] = byte(0x10 + random.IntN(12))
	}
	frame = append(frame, make([]byte, icrc.Len)...)
	ip = wire.IPv4Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
	ip.SetTotalLen(len(frame) - wire.EthernetLen)
	ip.SetChecksum(wire.IPv4Checksum(ip))
	wire.UDP(frame[wire.EthernetLen+wire.IPv4MinLen:]).SetLength(len(frame) - wire.EthernetLen - wire.IPv4MinLen)
	if random.IntN(20) > 0 {
		_ = icrc.Patch(frame) // what cannot be sealed goes as it is
	}
	return frame
}

// reach makes headers name memory in the region, or just outside it.
func reach(random *rand.Rand, packet wire.Packet, region *endpoint.Region) {
	va := region.VA() + uint64(random.IntN(region.Len()+200)) - 100
	if reth := wire.RETH(packet.View(wire.HdrRETH)); reth != nil {
		reth.SetVA(va)
		reth.SetRKey(region.RKey())
		reth.SetDMALen(uint32(random.IntN(3000)))
		if random.IntN(2) == 0 {
			reth.SetDMALen(uint32(len(packet.Payload())))
		}
	}
	if atomic := wire.AtomicETH(packet.View(wire.HdrAtomicETH)); atomic != nil {
		atomic.SetVA(va)
		atomic.SetRKey(region.RKey())
	}
	if deth := wire.DETH(packet.View(wire.HdrDETH)); deth != nil {
		deth.SetQKey(endpoint.DefaultQKey)
	}
}

// A message costs no allocation in either device, once there were some.
func TestSteadyTrafficAllocatesNothing(t *testing.T) {
	left, right := options(4200)
	a, b := connected(t, endpoint.RC, left, right, 0, 1<<16)
	wrs := []endpoint.WorkRequest{remoteTo(b, endpoint.Write, a.region.SGL(0, 1<<15), 0), remoteTo(b, endpoint.Read, a.region.SGL(0, 5000), 0)}
	done := make([]endpoint.Completion, 4)
	ctx := within(t)
	round := func() {
		if err := a.qp.PostSend(wrs...); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < len(wrs); {
			if err := a.cq.Wait(ctx); err != nil {
				t.Fatal(err)
			}
			got += a.cq.Poll(done)
		}
	}
	for range 100 {
		round()
	}
	if n := testing.AllocsPerRun(500, round); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
