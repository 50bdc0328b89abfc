package wire

import "bytes"

// ParseMPAStart fills s with the headers of an MPA start-up frame, which is all
// of frame: its private data included, no FPDU behind it. A frame that was cut
// short gives the headers that its bytes still reach.
func ParseMPAStart(s *Stack, frame []byte) Problem {
	s.Reset(frame)
	id := HdrMPARequest
	if len(frame) >= mpaKeyLen && string(frame[:mpaKeyLen]) == MPAReplyKey {
		id = HdrMPAReply
	}
	s.Push(id, 0, MPAStartLen)
	if len(frame) < MPAStartLen {
		return ProblemShort
	}
	m := MPAStart(frame)
	problems := startProblems(m)
	private := frame[MPAStartLen:]
	if len(private) != m.PrivateLen() {
		problems |= ProblemLength
	}
	pushPrivate(s, m, private)
	return problems
}

func startProblems(m MPAStart) Problem {
	var problems Problem
	if key := string(m.Key()); key != MPARequestKey && key != MPAReplyKey {
		problems |= ProblemMPA
	}
	// A request cannot reject (RFC 5044 section 7.1.1).
	if m.Reject() && string(m.Key()) == MPARequestKey {
		problems |= ProblemMPA
	}
	if m.Reserved() != 0 {
		problems |= ProblemMPA | ProblemReserved
	}
	if m.Revision() < 1 || m.Revision() > 2 || m.PrivateLen() > MaxMPAPrivate {
		problems |= ProblemMPA
	}
	if m.Enhanced() && m.PrivateLen() < MPAEnhancedLen {
		problems |= ProblemMPA | ProblemShort
	}
	return problems
}

func pushPrivate(s *Stack, m MPAStart, private []byte) {
	at, left := MPAStartLen, m.PrivateLen()
	switch {
	case m.Enhanced() && left >= MPAEnhancedLen:
		s.Push(HdrMPAEnhanced, at, MPAEnhancedLen)
		at += MPAEnhancedLen
		left -= MPAEnhancedLen
	case !m.Enhanced() && left == MPALegacyLen && len(private) >= MPALegacyLen && MPALegacy(private).Plausible():
		s.Push(HdrMPALegacy, at, MPALegacyLen)
		return
	}
	if left > 0 {
		s.Push(HdrMPAPrivate, at, left)
	}
}

// ParseFPDU fills s with the headers of one FPDU whose markers were taken out.
// An FPDU that was cut short gives the headers that its bytes still reach, with
// the lengths they have on the wire.
func ParseFPDU(s *Stack, fpdu []byte) Problem {
	s.Reset(fpdu)
	s.Push(HdrFPDU, 0, FPDULengthLen)
	if len(fpdu) < FPDULengthLen {
		return ProblemShort
	}
	n := FPDU(fpdu).ULPDULen()
	problems := parseULPDU(s, FPDULengthLen, n)
	end, pad := FPDULengthLen+n, FPDUPad(n)
	if pad > 0 {
		s.Push(HdrFPDUPad, end, pad)
		if !allZero(window(fpdu, end, pad)) {
			problems |= ProblemFPDUPad
		}
	}
	s.Push(HdrFPDUCRC, end+pad, FPDUCRCLen)
	if len(fpdu) > FPDULen(n) {
		problems |= ProblemLength
	}
	return problems
}

// parseULPDU pushes the headers of the ULPDU of n bytes at offset at.
func parseULPDU(s *Stack, at, n int) Problem {
	if len(s.Data) <= at {
		return pushPayload(s, at, n)
	}
	ddp := DDP(s.Data[at:])
	hlen := ddp.HeaderLen()
	if n < hlen {
		return ProblemShort | pushPayload(s, at, n)
	}
	var problems Problem
	if ddp.Version() != DDPVersion {
		problems |= ProblemDDPVersion
	}
	if ddp.Reserved() != 0 {
		problems |= ProblemReserved
	}
	if ddp.Tagged() {
		s.Push(HdrDDPTagged, at, hlen)
		s.Push(HdrRDMAP, at+RDMAPInDDP, RDMAPTaggedLen)
	} else {
		s.Push(HdrDDPUntagged, at, hlen)
		s.Push(HdrRDMAP, at+RDMAPInDDP, RDMAPUntaggedLen)
	}
	if len(s.Data) <= at+RDMAPInDDP {
		return problems | pushPayload(s, at+hlen, n-hlen)
	}
	problems |= rdmapProblems(s, ddp, at)
	return problems | parseRDMAP(s, at+hlen, n-hlen, ddp.Tagged())
}

// rdmapProblems judges the RDMAP control octet and the queue of the DDP header
// at offset at.
func rdmapProblems(s *Stack, ddp DDP, at int) Problem {
	r := RDMAP(s.Data[at+RDMAPInDDP:])
	op := r.Opcode()
	var problems Problem
	if r.Version() != RDMAPVersion {
		problems |= ProblemRDMAPVersion
	}
	if r.Reserved() != 0 {
		problems |= ProblemReserved
	}
	if !op.Known() {
		return problems | ProblemUnknownOpcode
	}
	if op.Tagged() != ddp.Tagged() {
		return problems | ProblemQueue
	}
	if ddp.Tagged() {
		return problems
	}
	if len(r) >= RDMAPUntaggedLen && !op.Invalidates() && r.InvalidateSTag() != 0 {
		problems |= ProblemReserved
	}
	if len(ddp) >= DDPUntaggedLen && DDPUntagged(ddp).QN() != op.QN() {
		problems |= ProblemQueue
	}
	return problems
}

// parseRDMAP pushes what follows the DDP header: n bytes at offset at.
func parseRDMAP(s *Stack, at, n int, tagged bool) Problem {
	op := RDMAP(s.View(HdrRDMAP)).Opcode()
	if tagged {
		return pushPayload(s, at, n)
	}
	switch op {
	case RDMAPReadRequest:
		return pushBody(s, HdrRDMAPReadRequest, at, n, RDMAPReadRequestLen)
	case RDMAPTerminate:
		return parseTerminate(s, at, n)
	case RDMAPImmediate, RDMAPImmediateSE:
		return pushBody(s, HdrRDMAPImmediate, at, n, RDMAPImmediateLen)
	case RDMAPAtomicRequest:
		return pushBody(s, HdrRDMAPAtomicRequest, at, n, RDMAPAtomicRequestLen) | atomicProblems(s)
	case RDMAPAtomicResponse:
		return pushBody(s, HdrRDMAPAtomicResponse, at, n, RDMAPAtomicResponseLen)
	default:
		return pushPayload(s, at, n)
	}
}

func atomicProblems(s *Stack) Problem {
	a := RDMAPAtomicRequestHeader(s.View(HdrRDMAPAtomicRequest))
	if len(a) >= atomicRequestID && a.Reserved() != 0 {
		return ProblemReserved
	}
	return 0
}

// parseTerminate pushes a Terminate message and the headers it quotes (RFC 5040
// section 4.8).
func parseTerminate(s *Stack, at, n int) Problem {
	t := RDMAPTerminateHeader(window(s.Data, at, n))
	if n < RDMAPTerminateLen {
		return ProblemShort | pushPayload(s, at, n)
	}
	if len(t) < RDMAPTerminateLen {
		return pushBody(s, HdrRDMAPTerminate, at, n, RDMAPTerminateLen)
	}
	var problems Problem
	if t.Reserved() != 0 {
		problems |= ProblemReserved
	}
	if n < t.Len() {
		return problems | ProblemShort | pushPayload(s, at, n)
	}
	s.Push(HdrRDMAPTerminate, at, t.Len())
	at, n = at+t.Len(), n-t.Len()
	if t.HasDDP() && n > 0 && at < len(s.Data) {
		hlen := DDP(s.Data[at:]).HeaderLen()
		if n < hlen {
			return problems | ProblemShort | pushPayload(s, at, n)
		}
		s.Push(HdrRDMAPTermDDP, at, hlen)
		at, n = at+hlen, n-hlen
	} else if t.HasDDP() && n == 0 {
		return problems | ProblemShort
	}
	if t.HasRDMAP() {
		return problems | pushBody(s, HdrRDMAPTermRead, at, n, RDMAPReadRequestLen)
	}
	return problems | pushExcess(s, at, n)
}

// pushBody pushes a header of exactly size bytes out of the n bytes at offset
// at; bytes that are left over are a payload that should not be there.
func pushBody(s *Stack, id HeaderID, at, n, size int) Problem {
	if n < size {
		return ProblemShort | pushPayload(s, at, n)
	}
	s.Push(id, at, size)
	return pushExcess(s, at+size, n-size)
}

func pushExcess(s *Stack, at, n int) Problem {
	if n == 0 {
		return 0
	}
	return ProblemLength | pushPayload(s, at, n)
}

func pushPayload(s *Stack, at, n int) Problem {
	if n > 0 {
		s.Push(HdrFPDUPayload, at, n)
	}
	return 0
}

// window returns the bytes of b[at:at+n] that b has.
func window(b []byte, at, n int) []byte {
	if at >= len(b) {
		return nil
	}
	return b[at:min(len(b), at+n)]
}

// allZero reports whether b has no bit set.
func allZero(b []byte) bool {
	return len(bytes.TrimLeft(b, "\x00")) == 0
}
