package endpoint

import (
	"encoding/binary"
	"net/netip"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/wire"
)

// frame makes the next frame.
func (v *victim) frame(b []byte) []byte {
	switch n := v.rng.IntN(100); {
	case n < 75:
		return v.packet(b)
	case n < 90:
		return v.captured(b)
	case n < 95:
		return v.question(b)
	default:
		return v.noise(b)
	}
}

// noise begins like a frame to the device.
func (v *victim) noise(b []byte) []byte {
	b = append(b, v.dev.mac[:]...)
	for range v.rng.IntN(200) {
		b = append(b, byte(v.rng.Uint32()))
	}
	if len(b) >= wire.EthernetLen {
		types := []uint16{wire.EtherTypeIPv4, wire.EtherTypeIPv6, wire.EtherTypeARP, wire.EtherTypeVLAN, 0x8915}
		wire.Ethernet(b).SetType(types[v.rng.IntN(len(types))])
	}
	return b
}

// question asks for the device's addresses, or echoes, mostly in the right way.
func (v *victim) question(b []byte) []byte {
	own := v.dev.GID(v.rng.IntN(2))
	if v.rng.IntN(2) == 0 {
		q := host.Question{MAC: host.MAC{2, 0, 0, 0, 0, byte(v.rng.Uint32())}, Target: own}
		if own.Is4() {
			q.IP = netip.AddrFrom4([4]byte{10, 77, 0, byte(v.rng.Uint32())})
		}
		b = q.Append(b)
	} else {
		b = v.echo(b, own)
	}
	return v.spoil(b, 200)
}

func (v *victim) echo(b []byte, own netip.Addr) []byte {
	peer, kind := netip.MustParseAddr("10.77.0.2"), []byte{8, wire.IPProtoICMP}
	if own.Is6() {
		peer, kind = netip.MustParseAddr("fd77::2"), []byte{128, wire.IPProtoICMPv6}
	}
	b = append(b, head(peer, own)...)
	b = b[:len(b)-wire.UDPLen]
	wire.Ethernet(b).SetDst(v.dev.mac)
	at := len(b)
	b = append(b, kind[0], 0, 0, 0, 1, 2, 3, 4)
	b = append(b, make([]byte, v.rng.IntN(600))...)
	sum := uint32(0)
	icmp := b[at:]
	if ip := b[wire.EthernetLen:at]; own.Is4() {
		h := wire.IPv4Header(ip)
		h.SetProtocol(kind[1])
		h.SetTotalLen(len(b) - wire.EthernetLen)
		h.SetChecksum(wire.IPv4Checksum(h))
	} else {
		h := wire.IPv6Header(ip)
		h.SetNextHeader(kind[1])
		h.SetPayloadLen(len(icmp))
		for i := 8; i < len(ip); i += 2 {
			sum += uint32(binary.BigEndian.Uint16(ip[i:]))
		}
		sum += uint32(len(icmp)) + uint32(kind[1])
	}
	for i := 0; i+1 < len(icmp); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(icmp[i:]))
	}
	if len(icmp)%2 == 1 {
		sum += uint32(icmp[len(icmp)-1]) << 8
	}
	for sum>>16 > 0 {
		sum = sum&0xFFFF + sum>>16
	}
	binary.BigEndian.PutUint16(icmp[2:], ^uint16(sum))
	return b
}

// captured is a frame of a capture, sent to the device and changed.
func (v *victim) captured(b []byte) []byte {
	b = append(b, v.seeds[v.rng.IntN(len(v.seeds))]...)
	p := v.qps[v.rng.IntN(len(v.qps))]
	wire.Ethernet(b).SetDst(v.dev.mac)
	v.parsed.Parse(wire.LinkEthernet, b, len(b))
	if f := &v.parsed; f.BTH > 0 && f.BTH+wire.BTHLen <= len(b) && f.L4-f.Net >= wire.IPv4MinLen {
		bth := wire.BTH(b[f.BTH:])
		if bth.DestQP() != 1 {
			bth.SetDestQP(p.QPN())
			bth.SetPSN(v.psn(p, bth.Opcode()))
		} else if mad := b[min(len(b), f.BTH+wire.BTHLen+wire.DETHLen):]; len(mad) >= wire.MADLen && v.rng.IntN(2) == 0 {
			v.renumber(mad)
		}
		if f.L4-f.Net == wire.IPv4MinLen {
			h := wire.IPv4Header(b[f.Net:f.L4])
			h.SetDst(v.dev.GID(0).As4())
			h.SetSrc([4]byte{10, 77, 0, 2})
			h.SetChecksum(wire.IPv4Checksum(h))
		} else if f.L4-f.Net == wire.IPv6Len {
			h := wire.IPv6Header(b[f.Net:f.L4])
			h.SetDst(v.dev.GID(1).As16())
			h.SetSrc(netip.MustParseAddr("fd77::2").As16())
		}
	}
	if v.rng.IntN(2) == 0 {
		b = v.spoil(b, 500)
	}
	v.seal(b)
	return b
}

// renumber makes a management datagram one of another conversation: another
// transaction, and other communication IDs, which begin a CM message.
func (v *victim) renumber(mad []byte) {
	const transaction, message = 8, 24
	binary.BigEndian.PutUint64(mad[transaction:], v.rng.Uint64())
	binary.BigEndian.PutUint32(mad[message:], v.rng.Uint32())
	if v.rng.IntN(2) == 0 {
		binary.BigEndian.PutUint32(mad[message+4:], v.rng.Uint32N(1000))
	}
}

// seal makes the ICRC right, where there is one.
func (v *victim) seal(b []byte) {
	v.parsed.Parse(wire.LinkEthernet, b, len(b))
	_ = v.hasher.PatchFrame(&v.parsed)
}

// psn is one near that which the queue pair expects.
func (v *victim) psn(p *prey, op wire.Opcode) PSN {
	from := p.expected
	if op.Info().Response {
		from = p.asked
	}
	switch n := v.rng.IntN(20); {
	case n < 12:
		return from
	case n < 18:
		return from.Add(v.rng.IntN(12) - 6)
	case n < 19:
		return from.Add(1<<23 - 2 + v.rng.IntN(4))
	}
	return PSN(v.rng.Uint32() & 0xFFFFFF)
}

// packet makes a RoCE packet that is right in most things.
func (v *victim) packet(b []byte) []byte {
	p := v.qps[v.rng.IntN(len(v.qps))]
	b = append(b, head(p.peer, v.own(p))...)
	wire.Ethernet(b).SetDst(v.dev.mac)
	if p.Type() == UD && p.peer.Is4() { // from anybody, whom the device remembers
		h := wire.IPv4Header(b[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
		h.SetSrc([4]byte{10, 77, byte(v.rng.IntN(16)), byte(v.rng.Uint32())})
	}
	start := len(b)
	op := p.Type().Base() + wire.Opcode(v.rng.IntN(0x20))
	if v.rng.IntN(100) == 0 {
		op = wire.OpcodeRoCECNP
	}
	n := v.size(op)
	b = append(b, make([]byte, wire.BTHLen)...)
	bth := wire.BTH(b[start:])
	bth.SetOpcode(op)
	bth.SetDestQP(p.QPN())
	bth.SetPKey(0xFFFF)
	bth.SetMigReq(true)
	bth.SetAckReq(v.rng.IntN(2) == 0)
	bth.SetFECN(v.rng.IntN(50) == 0)
	bth.SetPSN(v.psn(p, op))
	for range max(0, op.Info().HeaderLen()-wire.BTHLen) + n {
		b = append(b, byte(v.rng.Uint32()))
	}
	if op.Info().Defined() {
		bth = wire.BTH(b[start:])
		bth.SetPadCount(-n & 3)
		if v.rng.IntN(30) > 0 {
			b = append(b, make([]byte, -n&3)...)
		}
		if packet := wire.Packet(b[start:]); packet.Valid() && v.rng.IntN(20) > 0 {
			v.reach(packet, n)
		}
	}
	b = append(b, make([]byte, icrc.Len)...)
	v.lengths(b, p.peer.Is6())
	switch v.rng.IntN(12) {
	case 0:
		b = v.spoil(b, 1000)
		v.seal(b)
	case 1:
		v.seal(b)
		b = v.spoil(b, 1000)
	default:
		v.seal(b)
	}
	return b
}

func (v *victim) own(p *prey) netip.Addr {
	if p.peer.Is6() {
		return v.dev.GID(1)
	}
	return v.dev.GID(0)
}

// size is a payload's length, mostly right for the place in the message.
func (v *victim) size(op wire.Opcode) int {
	info := op.Info()
	switch {
	case !info.Payload && v.rng.IntN(20) > 0:
		return 0
	case v.rng.IntN(20) == 0:
		return v.rng.IntN(1300)
	case info.Place == wire.PlaceFirst || info.Place == wire.PlaceMiddle:
		return 1024
	case op.Operation() == wire.OpAtomicWrite:
		return 8
	}
	return v.rng.IntN(400)
}

// reach makes the headers name memory: within a part, at its ends or beyond.
func (v *victim) reach(packet wire.Packet, n int) {
	i := v.rng.IntN(len(v.keys))
	key := v.keys[i]
	va := uint64(1+min(i, hostileWindow)) << 32
	if i >= hostileParts {
		va += hostilePart / 4
	}
	size := n
	if v.rng.IntN(4) == 0 || packet.Opcode().Operation() == wire.OpReadRequest {
		size = v.rng.IntN(4000)
	}
	switch v.rng.IntN(8) {
	case 0:
		va--
	case 1:
		va += uint64(hostilePart - size)
	case 2:
		va += uint64(hostilePart - size + 1)
	case 3:
		va, size = -uint64(v.rng.IntN(2000)), v.rng.IntN(1<<31)
	default:
		va += uint64(v.rng.IntN(hostilePart) &^ 7)
	}
	if v.rng.IntN(30) == 0 {
		key ^= 1 << v.rng.IntN(32)
	}
	if h := wire.RETH(packet.View(wire.HdrRETH)); h != nil {
		h.SetVA(va)
		h.SetRKey(key)
		h.SetDMALen(uint32(size))
	}
	if h := wire.AtomicETH(packet.View(wire.HdrAtomicETH)); h != nil {
		h.SetVA(va)
		h.SetRKey(key)
	}
	if h := wire.DETH(packet.View(wire.HdrDETH)); h != nil {
		h.SetQKey(DefaultQKey)
	}
	if h := wire.XRCETH(packet.View(wire.HdrXRCETH)); h != nil {
		h.SetSRQN(v.srq.Number())
	}
	if h := wire.IETH(packet.View(wire.HdrIETH)); h != nil {
		h.SetRKey(key)
	}
	if h := wire.AETH(packet.View(wire.HdrAETH)); h != nil {
		if v.rng.IntN(4) > 0 {
			h.SetSyndrome(wire.NewSyndrome(wire.Ack, uint8(v.rng.IntN(32))))
		}
	}
	if h := wire.FETH(packet.View(wire.HdrFETH)); h != nil {
		h.SetPlacement(wire.FlushGlobal)
		h.SetSelectivity(uint8(v.rng.IntN(3)))
	}
}

// lengths makes those of IP and UDP right, and the checksum.
func (v *victim) lengths(b []byte, six bool) {
	if six {
		at := wire.EthernetLen + wire.IPv6Len
		wire.IPv6Header(b[wire.EthernetLen:at]).SetPayloadLen(len(b) - at)
		wire.UDP(b[at:]).SetLength(len(b) - at)
		return
	}
	at := wire.EthernetLen + wire.IPv4MinLen
	h := wire.IPv4Header(b[wire.EthernetLen:at])
	h.SetECN(uint8(v.rng.IntN(4)))
	h.SetTotalLen(len(b) - wire.EthernetLen)
	h.SetChecksum(wire.IPv4Checksum(h))
	wire.UDP(b[at:]).SetLength(len(b) - at)
}

// spoil changes a frame somewhere, with a chance of so many in a thousand: bits,
// its end, a VLAN tag, options in the IP header.
func (v *victim) spoil(b []byte, chance int) []byte {
	if v.rng.IntN(1000) >= chance {
		return b
	}
	const behindMAC = 12
	switch v.rng.IntN(8) {
	case 0: // cut
		return b[:min(len(b), wire.EthernetLen+v.rng.IntN(len(b)))]
	case 1: // longer
		return append(b, make([]byte, v.rng.IntN(64))...)
	case 2: // tagged once or twice
		for range 1 + v.rng.IntN(2) {
			b = append(b, 0, 0, 0, 0)
			copy(b[behindMAC+wire.VLANLen:], b[behindMAC:])
			copy(b[behindMAC:], []byte{0x81, 0, byte(v.rng.Uint32()), byte(v.rng.Uint32())})
		}
		return b
	case 3: // options, or what claims to be
		if wire.Ethernet(b).Type() == wire.EtherTypeIPv4 && len(b) > wire.EthernetLen+wire.IPv4MinLen {
			b[wire.EthernetLen] = 0x40 | byte(v.rng.IntN(16))
			h := wire.IPv4Header(b[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
			h.SetChecksum(wire.IPv4Checksum(h))
		}
		return b
	case 4: // a fragment
		if wire.Ethernet(b).Type() == wire.EtherTypeIPv4 && len(b) > wire.EthernetLen+wire.IPv4MinLen {
			h := wire.IPv4Header(b[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
			h.SetMoreFragments(true)
			h.SetChecksum(wire.IPv4Checksum(h))
		}
		return b
	default:
		for range 1 + v.rng.IntN(8) {
			b[behindMAC+v.rng.IntN(len(b)-behindMAC)] ^= 1 << v.rng.IntN(8)
		}
	}
	return b
}
