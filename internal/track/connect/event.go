package connect

import "github.com/rocecap/rocecap/internal/track/tally"

// Kind is what is found about a connection.
type Kind uint8

// The kinds.
const (
	Rejected   Kind = iota // a REJ, or a SIDR REP that refuses
	Stale                  // a REJ: the receiver takes the connection for an old one
	Unanswered             // a request was not answered, although it was sent again or had to be
	Repeated               // a message that waits for an answer was sent again
	Late                   // an answer came later than the request allows
	Mismatch               // a message does not agree with those before it
	Kinds                  // how many there are
)

var kindNames = [Kinds]string{"Rejected", "Stale", "Unanswered", "Repeated", "Late", "Mismatch"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Event is one thing that was found.
type Event struct {
	Kind   Kind
	Packet int // in which it shows
	Cause  int // the packet that it is about, 0 when there is none
}

// Tallies count the events of each kind.
type Tallies = tally.List[Kind]
