// Package peertest has what the tests of peers share: two devices on a cable in
// memory, and the ends of ucmatose and udaddy that talk over it.
package peertest

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/peer"
)

// Devices makes two devices on a cable of an MTU in bytes: 10.0.0.1 and fd00::1 on
// the left, 10.0.0.2 and fd00::2 on the right. Each change changes the options.
func Devices(t *testing.T, mtu int, changes ...func(left, right *endpoint.Options)) (left, right *endpoint.Device) {
	t.Helper()
	a, b := simnet.Pair(mtu)
	one := endpoint.Options{Link: a, Seed: 1, Addresses: addresses("10.0.0.1/24", "fd00::1/64")}
	other := endpoint.Options{Link: b, Seed: 2, Addresses: addresses("10.0.0.2/24", "fd00::2/64")}
	for _, change := range changes {
		change(&one, &other)
	}
	return open(t, one), open(t, other)
}

func addresses(texts ...string) (list []netip.Prefix) {
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func open(t *testing.T, o endpoint.Options) *endpoint.Device {
	t.Helper()
	dev, err := endpoint.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// Outcome is an end that is through, what it has said, and how it ended.
type Outcome struct {
	peer.End
	Lines []string
	Err   error
}

// Program is ucmatose or udaddy.
type Program[E peer.End] struct {
	New     func(*endpoint.Device, peer.Options) (E, error)
	Service func(port uint16) endpoint.Service
	Port    uint16
}

// Run lets a client on the left talk to a server on the right, until both have
// ended or patience is over. gid is the index of the server's address.
func (p Program[E]) Run(t *testing.T, gid int, forClient, forServer peer.Options, patience time.Duration) (client, server *Outcome) {
	t.Helper()
	left, right := Devices(t, 1500)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	l, err := right.Listen(p.Service(p.Port))
	if err != nil {
		t.Fatal(err)
	}
	client, server = p.end(t, left, forClient), p.end(t, right, forServer)
	done := make(chan error, 1)
	go func() { done <- server.Serve(ctx, l) }()
	client.Err = client.Dial(ctx, netip.AddrPortFrom(right.GID(gid), p.Port))
	server.Err = <-done
	if err := errors.Join(client.Close(), server.Close()); err != nil {
		t.Error(err)
	}
	return client, server
}

func (p Program[E]) end(t *testing.T, dev *endpoint.Device, o peer.Options) *Outcome {
	t.Helper()
	out := &Outcome{}
	o.Say = func(line string) { out.Lines = append(out.Lines, line) }
	var err error
	if out.End, err = p.New(dev, o); err != nil {
		t.Fatal(err)
	}
	return out
}

// CheckBothWays runs a client and a server with the same options, over IPv4 and
// IPv6: all messages come, both ways, and each end says its lines.
func (p Program[E]) CheckBothWays(t *testing.T, o peer.Options, clientLines, serverLines []string) {
	t.Helper()
	for gid := range 2 {
		client, server := p.Run(t, gid, o, o, 20*time.Second)
		if err := errors.Join(client.Err, server.Err); err != nil {
			t.Fatal(err)
		}
		for _, e := range []*Outcome{client, server} {
			n, bytes := e.Received()
			if want := uint64(o.Connections * o.Count); n != want || bytes != want*uint64(o.Size) {
				t.Errorf("%d messages of %d bytes", n, bytes)
			}
		}
		if !slices.Equal(client.Lines, clientLines) || !slices.Equal(server.Lines, serverLines) {
			t.Errorf("client %q\nserver %q", client.Lines, server.Lines)
		}
	}
}
