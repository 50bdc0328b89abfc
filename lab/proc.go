//go:build linux

package lab

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"sync"
	"testing"
	"time"
)

// Proc is a running command.
type Proc struct {
	cancel context.CancelFunc
	done   chan struct{} // closed when the command has ended
	err    error         // valid then

	mu      sync.Mutex
	out     []byte
	changed chan struct{} // closed, and replaced, when out grows
}

// Start starts a prepared command, of Command say, which is killed when the
// test ends. Its context has to be one that cancel ends.
func start(t testing.TB, cmd *exec.Cmd, cancel context.CancelFunc) *Proc {
	t.Helper()
	p := &Proc{cancel: cancel, done: make(chan struct{}), changed: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p, p
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatalf("lab: %v", err)
	}
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	t.Cleanup(p.Stop)
	return p
}

// Start starts a program in the lab's namespace, which is killed when the test
// ends.
func (l *Lab) Start(t testing.TB, name string, args ...string) *Proc {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	return start(t, l.Command(ctx, name, args...), cancel)
}

// Write takes what the command prints.
func (p *Proc) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.out = append(p.out, b...)
	close(p.changed)
	p.changed = make(chan struct{})
	return len(b), nil
}

// Output returns what the command has printed so far, errors included.
func (p *Proc) Output() string {
	out, _ := p.state()
	return out
}

func (p *Proc) state() (string, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.out), p.changed
}

// WaitFor waits until the command has printed something that fits, and returns
// the match and its groups.
func (p *Proc) WaitFor(re *regexp.Regexp, patience time.Duration) ([]string, error) {
	timeout := time.After(patience)
	for ended := false; ; {
		out, changed := p.state()
		if match := re.FindStringSubmatch(out); match != nil {
			return match, nil
		}
		if ended {
			return nil, fmt.Errorf("lab: the command ended (%v) and did not print %q, but:\n%s", p.err, re, out)
		}
		select {
		case <-changed:
		case <-p.done:
			ended = true // look once more: it may have printed just before
		case <-timeout:
			return nil, fmt.Errorf("lab: nothing like %q in %v, but:\n%s", re, patience, out)
		}
	}
}

// Wait waits for the command to end by itself and returns what it printed, and
// its exit code as an error.
func (p *Proc) Wait(ctx context.Context) (string, error) {
	select {
	case <-p.done:
		return p.Output(), p.err
	case <-ctx.Done():
		return p.Output(), ctx.Err()
	}
}

// Stop kills the command and its children and waits for their end.
func (p *Proc) Stop() {
	p.cancel()
	<-p.done
}
