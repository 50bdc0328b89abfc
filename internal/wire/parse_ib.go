package wire

// rocev1 walks a GRH over Ethernet. The packet ends where GRH.PayLen says, not
// where the frame does: Ethernet pads, and an FCS may follow (IBTA A16.4).
func (f *Frame) rocev1(off, end int) {
	if !f.push(HdrGRH, off, GRHLen, end) {
		return
	}
	grh := GRH(f.Data[off:])
	f.Proto, f.Net = ProtoRoCEv1, off
	f.limit(&end, off+GRHLen+grh.PayLen())
	f.afterGRH(grh, off+GRHLen, end)
}

// afterGRH continues behind a GRH with a BTH, unless NxtHdr says otherwise.
func (f *Frame) afterGRH(grh GRH, off, end int) {
	if grh.Version() != 6 || grh.NextHeader() != NextHeaderBTH {
		f.Problems |= ProblemVersion
		f.opaque(off, end)
		return
	}
	f.bth(off, end)
}

func (f *Frame) opaque(off, end int) {
	f.Payload, f.PayloadLen, f.End = off, max(0, end-off), end
	if f.PayloadLen > 0 {
		f.push(HdrPayload, off, f.PayloadLen, end)
	}
}

// infiniband walks a native InfiniBand packet. LRH.PktLen says where the ICRC
// ends; two more bytes on the wire are the VCRC (IBTA 7.7.8, 7.8).
func (f *Frame) infiniband(off, end int) {
	if !f.push(HdrLRH, off, LRHLen, end) {
		return
	}
	lrh := LRH(f.Data[off:])
	f.Proto, f.Net = ProtoIB, off
	wireEnd := end
	f.limit(&end, off+lrh.PktLen()*4)
	if wireEnd-end >= VCRCLen {
		f.VCRC = end
	}
	if end < off+LRHLen {
		f.Problems |= ProblemShort
		return
	}
	f.End = end
	body := off + LRHLen
	switch lrh.LNH() {
	case LNHLocal:
		f.bth(body, end)
	case LNHGlobal:
		if f.push(HdrGRH, body, GRHLen, end) {
			grh := GRH(f.Data[body:])
			if body+GRHLen+grh.PayLen() != end {
				f.Problems |= ProblemLength
			}
			f.afterGRH(grh, body+GRHLen, end)
		}
	case LNHRaw:
		f.Proto = ProtoIBRaw
		if f.push(HdrRWH, body, RWHLen, end) {
			f.etherType(RWH(f.Data[body:]).EtherType(), body+RWHLen, end)
		}
	case LNHIPv6:
		f.Proto = ProtoIBRaw
		f.ipv6(body, end)
	}
	if f.VCRC >= 0 {
		f.push(HdrVCRC, f.VCRC, VCRCLen, wireEnd)
	}
}

// bth walks the transport headers between off and the end of the ICRC.
func (f *Frame) bth(off, end int) {
	f.End = end
	f.Payload, f.PayloadLen = off, 0
	body := end
	if !f.fragment() { // else the ICRC is in another one
		body -= ICRCLen
	}
	read := f.push(HdrBTH, off, BTHLen, body)
	if off+BTHLen > body {
		return
	}
	f.BTH = off
	if read {
		f.transport(off, body)
	}
	if !f.fragment() {
		f.ICRC = body
		f.push(HdrICRC, body, ICRCLen, end)
	}
}

// transport walks what the BTH at off announces, up to end.
func (f *Frame) transport(off, end int) {
	bth := BTH(f.Data[off:])
	info := bth.Opcode().Info()
	f.judgeBTH(bth, info)
	if at, whole := f.extended(info, off+BTHLen, end); whole {
		f.body(bth, info, at, end)
	}
}

func (f *Frame) judgeBTH(bth BTH, info *OpcodeInfo) {
	if bth.TVer() != 0 {
		f.Problems |= ProblemTVer
	}
	if bth.ReservedSet() {
		f.Problems |= ProblemReserved
	}
	if !info.Defined() {
		f.Problems |= ProblemUnknownOpcode
	}
}

// extended walks the extended headers and returns where they end. whole is
// false when the packet's lengths leave no room for them; headers that the
// capture cut off are recorded at their places.
func (f *Frame) extended(info *OpcodeInfo, off, end int) (at int, whole bool) {
	for _, id := range info.Extended() {
		n := extendedLen[id-HdrLRH]
		read := f.push(id, off, n, end)
		if off+n > end {
			return off, false
		}
		if read {
			f.judgeExtended(id, f.Data[off:off+n])
		}
		off += n
	}
	return off, true
}

func (f *Frame) judgeExtended(id HeaderID, h []byte) {
	switch id {
	case HdrAETH:
		if !AETH(h).Syndrome().Defined() {
			f.Problems |= ProblemSyndrome
		}
	case HdrRDETH, HdrXRCETH:
		if h[0] != 0 {
			f.Problems |= ProblemReserved
		}
	case HdrDETH:
		if h[4] != 0 {
			f.Problems |= ProblemReserved
		}
	case HdrFETH:
		if FETH(h).reservedSet() {
			f.Problems |= ProblemReserved
		}
	}
}

// body records payload and pad between the headers and the ICRC.
func (f *Frame) body(bth BTH, info *OpcodeInfo, off, end int) {
	room := end - off
	f.Payload = off
	if !f.fragment() { // else the pad is in the last one
		f.Pad = bth.PadCount()
	}
	if f.Pad > room {
		f.Problems |= ProblemPad
		f.Pad = room
	}
	f.PayloadLen = room - f.Pad
	if f.PayloadLen > 0 {
		if info.Defined() && !info.Payload && !f.fragment() {
			f.Problems |= ProblemPayload
		}
		if f.isMAD(bth) {
			f.Problems |= f.pushMAD(off, f.PayloadLen)
		} else {
			f.push(HdrPayload, off, f.PayloadLen, end)
		}
	}
	if f.Pad > 0 {
		f.push(HdrPad, off+f.PayloadLen, f.Pad, end)
	}
}

// isMAD reports whether the payload is a management datagram: those go to the
// well-known QPs 0 and 1 as UD SENDs (IBTA 13.3, 16.1.1).
func (f *Frame) isMAD(bth BTH) bool {
	return bth.DestQP() <= 1 && bth.Opcode() == BaseUD|OpSendOnly
}
