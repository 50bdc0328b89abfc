package wire

// ipv4 walks an IPv4 header and what it carries. A total length of 0 is what a
// sender with segmentation offload shows its own capture: the frame's length
// counts then.
func (f *Frame) ipv4(off, end int) {
	if !f.isVersion(4, off, end) || !f.push(HdrIPv4, off, IPv4MinLen, end) {
		return
	}
	ip := IPv4Header(f.Data[off:])
	headerLen := ip.HeaderLen()
	if !f.extend(headerLen, end) {
		return
	}
	f.Net = off
	switch total := ip.TotalLen(); {
	case total == 0:
		f.Problems |= ProblemLength
	case total < headerLen:
		f.Problems |= ProblemLength
		return
	default:
		f.limit(&end, off+total)
	}
	f.End = end
	if ip.FragmentOffset() != 0 || ip.MoreFragments() {
		f.Problems |= ProblemFragment
		if ip.FragmentOffset() != 0 {
			return
		}
	}
	f.ipProtocol(ip.Protocol(), off+headerLen, end)
}

// isVersion reports whether an IP header of the version can begin at off; any
// other bytes there are left alone, so that nothing is read from them.
func (f *Frame) isVersion(version uint8, off, end int) bool {
	if off < end && off < len(f.Data) && f.Data[off]>>4 != version {
		f.Problems |= ProblemVersion
		f.opaque(off, end)
		return false
	}
	return true
}

// limit sets end to what a length field says, and notes when it says more than
// there is; of what lies in a fragment, the rest is elsewhere.
func (f *Frame) limit(end *int, says int) {
	if says > *end && !f.fragment() {
		f.Problems |= ProblemLength
	}
	*end = says
}

// fragment reports whether the packet lies in one fragment of several.
func (f *Frame) fragment() bool { return f.Problems&ProblemFragment != 0 }

// ipv6 walks an IPv6 header, its extension headers, and what they carry.
func (f *Frame) ipv6(off, end int) {
	if !f.isVersion(6, off, end) || !f.push(HdrIPv6, off, IPv6Len, end) {
		return
	}
	ip := IPv6Header(f.Data[off:])
	f.Net = off
	switch n := ip.PayloadLen(); {
	case n == 0 && ip.NextHeader() != IPProtoNone:
		f.Problems |= ProblemLength
	default:
		f.limit(&end, off+IPv6Len+n)
	}
	f.End = end
	f.ipv6Next(ip.NextHeader(), off+IPv6Len, end)
}

func (f *Frame) ipv6Next(proto uint8, off, end int) {
	for {
		var id HeaderID
		switch proto {
		case IPProtoHopOpts:
			id = HdrIPv6HopOpts
		case IPProtoRouting:
			id = HdrIPv6Routing
		case IPProtoDestOpts:
			id = HdrIPv6DestOpts
		case IPProtoFragment:
			id = HdrIPv6Fragment
		default:
			f.ipProtocol(proto, off, end)
			return
		}
		if !f.push(id, off, IPv6ExtMinLen, end) {
			return
		}
		n := IPv6ExtMinLen
		if id == HdrIPv6Fragment {
			if f.fragmentHeader(f.Data[off:]) {
				return
			}
		} else {
			n = IPv6Ext(f.Data[off:]).HeaderLen()
			if !f.extend(n, end) {
				return
			}
		}
		proto = f.Data[off]
		off += n
	}
}

// fragmentHeader judges a fragment header and reports whether what follows it is
// the middle of a packet.
func (f *Frame) fragmentHeader(h IPv6Fragment) (later bool) {
	if h.IsFragment() {
		f.Problems |= ProblemFragment
	}
	return h.Offset() != 0
}

// ipProtocol continues with what an IP protocol number announces.
func (f *Frame) ipProtocol(proto uint8, off, end int) {
	switch proto {
	case IPProtoUDP:
		f.udp(off, end)
	case IPProtoTCP:
		f.tcp(off, end)
	case IPProtoIPv4:
		f.ipv4(off, end)
	case IPProtoIPv6:
		f.ipv6(off, end)
	case IPProtoGRE:
		f.gre(off, end)
	case IPProtoMPLS:
		f.mpls(off, end)
	case IPProtoICMP, IPProtoICMPv6:
		f.Proto = ProtoICMP
	}
}

func (f *Frame) udp(off, end int) {
	if !f.push(HdrUDP, off, UDPLen, end) {
		return
	}
	udp := UDP(f.Data[off:])
	f.Proto, f.L4 = ProtoUDP, off
	switch n := udp.Length(); {
	case n < UDPLen:
		f.Problems |= ProblemLength
	case off+n != end && !f.fragment():
		f.Problems |= ProblemLength
		end = min(off+n, end)
	}
	body := off + UDPLen
	f.Payload, f.PayloadLen, f.End = body, end-body, end
	switch port := udp.DstPort(); {
	case port == PortRoCEv2 || port == f.RoCEPort && port != 0:
		f.Proto = ProtoRoCEv2
		f.judgeNetwork(off)
		f.bth(body, end)
	case port == PortVXLAN:
		if f.push(HdrVXLAN, body, VXLANLen, end) {
			f.ethernet(body+VXLANLen, end)
		}
	case port == PortGeneve:
		f.geneve(body, end)
	}
}

// judgeNetwork notes what lies between the IP header and a RoCEv2 packet's UDP
// header. Options of headers further out concern nobody.
func (f *Frame) judgeNetwork(udp int) {
	plain := IPv4MinLen
	if f.Data[f.Net]>>4 == 6 {
		plain = IPv6Len
	}
	if udp-f.Net != plain {
		f.Problems |= ProblemOptions
	}
}

func (f *Frame) geneve(off, end int) {
	if !f.push(HdrGeneve, off, GeneveMinLen, end) {
		return
	}
	g := Geneve(f.Data[off:])
	if g.Version() != 0 {
		f.Problems |= ProblemVersion
		return
	}
	if n := g.HeaderLen(); f.extend(n, end) {
		f.tunnelled(g.Protocol(), off+n, end)
	}
}

func (f *Frame) tcp(off, end int) {
	if !f.push(HdrTCP, off, TCPMinLen, end) {
		return
	}
	f.Proto, f.L4 = ProtoTCP, off
	n := TCP(f.Data[off:]).HeaderLen()
	if !f.extend(n, end) {
		return
	}
	f.Payload, f.PayloadLen = off+n, end-off-n
	if f.PayloadLen > 0 {
		f.push(HdrTCPPayload, f.Payload, f.PayloadLen, end)
	}
}

func (f *Frame) gre(off, end int) {
	if !f.push(HdrGRE, off, GREMinLen, end) {
		return
	}
	gre := GRE(f.Data[off:])
	if gre.Version() != 0 {
		f.Problems |= ProblemVersion
		return
	}
	n := gre.HeaderLen()
	if !f.extend(n, end) {
		return
	}
	body := off + n
	switch gre.Protocol() {
	case EtherTypeERSPAN2:
		if gre.HasSequence() { // type I has no header of its own
			if !f.push(HdrERSPAN2, body, ERSPAN2Len, end) {
				return
			}
			body += ERSPAN2Len
		}
		f.ethernet(body, end)
	case EtherTypeERSPAN3:
		f.erspan3(body, end)
	default:
		f.tunnelled(gre.Protocol(), body, end)
	}
}

func (f *Frame) erspan3(off, end int) {
	if !f.push(HdrERSPAN3, off, ERSPAN3MinLen, end) {
		return
	}
	h := ERSPAN3(f.Data[off:])
	n := h.HeaderLen()
	if !f.extend(n, end) {
		return
	}
	switch h.FrameType() {
	case erspanFrameEthernet:
		f.ethernet(off+n, end)
	case erspanFrameIP:
		f.rawIP(off+n, end)
	}
}

// tunnelled continues with what a tunnel header's protocol type announces.
func (f *Frame) tunnelled(t uint16, off, end int) {
	if t == EtherTypeTransparent {
		f.ethernet(off, end)
		return
	}
	f.etherType(t, off, end)
}
