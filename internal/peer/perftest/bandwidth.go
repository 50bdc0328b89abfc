package perftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/peer"
)

// mebi is what bandwidth is told in.
const mebi = 1 << 20

// maxPeak is up to how many messages the peak is looked for.
const maxPeak = 20000

// Bandwidth runs a bandwidth test and exchanges reports where the originals do.
// The result is what both print.
func (t *Test) Bandwidth(ctx context.Context) (Report, error) {
	mine, err := t.move(ctx)
	if err != nil {
		return mine, err
	}
	if t.Verb == Send && !t.Both {
		return mine, t.sync()
	}
	if !t.Both {
		if err := t.sync(); err != nil {
			return mine, err
		}
	}
	theirs, err := t.talk.SwapReports(mine)
	if err != nil {
		return mine, err
	}
	return t.total(mine, theirs), t.sync()
}

// total is what is printed of both reports: their sum when both send, else that
// of the one who does.
func (t *Test) total(mine, theirs Report) Report {
	switch {
	case t.Both:
		mine.Peak += theirs.Peak
		mine.Average += theirs.Average
		mine.Rate += theirs.Rate
		return mine
	case t.Client:
		return mine
	}
	return theirs
}

// move carries the messages of both directions, at the same time.
func (t *Test) move(ctx context.Context) (mine Report, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	received := make(chan error, 1)
	var got Report
	go func() {
		var err error
		if t.receives() {
			if got, err = t.receive(ctx); err != nil {
				cancel(err)
			}
		}
		received <- err
	}()
	if t.sends() {
		if mine, err = t.transmit(ctx); err != nil {
			cancel(err)
		}
	}
	if other := <-received; err == nil || errors.Is(err, context.Canceled) {
		err = other
	}
	if !t.sends() {
		mine = got
	}
	return mine, err
}

func (t *Test) messages() int { return t.Iterations * t.QPs }

// sending is how far a lane's requests are.
type sending struct {
	posted, done, offset int
}

// transmit posts requests in every lane until all are done.
func (t *Test) transmit(ctx context.Context) (Report, error) {
	lanes := make([]sending, len(t.lanes))
	byQPN := make(map[uint32]int)
	for i, l := range t.lanes {
		byQPN[l.qp.QPN()] = i
	}
	watch := stopwatch{moderation: t.Moderation()}
	for i := range lanes {
		if err := t.fill(i, &lanes[i], &watch); err != nil {
			return Report{}, err
		}
	}
	for done := 0; done < t.messages(); {
		c, err := peer.Next(ctx, t.sendCQ)
		if err != nil {
			return Report{}, fmt.Errorf("%d of %d messages sent: %w", done, t.messages(), err)
		}
		i := byQPN[c.QPN]
		n := min(watch.moderation, t.Iterations-lanes[i].done)
		lanes[i].done += n
		done += n
		watch.completed = append(watch.completed, mark{time.Now(), done})
		if err := t.fill(i, &lanes[i], &watch); err != nil {
			return Report{}, err
		}
	}
	return watch.report(t.Size), nil
}

// fill posts as many requests as a lane has room for.
func (t *Test) fill(i int, s *sending, watch *stopwatch) error {
	l := t.lanes[i]
	for s.posted < t.Iterations && s.posted-s.done < t.TxDepth {
		wr := t.request(l, s.offset)
		wr.ID = uint64(i)
		if s.posted++; s.posted%watch.moderation == 0 || s.posted == t.Iterations {
			wr.Flags |= signaled
		}
		watch.posted = append(watch.posted, time.Now())
		if err := l.qp.PostSend(wr); err != nil {
			return err
		}
		s.offset = t.advance(s.offset)
	}
	return nil
}

// advance is where the next message goes: small ones go round in the cycle
// buffer, a cache line or more apart.
func (t *Test) advance(offset int) int {
	line := max(1, int(t.settings.CacheLine))
	step := (t.Size + line - 1) / line * line
	if offset += step; offset+step > int(t.settings.CycleBuffer) {
		return 0
	}
	return offset
}

// receive takes messages until all have come. Its time begins with the first.
func (t *Test) receive(ctx context.Context) (Report, error) {
	byQPN := make(map[uint32]*lane)
	left := make(map[*lane]int) // receives that are still to be posted
	for _, l := range t.lanes {
		byQPN[l.qp.QPN()] = l
		left[l] = t.Iterations - t.Depth(t.RxDepth)
	}
	var first time.Time
	for n := range t.messages() {
		c, err := peer.Next(ctx, t.recvCQ)
		if err != nil {
			return Report{}, fmt.Errorf("%d of %d messages received: %w", n, t.messages(), err)
		}
		if n == 0 {
			first = time.Now()
		}
		l := byQPN[c.QPN]
		if left[l] > 0 {
			left[l]--
			if err := t.postReceive(l); err != nil {
				return Report{}, err
			}
		}
	}
	return rate(t.Size, t.messages(), time.Since(first)), nil
}
