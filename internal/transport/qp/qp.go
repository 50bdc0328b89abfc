package qp

import (
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// Config is what a queue pair is made with.
type Config struct {
	Number  uint32
	Type    Type
	PD      mr.PD
	Memory  *mr.Table
	MaxSend int // work requests outstanding in each queue
	MaxRecv int
	MaxSGE  int // 0 means 1
	Inline  int // bytes of a work request's own data
	// SignalAll completes every send request, not only those with Signaled.
	SignalAll bool
	SRQ       *SRQ // instead of an own receive queue
	// FindSRQ finds the shared receive queue that an XRC packet names.
	FindSRQ func(number uint32) *SRQ
	Policy  Policy
	Trace   func(Event) // may be nil
}

// Inbound is one packet that came for the queue pair. The caller has checked
// what does not need its state: ICRC, addresses, P_Key.
type Inbound struct {
	Packet wire.Packet
	// GRH is what a UD receiver finds before the payload: a GRH, or 20 bytes
	// of nothing and the IPv4 header (IBTA annex A17.4.5.1). 40 bytes.
	GRH []byte
	CE  bool // marked by congestion
}

// QP is a queue pair.
type QP struct {
	cfg   Config
	attr  Attributes
	state State

	requester requester
	responder responder
	requests  bool // the requester had the last turn to send
	done      queue[Completion]
}

// New makes a queue pair in state RESET.
func New(cfg Config) (*QP, error) {
	cfg.MaxSGE = max(cfg.MaxSGE, 1)
	reason := ""
	switch {
	case cfg.Type < RC || cfg.Type > XRCRecv:
		reason = "no such type"
	case !isUint24(cfg.Number):
		reason = "number has more than 24 bits"
	case cfg.Memory == nil:
		reason = "no memory table"
	case cfg.MaxSend < 0, cfg.MaxRecv < 0, cfg.Inline < 0:
		reason = "negative size"
	case cfg.Type == XRCRecv && cfg.MaxSend > 0:
		reason = "XRC receivers have no send queue"
	case cfg.Type == XRCRecv && cfg.FindSRQ == nil:
		reason = "XRC receivers need shared receive queues"
	}
	if reason != "" {
		return nil, &ConfigError{Number: cfg.Number, Reason: reason}
	}
	q := &QP{cfg: cfg}
	q.requester.queue.init(&q.cfg)
	q.responder.recv.init(cfg.PD, cfg.MaxRecv, cfg.MaxSGE)
	return q, nil
}

// ConfigError says why there can be no such queue pair.
type ConfigError struct {
	Number uint32
	Reason string
}

var _ error = (*ConfigError)(nil)

func (e *ConfigError) Error() string { return fmt.Sprintf("queue pair %#x: %s", e.Number, e.Reason) }

// Number is the queue pair number.
func (q *QP) Number() uint32 { return q.cfg.Number }

// Type is the transport service.
func (q *QP) Type() Type { return q.cfg.Type }

// State is the present state.
func (q *QP) State() State { return q.state }

// Attributes are those that are in force.
func (q *QP) Attributes() Attributes { return q.attr }

// Receive takes one packet.
func (q *QP) Receive(now time.Time, in Inbound) {
	if len(in.Packet) < wire.BTHLen {
		return
	}
	switch op := in.Packet.Opcode(); {
	case op.Info().Response:
		q.requester.receive(q, now, in.Packet)
	case op == wire.OpcodeRoCECNP || op == wire.OpcodeCNP:
		q.trace(Event{At: now, Kind: EventCNP}) // the pace is the caller's
	default:
		q.responder.receive(q, now, in)
	}
}

// Advance does what is due.
func (q *QP) Advance(now time.Time) { q.requester.advance(q, now) }

// Emit writes the next packet, from its BTH to its pad, and says where it goes.
// dst has room for the headers and a path MTU; n is 0 when there is nothing to
// send now.
func (q *QP) Emit(now time.Time, dst []byte) (n int, to *Address) {
	for {
		n, to = q.emit(now, dst)
		if n == 0 || q.cfg.Policy.Mutate == nil {
			return n, to
		}
		if n = q.cfg.Policy.Mutate(wire.Packet(dst[:n])); n > 0 {
			return n, to
		}
	}
}

// emit lets the halves take turns, so that the responses of long READs do not
// keep requests from being sent, nor the other way round.
func (q *QP) emit(now time.Time, dst []byte) (n int, to *Address) {
	for range 2 {
		q.requests = !q.requests
		if q.requests {
			n, to = q.requester.emit(q, now, dst)
		} else {
			n, to = q.responder.emit(q, now, dst)
		}
		if n > 0 {
			break
		}
	}
	return n, to
}

// Deadline is when Advance has something to do, zero for never.
func (q *QP) Deadline() time.Time { return q.requester.deadline() }

// Completion returns the next completion.
func (q *QP) Completion() (Completion, bool) { return q.done.pop() }

func (q *QP) trace(e Event) {
	if q.cfg.Trace != nil {
		e.QPN = q.cfg.Number
		q.cfg.Trace(e)
	}
}
