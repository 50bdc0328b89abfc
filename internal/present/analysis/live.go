package analysis

import (
	"strings"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Part is what is known of a conversation so far.
func (t *Text) Part(number int, c *conversation.Conversation) string {
	b := &strings.Builder{}
	t.part(b, number, c, nil)
	return strings.TrimSpace(b.String())
}

// Timeline says what became of a connection, and lists its messages, in lines of
// a width.
func (t *Text) Timeline(c *connect.Connection, width int) string {
	b := &strings.Builder{}
	t.timeline(b, c, width)
	return strings.TrimRight(b.String(), "\n")
}
