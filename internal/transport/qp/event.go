package qp

import (
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// EventKind is what happened to a queue pair.
type EventKind uint8

// The events.
const (
	EventState           EventKind = iota + 1 // State is the new one
	EventRetransmit                           // PSN is where it goes back to; Cause says why
	EventTimeout                              // the local ACK timeout of PSN
	EventNakSent                              // Syndrome, PSN
	EventNakReceived                          // Syndrome, PSN
	EventRNRSent                              // no receive request was posted
	EventRNRReceived                          // Syndrome has the timer
	EventDuplicate                            // a request with an old PSN
	EventGap                                  // a request beyond the expected PSN
	EventGhostAck                             // an acknowledgement of what was not sent
	EventBadResponse                          // a response that answers nothing, or wrongly
	EventDropped                              // a packet that was ignored for Cause
	EventCommEstablished                      // the first request while in RTR
	EventDrained                              // SQD: all that was sent is complete
	EventLastReceive                          // no more of an SRQ's requests is in use after an error
	EventCNP                                  // a congestion notification came
	EventCE                                   // a packet marked by congestion came
)

// Event tells what happened, for logs, tests and reports.
type Event struct {
	At       time.Time
	Kind     EventKind
	QPN      uint32
	State    State
	PSN      wire.PSN
	Syndrome wire.Syndrome
	Cause    string // one of few constant texts
}
