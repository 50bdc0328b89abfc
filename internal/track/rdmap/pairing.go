package rdmap

import "github.com/rocecap/rocecap/internal/wire"

// pairing is how sure it is which response answers which of an end's requests.
// Responses come in the order of the requests (RFC 5040 section 5.5), and requests
// have numbers: bytes that are missing are no reason to guess where the numbers, or
// the places that responses go to, tell what was in them.
type pairing struct {
	loose bool  // it is a guess, and nothing is judged by it
	quiet int64 // when the last sign of a response came

	// lost says that requests may have been missed: the number of the next one tells
	// how many. owed is how many responses have begun that answer none that was seen
	// yet, but one in bytes that are missing or come late.
	lost bool
	owed int
	// adrift says that responses may have been missed: the next one tells how many,
	// when it goes to where only one request asks for.
	adrift bool
}

// loosen says that from now on it is a guess which response answers which request.
// Requests that were not seen are of no use any more.
func (e *End) loosen(now int64) {
	p := &e.stream.pairing
	*p = pairing{loose: true, quiet: max(now, p.quiet)}
	if e.stream.hasUnseen() {
		e.stream.reads.filter(func(q *request) bool { return !q.unseen })
	}
}

// missRequests notes that bytes are missing in which the end may have made requests.
func (e *End) missRequests(now int64) {
	p, q := &e.stream.pairing, &e.stream.queues[wire.QNReadRequest]
	if p.loose || p.adrift || q.open || !q.counted {
		e.loosen(now)
		return
	}
	p.lost = true
}

// missResponses notes that bytes are missing in which there may have been responses
// to the end; r is the one that was under way.
func (e *End) missResponses(r *response, now int64) {
	p := &e.stream.pairing
	exact := !p.loose && !p.lost && !e.stream.hasUnseen()
	if r.open && r.known && exact {
		e.stream.reads.unshift(r.request)
		r.open = false
	}
	e.Unfinished += r.abandon()
	if !exact {
		e.loosen(now)
		return
	}
	p.adrift = true
}

// catchUp takes the number of a request behind missing bytes: so many more than was
// expected were made in them.
func (e *End) catchUp(more uint32, mo uint32, now int64) {
	p := &e.stream.pairing
	if !p.lost {
		return
	}
	if more > maxReads || mo > 0 {
		e.loosen(now)
		return
	}
	p.lost = false
	answered := min(int(more), p.owed)
	p.owed -= answered
	for range int(more) - answered {
		if e.stream.reads.push(request{unseen: true}, maxReads) {
			e.loosen(now)
			return
		}
	}
}

// answered reports whether a request that is seen now was answered before: the
// capture has them in another order.
func (e *End) answered() bool {
	p := &e.stream.pairing
	if p.loose || p.owed == 0 {
		return false
	}
	p.owed--
	return true
}

// hasUnseen reports whether some of the outstanding requests were not seen.
func (s *stream) hasUnseen() bool {
	for i := range s.reads.items() {
		if s.reads.items()[i].unseen {
			return true
		}
	}
	return false
}

// unexplained takes the begin of a response to a request that was not seen, if there
// may be one, and reports whether it is that.
func (e *End) unexplained() bool {
	p, reads := &e.stream.pairing, e.stream.reads.items()
	switch {
	case p.loose || p.adrift:
		return false
	case len(reads) > 0 && reads[0].unseen:
		e.stream.reads.drop(1)
		return true
	case len(reads) == 0 && p.owed < maxReads && (p.lost || e.stream.cut < e.tcp.acked):
		p.owed++
		return true
	}
	return false
}

// find looks behind missing bytes, by a segment of a response, which request is
// answered: the only one that asks for what goes there. Those before it were answered
// in what is missing.
func (c *Connection) find(from int, f *fpdu, stag uint32, to uint64) {
	asks := &c.Ends[1-from]
	p := &asks.stream.pairing
	if !p.adrift {
		return
	}
	at := -1
	for i := range asks.stream.reads.items() {
		q := &asks.stream.reads.items()[i]
		if size := uint64(q.size); q.stag != stag || to < q.to || to-q.to > size || to-q.to+uint64(f.bytes) > size {
			continue
		}
		if at >= 0 {
			at = -1
			break
		}
		at = i
	}
	if at < 0 || asks.stream.cut < asks.tcp.acked {
		asks.loosen(f.time)
		return
	}
	p.adrift = false
	q := asks.stream.reads.items()[at]
	asks.Unfinished += at
	asks.stream.reads.drop(at + 1)
	c.Ends[from].stream.responses = response{
		open: true, known: true, request: q, stag: stag, to: to, bytes: int64(to - q.to), broken: to > q.to,
	}
}
