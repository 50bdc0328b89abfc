package wire

import "strconv"

// MADSummary appends one line that says what the datagram is for:
// "SubnGet(NodeInfo)", "CM ConnectRequest service 0x... QP 0x000012 PSN 123".
// The datagram may be cut anywhere.
func MADSummary(dst, mad []byte) []byte {
	m := MAD(mad)
	switch {
	case len(m) < MADHeaderLen:
		return append(dst, "MAD (cut)"...)
	case m.BaseVersion() != MADBaseVersion:
		dst = append(dst, "MAD base version "...)
		return strconv.AppendUint(dst, uint64(m.BaseVersion()), 10)
	case m.MgmtClass() == ClassCM && cmAttributeName(m.AttributeID()) != "" && m.AttributeID() != 0x0001:
		dst = append(dst, "CM "...)
		dst = append(dst, cmAttributeName(m.AttributeID())...)
		return cmSummary(dst, m)
	}
	dst = appendOperation(dst, m)
	if m.MgmtClass() == ClassSA {
		dst = rmppSummary(dst, m)
	}
	status := m.Status()
	if m.MgmtClass() == ClassSMPDirected {
		status &= 0x7FFF // the direction bit
	}
	if status != 0 {
		dst = append(dst, " status "...)
		dst = AppendHex(dst, uint64(status), 4)
	}
	return dst
}

// appendOperation appends the method and, in brackets, the attribute.
func appendOperation(dst []byte, m MAD) []byte {
	class := m.MgmtClass()
	if p := classPrefix(class); p != "" {
		dst = append(dst, p...)
	} else {
		dst = append(dst, "Class "...)
		dst = AppendHex(dst, uint64(class), 2)
		dst = append(dst, ' ')
	}
	if n := MADMethodName(class, m.Method()); n != "" {
		dst = append(dst, n...)
	} else {
		dst = append(dst, "Method "...)
		dst = AppendHex(dst, uint64(m.Method()), 2)
	}
	dst = append(dst, '(')
	if n := MADAttributeName(class, m.AttributeID()); n != "" {
		dst = append(dst, n...)
	} else {
		dst = AppendHex(dst, uint64(m.AttributeID()), 4)
	}
	return append(dst, ')')
}

func rmppSummary(dst []byte, m MAD) []byte {
	h := RMPP(m.Data())
	if len(h) < RMPPLen || !h.active() {
		return dst
	}
	dst = append(dst, " RMPP "...)
	if n := rmppTypeName(uint64(h.Type())); n != "" {
		dst = append(dst, n...)
	} else {
		dst = AppendHex(dst, uint64(h.Type()), 2)
	}
	if h.Type() == RMPPData || h.Type() == RMPPAck {
		dst = append(dst, " segment "...)
		dst = strconv.AppendUint(dst, uint64(h.Data1()), 10)
	}
	return dst
}

// cmSummary appends what matters of a connection management message, if the
// message's fixed part was captured.
func cmSummary(dst []byte, mad MAD) []byte {
	d := mad.Data()
	attr := mad.AttributeID()
	id := cmAttribute(attr)
	if id == HdrNone || len(d) < madHeaderLen(id) {
		return dst
	}
	switch attr {
	case CMAttrReq:
		m := CMReq(d)
		dst = appendService(dst, m.ServiceID())
		dst = appendQP(dst, m.LocalQPN())
		return appendPSN(dst, m.StartingPSN())
	case CMAttrRep:
		m := CMRep(d)
		dst = appendQP(dst, m.LocalQPN())
		return appendPSN(dst, m.StartingPSN())
	case CMAttrRej:
		reason := CMRej(d).Reason()
		return appendCode(dst, CMRejReason(reason), uint64(reason))
	case CMAttrMra:
		return append(append(dst, ' '), mraMessageName(uint64(CMMra(d).Message()))...)
	case CMAttrDreq:
		return appendQP(dst, CMDreq(d).RemoteQPN())
	case CMAttrSidrReq:
		return appendService(dst, CMSidrReq(d).ServiceID())
	case CMAttrSidrRep:
		m := CMSidrRep(d)
		if m.Status() == 0 {
			return appendQP(dst, m.QPN())
		}
		return appendCode(dst, sidrStatusName(uint64(m.Status())), uint64(m.Status()))
	case CMAttrLap:
		return appendQP(dst, CMLap(d).RemoteQPN())
	case CMAttrApr:
		status := uint64(CMApr(d).Status())
		return appendCode(dst, aprStatusName(status), status)
	}
	return dst
}

func appendService(dst []byte, id uint64) []byte {
	return AppendHex(append(dst, " service "...), id, 16)
}

func appendQP(dst []byte, qpn uint32) []byte {
	return AppendHex(append(dst, " QP "...), uint64(qpn), 6)
}

func appendPSN(dst []byte, psn PSN) []byte {
	return strconv.AppendUint(append(dst, " PSN "...), uint64(psn), 10)
}

// appendCode appends a named value, its number when it has no name.
func appendCode(dst []byte, name string, code uint64) []byte {
	dst = append(dst, ": "...)
	if name == "" {
		return strconv.AppendUint(append(dst, "code "...), code, 10)
	}
	return append(dst, name...)
}
