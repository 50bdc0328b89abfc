package ucmatose_test

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/ucmatose"
)

// pair makes two devices on one cable.
func pair(t *testing.T) (left, right *endpoint.Device) {
	t.Helper()
	a, b := simnet.Pair(1500)
	open := func(link endpoint.Link, seed uint64, addresses ...string) *endpoint.Device {
		o := endpoint.Options{Link: link, Seed: seed}
		for _, address := range addresses {
			o.Addresses = append(o.Addresses, netip.MustParsePrefix(address))
		}
		dev, err := endpoint.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = dev.Close() })
		return dev
	}
	return open(a, 1, "10.0.0.1/24", "fd00::1/64"), open(b, 2, "10.0.0.2/24", "fd00::2/64")
}

// end is an end and what it has said.
type end struct {
	*ucmatose.End
	lines []string
}

func newEnd(t *testing.T, dev *endpoint.Device, o ucmatose.Options) *end {
	t.Helper()
	e := &end{}
	o.Say = func(line string) { e.lines = append(e.lines, line) }
	var err error
	if e.End, err = ucmatose.New(dev, o); err != nil {
		t.Fatal(err)
	}
	return e
}

// run lets a client on the left talk to a server on the right.
func run(t *testing.T, gid int, forClient, forServer ucmatose.Options, patience time.Duration) (client, server *end, clientErr, serverErr error) {
	t.Helper()
	left, right := pair(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := right.Listen(endpoint.TCPPort(ucmatose.Port))
	if err != nil {
		t.Fatal(err)
	}
	client, server = newEnd(t, left, forClient), newEnd(t, right, forServer)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	clientErr = client.Dial(ctx, netip.AddrPortFrom(right.GID(gid), ucmatose.Port))
	serverErr = <-done
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
	return client, server, clientErr, serverErr
}

func TestMessagesGoBothWays(t *testing.T) {
	for _, o := range []ucmatose.Options{
		{Connections: 1, Count: 10, Size: 100},
		{Connections: 3, Count: 20, Size: 5000},
	} {
		for gid := range 2 {
			client, server, err, serverErr := run(t, gid, o, o, 20*time.Second)
			if err != nil || serverErr != nil {
				t.Fatal(err, serverErr)
			}
			for _, e := range []*end{client, server} {
				n, bytes := e.Received()
				if want := uint64(o.Connections * o.Count); n != want || bytes != want*uint64(o.Size) {
					t.Errorf("%d messages of %d bytes", n, bytes)
				}
			}
			if !reflect.DeepEqual(client.lines, clientLines) || !reflect.DeepEqual(server.lines, serverLines) {
				t.Errorf("client %q\nserver %q", client.lines, server.lines)
			}
		}
	}
}

// The lines of the original.
var (
	clientLines = []string{
		"cmatose: starting client", "cmatose: connecting", "receiving data transfers", "sending replies",
		"data transfers complete", "test complete", "return status 0",
	}
	serverLines = []string{
		"cmatose: starting server", "initiating data transfers", "completing sends", "receiving data transfers",
		"data transfers complete", "cmatose: disconnecting", "disconnected", "test complete", "return status 0",
	}
)

func TestConnectionsWithoutMessagesAreMadeAndEnded(t *testing.T) {
	o := ucmatose.Options{Connections: 2, Size: 1}
	client, server, err, serverErr := run(t, 0, o, o, 20*time.Second)
	if err != nil || serverErr != nil {
		t.Fatal(err, serverErr)
	}
	if got := strings.Join(server.lines, ","); got != "cmatose: starting server,cmatose: disconnecting,disconnected,test complete,return status 0" {
		t.Error(got)
	}
	if len(client.Conns()) != 2 {
		t.Errorf("%d connections", len(client.Conns()))
	}
}

// A server that sends fewer messages ends the connection while the client waits.
func TestAClientNoticesThatTooFewMessagesCome(t *testing.T) {
	client := ucmatose.Options{Connections: 1, Count: 3, Size: 10}
	server := ucmatose.Options{Connections: 1, Count: 0, Size: 10}
	_, _, err, serverErr := run(t, 0, client, server, 20*time.Second)
	if !errors.Is(err, peer.ErrDisconnected) || serverErr != nil {
		t.Errorf("%v; %v", err, serverErr)
	}
}

func TestNumbersThatCannotBeAreRefused(t *testing.T) {
	for _, o := range []ucmatose.Options{{Count: 1, Size: 1}, {Connections: 1, Count: -1, Size: 1}, {Connections: 1, Count: 1}, {Connections: 1, Size: 2 << 30}} {
		if o.Check() == nil {
			t.Errorf("%+v", o)
		}
	}
}
