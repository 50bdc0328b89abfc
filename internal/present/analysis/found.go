package analysis

import (
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// Found is what one of the trackers has just found.
type Found struct {
	Kind   any // that of the code
	Packet int // in which it shows
	// Conversation is the one that it is about, and End whose requests; nil when
	// it is about none.
	Conversation *conversation.Conversation
	End          int

	say func() (where, text string)
}

// Say says in a line each to whom it happened, and what. It costs more than
// everything else, and is for what is shown.
func (f *Found) Say() (where, text string) { return f.say() }

// Listen has everything reported that trackers find.
func Listen(t *survey.Tracker, found func(Found)) {
	t.Conversations.Report = func(c *conversation.Conversation, end int, e conversation.Event) {
		found(Found{e.Kind, e.Packet, c, end, func() (string, string) { return Route(c, end), Describe(e) }})
	}
	t.Connections.Report = func(c *connect.Connection, e connect.Event) {
		found(Found{e.Kind, e.Packet, nil, 0, func() (string, string) { return connectionTitle(c), describeConnect(e) }})
	}
	t.Streams.Report = func(c *rdmap.Connection, end int, e rdmap.Event) {
		found(Found{e.Kind, e.Packet, nil, 0, func() (string, string) { return streamRoute(c, end), describeStream(e) }})
	}
	t.Pauses.Report = func(l *pause.Link, e pause.Event) {
		found(Found{e.Kind, e.Packet, nil, 0, func() (string, string) { return linkRoute(l), describePause(e) }})
	}
}
