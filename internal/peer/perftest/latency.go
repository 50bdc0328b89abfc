package perftest

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/peer"
)

// Latency is the result of a latency test, in microseconds: of half a round
// trip where both sides send, else of a whole one.
type Latency struct {
	Size          int     `json:"bytes"`
	Iterations    int     `json:"iterations"`
	Min           float64 `json:"min_us"`
	Max           float64 `json:"max_us"`
	Typical       float64 `json:"typical_us"`
	Average       float64 `json:"average_us"`
	Dev           float64 `json:"deviation_us"`
	Percentile99  float64 `json:"percentile99_us"`
	Percentile999 float64 `json:"percentile99.9_us"`
}

// Turns runs a latency test. The side that only answers has no result.
func (t *Test) Turns(ctx context.Context) (Latency, error) {
	var posted []time.Time
	var err error
	switch {
	case t.Verb == Send:
		posted, err = t.turns(ctx, t.Client, t.awaitReceive)
	case t.Verb == Write:
		posted, err = t.turns(ctx, !t.Client, t.awaitWrite) // the server begins
	case t.Client:
		posted, err = t.ask(ctx)
	}
	if err != nil {
		return Latency{}, err
	}
	if t.Verb != Write { // the write test ends without
		if err := t.sync(); err != nil {
			return Latency{}, err
		}
	}
	return t.latency(posted), nil
}

// turns sends and waits in turn.
func (t *Test) turns(ctx context.Context, first bool, await func(ctx context.Context, number int) error) (posted []time.Time, err error) {
	l := t.lanes[0]
	for n := range t.Iterations {
		if !first {
			if err := await(ctx, n); err != nil {
				return posted, err
			}
		}
		posted = append(posted, time.Now())
		wr := t.request(l, 0)
		wr.ID, wr.Flags = uint64(n), signaled
		t.memory[l.own+t.Size-1] = byte(n + 1) // what the write test waits for
		if err := l.qp.PostSend(wr); err != nil {
			return posted, err
		}
		if _, err := peer.Next(ctx, t.sendCQ); err != nil {
			return posted, fmt.Errorf("message %d: %w", n, err)
		}
		if first {
			if err := await(ctx, n); err != nil {
				return posted, err
			}
		}
	}
	return posted, nil
}

func (t *Test) awaitReceive(ctx context.Context, number int) error {
	if _, err := peer.Next(ctx, t.recvCQ); err != nil {
		return fmt.Errorf("%d messages received: %w", number, err)
	}
	if number+t.Depth(t.RxDepth) < t.Iterations {
		return t.postReceive(t.lanes[0])
	}
	return nil
}

// awaitWrite waits until the last byte of message number has been written: it
// counts the messages.
func (t *Test) awaitWrite(ctx context.Context, number int) error {
	var last [1]byte
	for {
		t.region.Read(last[:], t.lanes[0].exposed+t.Size-1)
		if last[0] == byte(number+1) {
			return nil
		}
		if ctx.Err() != nil {
			return fmt.Errorf("%d messages written: %w", number, ctx.Err())
		}
		runtime.Gosched()
	}
}

// ask sends requests that are answered, one at a time.
func (t *Test) ask(ctx context.Context) (posted []time.Time, err error) {
	l := t.lanes[0]
	for n := range t.Iterations {
		posted = append(posted, time.Now())
		wr := t.request(l, 0)
		wr.ID, wr.Flags = uint64(n), signaled
		if err := l.qp.PostSend(wr); err != nil {
			return posted, err
		}
		if _, err := peer.Next(ctx, t.sendCQ); err != nil {
			return posted, fmt.Errorf("request %d: %w", n, err)
		}
	}
	return posted, nil
}

// latency makes the result of the times at which the messages were posted.
func (t *Test) latency(posted []time.Time) Latency {
	r := Latency{Size: t.Size, Iterations: t.Iterations}
	if len(posted) < 2 {
		return r
	}
	share := 1.0 // of the time between two posts
	if !t.Verb.reads() {
		share = 0.5
	}
	var took []float64
	for i := range len(posted) - 1 {
		took = append(took, share*float64(posted[i+1].Sub(posted[i]))/float64(time.Microsecond))
	}
	slices.Sort(took)
	rank := func(part float64) float64 {
		return took[min(len(took), int(math.Ceil(part*float64(len(took)))))-1]
	}
	r.Min, r.Max, r.Typical = took[0], took[len(took)-1], rank(0.5)
	r.Percentile99, r.Percentile999 = rank(0.99), rank(0.999)
	for _, d := range took {
		r.Average += d / float64(len(took))
	}
	for _, d := range took {
		r.Dev += (d - r.Average) * (d - r.Average) / float64(len(took))
	}
	r.Dev = math.Sqrt(r.Dev)
	return r
}
