package rdmap

import (
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/latency"
)

// Totals add up what several connections had, as far as it is known.
type Totals struct {
	Connections int
	TCP         TCP // of all ends
	Terminates  int
	CRCs        [iwarp.CRCBad + 1]int // FPDUs by verdict
	Operations  [Ops]Operation
}

// Clone returns a copy that shares nothing.
func (t *Totals) Clone() Totals {
	c := *t
	for op := range c.Operations {
		if h := c.Operations[op].Latency; h != nil {
			own := h.Clone()
			c.Operations[op].Latency = &own
		}
	}
	return c
}

// Add adds a connection, as it is.
func (t *Totals) Add(c *Connection) {
	t.Connections++
	for i := range c.Ends {
		t.end(&c.Ends[i])
	}
}

func (t *Totals) end(e *End) {
	t.TCP.add(e.Sent())
	if e.Terminate != nil {
		t.Terminates++
	}
	for v, n := range e.CRCs {
		t.CRCs[v] += n
	}
	for op := range e.Operations {
		t.Operations[op].add(&e.Operations[op])
	}
}

func (t *TCP) add(more TCP) {
	t.Segments += more.Segments
	t.Bytes += more.Bytes
	t.Frames += more.Frames
	t.CE += more.CE
	t.ResentSegments += more.ResentSegments
	t.ResentBytes += more.ResentBytes
	t.LateSegments += more.LateSegments
	t.ZeroWindows += more.ZeroWindows
	t.Closed += more.Closed
}

func (o *Operation) add(more *Operation) {
	o.Messages += more.Messages
	o.Partial += more.Partial
	o.Bytes += more.Bytes
	if more.Latency == nil {
		return
	}
	if o.Latency == nil {
		o.Latency = &latency.Histogram{}
	}
	o.Latency.Merge(more.Latency)
}
