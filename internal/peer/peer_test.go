package peer_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/peertest"
)

func TestNextTellsWhyTheContextEnded(t *testing.T) {
	dev, _ := peertest.Devices(t, 1500)
	cq := dev.CreateCQ(1)
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
	left, right := peertest.Devices(t, 1500)
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

func TestExchangesThatCannotBeAreRefused(t *testing.T) {
	dev, _ := peertest.Devices(t, 1500)
	for _, o := range []peer.Options{
		{Count: 1, Size: 1}, {Connections: 1 << 17, Size: 1}, {Connections: 1, Count: -1, Size: 1}, {Connections: 1, Count: 1}, {Connections: 1, Size: 2 << 30},
	} {
		if _, err := peer.NewExchange(dev, endpoint.RC, o); err == nil {
			t.Errorf("%+v", o)
		}
	}
}
