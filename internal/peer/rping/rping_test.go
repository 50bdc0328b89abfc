package rping_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/peertest"
	"github.com/rocecap/rocecap/internal/peer/rping"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestAdvertIsLaidOutAsOnTheWire(t *testing.T) {
	// The first SEND of a client in pcaps/rping_rxe.pcap.
	line := []byte{
		0x00, 0x00, 0x55, 0xe9, 0x35, 0xc7, 0xd9, 0x90, // address
		0x00, 0x00, 0x0a, 0x01, // rkey
		0x00, 0x00, 0x01, 0xf4, // length
	}
	want := rping.Advert{Addr: 0x55e935c7d990, RKey: 0xa01, Length: 500}
	got, err := rping.ParseAdvert(line)
	if err != nil || got != want {
		t.Fatalf("%+v, %v", got, err)
	}
	if b := want.Append(nil); !bytes.Equal(b, line) {
		t.Errorf("%x, want %x", b, line)
	}
}

func TestAdvertOfAnotherLengthIsRefused(t *testing.T) {
	for n := range 2 * rping.AdvertLen {
		if _, err := rping.ParseAdvert(make([]byte, n)); (err == nil) != (n == rping.AdvertLen) {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}

func FuzzAdvert(f *testing.F) {
	f.Add(rping.Advert{Addr: 0x1000, RKey: 7, Length: 64}.Append(nil))
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := rping.ParseAdvert(line)
		if err == nil && !bytes.Equal(a.Append(nil), line) {
			t.Errorf("%x became %+v", line, a)
		}
	})
}

func TestSizesThatTheOriginalRefuses(t *testing.T) {
	for size, fine := range map[int]bool{22: false, 23: true, 64: true, 65535: true, 65536: false} {
		if err := (&rping.Options{Size: size}).Check(); (err == nil) != fine {
			t.Errorf("size %d: %v", size, err)
		}
	}
}

// run lets a client on the left ping a server on the right.
func run(t *testing.T, left, right *endpoint.Device, gid int, client, server rping.Options) (pings, answers int, clientErr, serverErr error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	l, err := right.Listen(endpoint.TCPPort(rping.Port))
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
			s, err := rping.Accept(ctx, right, r, server)
			if err != nil {
				return err
			}
			err = s.Answer(ctx)
			answers = s.Pings
			return errors.Join(err, s.Close())
		}()
	}()
	s, err := rping.Dial(ctx, left, netip.AddrPortFrom(right.GID(gid), rping.Port), client)
	if err != nil {
		t.Fatal(err)
	}
	clientErr = s.Ping(ctx)
	pings = s.Pings
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	return pings, answers, clientErr, <-done
}

func TestPingsGoToTheServerAndBack(t *testing.T) {
	for _, size := range []int{rping.MinSize, rping.DefaultSize, 5000, rping.MaxSize} {
		for gid := range 2 {
			left, right := peertest.Devices(t, 1500)
			var sent, got []string
			client := rping.Options{Size: size, Count: 3, Validate: true, Show: func(p string) { got = append(got, p) }}
			server := rping.Options{Size: size, Show: func(p string) { sent = append(sent, p) }}
			pings, answers, err, serverErr := run(t, left, right, gid, client, server)
			if err != nil || serverErr != nil || pings != 3 || answers != 3 {
				t.Fatalf("%d pings, %d answers: %v; %v", pings, answers, err, serverErr)
			}
			if !reflect.DeepEqual(sent, got) || len(got) != 3 || len(got[2]) != size-1 || !strings.HasPrefix(got[2], "rdma-ping-2: CDEFGH") {
				t.Errorf("the server saw %.40q, the client %.40q", sent, got)
			}
		}
	}
}

// The text of the first pings as the original shows it.
func TestTextIsTheOriginals(t *testing.T) {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz"
	left, right := peertest.Devices(t, 1500)
	var got []string
	_, _, err, serverErr := run(t, left, right, 0,
		rping.Options{Size: 100, Count: 2, Show: func(p string) { got = append(got, p) }}, rping.Options{Size: 100})
	if err != nil || serverErr != nil {
		t.Fatal(err, serverErr)
	}
	want := []string{
		"rdma-ping-0: " + letters + letters[:28],
		"rdma-ping-1: " + letters[1:] + letters[:29],
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestPingsSurviveLoss(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	lost := 0
	lose := func(frame []byte) endpoint.Verdict {
		const madFrame = 14 + 20 + 8 + 12 + 8 + wire.MADLen + 4 // come again after seconds only
		if len(frame) > 60 && len(frame) != madFrame && r.IntN(10) == 0 {
			lost++
			return endpoint.Drop
		}
		return endpoint.Pass
	}
	left, right := peertest.Devices(t, 1500, func(left, _ *endpoint.Options) { left.BeforeSend = lose })
	quick := func(a *endpoint.Attributes) { a.Timeout = 10 }
	pings, answers, err, serverErr := run(t, left, right, 0,
		rping.Options{Size: 5000, Count: 20, Validate: true, Change: quick}, rping.Options{Size: 5000, Change: quick})
	if err != nil || serverErr != nil || pings != 20 || answers != 20 || lost < 5 {
		t.Errorf("%d pings, %d answers, %d frames lost: %v; %v", pings, answers, lost, err, serverErr)
	}
}

func TestAPingLongerThanTheServersBufferEndsTheConnection(t *testing.T) {
	left, right := peertest.Devices(t, 1500)
	_, _, err, serverErr := run(t, left, right, 0, rping.Options{Size: 200, Count: 1}, rping.Options{Size: 100})
	if !errors.Is(err, peer.ErrDisconnected) || serverErr == nil || !strings.Contains(serverErr.Error(), "200 bytes") {
		t.Errorf("%v; %v", err, serverErr)
	}
}

func TestAPingThatCameBackDifferentIsNoticed(t *testing.T) {
	spoil := func(frame []byte) endpoint.Verdict {
		const opcodeAt, icrcLen = 14 + 20 + 8, 4
		if wire.Opcode(frame[opcodeAt]) != wire.BaseRC|wire.OpWriteOnly {
			return endpoint.Pass
		}
		frame[len(frame)-icrcLen-2] ^= 1
		return endpoint.Seal
	}
	for validate, want := range map[bool]bool{true: true, false: false} {
		left, right := peertest.Devices(t, 1500, func(_, right *endpoint.Options) { right.BeforeSend = spoil })
		_, _, err, _ := run(t, left, right, 0, rping.Options{Size: 64, Count: 1, Validate: validate}, rping.Options{Size: 64})
		if mismatch := new(rping.MismatchError); errors.As(err, &mismatch) != want {
			t.Errorf("validate %v: %v", validate, err)
		}
	}
}
