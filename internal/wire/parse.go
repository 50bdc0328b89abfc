package wire

import "math"

// Parse finds every header of a captured frame in one pass. wireLen is the
// frame's length on the wire; 0 means that data is all of it. Parse never
// reads beyond data and never fails: what is wrong is in f.Problems.
func (f *Frame) Parse(link LinkType, data []byte, wireLen int) {
	f.reset(link, data, max(min(wireLen, math.MaxInt32), len(data))) // a Header counts in int32
	switch link {
	case LinkEthernet:
		f.ethernet(0, f.WireLen)
	case LinkIB:
		f.infiniband(0, f.WireLen)
	case LinkERF:
		f.erf()
	case LinkSLL:
		f.cookedSLL()
	case LinkSLL2:
		f.cookedSLL2()
	case LinkIPoIB:
		f.ipoib()
	case LinkRawIP, LinkIPv4, LinkIPv6:
		f.rawIP(0, f.WireLen)
	}
	f.trailer()
}

func (f *Frame) reset(link LinkType, data []byte, wireLen int) {
	f.Stack.Reset(data)
	f.Link, f.WireLen = link, wireLen
	f.Proto, f.Problems = ProtoOther, 0
	f.Net, f.L4, f.BTH, f.ICRC, f.VCRC = -1, -1, -1, -1, -1
	f.End, f.Payload, f.PayloadLen, f.Pad = 0, 0, 0, 0
}

// push records a header of n bytes at off, inside something that ends at end.
// It reports whether the whole header is there to be read: false when the
// enclosing length leaves no room for it, and when the capture was cut.
func (f *Frame) push(id HeaderID, off, n, end int) bool {
	short := off+n > end
	if short {
		f.Problems |= ProblemShort
		n = end - off
	}
	if n <= 0 {
		return false
	}
	if !f.Push(id, off, n) {
		f.Problems |= ProblemTooDeep
		return false
	}
	return !short && off+n <= len(f.Data)
}

// extend changes the length of the header pushed last, once its own length
// field could be read, and reports whether all of it is there.
func (f *Frame) extend(n, end int) bool {
	h := &f.hdrs[f.n-1]
	room := end - int(h.Off)
	short := n < int(h.Len) || n > room
	if short {
		f.Problems |= ProblemShort
	}
	h.Len = max(h.Len, int32(min(n, room)))
	return !short && int(h.Off)+n <= len(f.Data)
}

// trailer records the bytes that follow the packet: Ethernet pad and FCS.
func (f *Frame) trailer() {
	end := f.End
	if f.VCRC >= 0 {
		end = f.VCRC + VCRCLen
	}
	if f.End > 0 && end < f.WireLen {
		f.push(HdrTrailer, end, f.WireLen-end, f.WireLen)
	}
}

func (f *Frame) ethernet(off, end int) {
	if f.push(HdrEthernet, off, EthernetLen, end) {
		f.etherType(Ethernet(f.Data[off:]).Type(), off+EthernetLen, end)
	}
}

// etherType continues with what an EtherType announces.
func (f *Frame) etherType(t uint16, off, end int) {
	switch t {
	case EtherTypeIPv4:
		f.ipv4(off, end)
	case EtherTypeIPv6:
		f.ipv6(off, end)
	case EtherTypeRoCE:
		f.rocev1(off, end)
	case EtherTypeVLAN, EtherTypeQinQOld:
		f.vlan(HdrVLAN, off, end)
	case EtherTypeQinQ:
		f.vlan(HdrServiceVLAN, off, end)
	case EtherTypeMPLS, EtherTypeMPLSMulticast:
		f.mpls(off, end)
	case EtherTypeMACControl:
		f.macControl(off, end)
	case EtherTypeARP:
		f.Proto = ProtoARP
		if f.push(HdrARP, off, arpFixedLen, end) {
			f.extend(ARP(f.Data[off:]).HeaderLen(), end)
		}
	}
}

func (f *Frame) vlan(id HeaderID, off, end int) {
	if f.push(id, off, VLANLen, end) {
		f.etherType(VLAN(f.Data[off:]).EtherType(), off+VLANLen, end)
	}
}

// mpls walks the label stack. What is under it is only known to be IP by its
// version (RFC 4928, 3); anything else is left alone.
func (f *Frame) mpls(off, end int) {
	for f.push(HdrMPLS, off, MPLSLen, end) {
		bottom := MPLS(f.Data[off:]).Bottom()
		off += MPLSLen
		if bottom {
			f.rawIP(off, end)
			return
		}
	}
}

// rawIP continues with an IP header of the version that it says it has.
func (f *Frame) rawIP(off, end int) {
	if off >= end || off >= len(f.Data) {
		return
	}
	switch f.Data[off] >> 4 {
	case 4:
		f.ipv4(off, end)
	case 6:
		f.ipv6(off, end)
	}
}

func (f *Frame) macControl(off, end int) {
	if !f.push(HdrMACControl, off, MACControlLen, end) {
		return
	}
	switch MACControl(f.Data[off:]).Opcode() {
	case MACControlPause:
		f.Proto = ProtoPause
	case MACControlPFC:
		f.n-- // the class-based form has its own header
		f.Proto = ProtoPFC
		f.push(HdrPFC, off, PFCLen, end)
	}
}

func (f *Frame) cookedSLL() {
	if f.push(HdrSLL, 0, SLLLen, f.WireLen) {
		f.etherType(SLL(f.Data).Protocol(), SLLLen, f.WireLen)
	}
}

func (f *Frame) cookedSLL2() {
	if f.push(HdrSLL2, 0, SLL2Len, f.WireLen) {
		f.etherType(SLL2(f.Data).Protocol(), SLL2Len, f.WireLen)
	}
}

// ipoib walks a frame of link type 242. libpcap and Wireshark give it 40 bytes
// before the IPoIB header: a GRH, or zeros and the 20-byte destination address.
// Other writers leave the zeros out; a known EtherType tells that form.
func (f *Frame) ipoib() {
	id, off, n := HdrIPoIBPseudo, GRHLen-IPoIBPseudoLen, IPoIBPseudoLen
	switch {
	case f.isIPoIB(IPoIBPseudoLen) && !f.isIPoIB(GRHLen):
		off = 0
	case len(f.Data) > 0 && f.Data[0]>>4 == 6:
		id, off, n = HdrGRH, 0, GRHLen
	}
	if !f.push(id, off, n, f.WireLen) {
		return
	}
	off += n
	if f.push(HdrIPoIB, off, IPoIBLen, f.WireLen) {
		f.etherType(IPoIB(f.Data[off:]).EtherType(), off+IPoIBLen, f.WireLen)
	}
}

// isIPoIB reports whether an IPoIB header of a known type stands at off.
func (f *Frame) isIPoIB(off int) bool {
	if off+IPoIBLen > len(f.Data) {
		return false
	}
	h := IPoIB(f.Data[off:])
	switch h.EtherType() {
	case EtherTypeIPv4, EtherTypeIPv6, EtherTypeARP:
		return h.Reserved() == 0
	}
	return false
}

// erf walks an ERF record: header, extension headers, then by type an
// Ethernet frame behind two pad bytes, an InfiniBand packet or a link packet.
func (f *Frame) erf() {
	if !f.push(HdrERF, 0, ERFLen, f.WireLen) {
		return
	}
	rec := ERF(f.Data)
	off, more := ERFLen, rec.HasExtension()
	for more {
		if !f.push(HdrERFExt, off, ERFExtLen, f.WireLen) {
			return
		}
		more = ERFExt(f.Data[off:]).More()
		off += ERFExtLen
	}
	end := f.WireLen
	switch rec.Type() {
	case ERFTypeEthernet:
		off += ERFEthernetPad
		f.ethernet(off, erfEnd(rec, off, end))
	case ERFTypeInfiniBand:
		f.infiniband(off, erfEnd(rec, off, end))
	case ERFTypeInfiniBandLink:
		f.Proto = ProtoIBLink
		f.End = min(off+FlowControlLen, end)
		f.push(HdrFlowControl, off, FlowControlLen, end)
	}
}

// erfEnd is where the packet of an ERF record ends: behind the bytes that wlen
// counts, though the card may have kept fewer. Some writers count the Ethernet
// pad in wlen.
func erfEnd(rec ERF, off, end int) int {
	wire := off + rec.WireLen()
	if rec.Type() == ERFTypeEthernet && wire == end+ERFEthernetPad {
		return end
	}
	return wire
}
