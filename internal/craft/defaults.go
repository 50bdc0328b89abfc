package craft

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// The addresses and numbers of a packet that says nothing of them: those that
// RFC 5737 and RFC 3849 set aside for examples.
var (
	defaultSrcMAC = [6]byte{2, 0, 0, 0, 0, 1}
	defaultDstMAC = [6]byte{2, 0, 0, 0, 0, 2}
)

const (
	defaultTTL        = 64
	defaultSourcePort = 0xC000 // the first of the range that RoCE senders use
	defaultQPN        = 0x11
	defaultPKey       = 0xFFFF
	defaultQKey       = 0x11111111 // what ibv_ud_pingpong uses
	noCreditLimit     = 0x1F
)

func defaultIPv4(last byte) [4]byte { return [4]byte{192, 0, 2, last} }

func defaultIPv6(last byte) [16]byte { return [16]byte{0: 0x20, 1: 0x01, 2: 0x0d, 3: 0xb8, 15: last} }

// fill gives a layer's fields their defaults.
func (b *builder) fill(i int) {
	h, next := b.bytes(i), b.next(i)
	switch b.r.Layers[i].ID {
	case wire.HdrEthernet:
		eth := wire.Ethernet(h)
		eth.SetSrc(defaultSrcMAC)
		eth.SetDst(defaultDstMAC)
		eth.SetType(etherType(next))
	case wire.HdrVLAN, wire.HdrServiceVLAN:
		wire.VLAN(h).SetEtherType(etherType(next))
	case wire.HdrMPLS:
		mpls := wire.MPLS(h)
		mpls.SetBottom(next != wire.HdrMPLS)
		mpls.SetTTL(defaultTTL)
	case wire.HdrSLL:
		wire.SLL(h).SetProtocol(etherType(next))
	case wire.HdrSLL2:
		wire.SLL2(h).SetProtocol(etherType(next))
	case wire.HdrIPoIB:
		wire.IPoIB(h).SetEtherType(etherType(next))
	case wire.HdrRWH:
		wire.RWH(h).SetEtherType(etherType(next))
	case wire.HdrERF:
		b.fillERF(h, next)
	case wire.HdrIPv4, wire.HdrIPv6, wire.HdrIPv6HopOpts, wire.HdrIPv6DestOpts, wire.HdrIPv6Routing, wire.HdrIPv6Fragment:
		fillIP(b.r.Layers[i].ID, h, next)
	case wire.HdrUDP:
		udp := wire.UDP(h)
		udp.SetSrcPort(defaultSourcePort)
		udp.SetDstPort(udpPort(next))
	case wire.HdrTCP:
		b.fillTCP(i, h)
	case wire.HdrGRE, wire.HdrERSPAN2, wire.HdrERSPAN3, wire.HdrVXLAN, wire.HdrGeneve:
		fillTunnel(b.r.Layers[i].ID, h, next)
	case wire.HdrMACControl:
		wire.MACControl(h).SetOpcode(wire.MACControlPause)
	case wire.HdrPFC:
		wire.PFC(h).SetOpcode(wire.MACControlPFC)
	default:
		b.fillInfiniBand(i, h, next)
	}
}

func (b *builder) fillERF(h wire.ERF, next wire.HeaderID) {
	switch next {
	case wire.HdrLRH:
		h.SetType(wire.ERFTypeInfiniBand)
	case wire.HdrFlowControl:
		h.SetType(wire.ERFTypeInfiniBandLink)
	default:
		h.SetType(wire.ERFTypeEthernet)
	}
}

func fillIP(id wire.HeaderID, h []byte, next wire.HeaderID) {
	switch id {
	case wire.HdrIPv4:
		ip := wire.IPv4Header(h)
		ip.SetVersion(4)
		ip.SetHeaderLen(len(h))
		ip.SetDontFragment(true)
		ip.SetTTL(defaultTTL)
		ip.SetProtocol(ipProtocol(next))
		ip.SetSrc(defaultIPv4(1))
		ip.SetDst(defaultIPv4(2))
	case wire.HdrIPv6:
		ip := wire.IPv6Header(h)
		ip.SetVersion(6)
		ip.SetNextHeader(ipProtocol(next))
		ip.SetHopLimit(defaultTTL)
		ip.SetSrc(defaultIPv6(1))
		ip.SetDst(defaultIPv6(2))
	default:
		h[0] = ipProtocol(next)
		if id != wire.HdrIPv6Fragment {
			h[1] = byte(len(h)/8 - 1)
		}
	}
}

func fillTunnel(id wire.HeaderID, h []byte, next wire.HeaderID) {
	switch id {
	case wire.HdrGRE:
		gre := wire.GRE(h)
		gre.SetProtocol(greProtocol(next))
		gre.SetHasSequence(len(h) == wire.GREMinLen+4)
	case wire.HdrERSPAN2:
		wire.ERSPAN2(h).SetVersion(1)
	case wire.HdrERSPAN3:
		wire.ERSPAN3(h).SetVersion(2)
	case wire.HdrVXLAN:
		wire.VXLAN(h).SetHasVNI(true)
	case wire.HdrGeneve:
		g := wire.Geneve(h)
		g.SetOptionsLen(len(h) - wire.GeneveMinLen)
		g.SetProtocol(greProtocol(next))
	}
}

func (b *builder) fillInfiniBand(i int, h []byte, next wire.HeaderID) {
	switch b.r.Layers[i].ID {
	case wire.HdrLRH:
		lrh := wire.LRH(h)
		lrh.SetSLID(1)
		lrh.SetDLID(2)
		lrh.SetLNH(linkNextHeader(next))
	case wire.HdrGRH:
		grh := wire.GRH(h)
		grh.SetVersion(6)
		grh.SetNextHeader(wire.NextHeaderBTH)
		grh.SetHopLimit(defaultTTL)
		grh.SetSGID(netip.AddrFrom16(netip.AddrFrom4(defaultIPv4(1)).As16()))
		grh.SetDGID(netip.AddrFrom16(netip.AddrFrom4(defaultIPv4(2)).As16()))
	case wire.HdrBTH:
		b.fillBTH(i, h)
	case wire.HdrDETH:
		deth := wire.DETH(h)
		deth.SetQKey(defaultQKey)
		deth.SetSrcQP(defaultQPN)
		if next == wire.HdrMAD {
			deth.SetQKey(wire.QKeyQP1)
			deth.SetSrcQP(1)
		}
	case wire.HdrRETH:
		wire.RETH(h).SetDMALen(uint32(len(b.r.Payload)))
	case wire.HdrAETH:
		wire.AETH(h).SetSyndrome(noCreditLimit)
	case wire.HdrFETH:
		wire.FETH(h).SetPlacement(wire.FlushGlobal)
	case wire.HdrMAD:
		wire.MAD(h).SetBaseVersion(1)
	default:
		b.fillIWARP(i, h, next)
	}
}

// fillBTH asks for an acknowledgement of what ends a request, and sets BECN in
// congestion notifications (IBTA A17.9.3).
func (b *builder) fillBTH(i int, h wire.BTH) {
	op := b.opcode(i)
	h.SetOpcode(op)
	h.SetMigReq(true)
	h.SetPadCount(b.pad & 3)
	h.SetPKey(defaultPKey)
	h.SetDestQP(defaultQPN)
	if b.next(i) == wire.HdrDETH && i+2 < len(b.r.Layers) && b.r.Layers[i+2].ID == wire.HdrMAD {
		h.SetDestQP(1)
	}
	info := op.Info()
	switch {
	case op.Service() == wire.CNP:
		h.SetBECN(true)
		h.SetMigReq(false)
	case info.Response || info.Service == wire.UC || info.Service == wire.UD:
	case info.Place == wire.PlaceLast || info.Place == wire.PlaceOnly:
		h.SetAckReq(true)
	}
}

// opcode is the one that the recipe sets, else the first that has the headers
// behind the BTH.
func (b *builder) opcode(i int) wire.Opcode {
	if v, ok := b.value(i, "infiniband.bth.opcode"); ok {
		return wire.Opcode(v)
	}
	for code := range 256 {
		op := wire.Opcode(code)
		if op.Info().Defined() && op.Info().Place == wire.PlaceOnly && b.fits(op, i) {
			return op
		}
	}
	return wire.OpSendOnly
}

func (b *builder) fits(op wire.Opcode, i int) bool {
	ext := op.Info().Extended()
	for n, id := range ext {
		if i+1+n >= len(b.r.Layers) || b.r.Layers[i+1+n].ID != id {
			return false
		}
	}
	return i+1+len(ext) == len(b.r.Layers) || b.r.Layers[i+1+len(ext)].ID == wire.HdrMAD
}

// defaultLen is the length of a header that is longer than its fixed part
// because of what it carries.
func (b *builder) defaultLen(i int) int {
	next := b.next(i)
	switch id := b.r.Layers[i].ID; {
	case id == wire.HdrGRE && (next == wire.HdrERSPAN2 || next == wire.HdrERSPAN3):
		return wire.GREMinLen + 4 // a sequence number
	case (id == wire.HdrERF || id == wire.HdrERFExt) && next == wire.HdrEthernet:
		return wire.SpecOf(id).Len + wire.ERFEthernetPad
	case id == wire.HdrRDMAPTerminate && next == wire.HdrRDMAPTermDDP:
		return wire.RDMAPTerminateWithSegLen
	case id == wire.HdrRDMAPTermDDP && next == wire.HdrRDMAPTermRead:
		return wire.DDPUntaggedLen
	}
	return 0
}

// etherType announces a header.
func etherType(next wire.HeaderID) uint16 {
	switch next {
	case wire.HdrIPv4:
		return wire.EtherTypeIPv4
	case wire.HdrIPv6:
		return wire.EtherTypeIPv6
	case wire.HdrGRH:
		return wire.EtherTypeRoCE
	case wire.HdrVLAN:
		return wire.EtherTypeVLAN
	case wire.HdrServiceVLAN:
		return wire.EtherTypeQinQ
	case wire.HdrMPLS:
		return wire.EtherTypeMPLS
	case wire.HdrARP:
		return wire.EtherTypeARP
	case wire.HdrMACControl, wire.HdrPFC:
		return wire.EtherTypeMACControl
	}
	return 0xFFFF // reserved (IEEE registry): a payload without a type
}

// greProtocol announces what a tunnel carries.
func greProtocol(next wire.HeaderID) uint16 {
	switch next {
	case wire.HdrEthernet:
		return wire.EtherTypeTransparent
	case wire.HdrERSPAN2:
		return wire.EtherTypeERSPAN2
	case wire.HdrERSPAN3:
		return wire.EtherTypeERSPAN3
	}
	return etherType(next)
}

func ipProtocol(next wire.HeaderID) uint8 {
	switch next {
	case wire.HdrUDP:
		return wire.IPProtoUDP
	case wire.HdrTCP:
		return wire.IPProtoTCP
	case wire.HdrIPv4:
		return wire.IPProtoIPv4
	case wire.HdrIPv6:
		return wire.IPProtoIPv6
	case wire.HdrGRE:
		return wire.IPProtoGRE
	case wire.HdrMPLS:
		return wire.IPProtoMPLS
	case wire.HdrIPv6HopOpts:
		return wire.IPProtoHopOpts
	case wire.HdrIPv6Routing:
		return wire.IPProtoRouting
	case wire.HdrIPv6Fragment:
		return wire.IPProtoFragment
	case wire.HdrIPv6DestOpts:
		return wire.IPProtoDestOpts
	}
	return wire.IPProtoNone
}

func udpPort(next wire.HeaderID) uint16 {
	switch next {
	case wire.HdrVXLAN:
		return wire.PortVXLAN
	case wire.HdrGeneve:
		return wire.PortGeneve
	}
	return wire.PortRoCEv2
}

func linkNextHeader(next wire.HeaderID) uint8 {
	switch next {
	case wire.HdrGRH:
		return wire.LNHGlobal
	case wire.HdrIPv6:
		return wire.LNHIPv6
	case wire.HdrRWH:
		return wire.LNHRaw
	}
	return wire.LNHLocal
}
