package analysis

import (
	"fmt"
	"sync"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// maxEvents bounds how many events are remembered with their packets.
const maxEvents = 1 << 20

// Events are those of a capture, by the packets in which they show.
type Events struct {
	Dropped int // that there was no room for

	of      map[int][]conversation.Event
	streams map[int][]rdmap.Event
	pauses  map[int][]pause.Event
	connect map[int][]connect.Event
	count   int

	mismatches []survey.Mismatch
}

// Add takes an event of a conversation.
func (l *Events) Add(_ *conversation.Conversation, _ int, e conversation.Event) {
	if l.count == maxEvents {
		l.Dropped++
		return
	}
	if l.of == nil {
		l.of = make(map[int][]conversation.Event)
	}
	l.count++
	l.of[e.Packet] = append(l.of[e.Packet], e)
}

// Of returns the events that show in a packet.
func (l *Events) Of(packet int) []conversation.Event { return l.of[packet] }

// byKind are all codes by what they stand for, with their places in the list.
var byKind = sync.OnceValue(func() map[any]ranked {
	codes := make(map[any]ranked)
	for i, c := range Codes() {
		codes[c.Kind] = ranked{c, i}
	}
	return codes
})

type ranked struct {
	Code
	rank int
}

// CodeOf finds the code of what a tracker finds.
func CodeOf(k any) Code { return byKind()[k].Code }

// rankOf is the place of a code in the list of all, of which the worst is first.
func rankOf(k any) int { return byKind()[k].rank }

// Describe says in a line what an event is.
func Describe(e conversation.Event) string {
	code := CodeOf(e.Kind)
	return code.Name + ": " + code.Title + " (" + details(e) + ")"
}

// details says of which packets an event is, and why.
func details(e conversation.Event) string {
	text := fmt.Sprintf("PSN %d", e.PSN)
	if e.N > 1 {
		text += fmt.Sprintf(" and %d behind it", e.N-1)
	}
	if e.Cause > 0 {
		text += fmt.Sprintf(", because of packet %d", e.Cause)
	}
	switch {
	case e.Kind == conversation.RNRNak:
		text += ", to wait " + Duration(e.Waited)
	case e.Waited > 0:
		text += ", after " + Duration(e.Waited)
	}
	return text
}
