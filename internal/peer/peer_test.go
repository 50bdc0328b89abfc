package peer_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/peer"
)

func openDevice(t *testing.T, link endpoint.Link, address string) *endpoint.Device {
	t.Helper()
	dev, err := endpoint.Open(endpoint.Options{Link: link, Seed: 1, Addresses: []netip.Prefix{netip.MustParsePrefix(address)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

func TestNextTellsWhyTheContextEnded(t *testing.T) {
	link, _ := simnet.Pair(1500)
	cq := openDevice(t, link, "10.0.0.1/24").CreateCQ(1)
	why := errors.New("it is late")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := peer.Next(ctx, cq); !errors.Is(err, why) {
		t.Error(err)
	}
}

// connect makes connected queue pairs of two devices.
func connect(t *testing.T, ctx context.Context) (active, passive *endpoint.Conn, cq *endpoint.CQ) {
	t.Helper()
	a, b := simnet.Pair(1500)
	left, right := openDevice(t, a, "10.0.0.1/24"), openDevice(t, b, "10.0.0.2/24")
	cq = left.CreateCQ(1)
	l, err := right.Listen(endpoint.TCPPort(7))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- func() error {
			r, err := l.Accept(ctx)
			if err != nil {
				return err
			}
			qp, err := right.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: right.AllocPD()})
			if err != nil {
				return err
			}
			passive, err = r.Accept(ctx, qp, endpoint.ConnOptions{})
			return err
		}()
	}()
	qp, err := left.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: left.AllocPD(), SendCQ: cq, RecvCQ: cq})
	if err != nil {
		t.Fatal(err)
	}
	active, err = left.Dial(ctx, right.GID(0), endpoint.TCPPort(7), qp, endpoint.ConnOptions{})
	if err := errors.Join(err, <-done); err != nil {
		t.Fatal(err)
	}
	return active, passive, cq
}

func TestWaitsEndWithTheConnection(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	active, passive, cq := connect(t, ctx)
	during, done := peer.While(ctx, active)
	defer done()
	if during.Err() != nil {
		t.Fatal(during.Err())
	}
	if err := passive.Disconnect(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := peer.Next(during, cq); !errors.Is(err, peer.ErrDisconnected) {
		t.Error(err)
	}
	if err := peer.Ended(ctx, active); err != nil {
		t.Error(err)
	}
}

func TestNextTellsOfAFailedRequest(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	active, _, cq := connect(t, ctx)
	if err := active.Disconnect(ctx); err != nil {
		t.Fatal(err)
	}
	if err := active.QP.PostRecv(endpoint.RecvRequest{ID: 5}); err != nil {
		t.Fatal(err)
	}
	_, err := peer.Next(ctx, cq)
	var failed *peer.StatusError
	if !errors.As(err, &failed) || failed.Completion.ID != 5 || failed.Completion.Status != endpoint.FlushError {
		t.Error(err)
	}
}
