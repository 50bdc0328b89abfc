package qp

import "time"

// transitions are the states that a state may change to with Modify (IBTA
// 10.3.1), besides RESET and ERR, which every state may.
var transitions = [...][]State{
	Reset: {Init},
	Init:  {Init, RTR},
	RTR:   {RTS},
	RTS:   {RTS, SQD},
	SQD:   {SQD, RTS},
	SQE:   {RTS},
	Error: nil,
}

// Modify changes the state, and sets the attributes that the transition takes:
//
//	to INIT              PKey, Access, QKey
//	INIT to RTR          DestQP, PathMTU, RQPSN, MaxDestRdAtomic, MinRNRTimer, Address
//	RTR to RTS           SQPSN, MaxRdAtomic, Timeout, RetryCount, RNRRetry
//	RTS to RTS           Access, QKey, MinRNRTimer
//	SQD to SQD           those, Address, MaxRdAtomic, MaxDestRdAtomic, Timeout, RetryCount, RNRRetry
//
// Of a UD queue pair PathMTU may be 0, which is 4096, and there is no Address.
func (q *QP) Modify(now time.Time, to State, a Attributes) error {
	switch to {
	case Reset:
		q.reset(now)
		return nil
	case Error:
		q.enterError(now)
		return nil
	}
	if err := q.checkTransition(to, &a); err != nil {
		return err
	}
	from := q.state
	q.setAttributes(to, &a)
	q.setState(now, to)
	switch {
	case to == RTR:
		q.responder.start(q)
	case from == RTR && to == RTS:
		q.requester.start(q)
	case to == SQD:
		q.requester.drain(q, now)
	}
	return nil
}

func (q *QP) checkTransition(to State, a *Attributes) error {
	allowed := false
	for _, s := range transitions[q.state] {
		allowed = allowed || s == to
	}
	reason := ""
	switch {
	case !allowed, q.state == SQE && q.cfg.Type.Reliable():
		reason = "no such transition"
	case to == RTR:
		reason = q.checkReceiving(a)
	case to == RTS && q.state == RTR, to == SQD && q.state == SQD:
		reason = q.checkSending(a)
	}
	if reason != "" {
		return &StateError{State: q.state, Reason: "to " + to.String() + ": " + reason}
	}
	return nil
}

// checkReceiving says what is wrong with the attributes of INIT to RTR.
func (q *QP) checkReceiving(a *Attributes) string {
	switch a.PathMTU {
	case 256, 512, 1024, 2048, 4096:
	case 0:
		if q.cfg.Type == UD {
			break
		}
		fallthrough
	default:
		return "path MTU is none of 256, 512, 1024, 2048, 4096"
	}
	switch {
	case q.cfg.Type == UD:
		return ""
	case a.Address == nil:
		return "no address"
	case !isUint24(a.DestQP):
		return "destination QP has more than 24 bits"
	case !isUint24(uint32(a.RQPSN)):
		return "receive PSN has more than 24 bits"
	case a.MinRNRTimer > 31:
		return "RNR timer code is over 31"
	case a.MaxDestRdAtomic < 0:
		return "negative depth of READs and atomics"
	}
	return ""
}

// checkSending says what is wrong with the attributes of RTR to RTS.
func (q *QP) checkSending(a *Attributes) string {
	switch {
	case !isUint24(uint32(a.SQPSN)):
		return "send PSN has more than 24 bits"
	case a.MaxRdAtomic < 0:
		return "negative depth of READs and atomics"
	case a.Timeout > 31:
		return "timeout is over 31"
	case a.RetryCount > 7:
		return "retry count is over 7"
	case a.RNRRetry > 7:
		return "RNR retry count is over 7"
	}
	return ""
}

func isUint24(v uint32) bool { return v < 1<<24 }

// setAttributes takes over what the transition from the present state sets.
func (q *QP) setAttributes(to State, a *Attributes) {
	was := &q.attr
	switch {
	case to == Init:
		*was = Attributes{PKey: a.PKey, Access: a.Access, QKey: a.QKey}
		if was.PKey == 0 {
			was.PKey = 0xFFFF
		}
	case to == RTR:
		was.DestQP, was.PathMTU, was.RQPSN = a.DestQP, a.PathMTU, a.RQPSN
		was.MaxDestRdAtomic, was.MinRNRTimer, was.Address = a.MaxDestRdAtomic, a.MinRNRTimer, a.Address
		if was.PathMTU == 0 {
			was.PathMTU = 4096
		}
	case to == RTS && q.state == RTR:
		was.SQPSN = a.SQPSN
		was.setRetry(a)
	case to == SQD && q.state == SQD:
		was.setRetry(a)
		was.MaxDestRdAtomic = a.MaxDestRdAtomic
		if a.Address != nil {
			was.Address = a.Address
		}
		fallthrough
	case to == RTS && q.state == RTS:
		was.Access, was.QKey, was.MinRNRTimer = a.Access, a.QKey, a.MinRNRTimer
	}
}

func (a *Attributes) setRetry(b *Attributes) {
	a.MaxRdAtomic, a.Timeout, a.RetryCount, a.RNRRetry = b.MaxRdAtomic, b.Timeout, b.RetryCount, b.RNRRetry
}

func (q *QP) setState(now time.Time, to State) {
	if q.state == to {
		return
	}
	q.state = to
	q.trace(Event{At: now, Kind: EventState, State: to})
}

// reset forgets the work requests, without completions, and the attributes, and
// closes the windows of type 2.
func (q *QP) reset(now time.Time) {
	q.requester.reset()
	q.responder.reset(q)
	q.cfg.Memory.ReleaseQP(q.cfg.Number)
	q.attr = Attributes{}
	q.setState(now, Reset)
}

// enterError puts the queue pair into ERR, where it neither sends nor receives,
// completes the work requests of both queues as flushed (IBTA 10.3.1), and
// closes the windows of type 2 that were opened to its peer.
func (q *QP) enterError(now time.Time) {
	if q.state == Error {
		return
	}
	q.setState(now, Error)
	q.requester.flush(q)
	q.responder.flush(q, now)
	q.closeWindows()
}

// closeWindows closes the windows of type 2 in the error state, as soon as the
// answers to what came before the fault are out: a READ may go through one.
func (q *QP) closeWindows() {
	if q.state == Error && q.responder.responses.len() == 0 {
		q.cfg.Memory.ReleaseQP(q.cfg.Number)
	}
}
