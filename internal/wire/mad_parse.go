package wire

// maxSARecords bounds how many records of a table one datagram shows, so that
// the stack keeps room for what follows the datagram.
const maxSARecords = 4

// ParseMAD fills s with the headers of one management datagram, which mad begins
// with; it may be cut anywhere.
func ParseMAD(s *Stack, mad []byte) Problem {
	s.Reset(mad[:min(len(mad), MADLen)])
	return s.pushMAD(0, MADLen)
}

// pushMAD pushes the headers of the management datagram of length bytes on the
// wire that begins at off in s.Data.
func (s *Stack) pushMAD(off, length int) Problem {
	w := madWalk{stack: s, base: off, at: off, end: off + length}
	if !w.fixed(HdrMAD) {
		return w.problem
	}
	m := MAD(w.captured(off, MADHeaderLen))
	if len(m) > 0 && m.BaseVersion() != MADBaseVersion {
		w.problem |= ProblemVersion
		w.rest(HdrMADData)
		return w.problem
	}
	if len(m) < MADHeaderLen {
		return w.problem // cut before the attribute: what follows cannot be told
	}
	w.class(m)
	return w.problem
}

// madWalk pushes the parts of one datagram in order. Its offsets count in the
// stack's data and are places on the wire.
type madWalk struct {
	stack   *Stack
	base    int // where the datagram begins
	at      int // where the next part begins
	end     int // where the datagram, or the part that is being walked, ends
	problem Problem
}

// captured returns the captured bytes of the n that begin at off.
func (w *madWalk) captured(off, n int) []byte {
	return w.stack.Bytes(Header{Off: int32(off), Len: int32(n)})
}

func (w *madWalk) push(id HeaderID, n int) {
	if !w.stack.Push(id, w.at, n) {
		w.problem |= ProblemTooDeep
	}
	w.at += n
}

// fixed pushes a header of fixed length. When the datagram has no room for it,
// it pushes what is left as data, notes the problem and returns false.
func (w *madWalk) fixed(id HeaderID) bool {
	n := madHeaderLen(id)
	if w.at+n > w.end {
		w.problem |= ProblemBadMAD
		w.rest(HdrMADData)
		return false
	}
	w.push(id, n)
	return true
}

// open pushes a header that takes all the rest, if its fixed part fits.
func (w *madWalk) open(id HeaderID) {
	if w.at+madHeaderLen(id) > w.end {
		w.problem |= ProblemBadMAD
		id = HdrMADData
	}
	w.rest(id)
}

// rest pushes all that is left, if anything is.
func (w *madWalk) rest(id HeaderID) {
	if w.at < w.end {
		w.push(id, w.end-w.at)
	}
}

// attribute goes to a place in the datagram and pushes the attribute that
// begins there, or the bytes there when it is not described.
func (w *madWalk) attribute(id HeaderID, off int) {
	w.at = w.base + off
	if w.at > w.end {
		w.problem |= ProblemBadMAD
		return
	}
	if id == HdrNone {
		w.rest(HdrMADData)
		return
	}
	w.fixed(id)
}

func madHeaderLen(id HeaderID) int { return madSpecs[id-firstMAD].Len }

// class pushes what the datagram's class puts behind the common header.
func (w *madWalk) class(m MAD) {
	attr := m.AttributeID()
	switch class := m.MgmtClass(); {
	case class == ClassSMPLID:
		w.smp(HdrSMPLID, attr)
	case class == ClassSMPDirected:
		w.smp(HdrSMPDirected, attr)
		w.attribute(HdrSMPPaths, smpDataEnd)
	case class == ClassSA:
		w.sa(m)
	case class == ClassPerf:
		w.withNotice(attr, perfAttribute(attr), perfDataOff)
	case class == ClassBM:
		if w.fixed(HdrBM) {
			w.withNotice(attr, sharedAttribute(attr), bmDataOff)
		}
	case class == ClassDevMgt:
		w.optionalRMPP()
		w.withNotice(attr, devMgtAttribute(attr), devMgtDataOff)
	case class == ClassDevAdm, class == ClassBIS:
		w.optionalRMPP()
		w.withNotice(attr, sharedAttribute(attr), devMgtDataOff)
	case class == ClassCM:
		w.cm(attr)
	case class == ClassSNMP:
		if w.fixed(HdrSNMP) {
			w.withNotice(attr, sharedAttribute(attr), snmpDataOff)
		}
	case class == ClassCC:
		w.cc(attr)
	case classIsVendorOUI(class):
		if w.fixed(HdrRMPP) && w.fixed(HdrVendorOUI) {
			w.rest(HdrMADData)
		}
	default:
		w.rest(HdrMADData)
	}
}

// sharedAttribute names the header of an attribute of the classes whose own
// attributes are not described.
func sharedAttribute(attr uint16) HeaderID {
	if attr == 0x0001 {
		return HdrClassPortInfo
	}
	return HdrNone
}

// withNotice is attribute for the classes outside subnet management, where a
// Notice ends with the GID of its issuer.
func (w *madWalk) withNotice(attr uint16, id HeaderID, off int) {
	if attr != 0x0002 {
		w.attribute(id, off)
		return
	}
	w.at = w.base + off
	if w.fixed(HdrNotice) && w.fixed(HdrTrapData) {
		w.fixed(HdrNoticeIssuer)
	}
}

// smp pushes the header and the attribute of a subnet management packet; the
// attribute's place is 64 bytes, whatever it needs of them.
func (w *madWalk) smp(header HeaderID, attr uint16) {
	if !w.fixed(header) {
		return
	}
	end := w.end
	w.end = min(end, w.base+smpDataEnd)
	if id := smpAttribute(attr); id == HdrNotice {
		w.notice()
	} else {
		w.attribute(id, smpDataOff)
	}
	w.end = end
}

// notice pushes a Notice of the subnet manager's traps.
func (w *madWalk) notice() {
	at := w.at
	if !w.fixed(HdrNotice) {
		return
	}
	id := HdrTrapData
	if h := w.captured(at, noticeLen); len(h) == noticeLen {
		id = trapDetails(h)
	}
	w.fixed(id)
}

// optionalRMPP pushes an RMPP header where the class leaves reserved bytes when
// it does without one (Linux ib_is_mad_class_rmpp).
func (w *madWalk) optionalRMPP() {
	h := RMPP(w.captured(w.at, RMPPLen))
	if len(h) >= 3 && h.active() {
		w.fixed(HdrRMPP)
	}
}

// sa pushes the RMPP header, the subnet administration header and the records
// of a subnet administration packet.
func (w *madWalk) sa(m MAD) {
	at := w.at
	if !w.fixed(HdrRMPP) {
		return
	}
	r := RMPP(w.captured(at, RMPPLen))
	if len(r) < RMPPLen {
		return // cut: what follows cannot be told
	}
	kind := RMPPNone
	if r.active() {
		kind = r.Type()
	}
	switch kind {
	case RMPPStop, RMPPAbort:
		w.rest(HdrRMPPError)
		return
	case RMPPAck:
		w.fixed(HdrSA)
		return
	}
	at = w.at
	if w.fixed(HdrSA) {
		w.saRecords(m.AttributeID(), kind == RMPPData, r, w.captured(at, SALen))
	}
}

// saRecords pushes what follows the subnet administration header h, in one
// segment of several when segmented is set.
func (w *madWalk) saRecords(attr uint16, segmented bool, r RMPP, h []byte) {
	record := saRecordOf(attr)
	switch {
	case segmented && r.Data1() > 1: // its records may begin anywhere
		w.rest(HdrMADData)
	case attr == 0x0002:
		w.saNotice()
	case record.parts[0] == HdrNone:
		w.rest(HdrMADData)
	case record.parts[0] == HdrMultiPathRecord:
		w.open(HdrMultiPathRecord)
	case segmented && len(h) == SALen:
		w.saTable(record, int(SA(h).AttributeOffset())*8, r)
	default:
		w.saRecord(record)
	}
}

// saNotice pushes a forwarded notice, which ends with its issuer's GID.
func (w *madWalk) saNotice() {
	w.notice()
	if w.problem == 0 {
		w.fixed(HdrNoticeIssuer)
	}
}

func (w *madWalk) saRecord(r saRecord) {
	for _, id := range r.parts {
		if id == HdrNone || !w.fixed(id) {
			return
		}
	}
}

// saTable pushes the records that begin the answer to a table query, spacing
// bytes apart, and the rest as data. Only the last segment's payload length is
// that of the segment (IBTA vol. 1, 13.6.2.3 and 15.2.3).
func (w *madWalk) saTable(r saRecord, spacing int, h RMPP) {
	if n := int(h.Data2()); h.Flags()&RMPPLast != 0 && n >= SALen {
		w.end = min(w.end, w.base+MADHeaderLen+RMPPLen+n)
	}
	if w.end <= w.at {
		return // the query found nothing
	}
	first := w.at
	if spacing < r.length() {
		w.saRecord(r)
		return
	}
	for i := range maxSARecords {
		w.at = first + i*spacing
		if w.at+r.length() > w.end {
			break
		}
		w.saRecord(r)
		w.at = first + (i+1)*spacing
	}
	w.rest(HdrMADData)
}

// cm pushes a connection management message, and behind a REQ or a SIDR_REQ of
// rdma_cm the header that begins its private data.
func (w *madWalk) cm(attr uint16) {
	id := cmAttribute(attr)
	switch {
	case id == HdrNone:
		w.rest(HdrMADData)
	case id == HdrClassPortInfo:
		w.fixed(id)
	case id == HdrCMReq && reqIsIPCM(w.captured(w.at, CMReqLen)),
		id == HdrCMSidrReq && sidrReqIsIPCM(w.captured(w.at, CMSidrReqLen)):
		if w.fixed(id) {
			w.open(HdrCMIPPrivate)
		}
	default:
		w.open(id)
	}
}

// cc pushes the key and the attribute of a congestion control packet.
func (w *madWalk) cc(attr uint16) {
	if !w.fixed(HdrCC) {
		return
	}
	if attr != 0x0013 {
		w.withNotice(attr, ccAttribute(attr), ccDataOff)
		return
	}
	id := HdrCongestionLogSwitch
	if h := w.captured(w.at, 1); len(h) == 1 && h[0] == logTypeCA {
		id = HdrCongestionLogCA
	}
	w.attribute(id, ccLogOff)
}
