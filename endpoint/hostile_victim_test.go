package endpoint

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/wire"
)

// A device that listens, with queue pairs of every kind, some of them busy, gets
// frames from one who hears all that it sends: RoCE packets with expected and
// wrong PSNs, keys and lengths, captured frames with changes, MADs, ARP, ND and
// ICMP, odd IP headers and VLAN tags, and noise. Nothing panics, no byte changes
// that no key opens for writing, none is sent that no key opens for reading, and
// memory stays as it is.
//
// ROCECAP_FRAMES says how many frames, ROCECAP_SEED which; `make nightly` counts
// further than the default.
func TestHostileFramesDoNoHarm(t *testing.T) {
	frames, seed := uint64(hostileSetting("ROCECAP_FRAMES", 150_000)), uint64(hostileSetting("ROCECAP_SEED", 1))
	t.Logf("seed %d", seed)
	v := newVictim(t, seed)
	v.attack(frames / 4)
	goroutines, before := runtime.NumGoroutine(), v.heap()
	begin := time.Now()
	v.attack(frames - frames/4)
	took := time.Since(begin)
	after := v.heap()
	if n := runtime.NumGoroutine(); n != goroutines {
		t.Errorf("%d goroutines, %d before", n, goroutines)
	}
	if after > before+8<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
	s := v.dev.Stats()
	t.Logf("%d frames, %.0f a second; the heap went from %d to %d KB; %+v", frames, float64(frames-frames/4)/took.Seconds(),
		before>>10, after>>10, s)
	t.Logf("%d packets from the queue pairs, %d of them killed; %d management datagrams", v.answers, v.deaths, v.mads)
	if s.ReceivedPackets < frames/4 || v.answers < frames/20 || min(v.deaths, v.mads) == 0 || min(s.NeighbourAnswers, s.EchoAnswers) == 0 {
		t.Error("not hostile enough")
	}
}

func hostileSetting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

const (
	hostilePart  = 8 << 10 // of memory, each between guards
	hostileGuard = 0xA5
	hostilePeers = 0x1000 // the numbers of the peers' queue pairs begin there
)

// The parts of the memory.
const (
	hostileOpen     = iota // every right
	hostileReadable        // remote read alone
	hostileSecret          // remote write alone: nothing of it may be sent
	hostileForeign         // every right, in another domain
	hostileWindow          // no remote right, but a window to its middle
	hostileParts
)

var hostileMark = []byte("\xDE\xC0\xAD\x0B\x5E\xC2\xE7\x99") // in all that is secret

// victim is a device under attack. It runs in the caller's goroutine.
type victim struct {
	testing.TB
	rng     *rand.Rand
	dev     *Device
	r       *receiver
	peer    *simnet.Link
	hasher  icrc.Hasher
	parsed  wire.Frame
	arena   []byte
	regions [hostileParts]*Region
	window  *Window
	keys    []uint32
	srq     *SRQ
	cq      *CQ
	qps     []*prey
	seeds   [][]byte
	batch   []Frame
	deaths  int
	answers uint64
	mads    int // of the connection manager
}

// prey is a queue pair, and what the attacker has heard of it.
type prey struct {
	*QP
	peer     netip.Addr
	expected PSN // the next request's
	asked    PSN // of its own last request
}

func newVictim(t testing.TB, seed uint64) *victim {
	t.Helper()
	v := &victim{TB: t, rng: rand.New(rand.NewPCG(seed, 3)), arena: bytes.Repeat([]byte{hostileGuard}, (2*hostileParts+1)*hostilePart)}
	link, peer := simnet.Pair(1500)
	v.peer = peer
	var err error
	v.dev, err = newDevice(Options{
		Seed: seed, BeforeSend: v.overhear, Congestion: Congestion{Notify: true, React: true},
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.77.0.3/24"), netip.MustParsePrefix("fd77::3/64")},
	}, link)
	v.check(err)
	v.r = newReceiver(v.dev)
	_, err = v.dev.Listen(TCPPort(7174))
	v.check(err)
	v.register()
	v.cq = v.dev.CreateCQ(1 << 14)
	v.srq, err = v.dev.CreateSRQ(SRQOptions{PD: v.pd(hostileOpen), MaxRecv: 64})
	v.check(err)
	for i, typ := range []Type{RC, RC, RC, UC, UD, XRCRecv, RC} {
		o := QPOptions{Type: typ, PD: v.pd(hostileOpen), SendCQ: v.cq, RecvCQ: v.cq, SignalAll: true, Number: uint32(0x20 + i)}
		if i == 2 {
			o.SRQ = v.srq
		}
		q, err := v.dev.CreateQP(o)
		v.check(err)
		p := &prey{QP: q, peer: netip.MustParseAddr("10.77.0.2")}
		if i%2 == 1 {
			p.peer = netip.MustParseAddr("fd77::2")
		}
		v.qps = append(v.qps, p)
		v.revive(p, i)
	}
	v.load("py_mixed.pcap", "atomic_cas.pcap", "uc_pingpong.pcap", "ud_ipv6.pcap", "rping_rxe.pcap", "py_flush.pcap", "ucmatose.pcap", "rc_vlan.pcap")
	return v
}

func (v *victim) check(err error) {
	v.Helper()
	if err != nil {
		v.Fatal(err)
	}
}

func (v *victim) part(i int) []byte {
	return v.arena[(2*i+1)*hostilePart : (2*i+2)*hostilePart]
}

func (v *victim) pd(i int) *PD { return &PD{v.dev, v.regions[i].region.PD()} }

func (v *victim) register() {
	own, foreign := v.dev.AllocPD(), v.dev.AllocPD()
	const all = LocalWrite | RemoteWrite | RemoteRead | RemoteAtomic | FlushGlobal
	for i, access := range []Access{all, RemoteRead, LocalWrite | RemoteWrite, all, LocalWrite | BindWindow} {
		pd := own
		if i == hostileForeign {
			pd = foreign
		}
		var err error
		v.regions[i], err = pd.RegisterMemoryAt(v.part(i), uint64(1+i)<<32, access)
		v.check(err)
		v.keys = append(v.keys, v.regions[i].RKey())
	}
	for _, i := range []int{hostileSecret, hostileForeign, hostileWindow} {
		for at := 0; at < hostilePart; at += len(hostileMark) {
			copy(v.part(i)[at:], hostileMark)
		}
	}
	clear(v.part(hostileWindow)[hostilePart/4 : hostilePart/2]) // what the window opens is no secret
	var err error
	v.window, err = own.AllocWindow(Type1)
	v.check(err)
	v.check(v.dev.memory.Bind(v.regions[hostileWindow].region.PD(), 0, v.window.window, 0, v.regions[hostileWindow].region,
		v.regions[hostileWindow].VA()+hostilePart/4, hostilePart/4, RemoteRead|RemoteWrite))
	v.keys = append(v.keys, v.window.RKey())
}

// load takes captured frames to change.
func (v *victim) load(names ...string) {
	for _, name := range names {
		r, err := capfile.Open("../pcaps/" + name)
		v.check(err)
		batch, err := r.Next()
		v.check(err)
		for i := range min(40, len(batch.Records)) {
			v.seeds = append(v.seeds, bytes.Clone(batch.Records[i].Data))
		}
		batch.Release()
		v.check(r.Close())
	}
}

// revive connects a queue pair to its peer, with things to receive and, if it is
// a busy one, to send.
func (v *victim) revive(p *prey, i int) {
	v.Helper()
	p.expected, p.asked = 0xFFFFF0, 0xFFFFF8
	a := Attributes{
		Access: RemoteWrite | RemoteRead | RemoteAtomic | FlushGlobal, DestQP: hostilePeers + uint32(i), PathMTU: 1024,
		QKey: DefaultQKey, MaxDestRdAtomic: 4, MaxRdAtomic: 4, RQPSN: p.expected, SQPSN: p.asked, Timeout: 14, RetryCount: 7, RNRRetry: 7,
	}
	if p.Type() != UD {
		src := v.dev.GID(i % 2)
		a.Address = &Address{DGID: p.peer, SGID: src, Head: head(src, p.peer)}
	}
	for _, s := range []State{Reset, Init, RTR, RTS} {
		v.check(p.Modify(v.Context(), s, a))
	}
	v.feed(p)
	if i == 0 || i == 6 {
		open := v.regions[hostileOpen]
		for n := range 4 {
			v.check(p.PostSend(
				WorkRequest{Op: Read, SGL: open.SGL(2048, 3000), RemoteAddr: 1, RKey: 1},
				WorkRequest{Op: FetchAdd, SGL: open.SGL(8*n, 8), RemoteAddr: 8, RKey: 1},
				WorkRequest{Op: Send, SGL: v.regions[hostileReadable].SGL(0, 3000)},
			))
		}
	}
}

// feed posts receive requests as long as there is room.
func (v *victim) feed(p *prey) {
	request := RecvRequest{SGL: v.regions[hostileOpen].SGL(1024, 2048)}
	for range 32 {
		if p.Type() == XRCRecv || p.srq != nil {
			if v.srq.PostRecv(request) != nil {
				return
			}
		} else if p.PostRecv(request) != nil {
			return
		}
	}
}

// head is what stands before packets from one address to another.
func head(src, dst netip.Addr) []byte {
	network := wire.IPv4MinLen
	if src.Is6() {
		network = wire.IPv6Len
	}
	b := make([]byte, wire.EthernetLen+network+wire.UDPLen)
	eth, ip := wire.Ethernet(b), b[wire.EthernetLen:wire.EthernetLen+network]
	if src.Is4() {
		eth.SetType(wire.EtherTypeIPv4)
		h := wire.IPv4Header(ip)
		h.SetVersion(4)
		h.SetHeaderLen(wire.IPv4MinLen)
		h.SetTTL(64)
		h.SetProtocol(wire.IPProtoUDP)
		h.SetSrc(src.As4())
		h.SetDst(dst.As4())
	} else {
		eth.SetType(wire.EtherTypeIPv6)
		h := wire.IPv6Header(ip)
		h.SetVersion(6)
		h.SetNextHeader(wire.IPProtoUDP)
		h.SetHopLimit(64)
		h.SetSrc(src.As16())
		h.SetDst(dst.As16())
	}
	udp := wire.UDP(b[wire.EthernetLen+network:])
	udp.SetSrcPort(0xC123)
	udp.SetDstPort(wire.PortRoCEv2)
	return b
}

// overhear sees what the device sends: the attacker learns PSNs of it. It is
// never anything secret.
func (v *victim) overhear(frame []byte) Verdict {
	if bytes.Contains(frame, hostileMark) {
		v.Fatalf("bytes are sent that no key opens: %x", frame)
	}
	at := wire.EthernetLen + wire.UDPLen + wire.IPv4MinLen
	if wire.Ethernet(frame).Type() == wire.EtherTypeIPv6 {
		at += wire.IPv6Len - wire.IPv4MinLen
	}
	if len(frame) < at+wire.BTHLen || wire.UDP(frame[at-wire.UDPLen:]).DstPort() != wire.PortRoCEv2 {
		return Pass
	}
	packet := wire.Packet(frame[at : len(frame)-icrc.Len])
	for _, b := range packet[len(packet)-packet.BTH().PadCount():] {
		if b != 0 {
			v.Fatalf("a pad that is not zero: %x", frame)
		}
	}
	if packet.BTH().DestQP() == 1 {
		v.mads++
	}
	i := int(packet.BTH().DestQP()) - hostilePeers
	if i < 0 || i >= len(v.qps) {
		return Pass
	}
	v.answers++
	if !packet.Opcode().Info().Response {
		v.qps[i].asked = packet.PSN()
		return Pass
	}
	v.qps[i].expected = packet.PSN().Add(1)
	if h := wire.AETH(packet.View(wire.HdrAETH)); h != nil && h.Syndrome().Kind() != wire.Ack {
		v.qps[i].expected = packet.PSN()
	}
	return Pass
}

const hostileBatch = 32

// attack sends so many frames, and looks after the damage.
func (v *victim) attack(frames uint64) {
	for sent := uint64(0); sent < frames; sent += hostileBatch {
		for i := range hostileBatch {
			if i == len(v.batch) {
				v.batch = append(v.batch, Frame{})
			}
			f := &v.batch[i]
			f.Data = v.frame(f.Data[:0])
			f.WireLen = len(f.Data)
		}
		v.r.handle(v.batch)
		v.dev.lock()
		v.dev.advance()
		v.dev.unlock()
		if sent%(hostileBatch*16) == 0 {
			v.tend()
		}
		if sent%(hostileBatch*512) == 0 {
			v.inspect()
		}
	}
	v.inspect()
}

// tend takes completions, and lets the device's consumer go on.
func (v *victim) tend() {
	var done [256]Completion
	for v.cq.Poll(done[:]) > 0 {
		continue
	}
	for i, p := range v.qps {
		if s := p.State(); s == Error || s == SQE {
			v.deaths++
			v.revive(p, i)
		}
		v.feed(p)
	}
	var batch Batch
	for v.peer.Receive(&batch, time.Now()) == nil { // to nobody
		continue
	}
	for {
		select {
		case <-v.dev.events:
		default:
			return
		}
	}
}

// inspect looks at all bytes that must not have changed.
func (v *victim) inspect() {
	v.Helper()
	for i := range 2*hostileParts + 1 {
		part := v.arena[i*hostilePart : (i+1)*hostilePart]
		want := []byte{hostileGuard}
		switch i {
		case 2*hostileForeign + 1:
			want = hostileMark
		case 2*hostileWindow + 1:
			repeats(v, part[:hostilePart/4], hostileMark)
			part, want = part[hostilePart/2:], hostileMark
		case 2*hostileOpen + 1, 2*hostileSecret + 1:
			continue
		}
		repeats(v, part, want)
	}
	for at := 0; at < hostilePart; at += len(hostileMark) { // the attacker has written there, which is his right
		copy(v.part(hostileSecret)[at:], hostileMark)
	}
}

func repeats(t testing.TB, b, pattern []byte) {
	t.Helper()
	for i, v := range b {
		if v != pattern[i%len(pattern)] {
			t.Fatalf("byte %d of a part that nobody may write has changed", i)
		}
	}
}

func (v *victim) heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
