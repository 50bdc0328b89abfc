package roceinject

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// toInterface sends on the interface of -i.
func (o *sendOptions) toInterface(ctx context.Context, args []string, s *sending) error {
	link, err := o.open(ctx)
	if err != nil {
		return err
	}
	if s.source, err = o.source(ctx, args, link, s.passes); err != nil {
		return errors.Join(err, link.Close())
	}
	return o.over(ctx, s, link)
}

// over sends over a link and reports. It closes the link and the source.
func (o *sendOptions) over(ctx context.Context, s *sending, link *nic.Link) error {
	end := sync.OnceFunc(func() {
		_ = link.Close() // nothing is lost: what was sent is counted
	})
	defer end()
	if o.senders > 1 {
		s.sink = newManySink(&s.tally, link)
	} else {
		s.sink = newRingSink(&s.tally, link)
	}
	defer s.sink.close()
	defer context.AfterFunc(ctx, end)() // wakes a send that waits
	s.clock = &wallClock{start: time.Now()}
	return o.report(s, o.watched(ctx, s))
}

func (o *sendOptions) link() nic.Options {
	return nic.Options{
		Interface: o.iface, SendOnly: true, SendRingBytes: ringBytes, Writers: o.senders, QdiscBypass: o.bypass,
	}
}

// open opens the interface, if that is safe.
func (o *sendOptions) open(ctx context.Context) (*nic.Link, error) {
	l, err := host.LinkByName(ctx, o.iface)
	if err != nil {
		return nil, fmt.Errorf("interface %w", err)
	}
	routed, err := host.CarriesDefaultRoute(ctx, l.Index)
	if err != nil {
		return nil, err
	}
	if routed && !o.yesReally {
		return nil, fmt.Errorf("interface %s carries a default route: what is sent there reaches the network that this machine lives on; --yes-really sends all the same", o.iface)
	}
	return nic.Open(o.link())
}

// wallClock is the real time since its start.
type wallClock struct {
	start time.Time
	timer *time.Timer
}

func (c *wallClock) now() int64 { return int64(time.Since(c.start)) }

func (c *wallClock) wait(ctx context.Context, until int64) {
	d := time.Duration(until - c.now())
	if c.timer == nil {
		c.timer = time.NewTimer(d)
	} else {
		c.timer.Reset(d)
	}
	select {
	case <-c.timer.C:
	case <-ctx.Done():
	}
}
