package analysis

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Duration writes a duration with three digits that matter.
func Duration(d time.Duration) string { return duration(d) }

// CodeOf finds the code of what a tracker finds.
func CodeOf(kind any) Code { return codeOf(kind) }

// Route says from where to where the requests of an end go.
func Route(c *conversation.Conversation, end int) string { return route(c, end) }

// Name says where an end is, and which queue pair it has there, if that is known.
func Name(e *conversation.End) string { return name(e) }
