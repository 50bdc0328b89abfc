package rocecap

import (
	"slices"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

// focus remembers the last packets of the conversation that somebody looks at.
type focus struct {
	conversation *conversation.Conversation
	packets      []conversation.Packet // the oldest first
}

// maxFocus is how many packets are remembered at least.
const maxFocus = 256

// note remembers those packets that belong to the conversation.
func (f *focus) note(packets []conversation.Packet) {
	l := analysis.Ladder{Conversation: f.conversation}
	for i := range packets {
		if l.Sender(&packets[i]) < 0 {
			continue
		}
		f.packets = remember(f.packets, packets[i], maxFocus)
	}
}

// recall finds the last packets of a conversation among records that end with the
// one of a number.
func recall(c *conversation.Conversation, parts [][]capfile.Record, number int) (packets []conversation.Packet) {
	var frame wire.Frame
	var facts survey.Facts
	f := &focus{conversation: c}
	at := number
	for _, part := range parts {
		at -= len(part)
	}
	for _, part := range parts {
		for i := range part {
			if at++; at < c.First {
				continue
			}
			rec := &part[i]
			frame.Parse(rec.Link, rec.Data, rec.WireLen)
			facts.Reset()
			facts.Read(&frame, survey.Stamp{Number: at, Time: rec.Time})
			f.note(facts.Packets)
		}
	}
	return f.packets
}

// detail says all that is known of a conversation or an iWARP connection, nil when
// it has ended. From the first time on its packets are remembered; those before
// that are looked for in the backlog.
func (v *viewer) detail(id, _ int) *live.Detail {
	v.focusOn(id)
	var d *live.Detail
	v.monitor.look(func(t *survey.Tracker) { d = v.watch.detail(t, id) })
	return d
}

// focusOn lets the monitor remember the packets of what has a number.
func (v *viewer) focusOn(id int) {
	var is any
	v.monitor.look(func(*survey.Tracker) {
		is = v.watch.of(id)
		if c, _ := is.(*conversation.Conversation); !v.monitor.looksAt(c) {
			v.monitor.focus = nil
		}
		if c, _ := is.(*rdmap.Connection); v.monitor.stream != nil && v.monitor.stream.connection != c {
			v.monitor.stream = nil
		}
	})
	switch c := is.(type) {
	case *conversation.Conversation:
		v.focusConversation(c)
	case *rdmap.Connection:
		v.focusStream(c)
	}
}

// focusConversation remembers the packets of a conversation, unless it does already.
func (v *viewer) focusConversation(whole *conversation.Conversation) {
	var c *conversation.Conversation
	var parts [][]capfile.Record
	var number int
	v.monitor.look(func(*survey.Tracker) {
		if m := v.monitor; m.focus == nil {
			m.focus = &focus{conversation: whole}
			c, parts, number = outline(whole), m.backlog.lend(), m.number
		}
	})
	if c == nil {
		return
	}
	earlier := recall(c, parts, number)
	v.monitor.look(func(*survey.Tracker) {
		if f := v.monitor.focus; f != nil {
			f.packets = append(earlier, f.packets...)
		}
	})
}

// leave forgets the packets of what was looked at.
func (v *viewer) leave() {
	v.monitor.look(func(*survey.Tracker) { v.monitor.focus, v.monitor.stream = nil, nil })
}

// of returns the conversation or iWARP connection of a number, nil when it has
// ended.
func (w *watch) of(id int) any {
	for c, n := range w.ids {
		if n == id {
			return c
		}
	}
	return nil
}

// detail copies what is known of a conversation or an iWARP connection.
func (w *watch) detail(t *survey.Tracker, id int) *live.Detail {
	switch c := w.of(id).(type) {
	case *conversation.Conversation:
		return w.conversationDetail(t, id, c)
	case *rdmap.Connection:
		return w.streamDetail(c)
	}
	return nil
}

func (w *watch) conversationDetail(t *survey.Tracker, id int, c *conversation.Conversation) *live.Detail {
	d := &live.Detail{Conversation: outline(c), Remarks: make(map[int][]analysis.Remark)}
	if f := w.monitor.focus; w.monitor.looksAt(c) {
		d.Packets = append(d.Packets, f.packets[max(0, len(f.packets)-maxFocus):]...)
	}
	for _, r := range w.recent {
		if r.id == id {
			d.Remarks[r.packet] = append(d.Remarks[r.packet], r.Remark)
		}
	}
	text := &analysis.Text{Style: analysis.NewStyle(w.coloured)}
	d.Analysis = text.Part(id, c)
	for _, made := range append(slices.Clone(w.closed), slices.Collect(t.Connections.All())...) {
		if connects(made, c) {
			d.Connections = append(d.Connections, copyOf(made))
		}
	}
	return d
}

// outline is what a ladder needs of a conversation that goes on.
func outline(c *conversation.Conversation) *conversation.Conversation {
	o := &conversation.Conversation{Service: c.Service, First: c.First, Last: c.Last, Began: c.Began, Ended: c.Ended}
	for i := range c.Ends {
		e := &c.Ends[i]
		o.Ends[i] = conversation.End{Addr: e.Addr, QPN: e.QPN, Known: e.Known}
	}
	return o
}

// generalQP gets the messages of connection management (IBTA vol. 1, 3.9.2).
const generalQP = 1

// connects reports whether connection management made a conversation, or is it.
func connects(made *connect.Connection, c *conversation.Conversation) bool {
	is := func(a *connect.End, b *conversation.End) bool {
		return a.Addr == b.Addr && (!b.Known || b.QPN == generalQP || a.QPN == b.QPN)
	}
	m, e := &made.Ends, &c.Ends
	return is(&m[0], &e[0]) && is(&m[1], &e[1]) || is(&m[0], &e[1]) && is(&m[1], &e[0])
}

// copyOf copies a connection that goes on.
func copyOf(c *connect.Connection) *connect.Connection {
	return &connect.Connection{
		Ends: c.Ends, Datagram: c.Datagram, Messages: append([]connect.Message(nil), c.Messages...), Unkept: c.Unkept,
		Outcome: c.Outcome, Tallies: append(connect.Tallies(nil), c.Tallies...), Evicted: c.Evicted,
	}
}
