package roceinject

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/impair"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/transport/fault"
)

// impair puts the rules of --fault between the device and its interface.
func (o *peerDevice) impair(options *endpoint.Options) error {
	if len(o.faults) == 0 {
		return nil
	}
	config := fault.Config{Craft: impair.Craft}
	for _, text := range o.faults {
		one, err := readFault(text)
		if err != nil {
			return fmt.Errorf("--fault %s: %w", text, err)
		}
		config.Rules = append(config.Rules, one.Rules...)
		config.Seed ^= one.Seed
	}
	config.Seed ^= o.seed
	link, err := nic.Open(nic.Options{Interface: o.iface, Promiscuous: true, IgnoreOutgoing: true})
	if err != nil {
		return err
	}
	options.Interface, options.Link = "", newFaultLink(link, fault.NewEngine(config))
	return nil
}

// readFault reads one rule in braces, or a file of rules.
func readFault(text string) (fault.Config, error) {
	if strings.HasPrefix(strings.TrimSpace(text), "{") {
		return impair.Parse([]byte("rules: ["+text+"]"), compileFilter)
	}
	rules, err := os.ReadFile(text)
	if err != nil {
		return fault.Config{}, err
	}
	return impair.Parse(rules, compileFilter)
}

// faultTick is how often frames that wait are looked for when none comes.
const faultTick = time.Millisecond

// faultLink is a link on which rules act: forward on what is sent, backward on
// what is received.
type faultLink struct {
	endpoint.Link
	in endpoint.Batch // what came last

	mu      sync.Mutex // guards what is below
	engine  *fault.Engine
	writer  endpoint.Writer
	scratch []byte           // the reserved place
	arrived []endpoint.Frame // made by a rule, to be received
}

func newFaultLink(link endpoint.Link, engine *fault.Engine) *faultLink {
	const longest = 64 << 10
	return &faultLink{Link: link, engine: engine, scratch: make([]byte, longest)}
}

// Receive returns what the rules leave of what comes.
func (l *faultLink) Receive(b *endpoint.Batch, deadline time.Time) error {
	for {
		tick := time.Now().Add(faultTick)
		if !deadline.IsZero() && deadline.Before(tick) {
			tick = deadline
		}
		err := l.Link.Receive(&l.in, tick)
		late := errors.Is(err, os.ErrDeadlineExceeded)
		if err != nil && !late {
			return err
		}
		if late {
			l.in.Frames = l.in.Frames[:0]
		}
		if err := l.judge(b); err != nil || len(b.Frames) > 0 {
			return err
		}
		if late && tick.Equal(deadline) {
			return os.ErrDeadlineExceeded
		}
	}
}

// judge puts into b what is received now.
func (l *faultLink) judge(b *endpoint.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	b.Frames = b.Frames[:0]
	now := time.Now()
	for i := range l.in.Frames {
		f := l.in.Frames[i]
		if l.engine.Receive(now, fault.Backward, f.Data) {
			b.Frames = append(b.Frames, f)
		}
	}
	err := l.emit(now)
	b.Frames = append(b.Frames, l.arrived...)
	l.arrived = l.arrived[:0]
	if err == nil && l.writer != nil {
		err = l.writer.Flush(time.Time{})
	}
	return err
}

// emit sends, or lets arrive, what is due.
func (l *faultLink) emit(now time.Time) error {
	for out, ok := l.engine.Emit(now); ok; out, ok = l.engine.Emit(now) {
		if out.Direction == fault.Backward {
			l.arrived = append(l.arrived, endpoint.Frame{Data: out.Data, WireLen: len(out.Data), Time: now.UnixNano()})
		} else if err := l.send(out.Data); err != nil {
			return err
		}
	}
	return nil
}

func (l *faultLink) send(frame []byte) error {
	place, err := l.writer.Reserve(time.Time{})
	if err != nil {
		return err
	}
	return l.writer.Commit(copy(place, frame))
}

// Writer returns a writer that the rules stand behind.
func (l *faultLink) Writer() (endpoint.Writer, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	l.writer, err = l.Link.Writer()
	return &faultWriter{l}, err
}

type faultWriter struct{ link *faultLink }

func (w *faultWriter) Reserve(time.Time) ([]byte, error) { return w.link.scratch, nil }

func (w *faultWriter) Commit(n int) error {
	l := w.link
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	frame := l.scratch[:n]
	if l.engine.Receive(now, fault.Forward, frame) {
		if err := l.send(frame); err != nil {
			return err
		}
	}
	return l.emit(now)
}

func (w *faultWriter) Flush(deadline time.Time) error {
	w.link.mu.Lock()
	defer w.link.mu.Unlock()
	return w.link.writer.Flush(deadline)
}

func (w *faultWriter) Close() { w.link.writer.Close() }
