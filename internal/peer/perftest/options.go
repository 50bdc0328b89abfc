package perftest

import (
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/endpoint"
)

// Verb is what a test measures.
type Verb uint8

// The verbs.
const (
	Send Verb = iota
	Write
	Read
	Atomic
)

var verbNames = [...]string{"send", "write", "read", "atomic"}

// ParseVerb reads the word in a program's name.
func ParseVerb(name string) (Verb, error) {
	for v, n := range verbNames {
		if n == name {
			return Verb(v), nil
		}
	}
	return 0, fmt.Errorf("there is no test of %q: send, write, read or atomic", name)
}

// String returns the word in a program's name.
func (v Verb) String() string { return verbNames[v] }

// reads reports whether requests are answered with data.
func (v Verb) reads() bool { return v == Read || v == Atomic }

// QKey is the Q_Key of UD tests.
const QKey = 0x11111111

// What messages that are small go round in, and their distance, as told to the
// other side.
const (
	usualCycleBuffer = 4096
	usualCacheLine   = 64
)

// atomicLen is the size of an atomic's operand.
const atomicLen = 8

// Options say which test, as the flags of the originals do.
type Options struct {
	Verb    Verb
	Latency bool          // else bandwidth
	Type    endpoint.Type // RC, UC or UD
	Client  bool          // the side that sends, unless Both do
	Both    bool          // bidirectional bandwidth

	Size       int
	Iterations int // of each queue pair
	QPs        int
	TxDepth    int // requests outstanding in a queue pair
	RxDepth    int // receives posted in one
	MTU        int // path MTU
	OutReads   int // READs and atomics at a time
	Swap       bool
	// Change changes the attributes of the queue pairs.
	Change func(*endpoint.Attributes)
	// GID is the index of the address to use.
	GID int
}

// Check says what does not go together.
func (o *Options) Check() error {
	switch {
	case o.Type == endpoint.UD && o.Verb != Send:
		return errors.New("UD has SEND alone")
	case o.Type == endpoint.UC && o.Verb.reads():
		return errors.New("UC has neither READ nor atomics")
	case o.Latency && (o.Both || o.QPs != 1):
		return errors.New("a latency test has one queue pair and takes turns")
	case o.Both && o.Verb == Atomic:
		return errors.New("the atomic test goes one way")
	case o.Verb == Atomic && o.Size != atomicLen:
		return fmt.Errorf("an atomic has %d bytes", atomicLen)
	case o.Latency && o.Iterations < 2:
		return errors.New("a latency test has at least two iterations")
	case o.Iterations < 1, o.QPs < 1, o.TxDepth < 1, o.RxDepth < 1, o.Size < 1, o.Size > 1<<30:
		return errors.New("iterations, queue pairs and depths are at least 1, a message has 1 byte to 1 GiB")
	case o.OutReads < 1 || o.OutReads > 255:
		return errors.New("1 to 255 READs and atomics can be outstanding")
	}
	return nil
}

// sends reports whether this side has requests to measure.
func (o *Options) sends() bool { return o.Client || o.Both || o.Latency && !o.Verb.reads() }

// receives reports whether SENDs come to this side.
func (o *Options) receives() bool { return o.Verb == Send && (!o.Client || o.Both || o.Latency) }

// Depth is how many of a kind are posted at most: no more than there are.
func (o *Options) Depth(most int) int { return min(most, o.Iterations) }

// Moderation is after how many requests one completion is asked for, as the
// originals have it: each for long messages.
func (o *Options) Moderation() int {
	const usual, long = 100, 8192
	if o.Size > long || o.Latency {
		return 1
	}
	return min(usual, o.Depth(o.TxDepth))
}
