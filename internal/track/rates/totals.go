package rates

import (
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// Totals add up what all conversations had, also those that have ended.
type Totals struct {
	Services   [wire.Manufacturer + 1]Traffic
	Operations [conversation.Ops]Operation
	Events     [conversation.Kinds]int // how often, by what happened
	Again      int                     // request packets that were sent again
	Wasted     int64                   // their bytes
}

// Traffic is what the conversations of a service had.
type Traffic struct {
	Conversations int
	Packets       int
	Bytes         int64
}

// Operation is the messages of a kind.
type Operation struct {
	Messages int
	Bytes    int64
	Latency  latency.Histogram
}

// Add adds a conversation, as it is.
func (t *Totals) Add(c *conversation.Conversation) {
	service := &t.Services[c.Service]
	service.Conversations++
	service.Packets += c.Packets()
	for i := range c.Ends {
		e := &c.Ends[i]
		service.Bytes += e.Bytes
		t.direction(&e.Asks)
	}
}

func (t *Totals) direction(d *conversation.Direction) {
	t.Again += d.Again
	t.Wasted += d.Wasted
	for i := range d.Tallies {
		t.Events[d.Tallies[i].Kind] += d.Tallies[i].Count
	}
	for op := range d.Operations {
		from, to := &d.Operations[op], &t.Operations[op]
		to.Messages += from.Messages
		to.Bytes += from.Bytes
		if from.Latency != nil {
			to.Latency.Merge(from.Latency)
		}
	}
}
