package endpoint

import (
	"errors"
	"net"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/transport/qp"
	"github.com/rocecap/rocecap/internal/wire"
)

// receiver inspects frames, without the device's lock: parsing and the ICRC are
// most of the work that a packet makes.
type receiver struct {
	device   *Device
	frame    wire.Frame
	check    checker
	arrivals []arrival
	grh      [wire.GRHLen]byte
}

// arrival is a frame that was inspected, and what there is to do about it.
type arrival struct {
	fate     fate
	packet   wire.Packet
	src, dst netip.Addr
	from     host.MAC
	ip       []byte // the IP header of a packet
	ce       bool
	frame    []byte // to be answered
}

// fate is what became of a frame.
type fate uint8

const (
	isPacket fate = iota
	isNeighbour
	hookDropped
	notOurs
	notRoCE
	malformed
	badICRC
)

func newReceiver(d *Device) *receiver {
	return &receiver{device: d, check: checker{policy: d.options.ICRC}}
}

// receive is the goroutine that takes what the link receives.
func (d *Device) receive() {
	defer d.workers.Done()
	r := newReceiver(d)
	var batch Batch
	var deadline time.Time // while the link is down
	for {
		err := d.link.Receive(&batch, deadline)
		switch {
		case err == nil:
			r.handle(batch.Frames)
		case errors.Is(err, nic.ErrDown):
			deadline = time.Now().Add(probeEvery)
		case late(err):
			if deadline = time.Now().Add(probeEvery); d.announce() == nil {
				deadline = time.Time{}
			}
		case errors.Is(err, net.ErrClosed):
			return
		default:
			d.lock()
			d.out.gone = err
			d.unlock()
			return
		}
	}
}

func late(err error) bool {
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// probeEvery is how often a link that is down is tried: what was removed while
// it was down does not tell a receiver.
const probeEvery = 250 * time.Millisecond

// announce tells the network where the device is, and whoever calls it whether
// the link carries that.
func (d *Device) announce() error {
	d.lock()
	defer d.unlock()
	own := d.GID(0)
	question := host.Question{MAC: d.mac, Target: own} // for IPv6 as one who looks for duplicates
	if own.Is4() {
		question.IP = own // an announcement (RFC 5227, 2.3)
	}
	d.send(question.Append(nil))
	return d.flush()
}

// handle takes frames that came together.
func (r *receiver) handle(frames []Frame) {
	r.arrivals = r.arrivals[:0]
	bytes := uint64(0)
	for i := range frames {
		if frames[i].Outgoing {
			continue
		}
		bytes += uint64(frames[i].WireLen)
		r.arrivals = append(r.arrivals, r.inspect(&frames[i]))
	}
	d := r.device
	d.lock()
	defer d.unlock()
	d.stats.ReceivedFrames += uint64(len(r.arrivals))
	d.stats.ReceivedBytes += bytes
	for i := range r.arrivals {
		d.arrive(r, &r.arrivals[i])
	}
}

// inspect finds out what a frame is.
func (r *receiver) inspect(f *Frame) (a arrival) {
	d, data := r.device, f.Data
	if len(data) < wire.EthernetLen {
		return arrival{fate: malformed}
	}
	if to := wire.Ethernet(data).Dst(); to != d.mac && to[0]&1 == 0 {
		return arrival{fate: notOurs}
	}
	d.recorder.add(data, f.Time)
	if d.options.AfterReceive != nil && !r.hooked(data) {
		return arrival{fate: hookDropped}
	}
	if !d.inVLAN(data) {
		return arrival{fate: notOurs}
	}
	r.frame.Parse(wire.LinkEthernet, data, f.WireLen)
	switch r.frame.Proto {
	case wire.ProtoRoCEv2:
		a = r.inspectPacket()
	case wire.ProtoARP, wire.ProtoICMP:
		a = arrival{fate: isNeighbour, frame: data}
	default:
		return arrival{fate: notRoCE}
	}
	a.from = wire.Ethernet(data).Src()
	return a
}

func (r *receiver) hooked(frame []byte) bool {
	d := r.device
	d.hook.Lock()
	defer d.hook.Unlock()
	return hooked(d.options.AfterReceive, frame, &r.frame, &r.check.hasher)
}

// inVLAN reports whether a frame is tagged as the device's are. A tag for VLAN 0
// has nothing but a priority: the frame is one without (IEEE 802.1Q, 9.6).
func (d *Device) inVLAN(frame []byte) bool {
	var got, want uint16
	if wire.Ethernet(frame).Type() == wire.EtherTypeVLAN {
		if len(frame) < wire.EthernetLen+wire.VLANLen {
			return false
		}
		got = wire.VLAN(frame[wire.EthernetLen:]).ID()
	}
	if d.options.VLAN != nil {
		want = d.options.VLAN.ID
	}
	return got == want
}

// body is what follows the link header of a frame that inVLAN has seen, and its
// EtherType.
func body(frame []byte) (kind uint16, rest []byte) {
	if kind, rest = wire.Ethernet(frame).Type(), frame[wire.EthernetLen:]; kind == wire.EtherTypeVLAN {
		kind, rest = wire.VLAN(rest).EtherType(), rest[wire.VLANLen:]
	}
	return kind, rest
}

// unfit are the faults for which a packet is dropped without a word (IBTA
// 9.6.1). What else may be unusual in it is the transport's to judge.
const unfit = wire.ProblemShort | wire.ProblemLength | wire.ProblemTVer | wire.ProblemPad |
	wire.ProblemFragment | wire.ProblemOptions | wire.ProblemTooDeep | wire.ProblemVersion

// inspectPacket is inspect for a RoCEv2 packet. One whose IP header is not the
// first came through a tunnel that is not the device's.
func (r *receiver) inspectPacket() arrival {
	f := &r.frame
	_, rest := body(f.Data)
	if f.Net != len(f.Data)-len(rest) || f.Problems&unfit != 0 || f.Cut() {
		return arrival{fate: malformed}
	}
	packet := wire.Packet(f.Data[f.BTH:f.ICRC])
	if packet.Opcode().Info().Defined() && !packet.Valid() {
		return arrival{fate: malformed}
	}
	a := arrival{packet: packet, ip: f.Data[f.Net:f.L4]}
	// The ICRC does not cover it. A UDP checksum, which RoCEv2 leaves at 0, may
	// still be the sending card's to fill in when the sender is on this machine.
	if v4 := wire.IPv4Header(a.ip); len(a.ip) == wire.IPv4MinLen && v4.Checksum() != wire.IPv4Checksum(v4) {
		return arrival{fate: malformed}
	}
	if a.src, a.dst = f.Addresses(); !r.device.owns(a.dst) && !a.dst.IsMulticast() {
		return arrival{fate: notOurs}
	}
	if !r.check.accepts(f) {
		return arrival{fate: badICRC}
	}
	ecn := wire.IPv6Header(a.ip).ECN
	if len(a.ip) == wire.IPv4MinLen {
		ecn = wire.IPv4Header(a.ip).ECN
	}
	a.ce = ecn() == ecnCE
	return a
}

// arrive takes an inspected frame, with the device locked.
func (d *Device) arrive(r *receiver, a *arrival) {
	switch a.fate {
	case isPacket:
		if a.dst.IsMulticast() {
			d.deliver(r, a)
			return
		}
		d.dispatch(r, a)
	case isNeighbour:
		d.neighbour(a)
	case hookDropped:
		d.stats.HookDropped++
	case notOurs:
		d.stats.NotOurs++
	case notRoCE:
		d.stats.NotRoCE++
	case malformed:
		d.stats.Malformed++
	case badICRC:
		d.stats.BadICRC++
	}
}

// dispatch gives a packet to its queue pair, if it passes the checks that need
// none of the transport's state, in the order of IBTA 9.6.1.
func (d *Device) dispatch(r *receiver, a *arrival) {
	bth := a.packet.BTH()
	q := d.pairs[bth.DestQP()]
	op := a.packet.Opcode()
	isCNP := op == wire.OpcodeRoCECNP
	switch {
	case q == nil:
		d.stats.UnknownQP++
		return
	case !isCNP && op&serviceMask != q.Type().Base():
		d.stats.WrongService++
		return
	case q.Type() != UD && (a.src != q.peer || a.dst != q.local):
		d.stats.WrongAddress++
		return
	case !samePartition(bth.PKey(), q.pkey):
		d.stats.WrongPKey++
		return
	}
	d.stats.ReceivedPackets++
	in := qp.Inbound{Packet: a.packet, CE: a.ce}
	switch {
	case isCNP:
		d.slow(q)
	case q.Type() == UD:
		in.GRH = r.area(a.ip)
		d.hear(a.src, a.from)
	}
	if a.ce {
		d.marked(q, a)
	}
	q.engine.Receive(d.now, in)
	d.ready(q)
}

// serviceMask is the part of an opcode that names the transport service.
const serviceMask = 0xE0

// samePartition compares P_Keys: the same partition, and not both limited
// members (IBTA 10.9.3).
func samePartition(a, b uint16) bool {
	const full = 0x8000
	return (a^b)&^full == 0 && (a|b)&full != 0
}

// area is the 40 bytes that a UD receiver finds before the payload: the IPv6
// header, or an IPv4 header at the end (IBTA A17.4.5.1).
func (r *receiver) area(ip []byte) []byte {
	if len(ip) == wire.GRHLen {
		return ip
	}
	clear(r.grh[:wire.GRHLen-wire.IPv4MinLen])
	copy(r.grh[wire.GRHLen-wire.IPv4MinLen:], ip)
	return r.grh[:]
}
