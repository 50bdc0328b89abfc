package fault

import (
	"fmt"

	"github.com/rocecap/rocecap/internal/wire"
)

// unanswerable says why a packet can't be answered, "" when it can.
func unanswerable(a *Answer, p packet) string {
	switch {
	case p.bth == nil:
		return "is no RDMA packet to answer"
	case !a.CNP && !acknowledged(p.bth.Opcode()):
		return "is of a kind that is not acknowledged"
	}
	if _, known := answerQP(a, p); !known {
		return "comes from a queue pair that is not known yet"
	}
	return ""
}

// acknowledged reports whether an opcode's packets are answered by
// acknowledgements: requests of the reliable connected services.
func acknowledged(op wire.Opcode) bool {
	s := op.Service()
	return (s == wire.RC || s == wire.XRC) && op.Info().Defined() && !op.Info().Response
}

func answerQP(a *Answer, p packet) (qp uint32, known bool) {
	if a.QP.Given {
		return a.QP.Value, true
	}
	if p.position.flow == nil {
		return 0, false
	}
	return p.position.flow.peer()
}

// answer queues the answer to a packet and says what became of it.
func (e *Engine) answer(fate *fate, rule int, p packet) string {
	a := &e.rules[rule].Do.Answer.Value
	reply := Reply{To: p.Frame, Opcode: wire.OpcodeRoCECNP}
	reply.QP, _ = answerQP(a, p)
	what := "CNP"
	if !a.CNP {
		reply.Opcode = wire.BaseRC + wire.OpAcknowledge
		if p.bth.Opcode().Service() == wire.XRC {
			reply.Opcode = wire.BaseXRC + wire.OpAcknowledge
		}
		reply.PSN, reply.Syndrome = p.bth.PSN(), a.Syndrome
		if partner := p.position.flow.partner; partner != nil {
			reply.MSN = partner.msn
		}
		what = [...]string{wire.Ack: "ACK", wire.RNRNak: "RNR NAK", wire.AckReserved: "acknowledgement", wire.Nak: "NAK"}[a.Syndrome.Kind()]
	}
	data, err := e.craft(reply)
	if err != nil {
		return fmt.Sprintf("no %s in answer: %v", what, err)
	}
	note := fmt.Sprintf("%s: %s in answer to PSN %d of QP 0x%06x", e.rules[rule].label, what, p.bth.PSN(), p.bth.DestQP())
	fate.answers = append(fate.answers, Out{p.direction.Reverse(), data, note})
	return fmt.Sprintf("answered with a %s to QP 0x%06x", what, reply.QP)
}
