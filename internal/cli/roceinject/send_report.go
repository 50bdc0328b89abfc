package roceinject

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"
)

// passes is how often everything is sent, 0 for ever: what --loop says, else as
// often as --count takes.
func (o *sendOptions) passes() (uint64, error) {
	switch o.loop {
	case "forever":
		return 0, nil
	case "":
		if o.flags.Changed("count") {
			if o.count == 0 {
				return 0, errors.New("--count 0: want at least one packet")
			}
			return 0, nil
		}
		return 1, nil
	}
	n, err := strconv.ParseUint(o.loop, 10, 32)
	if err != nil || n == 0 {
		return 0, fmt.Errorf("--loop %s: want a number, or forever", o.loop)
	}
	return n, nil
}

const (
	progressDelay = time.Second // shorter work shows nothing
	progressEvery = 200 * time.Millisecond
)

// watched runs s and shows how far it is, to a person at a terminal.
func (o *sendOptions) watched(ctx context.Context, s *sending) error {
	quit := make(chan struct{})
	var wait sync.WaitGroup
	if o.streams.ErrTTY {
		wait.Go(func() { watch(o.streams.Err, s, quit) })
	}
	err := s.run(ctx)
	close(quit)
	wait.Wait()
	return errors.Join(err, s.source.close())
}

func watch(out io.Writer, s *sending, quit <-chan struct{}) {
	delay := time.NewTimer(progressDelay)
	defer delay.Stop()
	clear := ""
	start := time.Now()
	var before uint64
	last := start
	for {
		select {
		case <-quit:
			fmt.Fprint(out, clear)
			return
		case now := <-delay.C:
			clear = "\r\x1b[K"
			packets := s.tally.packets.Load()
			speed := float64(packets-before) / now.Sub(last).Seconds()
			fmt.Fprintf(out, "\r\x1b[K%d packets, %s, %.0f s", packets, scaled(speed, "pps"), now.Sub(start).Seconds())
			before, last = packets, now
			delay.Reset(progressEvery)
		}
	}
}

// report says what was really sent. err is how the run ended.
func (o *sendOptions) report(s *sending, err error) error {
	out := o.streams.Out
	if o.write == "-" { // which has the packets
		out = o.streams.Err
	}
	_, printed := fmt.Fprint(out, s.summary())
	if problem := s.problem(); !errors.Is(err, problem) { // else it is told already
		err = errors.Join(err, problem)
	}
	return errors.Join(err, printed)
}

// summary is what was sent, and what not.
func (s *sending) summary() string {
	packets, bytes := s.tally.packets.Load(), s.tally.bytes.Load()
	seconds := float64(s.end-s.begin) / second
	text := fmt.Sprintf("sent %d packets, %d bytes in %.3f s", packets, bytes, seconds)
	if seconds > 0 && packets > 0 {
		text += fmt.Sprintf(": %s, %s", scaled(float64(packets)/seconds, "pps"), scaled(8*float64(bytes)/seconds, "bps"))
	}
	text += "\n"
	var skipped []string
	for why, n := range s.skipped {
		if n > 0 {
			skipped = append(skipped, fmt.Sprintf("%d %s", n, unfitNames[why]))
		}
	}
	if skipped != nil {
		text += "skipped " + strings.Join(skipped, ", ") + "\n"
	}
	if n := s.tally.refused.Load(); n > 0 {
		text += fmt.Sprintf("refused %d\n", n)
	}
	return text
}

// problem is the error of a run that did not send what it should.
func (s *sending) problem() error {
	switch {
	case s.tally.refusal != nil:
		return s.tally.refusal
	case s.offered == 0 && s.skipped != [unfits]uint64{}:
		return errors.New("there is no packet that can be sent")
	}
	return nil
}
