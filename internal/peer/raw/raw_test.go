package raw

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer/peertest"
)

func text(s string) ([]byte, error) { return []byte(s), nil }

// pair makes two connected peers.
func pair(t *testing.T, o Options) (a, b *Peer) {
	t.Helper()
	left, right := peertest.Devices(t, 4200)
	a, err := New(left, o)
	if err != nil {
		t.Fatal(err)
	}
	if b, err = New(right, o); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := errors.Join(a.Connect(ctx, b.Local()), b.Connect(ctx, a.Local())); err != nil {
		t.Fatal(err)
	}
	return a, b
}

func do(t *testing.T, p *Peer, step string) Outcome {
	t.Helper()
	s, err := ParseStep(step, text)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	out, err := p.Do(ctx, s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestStepsDoWhatTheySay(t *testing.T) {
	a, b := pair(t, Options{Type: endpoint.RC, Memory: 64, Receives: 2})
	for range 5 { // more than there are receives at a time
		do(t, a, "send=hello")
		if got := do(t, b, "recv"); string(got.Data) != "hello" || !got.OK {
			t.Fatalf("received %+v", got)
		}
	}
	do(t, a, "write@8=there")
	if got := b.Exposed(); string(got[8:13]) != "there" {
		t.Errorf("memory is %q", got)
	}
	if got := do(t, a, "read@9=4"); string(got.Data) != "here" {
		t.Errorf("read %+v", got)
	}
	number := func(o Outcome) uint64 { return binary.NativeEndian.Uint64(o.Data) }
	if was := number(do(t, a, "add@16=5")); was != 0 {
		t.Errorf("added to %d", was)
	}
	if was := number(do(t, a, "swap@16=5:9")); was != 5 {
		t.Errorf("swapped %d", was)
	}
	if is := number(do(t, a, "add@16=0")); is != 9 {
		t.Errorf("now it is %d", is)
	}
}

func TestRefusedStepSaysWhy(t *testing.T) {
	a, _ := pair(t, Options{Type: endpoint.RC, Memory: 64, Receives: 1})
	if got := do(t, a, "write@4000000=x"); got.OK || got.Status != endpoint.RemoteAccessError.String() {
		t.Errorf("%+v, want a remote access error", got)
	}
}

// TestTheOtherSideReachesWhatItWasToldAndNotAByteMore, least of all the buffers of
// this side's own requests.
func TestTheOtherSideReachesWhatItWasToldAndNotAByteMore(t *testing.T) {
	for _, step := range []string{"read@64=1", "write@64=x", "read@60=5", "add@64=1", "write@1048640=x"} {
		a, _ := pair(t, Options{Type: endpoint.RC, Memory: 64, Receives: 1})
		if got := do(t, a, step); got.Status != endpoint.RemoteAccessError.String() {
			t.Errorf("%+v, want a remote access error", got)
		}
	}
	a, b := pair(t, Options{Type: endpoint.RC, Memory: 64, Receives: 1})
	if got := do(t, a, "write@63=x"); !got.OK || b.Exposed()[63] != 'x' {
		t.Errorf("%+v: %q", got, b.Exposed())
	}
}

func TestDatagramsGoByHand(t *testing.T) {
	a, b := pair(t, Options{Type: endpoint.UD, Memory: 64, Receives: 1, QKey: 7})
	do(t, a, "send=hello")
	if got := do(t, b, "recv"); got.Bytes != 45 || string(got.Data[40:]) != "hello" {
		t.Errorf("received %+v", got)
	}
}

func TestNumbersOfChoice(t *testing.T) {
	a, _ := pair(t, Options{Type: endpoint.RC, Memory: 64, QPN: 0x77, PSN: 0xfffffe})
	if s := a.Local(); s.QPN != 0x77 || s.PSN != 0xfffffe || s.Length != 64 {
		t.Errorf("%+v", s)
	}
}

func TestStepsThatAreNone(t *testing.T) {
	for _, step := range []string{"", "sent=x", "read", "read=-1", "read=2000000", "add=x", "swap=1", "write@x=y", "swap=1:x"} {
		if s, err := ParseStep(step, text); err == nil {
			t.Errorf("%q was read as %+v", step, s)
		}
	}
}
