package qp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// collect checks the completions that are there.
func (e *end) collect() {
	for c, ok := e.q.Completion(); ok; c, ok = e.q.Completion() {
		e.w.tell("%s completes %+v", e.name, c)
		fault := ""
		if c.ID&receiveID != 0 {
			fault = e.received(c)
		} else {
			fault = e.ended(c)
		}
		if fault != "" {
			e.w.Fatalf("%s, %v: %s\n%+v\n%s", e.name, e.q.Type(), fault, c, e.w.story())
		}
	}
}

// ended takes the completion of a request. Requests end in order; those before
// it that are not told of have succeeded.
func (e *end) ended(c Completion) string {
	switch {
	case c.QPN != e.q.Number(), c.ID >= uint64(len(e.posted)), int(c.ID) < e.known:
		return "a completion that nobody asked for, or one again"
	case e.failed && int(c.ID) > e.known:
		return "a request that was not told of, behind one that failed"
	case e.failed && c.Status != FlushError:
		return "not flushed behind one that failed"
	}
	for e.known < int(c.ID) {
		if e.posted[e.known].signaled {
			return "a completion is missing"
		}
		if fault := e.succeeded(); fault != "" {
			return fault
		}
	}
	s := &e.posted[e.known]
	if c.Status != Success {
		e.known++
		fault := ""
		if !e.failed {
			fault = e.mayFail(s, c.Status)
		}
		e.failed = true
		return fault
	}
	switch {
	case c.Op != s.wr.Op, !s.signaled:
		return "not the completion of " + s.String()
	case s.want != nil && int(c.Bytes) != len(s.want):
		return "wrong number of bytes"
	}
	return e.succeeded()
}

// succeeded notes that the oldest request has succeeded.
func (e *end) succeeded() string {
	s := &e.posted[e.known]
	e.known++
	e.good = e.known
	if s.release > 0 {
		e.results.tail = s.release
	}
	if s.done != nil {
		s.done()
	}
	if operations[s.wr.Op].consumes {
		e.sent++
	}
	switch {
	case e.w.careless:
		return ""
	case len(s.fails) > 0:
		return "has to fail: " + s.String()
	case s.want != nil && !bytes.Equal(e.host.mem[s.result:s.result+len(s.want)], s.want):
		return "wrong bytes for " + s.String()
	case e.reliable() && e.sent > e.peer.arrived:
		return "complete before it has arrived: " + s.String()
	}
	return ""
}

// mayFail says why the first failure of a queue pair is none that is documented.
func (e *end) mayFail(s *work, status Status) string {
	finite := !(e.policy.InfiniteRetry7 && e.attr.RetryCount == forever) || e.peer.policy.Replay == ReplayRefuse ||
		e.peer.q.State() == Error
	switch {
	case e.w.careless, slices.Contains(s.fails, status):
	case status == RetryExceeded && finite:
	case status == RNRRetryExceeded && e.attr.RNRRetry != forever:
	case status == FlushError && e.q.State() == Error && (e.gaveUp || e.peer.poisoned() || e.peer.q.State() == Error): // the responder's fault
	default:
		return "no reason for the failure of " + s.String()
	}
	return ""
}

// received takes the completion of a receive request.
func (e *end) received(c Completion) string {
	at, ok := e.pool.back(c.ID)
	defer func() { e.receives++ }()
	switch {
	case !ok || c.QPN != e.q.Number():
		return "a receive request that nobody posted, or one again"
	case !e.shares() && c.ID != receiveID|e.receives:
		return "receive requests do not end in the order in which they were posted"
	case e.w.careless:
		return ""
	case c.Status != Success:
		return e.mayFailReceive(c.Status)
	case e.recvFailed:
		return "received something behind a failure"
	}
	if !e.reliable() {
		return e.receivedUnreliably(c, e.host.mem[at:at+modelBuffer])
	}
	if e.arrived == len(e.inbox) {
		return "a message too many"
	}
	m := e.inbox[e.arrived]
	e.arrived++
	op := Receive
	if m.data == nil {
		op = ReceiveWrite
	}
	switch {
	case c.Op != op, int(c.Bytes) != m.size, c.Solicited != m.solicited:
		return fmt.Sprintf("message %d is not what was sent: %+v", e.arrived-1, m)
	case c.HasImmediate != (m.immediate != nil), m.immediate != nil && c.Immediate != *m.immediate:
		return "wrong immediate"
	case c.HasInvalid != (m.invalid != 0), c.Invalidated != m.invalid:
		return "wrong invalidated key"
	case m.data != nil && !bytes.Equal(e.host.mem[at:at+m.size], m.data):
		return "wrong bytes in a message"
	}
	return ""
}

// poisoned reports whether the request that has to fail is posted.
func (e *end) poisoned() bool { return e.poison >= 0 && e.poison < len(e.posted) }

func (e *end) mayFailReceive(status Status) string {
	again := e.recvFailed
	e.recvFailed = true
	switch {
	case status == FlushError && e.q.State() == Error:
	case !again && e.peer.poisoned() && (status == LocalLengthError || status == RemoteInvalidRequest):
	case !again && e.peer.poisoned() && status == LocalOperationError && e.policy.LongSendOperational:
	default:
		return "no reason for the failure of a receive request"
	}
	return ""
}

// receivedUnreliably takes a message of UC or UD: whole, and in order unless the
// net is not.
func (e *end) receivedUnreliably(c Completion, buf []byte) string {
	if e.q.Type() == UD {
		if !c.HasGRH || c.SrcQP != e.peer.q.Number() || !bytes.Equal(buf[:wire.GRHLen], simGRH[:]) || c.Bytes < wire.GRHLen+4 {
			return "a datagram without what belongs to it"
		}
		buf, c.Bytes = buf[wire.GRHLen:], c.Bytes-wire.GRHLen
	}
	number := int(c.Immediate)
	if c.Op == Receive {
		if c.Bytes < 4 {
			return "a message too short"
		}
		number = int(binary.BigEndian.Uint32(buf))
		if !bytes.Equal(buf[:c.Bytes], numbered(number, int(c.Bytes))) {
			return "a message that was not sent"
		}
	}
	if number >= len(e.peer.posted) {
		return "a message that was not sent"
	}
	s := &e.peer.posted[number]
	inOrder := e.w.net.duplicate+e.w.net.reorder == 0
	switch {
	case length(&s.wr) != int(c.Bytes):
		return "a part of a message"
	case c.HasImmediate != (s.wr.Op == SendImmediate || s.wr.Op == WriteImmediate), c.HasImmediate && int(c.Immediate) != number:
		return "wrong immediate"
	case inOrder && number < e.arrived:
		return "messages out of order"
	}
	e.arrived = number + 1
	return ""
}

// settle checks what is there in the end.
func (w *world) settle() {
	w.Helper()
	for _, e := range w.ends {
		if fault := e.settle(); fault != "" {
			w.Fatalf("%s, %v in %v in the end: %s\n%s", e.name, e.q.Type(), e.q.State(), fault, w.story())
		}
	}
	for i, h := range w.hosts {
		if !h.guarded() {
			w.Fatalf("host %d: memory outside the region has changed\n%s", i, w.story())
		}
	}
}

func (e *end) settle() string {
	if n := e.q.requester.queue.n; n > 0 {
		return fmt.Sprintf("%d requests have not ended", n)
	}
	if e.failed {
		if e.known != len(e.posted) {
			return "requests behind a failure were not told of"
		}
	}
	for e.known < len(e.posted) {
		if e.posted[e.known].signaled {
			return "a completion is missing"
		}
		if fault := e.succeeded(); fault != "" {
			return fault
		}
	}
	mem := e.host.mem[e.target : e.target+modelTarget]
	switch {
	case e.w.careless:
		return ""
	case e.q.Type() == UD:
		if !bytes.Equal(mem, e.base) {
			return "datagrams have changed the target"
		}
		return ""
	case e.q.Type() == UC:
		for i, v := range mem {
			if v != e.base[i] && v != byAddress(i) {
				return fmt.Sprintf("byte %d of the target is none that was written", i)
			}
		}
		return ""
	case !e.peer.failed && e.arrived != len(e.inbox):
		return fmt.Sprintf("%d of %d messages have arrived", e.arrived, len(e.inbox))
	}
	return e.peer.changed(mem, e.base)
}

// changed reports how a target is not what the requests have to make of it: all
// of them, or behind a failure those that have succeeded and the beginning of
// the others, as far as it was executed.
func (e *end) changed(mem, base []byte) string {
	now := bytes.Clone(base)
	succeeded := len(e.posted)
	if e.failed {
		succeeded = e.good
	}
	for i := range succeeded {
		e.posted[i].change.apply(now)
	}
	if bytes.Equal(now, mem) {
		return ""
	}
	for i := succeeded; i < len(e.posted); i++ {
		c := e.posted[i].change
		if c == nil {
			continue
		}
		mtu := e.w.mtu
		for n := mtu; n < len(c.data); n += mtu { // a part of a WRITE
			(&change{c.at, c.data[:n]}).apply(now)
			if bytes.Equal(now, mem) {
				return ""
			}
		}
		c.apply(now)
		if bytes.Equal(now, mem) {
			return ""
		}
	}
	at := 0
	for at < len(mem) && now[at] == mem[at] {
		at++
	}
	return fmt.Sprintf("the target is not what the requests make of it, from byte %d on", at)
}

func (c *change) apply(target []byte) {
	if c != nil {
		copy(target[c.at:], c.data)
	}
}

// story is what has happened, if the game was told to keep it.
func (w *world) story() string {
	if len(w.history) == 0 {
		return "(set ROCECAP_STORY to see what has happened)"
	}
	return strings.Join(w.history[max(0, len(w.history)-400):], "\n")
}
