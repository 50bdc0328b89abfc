package endpoint_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// breakable is a link that can be broken.
type breakable struct {
	endpoint.Link
	sending atomic.Pointer[error] // what a Flush returns
	broken  chan error            // what a Receive returns
}

func newBreakable(l endpoint.Link) *breakable {
	return &breakable{Link: l, broken: make(chan error, 1)}
}

func (b *breakable) Receive(batch *endpoint.Batch, _ time.Time) error {
	for {
		select {
		case err := <-b.broken:
			return err
		default:
		}
		err := b.Link.Receive(batch, time.Now().Add(time.Millisecond))
		if err == nil || errors.Is(err, net.ErrClosed) {
			return err
		}
	}
}

func (b *breakable) Writer() (endpoint.Writer, error) {
	w, err := b.Link.Writer()
	return breakableWriter{w, b}, err
}

type breakableWriter struct {
	endpoint.Writer
	link *breakable
}

func (w breakableWriter) Flush(deadline time.Time) error {
	if err := w.link.sending.Load(); err != nil {
		return *err
	}
	return w.Writer.Flush(deadline)
}

// wantLost wants everything of a device to end as when its link is gone.
func wantLost(t *testing.T, s *side, why error, flushed ...uint64) {
	t.Helper()
	for _, id := range flushed {
		s.want(id, endpoint.FlushError)
	}
	if _, err := s.cq.Next(within(t)); !errors.Is(err, why) {
		t.Errorf("the queue says %v", err)
	}
	fatal := false
	for !fatal {
		select {
		case e := <-s.dev.Events():
			fatal = e.Kind == endpoint.AsyncDeviceFatal && errors.Is(e.Err, why)
		case <-within(t).Done():
			t.Fatal("no event")
		}
	}
	if err := s.qp.PostRecv(endpoint.RecvRequest{}); !errors.Is(err, why) {
		t.Errorf("posting says %v", err)
	}
	if s.qp.State() != endpoint.Error {
		t.Errorf("state %v", s.qp.State())
	}
	if err := s.dev.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
	if err := s.qp.PostRecv(endpoint.RecvRequest{}); !errors.Is(err, endpoint.ErrClosed) {
		t.Errorf("after Close, posting says %v", err)
	}
}

func TestALinkThatIsLostFlushesEverything(t *testing.T) {
	gone := errors.New("gone")
	for name, c := range map[string]struct {
		why   error
		sever func(b *breakable, s *side)
		sent  []uint64
	}{
		"noticed by the receiver": {gone, func(b *breakable, _ *side) { b.broken <- gone }, nil},
		"noticed by the sender": {nic.ErrGone, func(b *breakable, s *side) {
			b.sending.Store(&nic.ErrGone)
			s.send(endpoint.WorkRequest{ID: 9, Op: endpoint.Send, SGL: s.region.SGL(0, 64)})
		}, []uint64{9}},
	} {
		t.Run(name, func(t *testing.T) {
			left, right := options(1500)
			link := newBreakable(left.Link)
			left.Link = link
			a, _ := connected(t, endpoint.RC, left, right, 0, 64)
			a.recv(endpoint.RecvRequest{ID: 5})
			a.recv(endpoint.RecvRequest{ID: 6})
			dialled := make(chan error, 1)
			other := newSide(t, a.dev, endpoint.RC, 64)
			go func() {
				_, err := other.dev.Dial(context.WithoutCancel(t.Context()), right.Addresses[0].Addr(), endpoint.TCPPort(1), other.qp, endpoint.ConnOptions{})
				dialled <- err
			}()
			waitFor(t, a.dev, func(s endpoint.Stats) bool { return s.SentPackets == 1 }) // it has asked
			c.sever(link, a)
			wantLost(t, a, c.why, append(c.sent, 5, 6)...)
			if err := <-dialled; err == nil {
				t.Error("connected over no link")
			}
		})
	}
}

// A link that is down loses packets. When it is up again the rest gets through,
// and who sends no more than a datagram is not stuck.
func TestALinkThatComesUpAgainGoesOn(t *testing.T) {
	left, right := options(1500)
	link := newBreakable(left.Link)
	left.Link = link
	a, b := connected(t, endpoint.RC, left, right, 0, 64)
	link.sending.Store(&nic.ErrDown)
	link.broken <- nic.ErrDown
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 64), 0))
	waitFor(t, a.dev, func(s endpoint.Stats) bool { return s.SendErrors >= 2 })
	link.sending.Store(nil)
	a.want(1, endpoint.Success)
}
