package iwarp

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/wire"
)

// IssueKind says what is wrong with a PDU, or worth a note.
type IssueKind uint8

// The kinds of issue.
const (
	IssueReject        IssueKind = iota // the responder refuses the connection
	IssueRevision                       // MPA revision or set-up mode does not fit
	IssueReserved                       // a reserved bit is set
	IssuePad                            // a pad byte is not 0
	IssuePrivateData                    // private data too long or too short
	IssueFlagA                          // the reply lacks control flag A
	IssueCRC                            // wrong CRC
	IssueMarker                         // marker whose contents are wrong
	IssueExceeds                        // FPDU longer than a TCP segment
	IssueDDPVersion                     // DDP version is not 1
	IssueRDMAPVersion                   // RDMAP version is not 1
	IssueUnknownOpcode                  // undefined RDMAP opcode
	IssueQueue                          // buffer model or queue number is not the opcode's
	IssueLength                         // ULPDU too short or too long for its headers
)

// String gives the kind a stable short name.
func (k IssueKind) String() string {
	names := [...]string{
		"reject", "revision", "reserved", "pad", "private-data", "flag-a", "crc", "marker",
		"exceeds-segment", "ddp-version", "rdmap-version", "unknown-opcode", "queue", "length",
	}
	if int(k) < len(names) {
		return names[k]
	}
	return "unknown"
}

// Issue is one thing found in a PDU.
type Issue struct {
	Kind IssueKind
	Text string
}

func (p *PDU) raise(kind IssueKind, format string, args ...any) {
	p.Issues = append(p.Issues, Issue{Kind: kind, Text: fmt.Sprintf(format, args...)})
}

// raiseProblems turns what the parser saw in an FPDU into issues.
func (p *PDU) raiseProblems() {
	if p.Problems == 0 {
		return
	}
	if p.Problems&wire.ProblemDDPVersion != 0 {
		ddp := p.Stack.Data[wire.FPDULengthLen:]
		p.raise(IssueDDPVersion, "DDP version %d is not 1 (RFC 5041 section 4.1)", wire.DDP(ddp).Version())
	}
	rdmap := wire.RDMAP(p.Stack.View(wire.HdrRDMAP))
	if p.Problems&wire.ProblemRDMAPVersion != 0 {
		p.raise(IssueRDMAPVersion, "RDMAP version %d is not 1 (RFC 5040 section 4.1)", rdmap.Version())
	}
	if p.Problems&wire.ProblemUnknownOpcode != 0 {
		p.raise(IssueUnknownOpcode, "RDMAP opcode 0x%x is not defined", uint8(rdmap.Opcode()))
	}
	if p.Problems&wire.ProblemQueue != 0 {
		p.raiseQueue(rdmap.Opcode())
	}
	if p.Problems&wire.ProblemReserved != 0 {
		p.raise(IssueReserved, "a reserved bit is set")
	}
	if p.Problems&wire.ProblemFPDUPad != 0 {
		p.raise(IssuePad, "the pad bytes are not 0 (RFC 5044 section 4.1)")
	}
	if p.Problems&wire.ProblemShort != 0 {
		p.raise(IssueLength, "the ULPDU is too short for its headers")
	}
	if p.Problems&wire.ProblemLength != 0 {
		p.raise(IssueLength, "the ULPDU is longer than its headers")
	}
}

func (p *PDU) raiseQueue(op wire.RDMAPOpcode) {
	untagged := wire.DDPUntagged(p.Stack.View(wire.HdrDDPUntagged))
	switch {
	case untagged != nil && op.Tagged():
		p.raise(IssueQueue, "%v in an untagged DDP segment", op)
	case untagged == nil:
		p.raise(IssueQueue, "%v in a tagged DDP segment", op)
	default:
		p.raise(IssueQueue, "%v on queue %d instead of %d", op, untagged.QN(), op.QN())
	}
}

// raiseStart judges a start-up frame on its own.
func (p *PDU) raiseStart() {
	m := wire.MPAStart(p.Stack.Data)
	if m.Reject() && p.Kind == MPAReply {
		p.raise(IssueReject, "the responder rejects the connection")
	}
	if m.Reject() && p.Kind == MPARequest {
		p.raise(IssueReserved, "the reject flag is set in a request (RFC 5044 section 7.1.1)")
	}
	if r := m.Reserved(); r != 0 {
		p.raise(IssueReserved, "reserved bits 0x%02x are set", r)
	}
	if r := m.Revision(); r != 1 && r != 2 {
		p.raise(IssueRevision, "MPA revision %d is neither 1 nor 2", r)
	}
	if n := m.PrivateLen(); n > wire.MaxMPAPrivate {
		p.raise(IssuePrivateData, "%d bytes of private data, more than %d (RFC 5044 section 7.1.1)", n, wire.MaxMPAPrivate)
	}
	if m.Enhanced() && m.PrivateLen() < wire.MPAEnhancedLen {
		p.raise(IssuePrivateData, "%d bytes of private data leave no room for IRD and ORD (RFC 6581 section 5)", m.PrivateLen())
	}
}

// raiseReply compares a reply with its request.
func (p *PDU) raiseReply(req *start) {
	rep := startOf(&p.Stack)
	if rep.revision > req.revision {
		p.raise(IssueRevision, "reply of revision %d to a request of revision %d", rep.revision, req.revision)
	}
	if rep.enhanced != req.enhanced && !rep.reject {
		p.raise(IssueRevision, "flag S is %t in the request and %t in the reply (RFC 6581 section 5)", req.enhanced, rep.enhanced)
	}
	if req.peerToPeer && !rep.peerToPeer && rep.enhanced {
		p.raise(IssueFlagA, "the request has control flag A and the reply has not (RFC 6581 section 9.2)")
	}
}
