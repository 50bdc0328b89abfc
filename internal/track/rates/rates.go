// Package rates looks at open conversations again and again, and says how fast
// each goes: what has changed since the look before.
//
// It is pure: how long the look before is ago is an argument.
package rates

import (
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Key names what one end of a conversation sends.
type Key struct {
	Conversation *conversation.Conversation
	End          int
}

// Peer is an address, and a queue pair there if its number is known.
type Peer struct {
	Addr  netip.Addr
	QPN   uint32
	Known bool
}

// Counts are what one end has sent, and what came of its requests.
type Counts struct {
	Packets  int
	Bytes    int64 // of whole frames
	Messages int   // complete ones that it asked for
	Again    int   // request packets that it sent again
	NAKs     int   // of all kinds, to its requests
	RNRs     int   // RNR NAKs to its requests
	CNPs     int   // congestion notifications to it
	CE       int   // packets of it that were marked
	BadICRC  int
	Findings int // of all kinds, about its requests
}

// sub takes earlier counts away.
func (c Counts) sub(before Counts) Counts {
	return Counts{
		c.Packets - before.Packets, c.Bytes - before.Bytes, c.Messages - before.Messages, c.Again - before.Again,
		c.NAKs - before.NAKs, c.RNRs - before.RNRs, c.CNPs - before.CNPs, c.CE - before.CE, c.BadICRC - before.BadICRC,
		c.Findings - before.Findings,
	}
}

// Add adds the counts of another.
func (c *Counts) Add(more Counts) { *c = c.sub(Counts{}.sub(more)) }

// History is how many looks a row's history has.
const History = 60

// Row is what one end of a conversation sends.
type Row struct {
	Key      Key
	Service  wire.Service
	From, To Peer
	Last     int64 // time of the conversation's last packet

	Total Counts // since the conversation's begin
	New   Counts // since the look before
	// Bits, Packets and Messages are rates a second, since the look before.
	Bits, Packets, Messages float64
	// P50 and P99 are latencies of the messages that ended since the look before,
	// or, when there were none, of those of the last look that had some; 0 when
	// none was ever measured.
	P50, P99 time.Duration
	// Rates are the bits a second of the last looks, the newest last.
	Rates []float64

	latencies latency.Histogram // as of the last look
	look      int               // the last one in which it was there
}

// Board remembers what it saw at the last look.
type Board struct {
	// Ended is what conversations without a row, because they were over at the
	// last look, had since the look before.
	Ended Counts

	rows  map[Key]*Row
	order []*Row // in the order of their first sight
	ended Counts // since the last look
	looks int
}

// NewBoard returns a board that has seen nothing.
func NewBoard() *Board { return &Board{rows: make(map[Key]*Row)} }

// Look looks at the open conversations, so long after the look before, or after
// the begin. The rows are in the order in which they were first seen, and valid
// until the next look; those of conversations that have ended are gone.
func (b *Board) Look(since time.Duration, t *conversation.Tracker) []*Row {
	b.looks++
	b.Ended, b.ended = b.ended, Counts{}
	seconds := since.Seconds()
	for c := range t.All() {
		for end := range c.Ends {
			if c.Ends[end].Packets > 0 {
				b.see(Key{c, end}, seconds)
			}
		}
	}
	return b.sweep()
}

// Close takes a conversation that is over: what it had since the last look
// belongs to the next. Its rows of the last look are made complete.
func (b *Board) Close(c *conversation.Conversation) {
	for end := range c.Ends {
		fresh := countsOf(c, end)
		if r := b.rows[Key{c, end}]; r != nil {
			fresh = fresh.sub(r.Total)
			r.Total.Add(fresh)
			r.New.Add(fresh)
		}
		b.ended.Add(fresh)
	}
}

// Unite takes over the row of a conversation that was one stream, and is what an
// end of another sends.
func (b *Board) Unite(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
	if r := b.rows[Key{gone, 0}]; r != nil {
		delete(b.rows, r.Key)
		r.Key = Key{kept, end}
		b.rows[r.Key] = r
	}
}

func (b *Board) see(k Key, seconds float64) {
	r := b.rows[k]
	if r == nil {
		r = &Row{Key: k}
		b.rows[k] = r
		b.order = append(b.order, r)
	}
	c := k.Conversation
	r.look, r.Service, r.Last = b.looks, c.Service, c.Ended
	r.From, r.To = peer(&c.Ends[k.End]), peer(&c.Ends[1-k.End])
	total := countsOf(c, k.End)
	r.New, r.Total = total.sub(r.Total), total
	r.Bits, r.Packets, r.Messages = 0, 0, 0
	if seconds > 0 {
		r.Bits = float64(8*r.New.Bytes) / seconds
		r.Packets = float64(r.New.Packets) / seconds
		r.Messages = float64(r.New.Messages) / seconds
	}
	if len(r.Rates) == History {
		r.Rates = append(r.Rates[:0], r.Rates[1:]...)
	}
	r.Rates = append(r.Rates, r.Bits)
	r.measure(&c.Ends[k.End].Asks)
}

// measure finds the latencies of what has ended since the look before.
func (r *Row) measure(d *conversation.Direction) {
	if r.New.Messages == 0 {
		return
	}
	var all latency.Histogram
	for op := range d.Operations {
		if h := d.Operations[op].Latency; h != nil {
			all.Merge(h)
		}
	}
	fresh := all.Since(&r.latencies)
	if fresh.Count() > 0 {
		r.P50, r.P99 = fresh.Quantile(0.5), fresh.Quantile(0.99)
	}
	r.latencies = all
}

// sweep forgets what was not there at this look, and lists the rest.
func (b *Board) sweep() []*Row {
	rows := make([]*Row, 0, len(b.order))
	for _, r := range b.order {
		if r.look == b.looks {
			rows = append(rows, r)
		} else {
			delete(b.rows, r.Key)
		}
	}
	b.order = append(b.order[:0], rows...)
	clear(b.order[len(rows):cap(b.order)])
	return rows
}

func peer(e *conversation.End) Peer { return Peer{e.Addr, e.QPN, e.Known} }

// nakKinds are the events that are NAKs.
var nakKinds = [...]conversation.Kind{
	conversation.NakSequence, conversation.NakInvalid, conversation.NakAccess, conversation.NakOperation, conversation.NakOther,
}

func countsOf(c *conversation.Conversation, end int) Counts {
	e, other := &c.Ends[end], &c.Ends[1-end]
	n := Counts{Packets: e.Packets, Bytes: e.Bytes, Again: e.Asks.Again, CNPs: other.CNPs, CE: e.CE, BadICRC: e.Corrupt}
	for op := range e.Asks.Operations {
		n.Messages += e.Asks.Operations[op].Messages
	}
	for _, k := range nakKinds {
		n.NAKs += e.Asks.Tallies.Of(k).Count
	}
	n.RNRs = e.Asks.Tallies.Of(conversation.RNRNak).Count
	for i := range e.Asks.Tallies {
		n.Findings += e.Asks.Tallies[i].Count
	}
	return n
}

// Sum adds up the counts of rows.
func Sum(rows []*Row) (total, fresh Counts) {
	for _, r := range rows {
		total.Add(r.Total)
		fresh.Add(r.New)
	}
	return total, fresh
}
