package endpoint

import (
	"bytes"
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/wire"
)

// FuzzReceive gives frames to a device with queue pairs of every type, which
// does not look at their ICRC. The first byte says which queue pair is meant.
func FuzzReceive(f *testing.F) {
	for _, name := range []string{"py_mixed.pcap", "atomic_cas.pcap", "uc_pingpong.pcap", "ud_ipv6.pcap", "rping_rxe.pcap", "py_flush.pcap"} {
		addSeeds(f, "../pcaps/"+name)
	}
	for _, own := range []string{"10.77.0.3", "fd77::3"} {
		f.Add(byte(0), host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 9}, Target: netip.MustParseAddr(own)}.Append(nil))
	}
	f.Fuzz(func(t *testing.T, which byte, frame []byte) {
		d, memory := fuzzed(t)
		r := newReceiver(d)
		if len(frame) < wire.EthernetLen {
			return
		}
		aim(d, which, frame)
		for range 2 { // the second is a duplicate
			data := bytes.Clone(frame)
			r.handle([]Frame{{Data: data, WireLen: len(data)}})
		}
		d.lock()
		d.now = d.now.Add(1 << 36) // more than a minute
		d.advance()
		d.unlock()
		for i, v := range memory {
			if v != 0xA5 && (i < fuzzGuard || i >= 2*fuzzGuard) {
				t.Fatalf("byte %d outside the region changed", i)
			}
		}
	})
}

const fuzzGuard = 4096

func addSeeds(f *testing.F, name string) {
	f.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		f.Fatal(err)
	}
	defer r.Close()
	batch, err := r.Next()
	if err != nil {
		f.Fatal(err)
	}
	defer batch.Release()
	for i := range min(20, len(batch.Records)) {
		f.Add(byte(i), bytes.Clone(batch.Records[i].Data))
	}
}

// aim sends a frame to the device's MAC address and one of its queue pairs.
func aim(d *Device, which byte, frame []byte) {
	wire.Ethernet(frame).SetDst(d.mac)
	var parsed wire.Frame
	parsed.Parse(wire.LinkEthernet, frame, len(frame))
	if which == 0 || parsed.BTH < 0 || parsed.BTH+wire.BTHLen > len(frame) {
		return
	}
	bth := wire.BTH(frame[parsed.BTH:])
	bth.SetDestQP(uint32(which)%4 + 2)
	if which%8 == 7 {
		bth.SetDestQP(1)
	}
	if ip := frame[parsed.Net:parsed.BTH]; len(ip) == wire.IPv4MinLen+wire.UDPLen {
		h := wire.IPv4Header(ip[:wire.IPv4MinLen])
		h.SetSrc([4]byte{10, 77, 0, 2})
		h.SetDst([4]byte{10, 77, 0, 3})
		h.SetChecksum(wire.IPv4Checksum(h))
	}
}

// fuzzed is a device that runs nothing by itself, and memory of which the middle
// is registered.
func fuzzed(t *testing.T) (*Device, []byte) {
	t.Helper()
	link, _ := simnet.Pair(1500)
	d, err := newDevice(Options{
		Seed: 1, ICRC: AnyICRC,
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.3/24"), netip.MustParsePrefix("fd77::3/64")},
	}, link)
	if err != nil {
		t.Fatal(err)
	}
	memory := bytes.Repeat([]byte{0xA5}, 3*fuzzGuard)
	pd, cq := d.AllocPD(), d.CreateCQ(64)
	const all = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic | FlushGlobal
	region, err := pd.RegisterMemoryAt(memory[fuzzGuard:2*fuzzGuard], 0x1000, all)
	if err != nil {
		t.Fatal(err)
	}
	peer := Address{DGID: netip.MustParseAddr("10.77.0.2"), SGID: d.GID(0), Head: make([]byte, 42)}
	for i, typ := range []Type{RC, UC, UD, RC} {
		q, err := d.CreateQP(QPOptions{Type: typ, PD: pd, SendCQ: cq, RecvCQ: cq, Number: uint32(i + 2)})
		if err != nil {
			t.Fatal(err)
		}
		a := q.attributes(Remote{QPN: 5, PSN: 0x1000})
		a.QKey, a.SQPSN, a.Address = 0x11111111, 0x1000, &peer
		for _, s := range []State{Init, RTR, RTS} {
			if err := q.Modify(t.Context(), s, a); err != nil {
				t.Fatal(err)
			}
		}
		if err := q.PostRecv(RecvRequest{SGL: region.SGL(0, 2000)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.with(func(a *agent) error { a.manager.ListenIP(0x0106, 7174); return nil }); err != nil {
		t.Fatal(err)
	}
	return d, memory
}
