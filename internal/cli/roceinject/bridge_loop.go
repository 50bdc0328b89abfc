package roceinject

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/transport/fault"
)

// bridge passes frames between two interfaces, by the decisions of an engine.
// One goroutine for each interface waits for frames; whoever has some, or the
// timer of what is delayed, does the rest under one lock. Handing batches to a
// goroutine for all would double the time that a lone frame takes.
type bridge struct {
	mu      sync.Mutex // guards everything below, and sending
	engine  *fault.Engine
	ends    [2]*bridgeEnd  // where the frames of a direction come in
	capture *bridgeCapture // nil when none is written
	sums    completer
	parts   parter
	timer   *time.Timer
	wake    time.Time // what the timer is set to, zero after it fired
	stopped bool
}

// bridgeEnd is one interface and what waits to leave by it.
type bridgeEnd struct {
	link    *nic.Link
	frames  [][]byte
	notes   []string // of the frames, when a capture is written
	tooLong uint64   // frames that could not be sent
}

// openBridge opens both interfaces.
func openBridge(names [2]string, engine *fault.Engine) (*bridge, error) {
	var links [2]*nic.Link
	for i, name := range names {
		var err error
		if links[i], err = nic.Open(nic.Options{Interface: name, Promiscuous: true, IgnoreOutgoing: true}); err != nil {
			if i > 0 {
				_ = links[0].Close()
			}
			return nil, err
		}
	}
	return joinLinks(links, engine), nil
}

// joinLinks makes a bridge of open links, which it closes.
func joinLinks(links [2]*nic.Link, engine *fault.Engine) *bridge {
	b := &bridge{engine: engine}
	for i, link := range links {
		b.ends[i] = &bridgeEnd{link: link}
	}
	return b
}

func (b *bridge) close() {
	for _, e := range b.ends {
		_ = e.link.Close() // nothing is lost by it
	}
}

// exit is the end that the frames of a direction leave by.
func (b *bridge) exit(d fault.Direction) *bridgeEnd { return b.ends[d.Reverse()] }

// run bridges until ctx ends or an interface fails. It closes the interfaces.
func (b *bridge) run(ctx context.Context) error {
	failed := make(chan error, 1) // the first failure
	fail := func(err error) {
		select {
		case failed <- err:
		default:
		}
	}
	b.timer = time.AfterFunc(time.Hour, func() {
		if err := b.handleDue(); err != nil {
			fail(err)
		}
	})
	var carriers sync.WaitGroup
	for d := range fault.Backward + 1 {
		carriers.Go(func() { fail(b.carry(d)) })
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	b.close() // wakes the carriers, also one that waits for room to send
	carriers.Wait()
	b.timer.Stop()
	b.mu.Lock()
	b.stopped = true
	b.mu.Unlock()
	return err
}

// carry takes the frames of one direction until the interface is closed or
// fails.
func (b *bridge) carry(d fault.Direction) error {
	link := b.ends[d].link
	var batch nic.Batch
	for {
		if err := link.Receive(&batch, time.Time{}); err != nil {
			return fmt.Errorf("interface %s: %w", link.Name(), err)
		}
		if err := b.handle(d, batch.Frames); err != nil {
			return err
		}
	}
}

// handleDue sends what the timer was set for.
func (b *bridge) handleDue() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.stopped {
		return nil // the timer fired as the bridge stopped
	}
	b.wake = time.Time{}
	b.emit(time.Now())
	if err := b.flush(); err != nil {
		return err
	}
	b.arm()
	return nil
}

// handle decides about the frames that came and sends what is due.
func (b *bridge) handle(d fault.Direction, frames []nic.Frame) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	b.emit(now) // what was due before they came
	for i := range frames {
		if err := b.take(now, d, &frames[i]); err != nil {
			return err
		}
	}
	if err := b.flush(); err != nil {
		return err
	}
	b.arm()
	return nil
}

// arm sets the timer to the time of the next frame that waits.
func (b *bridge) arm() {
	at, waits := b.engine.Deadline()
	if waits && !at.Equal(b.wake) {
		b.wake = at
		b.timer.Reset(max(0, time.Until(at)))
	}
}

// take decides about a frame, or about those that it is merged of.
func (b *bridge) take(now time.Time, d fault.Direction, f *nic.Frame) error {
	if len(f.Data) < f.WireLen { // the kernel kept less than the frame
		b.exit(d).tooLong++
		return nil
	}
	var parts [][]byte
	if f.Merged {
		parts = b.parts.part(f.Data, b.ends[d].link.MTU())
	}
	for _, part := range parts {
		if err := b.decide(now, d, &nic.Frame{Data: part, WireLen: len(part), Time: f.Time}); err != nil {
			return err
		}
	}
	if parts != nil {
		return nil
	}
	if f.ChecksumPending {
		b.sums.complete(f.Data)
	}
	return b.decide(now, d, f)
}

func (b *bridge) decide(now time.Time, d fault.Direction, f *nic.Frame) error {
	pass := b.engine.Receive(now, d, f.Data)
	if b.capture != nil {
		if err := b.capture.arrived(d, f, b.engine.Note()); err != nil {
			return err
		}
	}
	if pass {
		b.send(d, f.Data, "")
	}
	b.emit(now)
	return nil
}

// emit queues what the engine has to send.
func (b *bridge) emit(now time.Time) {
	for out, ok := b.engine.Emit(now); ok; out, ok = b.engine.Emit(now) {
		b.send(out.Direction, out.Data, out.Note)
	}
}

func (b *bridge) send(d fault.Direction, frame []byte, note string) {
	e := b.exit(d)
	e.frames = append(e.frames, frame)
	if b.capture != nil {
		e.notes = append(e.notes, note)
	}
}

// flush sends what is queued at both ends.
func (b *bridge) flush() error {
	for d := range fault.Backward + 1 {
		if err := b.flushEnd(d); err != nil {
			return err
		}
	}
	return nil
}

func (b *bridge) flushEnd(d fault.Direction) error {
	e := b.exit(d)
	frames, notes := e.frames, e.notes
	e.frames, e.notes = e.frames[:0], e.notes[:0]
	for len(frames) > 0 {
		n, err := e.link.Send(frames, time.Time{})
		if b.capture != nil {
			if err := b.capture.left(d, frames[:n], notes); err != nil {
				return err
			}
			notes = notes[n:]
		}
		frames = frames[n:]
		switch {
		case err == nil:
		case errors.Is(err, nic.ErrFrameTooLong), errors.Is(err, nic.ErrFrameTooShort):
			e.tooLong++
			frames = frames[1:]
			if b.capture != nil {
				notes = notes[1:]
			}
		default:
			return fmt.Errorf("interface %s: %w", e.link.Name(), err)
		}
	}
	return nil
}
