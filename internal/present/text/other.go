package text

import (
	"strconv"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// appendOther says what a packet without transport headers is.
func appendOther(dst []byte, f *wire.Frame) []byte {
	hdrs := f.Headers()
	if len(hdrs) == 0 {
		return append(dst, "unknown link type"...)
	}
	last := hdrs[len(hdrs)-1]
	for i := len(hdrs) - 1; i > 0 && isTrailing(last.ID); i-- {
		last = hdrs[i-1]
	}
	b := f.Bytes(last)
	switch f.Proto {
	case wire.ProtoTCP:
		return appendTCP(dst, f)
	case wire.ProtoUDP:
		if h := f.View(wire.HdrUDP); len(h) == wire.UDPLen {
			dst = appendNumber(dst, "", uint32(wire.UDP(h).SrcPort()))
			dst = appendNumber(dst, " → ", uint32(wire.UDP(h).DstPort()))
			return appendCount(dst, " Len ", f.PayloadLen, "")
		}
	case wire.ProtoPause:
		if len(b) >= wire.MACControlLen {
			return appendQuanta(append(dst, "PAUSE"...), wire.MACControl(b).PauseTime())
		}
	case wire.ProtoPFC:
		return appendPFC(dst, f)
	case wire.ProtoIBLink:
		if len(b) >= wire.FlowControlLen {
			h := wire.FlowControl(b)
			dst = appendNumber(append(dst, "Flow control"...), " VL ", uint32(h.VL()))
			dst = appendNumber(dst, " FCTBS ", uint32(h.FCTBS()))
			return appendNumber(dst, " FCCL ", uint32(h.FCCL()))
		}
	}
	return append(dst, wire.SpecOf(last.ID).Title...)
}

func isTrailing(id wire.HeaderID) bool {
	return id == wire.HdrTrailer || id == wire.HdrVCRC || id == wire.HdrPayload
}

func appendTCP(dst []byte, f *wire.Frame) []byte {
	h := wire.TCP(f.View(wire.HdrTCP))
	if len(h) < wire.TCPMinLen {
		return append(dst, "TCP header cut off"...)
	}
	dst = appendNumber(dst, "", uint32(h.SrcPort()))
	dst = appendNumber(dst, " → ", uint32(h.DstPort()))
	dst = h.AppendFlagNames(append(dst, " ["...))
	dst = appendNumber(dst, "] Seq ", h.Seq())
	dst = appendNumber(dst, " Ack ", h.Ack())
	return appendCount(dst, " Len ", f.PayloadLen, "")
}

func appendQuanta(dst []byte, quanta uint16) []byte {
	if quanta == 0 {
		return append(dst, " XON"...)
	}
	return appendNumber(dst, " XOFF quanta ", uint32(quanta))
}

func appendPFC(dst []byte, f *wire.Frame) []byte {
	h := wire.PFC(f.View(wire.HdrPFC))
	if len(h) < wire.PFCLen {
		return append(dst, "PFC cut off"...)
	}
	dst = append(dst, "PFC"...)
	for class := range 8 {
		if h.Enabled()&(1<<class) != 0 {
			dst = appendCount(dst, " prio ", class, "")
			dst = appendQuanta(dst, h.PauseTime(class))
		}
	}
	return dst
}

func classifyPDUs(p *packet.Packet) class {
	c := classOther
	for _, pdu := range p.PDUs {
		switch op, ok := pdu.Opcode(); {
		case pdu.CRC == iwarp.CRCBad:
			return classBad
		case ok && op == wire.RDMAPTerminate:
			c = max(c, classNak)
		case ok:
			c = max(c, classRequest)
		default:
			c = max(c, classManagement)
		}
	}
	return c
}

// appendPDUs says what iWARP units the packet completed.
func appendPDUs(dst []byte, p *packet.Packet) []byte {
	for i, pdu := range p.PDUs {
		if i > 0 {
			dst = append(dst, "; "...)
		}
		dst = appendPDU(dst, pdu)
	}
	return dst
}

func appendPDU(dst []byte, pdu *iwarp.PDU) []byte {
	switch pdu.Kind {
	case iwarp.MPARequest, iwarp.MPAReply:
		dst = appendStart(dst, pdu)
	case iwarp.FPDU:
		dst = appendFPDU(dst, pdu)
	default:
		dst = append(dst, pdu.Kind.String()...)
		dst = appendCount(dst, " ", int(pdu.Len), " B")
	}
	for _, issue := range pdu.Issues {
		if !isRemark(issue.Kind) {
			dst = append(append(append(dst, " ["...), issue.Text...), ']')
		}
	}
	return dst
}

// isRemark is true of issues that no receiver acts on; they are left to the
// full tree.
func isRemark(kind iwarp.IssueKind) bool {
	return kind == iwarp.IssueExceeds || kind == iwarp.IssuePad
}

func appendStart(dst []byte, pdu *iwarp.PDU) []byte {
	dst = append(dst, pdu.Kind.String()...)
	h := wire.MPAStart(pdu.Stack.View(wire.HdrMPARequest))
	if pdu.Kind == iwarp.MPAReply {
		h = wire.MPAStart(pdu.Stack.View(wire.HdrMPAReply))
	}
	if len(h) < wire.MPAStartLen {
		return dst
	}
	dst = appendNumber(dst, " v", uint32(h.Revision()))
	if h.Markers() {
		dst = append(dst, " markers"...)
	}
	if h.CRC() {
		dst = append(dst, " CRC"...)
	}
	if h.Reject() {
		dst = append(dst, " reject"...)
	}
	if e := wire.MPAEnhanced(pdu.Stack.View(wire.HdrMPAEnhanced)); len(e) == wire.MPAEnhancedLen {
		dst = appendNumber(dst, " IRD ", uint32(e.IRD()))
		dst = appendNumber(dst, " ORD ", uint32(e.ORD()))
	}
	return dst
}

func appendFPDU(dst []byte, pdu *iwarp.PDU) []byte {
	op, ok := pdu.Opcode()
	if !ok {
		return appendCount(append(dst, "FPDU"...), " ", int(pdu.Len), " B")
	}
	dst = append(dst, op.String()...)
	s := &pdu.Stack
	if h := wire.DDPTagged(s.View(wire.HdrDDPTagged)); len(h) == wire.DDPTaggedLen {
		dst = wire.AppendHex(append(dst, " STag "...), uint64(h.STag()), 8)
		dst = wire.AppendHex(append(dst, " TO "...), h.Offset(), 16)
	}
	if h := wire.DDPUntagged(s.View(wire.HdrDDPUntagged)); len(h) == wire.DDPUntaggedLen {
		dst = appendNumber(dst, " QN ", h.QN())
		dst = appendNumber(dst, " MSN ", h.MSN())
		dst = appendNumber(dst, " MO ", h.MO())
	}
	if h := wire.RDMAPReadRequestHeader(s.View(wire.HdrRDMAPReadRequest)); len(h) == wire.RDMAPReadRequestLen {
		dst = wire.AppendHex(append(dst, " source STag "...), uint64(h.SourceSTag()), 8)
		dst = appendNumber(dst, " len ", h.Size())
	}
	if h, ok := s.Last(wire.HdrFPDUPayload); ok {
		dst = append(strconv.AppendInt(append(dst, ' '), int64(h.Len), 10), " B"...)
	}
	if pdu.CRC == iwarp.CRCGood {
		dst = append(dst, " CRC good"...)
	}
	return dst
}

// appendPDU adds the heading of an iWARP unit and says where its bytes are
// counted from: the frame, or the unit's own start.
func (t *Tree) appendPDU(dst []byte, p *packet.Packet, i int) (out []byte, base int) {
	pdu := p.PDUs[i]
	dst = append(append(dst, "iWARP "...), pdu.Kind.String()...)
	dst = appendCount(dst, ", ", int(pdu.Len), " bytes of the stream")
	if pdu.Segments > 1 {
		dst = appendCount(dst, " in ", pdu.Segments, " segments")
		dst = appendCount(dst, ", packets ", int(pdu.First), "")
		dst = appendCount(dst, " to ", int(pdu.Last), "")
	}
	if n := len(pdu.Markers); n > 0 {
		dst = appendCount(dst, ", ", n, " markers taken out")
	}
	if pdu.Kind == iwarp.FPDU {
		dst = append(append(dst, ", CRC "...), pdu.CRC.String()...)
	}
	if pdu.Offset < 0 && len(pdu.Stack.Headers()) > 0 {
		dst = append(dst, "; places count from the unit's start"...)
	}
	return append(dst, '\n'), pdu.Offset
}

func appendNVMe(dst []byte, id wire.HeaderID, b []byte) []byte {
	if id == wire.HdrNVMeResponse {
		dst = append(dst, " NVMe completion"...)
		dst = appendNamedField(dst, id, b, "nvme.cqe.cid", " CID ")
		return appendNamedField(dst, id, b, "nvme.cqe.status", " status ")
	}
	if id == wire.HdrNVMeFabrics {
		dst = appendNamedField(dst, id, b, "nvme.fabrics.cmd.fctype", " NVMe Fabrics ")
		dst = appendNamedField(dst, id, b, "nvme.fabrics.cmd.cid", " CID ")
		return appendNamedField(dst, id, b, "nvme.fabrics.cmd.connect.qid", " queue ")
	}
	dst = appendNamedField(dst, id, b, "nvme.cmd.opc", " NVMe ")
	dst = appendNamedField(dst, id, b, "nvme.cmd.cid", " CID ")
	dst = appendNamedField(dst, id, b, "nvme.cmd.nsid", " NSID ")
	return appendNamedField(dst, id, b, "nvme.cmd.slba", " SLBA ")
}

func appendNamedField(dst []byte, id wire.HeaderID, b []byte, name, label string) []byte {
	if f := wire.SpecOf(id).Field(name, b); f != nil {
		return field.AppendWire(append(dst, label...), f, b)
	}
	return dst
}
