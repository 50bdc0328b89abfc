package rocecap

import (
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/track/rdmap"
)

// streamBoard remembers what it saw of iWARP connections at the last look, as
// rates.Board does of conversations.
type streamBoard struct {
	rows  map[streamKey]*streamRow
	order []*streamRow // in the order of their first sight
	ended rates.Counts // of those that are over, since the last look
	looks int
}

// streamKey names what one end of an iWARP connection sends.
type streamKey struct {
	connection *rdmap.Connection
	end        int
}

// streamRow is what one end of an iWARP connection sends.
type streamRow struct {
	live.Row
	key       streamKey
	latencies latency.Histogram // as of the last look
	look      int               // the last one in which it was there
}

func newStreamBoard() *streamBoard { return &streamBoard{rows: make(map[streamKey]*streamRow)} }

// look looks at the open connections, so long after the look before. It returns
// their rows, and what those had that are over since then.
func (b *streamBoard) look(since time.Duration, t *rdmap.Tracker) (rows []*streamRow, ended rates.Counts) {
	b.looks++
	ended, b.ended = b.ended, rates.Counts{}
	for c := range t.All() {
		for end := range c.Ends {
			if c.Ends[end].Sent().Segments > 0 {
				b.see(streamKey{c, end}, since.Seconds())
			}
		}
	}
	b.order = slices.DeleteFunc(b.order, func(r *streamRow) bool { return r.look != b.looks })
	for k, r := range b.rows {
		if r.look != b.looks {
			delete(b.rows, k)
		}
	}
	return b.order, ended
}

func (b *streamBoard) see(k streamKey, seconds float64) {
	r := b.rows[k]
	if r == nil {
		r = &streamRow{key: k}
		r.Service, r.End = "iWARP", k.end
		r.From, r.To = k.connection.Ends[k.end].Addr.String(), k.connection.Ends[1-k.end].Addr.String()
		b.rows[k] = r
		b.order = append(b.order, r)
	}
	r.look = b.looks
	total := streamCounts(k.connection, k.end)
	r.New, r.Total = less(total, r.Total), total
	r.Bits, r.Packets, r.Messages = 0, 0, 0
	if seconds > 0 {
		r.Bits, r.Packets, r.Messages = float64(8*r.New.Bytes)/seconds, float64(r.New.Packets)/seconds, float64(r.New.Messages)/seconds
	}
	if len(r.Rates) == rates.History {
		r.Rates = slices.Delete(r.Rates, 0, 1)
	}
	r.Rates = append(r.Rates, r.Bits)
	r.measure(&k.connection.Ends[k.end])
}

// measure finds the latencies of what has ended since the look before.
func (r *streamRow) measure(e *rdmap.End) {
	var all latency.Histogram
	for op := range e.Operations {
		if h := e.Operations[op].Latency; h != nil {
			all.Merge(h)
		}
	}
	if all.Count() == r.latencies.Count() {
		return
	}
	fresh := all.Since(&r.latencies)
	r.P50, r.P99 = fresh.Quantile(0.5), fresh.Quantile(0.99)
	r.latencies = all.Clone()
}

// close takes a connection that is over: what it had since the last look belongs
// to the next. Its rows of the last look are made complete.
func (b *streamBoard) close(c *rdmap.Connection) {
	for end := range c.Ends {
		fresh := streamCounts(c, end)
		if r := b.rows[streamKey{c, end}]; r != nil {
			fresh = less(fresh, r.Total)
			r.Total.Add(fresh)
			r.New.Add(fresh)
		}
		b.ended.Add(fresh)
	}
}

// streamCounts counts for an end of an iWARP connection what is counted for a queue
// pair: TCP segments as packets, segments sent again, Terminates of the other end
// as NAKs, FPDUs with a wrong CRC.
func streamCounts(c *rdmap.Connection, end int) rates.Counts {
	e := &c.Ends[end]
	sent := e.Sent()
	n := rates.Counts{
		Packets: sent.Segments, Bytes: sent.Frames, Again: sent.ResentSegments, CE: sent.CE, BadICRC: e.CRCs[iwarp.CRCBad],
	}
	if c.Ends[1-end].Terminate != nil {
		n.NAKs = 1
	}
	for op := range e.Operations {
		n.Messages += e.Operations[op].Messages
	}
	for i := range e.Tallies {
		n.Findings += e.Tallies[i].Count
	}
	return n
}

// less takes earlier counts away.
func less(n, before rates.Counts) rates.Counts {
	return rates.Counts{
		Packets: n.Packets - before.Packets, Bytes: n.Bytes - before.Bytes, Messages: n.Messages - before.Messages,
		Again: n.Again - before.Again, NAKs: n.NAKs - before.NAKs, RNRs: n.RNRs - before.RNRs, CNPs: n.CNPs - before.CNPs,
		CE: n.CE - before.CE, BadICRC: n.BadICRC - before.BadICRC, Findings: n.Findings - before.Findings,
	}
}
