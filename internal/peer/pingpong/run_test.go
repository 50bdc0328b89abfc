package pingpong

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/peertest"
)

// play plays one side.
func play(ctx context.Context, dev *endpoint.Device, conn net.Conn, o Options) (Result, error) {
	game, err := New(dev, o)
	if err != nil {
		return Result{}, err
	}
	meeting := Meeting{
		Conn: conn, Client: o.Client, Shared: o.Shared, Local: game.Local(),
		Connect: func(remote []Address) error { return game.Connect(ctx, remote) },
	}
	if err := meeting.Run(); err != nil {
		return Result{}, err
	}
	return game.Run(ctx)
}

// playBoth plays a game between two devices.
func playBoth(t *testing.T, client, server *endpoint.Device, o Options) (Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	a, b := net.Pipe()
	context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	other := make(chan error, 1)
	first := o
	first.Client = true
	go func() {
		_, err := play(ctx, server, b, o)
		other <- err
	}()
	result, err := play(ctx, client, a, first)
	if served := <-other; err == nil {
		err = served
	}
	return result, err
}

func TestGamesEndWithEveryMessageBackAsItWas(t *testing.T) {
	for _, o := range []Options{
		{Type: endpoint.RC, QPs: 1, Size: 10000},
		{Type: endpoint.RC, QPs: 1, Size: 1, GID: 1},
		{Type: endpoint.UC, QPs: 1, Size: 5000},
		{Type: endpoint.UD, QPs: 1, Size: 4096},
		{Type: endpoint.UD, QPs: 1, Size: 100, GID: 1},
		{Type: endpoint.RC, QPs: 5, Shared: true, Size: 3000},
	} {
		t.Run(fmt.Sprintf("%v/%d/%d", o.Type, o.QPs, o.Size), func(t *testing.T) {
			a, b := peertest.Devices(t, 4200)
			o.Iterations, o.RxDepth, o.Check = 40, 8, true
			r, err := playBoth(t, a, b, o)
			if err != nil {
				t.Fatal(err)
			}
			if r.Bad != 0 || r.Iterations != 40 || r.Bytes != uint64(2*40*o.Size) {
				t.Errorf("%+v", r)
			}
		})
	}
}

// TestWrongDataIsFound has the server's device turn a bit over in each message,
// unseen by the ICRC.
func TestWrongDataIsFound(t *testing.T) {
	const headers = 14 + 20 + 8 + 12
	a, b := peertest.Devices(t, 4200, func(_, server *endpoint.Options) {
		server.BeforeSend = func(frame []byte) endpoint.Verdict {
			if len(frame) < headers+1000 {
				return endpoint.Pass
			}
			frame[headers+500] ^= 1
			return endpoint.Seal
		}
	})
	r, err := playBoth(t, a, b, Options{Type: endpoint.RC, QPs: 1, Size: 1000, Iterations: 10, RxDepth: 8, Check: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bad != 10 {
		t.Errorf("%d of 10 wrong messages were found", r.Bad)
	}
}

func TestTooLongDatagramIsRefused(t *testing.T) {
	a, _ := peertest.Devices(t, 4200)
	if _, err := New(a, Options{Type: endpoint.UD, QPs: 1, Size: 5000, Iterations: 1, RxDepth: 1}); err == nil {
		t.Error("no error")
	}
}

func TestPeerWithoutGIDIsRefused(t *testing.T) {
	a, _ := peertest.Devices(t, 4200)
	game, err := New(a, Options{Type: endpoint.RC, QPs: 1, Size: 1, Iterations: 1, RxDepth: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := game.Connect(t.Context(), []Address{{QPN: 2, GID: netip.IPv6Unspecified()}}); err == nil {
		t.Error("no error")
	}
}

// TestSilentPeerIsAStatus plays with a queue pair that does not exist.
func TestSilentPeerIsAStatus(t *testing.T) {
	a, _ := peertest.Devices(t, 4200)
	game, err := New(a, Options{
		Type: endpoint.RC, QPs: 1, Size: 1, Iterations: 1, RxDepth: 1, Client: true,
		Change: func(at *endpoint.Attributes) { at.Timeout, at.RetryCount = 1, 1 },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if err := game.Connect(ctx, []Address{{QPN: 2, GID: netip.MustParseAddr("::ffff:10.0.0.2")}}); err != nil {
		t.Fatal(err)
	}
	var status *peer.StatusError
	if _, err := game.Run(ctx); !errors.As(err, &status) || status.Completion.Status != endpoint.RetryExceeded {
		t.Errorf("%v, want that the retries were exceeded", err)
	}
}
