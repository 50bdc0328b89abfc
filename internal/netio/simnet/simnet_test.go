package simnet_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/simnet"
)

func send(t *testing.T, w nic.Writer, frames ...string) {
	t.Helper()
	for _, f := range frames {
		place, err := w.Reserve(time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Commit(copy(place, f)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

func pair(t *testing.T, mtu int) (left, right *simnet.Link, w nic.Writer) {
	t.Helper()
	left, right = simnet.Pair(mtu)
	w, err := left.Writer()
	if err != nil {
		t.Fatal(err)
	}
	return left, right, w
}

func TestFramesArriveWholeAndInOrder(t *testing.T) {
	_, right, w := pair(t, 1500)
	const total = 1000
	for i := range total {
		send(t, w, fmt.Sprintf("%014d and more", i))
	}
	var batch nic.Batch
	for next := 0; next < total; {
		if err := right.Receive(&batch, time.Time{}); err != nil {
			t.Fatal(err)
		}
		for _, f := range batch.Frames {
			if want := fmt.Appendf(nil, "%014d and more", next); !bytes.Equal(f.Data, want) || f.WireLen != len(want) {
				t.Fatalf("got %q, want %q", f.Data, want)
			}
			next++
		}
	}
}

func TestReceiveEndsAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, right, _ := pair(t, 1500)
		begin := time.Now()
		var batch nic.Batch
		err := right.Receive(&batch, begin.Add(time.Minute))
		if !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) != time.Minute {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
	})
}

func TestCloseEndsReceive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right, w := pair(t, 1500)
		ended := make(chan error)
		go func() {
			var batch nic.Batch
			ended <- right.Receive(&batch, time.Time{})
		}()
		synctest.Wait()
		if err := right.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, net.ErrClosed) {
			t.Errorf("Receive: %v", err)
		}
		if err := right.Close(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		send(t, w, "into the void 123")
		if err := left.Close(); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(time.Time{}); !errors.Is(err, net.ErrClosed) {
			t.Errorf("Flush: %v", err)
		}
	})
}

func TestAFullCableLosesFrames(t *testing.T) {
	_, right, w := pair(t, 100)
	const total = 10000
	for range total {
		send(t, w, "fourteen bytes and some")
	}
	got := 0
	var batch nic.Batch
	for {
		if err := right.Receive(&batch, time.Now()); err != nil {
			break
		}
		got += len(batch.Frames)
	}
	if lost := int(right.Lost()); lost == 0 || got+lost != total {
		t.Errorf("%d received and %d lost of %d", got, lost, total)
	}
}

func TestFramesOfImpossibleLengthAreRefused(t *testing.T) {
	_, _, w := pair(t, 100)
	place, err := w.Reserve(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(13); !errors.Is(err, nic.ErrFrameTooShort) {
		t.Errorf("13 bytes: %v", err)
	}
	if err := w.Commit(len(place) + 1); !errors.Is(err, nic.ErrFrameTooLong) {
		t.Errorf("%d bytes: %v", len(place)+1, err)
	}
}

func TestSteadyTrafficAllocatesNothing(t *testing.T) {
	_, right, w := pair(t, 1500)
	frame := string(make([]byte, 100))
	var batch nic.Batch
	round := func() {
		send(t, w, frame, frame)
		if err := right.Receive(&batch, time.Time{}); err != nil || len(batch.Frames) != 2 {
			t.Fatal(err)
		}
	}
	round()
	if n := testing.AllocsPerRun(100, round); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
