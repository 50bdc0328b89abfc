package nic_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

const experimental = 0x88b5 // EtherType for local experiments (IEEE 802)

// soon is a deadline that only a broken test reaches.
func soon() time.Time { return time.Now().Add(10 * time.Second) }

// open opens a link inside a namespace.
func open(t testing.TB, n *nettest.Namespace, o nic.Options) *nic.Link {
	t.Helper()
	var link *nic.Link
	n.Do(t, func() {
		var err error
		if link, err = nic.Open(o); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = link.Close() })
	return link
}

// cable opens both ends of a veth pair.
func cable(t testing.TB, from, to nic.Options) (left, right *nic.Link) {
	t.Helper()
	l, r := nettest.Pair(t)
	from.Interface, to.Interface = nettest.LeftInterface, nettest.RightInterface
	return open(t, l, from), open(t, r, to)
}

// orderedCable is a cable whose right end takes frames in as they were sent, and
// fewer than 1000 at a time.
func orderedCable(t testing.TB, from, to nic.Options) (left, right *nic.Link) {
	t.Helper()
	l, r := nettest.Pair(t)
	r.KeepOrder(t, nettest.RightInterface)
	from.Interface, to.Interface = nettest.LeftInterface, nettest.RightInterface
	return open(t, l, from), open(t, r, to)
}

// testFrame makes a frame that no kernel answers, with a number in it.
func testFrame(size, number int) []byte {
	f := make([]byte, size)
	copy(f, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1})
	binary.BigEndian.PutUint16(f[12:], experimental)
	for i := 14; i < size; i++ {
		f[i] = byte(i*7 + number)
	}
	return f
}

// tagged puts tags of the given types, numbered from 0x6064, into a frame.
func tagged(frame []byte, types ...uint16) []byte {
	out := append([]byte{}, frame[:12]...)
	for i, kind := range types {
		out = binary.BigEndian.AppendUint16(out, kind)
		out = binary.BigEndian.AppendUint16(out, 0x6064+uint16(i))
	}
	return append(out, frame[12:]...)
}

// ours tells the test's frames from those that kernels send by themselves.
func ours(frame []byte) bool {
	return len(frame) >= 12 && bytes.Equal(frame[6:12], []byte{2, 0, 0, 0, 0, 1})
}

// receive waits for n frames of the test and returns copies of them.
func receive(t testing.TB, link *nic.Link, n int) []nic.Frame {
	t.Helper()
	var frames []nic.Frame
	var batch nic.Batch
	for len(frames) < n {
		if err := link.Receive(&batch, soon()); err != nil {
			t.Fatalf("after %d of %d frames: %v", len(frames), n, err)
		}
		for _, f := range batch.Frames {
			if ours(f.Data) {
				f.Data = bytes.Clone(f.Data)
				frames = append(frames, f)
			}
		}
	}
	return frames
}

func send(t testing.TB, link *nic.Link, frames ...[]byte) {
	t.Helper()
	if n, err := link.Send(frames, soon()); err != nil || n != len(frames) {
		t.Fatalf("sent %d of %d frames: %v", n, len(frames), err)
	}
}

func TestFramesArriveUnchanged(t *testing.T) {
	var frames [][]byte
	for i := range 3000 {
		frames = append(frames, testFrame(14+i%1501, i))
	}
	bySend := func(t *testing.T, l *nic.Link) { send(t, l, frames...) }
	byWriter := func(t *testing.T, l *nic.Link) { writeAll(t, l, frames, soon()) }
	for _, c := range []struct {
		name    string
		options nic.Options
		send    func(*testing.T, *nic.Link)
	}{
		{"Send", nic.Options{}, bySend},
		{"Send past the queue", nic.Options{QdiscBypass: true}, bySend},
		{"Writer", nic.Options{}, byWriter},
		{"Writer over a ring", nic.Options{SendRingBytes: 1 << 20}, byWriter},
		{"Writer over a tiny ring", nic.Options{SendRingBytes: 1}, byWriter},
		{"Writer past the queue", nic.Options{SendRingBytes: 1 << 20, QdiscBypass: true}, byWriter},
		{"Writer over little memory past the queue", nic.Options{SendRingBytes: 1, QdiscBypass: true}, byWriter},
	} {
		t.Run(c.name, func(t *testing.T) {
			left, right := cable(t, c.options, nic.Options{})
			stayOnOneProcessor(t)
			before := time.Now().UnixNano()
			c.send(t, left)
			got := receive(t, right, len(frames))
			after := time.Now().UnixNano()
			for i, f := range got {
				if !bytes.Equal(f.Data, frames[i]) || f.WireLen != len(frames[i]) {
					t.Fatalf("frame %d of %d bytes: %s", i, f.WireLen, cmp.Diff(frames[i], f.Data))
				}
				if f.Time < before || f.Time > after {
					t.Fatalf("frame %d: time %d is not between %d and %d", i, f.Time, before, after)
				}
				if f.Outgoing {
					t.Fatalf("frame %d is marked as sent", i)
				}
			}
			stats, err := left.Stats()
			if err != nil || stats.Sent != uint64(len(frames)) {
				t.Errorf("counted %d sent frames, want %d (%v)", stats.Sent, len(frames), err)
			}
		})
	}
}

// Frames longer than a slot of the ring come about by segmentation offload, or
// when the MTU grows.
func TestFramesLongerThanASlotAreWhole(t *testing.T) {
	l, r := nettest.Pair(t)
	right := open(t, r, nic.Options{Interface: nettest.RightInterface})
	l.IP(t, "link set left0 mtu 9000")
	r.IP(t, "link set right0 mtu 9000")
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface})
	frames := [][]byte{
		testFrame(9014, 1), testFrame(100, 2),
		tagged(testFrame(9014, 3), 0x8100), testFrame(9000, 4), testFrame(101, 5),
	}
	for range 20 { // more at once would overrun the socket's queue
		send(t, left, frames...)
		for i, f := range receive(t, right, len(frames)) {
			if !bytes.Equal(f.Data, frames[i]) || f.WireLen != len(frames[i]) {
				t.Fatalf("frame %d: %d of %d bytes, want %d", i, len(f.Data), f.WireLen, len(frames[i]))
			}
		}
	}
}

func TestOwnFramesAreMarkedOrIgnored(t *testing.T) {
	n, far := nettest.Pair(t)
	all := open(t, n, nic.Options{Interface: nettest.LeftInterface})
	others := open(t, n, nic.Options{Interface: nettest.LeftInterface, IgnoreOutgoing: true})
	right := open(t, far, nic.Options{Interface: nettest.RightInterface})
	send(t, all, testFrame(100, 1))
	send(t, right, testFrame(100, 2))

	var marks []bool
	for _, f := range receive(t, all, 2) {
		marks = append(marks, f.Outgoing)
	}
	if diff := cmp.Diff([]bool{true, false}, marks); diff != "" {
		t.Errorf("marks of a sent and a received frame (-want +got)\n%s", diff)
	}
	first := receive(t, others, 1)[0]
	if diff := cmp.Diff(testFrame(100, 2), first.Data); diff != "" || first.Outgoing {
		t.Errorf("first frame that is not ignored (-want +got)\n%s", diff)
	}
}

func TestFullRingCountsWhatItDrops(t *testing.T) {
	left, right := cable(t, nic.Options{}, nic.Options{RingBytes: 1})
	const n = 500
	for i := range n {
		send(t, left, testFrame(100, i))
	}
	stats, err := right.Stats()
	if err != nil {
		t.Fatal(err)
	}
	if stats.Dropped == 0 || stats.Received == 0 || stats.Received+stats.Dropped < n {
		t.Errorf("%d received and %d dropped of %d", stats.Received, stats.Dropped, n)
	}
	again, err := right.Stats()
	if err != nil || again.Dropped < stats.Dropped {
		t.Errorf("the count of drops fell from %d to %d (%v)", stats.Dropped, again.Dropped, err)
	}
	receive(t, right, 1) // the ring works on
	send(t, left, testFrame(100, 0))
	receive(t, right, 1)
}

func TestRingGoesRoundManyTimes(t *testing.T) {
	left, right := cable(t, nic.Options{}, nic.Options{RingBytes: 1})
	for i := range 1000 {
		frame := testFrame(300, i)
		send(t, left, frame)
		if got := receive(t, right, 1)[0]; !bytes.Equal(got.Data, frame) {
			t.Fatalf("frame %d is another one: %s", i, cmp.Diff(frame, got.Data))
		}
	}
}

func TestCloseEndsAWait(t *testing.T) {
	_, r := nettest.Pair(t)
	for range 50 {
		link := open(t, r, nic.Options{Interface: nettest.RightInterface})
		result := make(chan error)
		go func() {
			var batch nic.Batch
			for {
				if err := link.Receive(&batch, time.Time{}); err != nil {
					result <- err
					return
				}
			}
		}()
		if err := link.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-result; !errors.Is(err, net.ErrClosed) {
			t.Fatalf("Receive ended with %v", err)
		}
	}
}

func TestClosedLink(t *testing.T) {
	left, right := cable(t, nic.Options{}, nic.Options{})
	frame := testFrame(100, 1)
	send(t, left, frame)
	var batch nic.Batch
	for len(batch.Frames) == 0 || !ours(batch.Frames[0].Data) {
		if err := right.Receive(&batch, soon()); err != nil {
			t.Fatal(err)
		}
	}
	for _, l := range []*nic.Link{left, right} {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(frame, batch.Frames[0].Data); diff != "" {
		t.Errorf("the last batch after Close (-want +got)\n%s", diff)
	}
	_, sendErr := left.Send([][]byte{frame}, time.Time{})
	_, statsErr := right.Stats()
	for what, err := range map[string]error{
		"Receive": right.Receive(&batch, time.Time{}), "Receive again": right.Receive(&batch, soon()),
		"Send": sendErr, "Stats": statsErr, "Close": right.Close(),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestReceiveHasADeadline(t *testing.T) {
	left, right := cable(t, nic.Options{}, nic.Options{IgnoreOutgoing: true})
	var batch nic.Batch
	for _, deadline := range []time.Time{time.Now().Add(5 * time.Millisecond), time.Now().Add(-time.Hour)} {
		for {
			err := right.Receive(&batch, deadline)
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil || len(batch.Frames) == 0 { // a kernel's own frame is no fault
				t.Fatalf("%d frames, error %v", len(batch.Frames), err)
			}
		}
	}
	send(t, left, testFrame(100, 1))
	receive(t, right, 1)
	send(t, left, testFrame(100, 2))
	for !(len(batch.Frames) > 0 && ours(batch.Frames[0].Data)) {
		err := right.Receive(&batch, time.Now().Add(-time.Hour))
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
}

// ways are the ways that a Writer can send by.
var ways = []nic.Options{{}, {SendRingBytes: 1 << 20}, {SendRingBytes: 1 << 20, QdiscBypass: true}}

func TestFramesThatCannotBeSent(t *testing.T) {
	good := testFrame(100, 0)
	for i, way := range ways {
		left, right := cable(t, way, nic.Options{})
		for _, c := range []struct {
			name  string
			frame []byte
			want  error
			text  string
		}{
			{"longer than the MTU", testFrame(1515, 0), nic.ErrFrameTooLong, "1515 bytes, and its MTU of 1500 allows 1514"},
			{"tagged, longer than the MTU", tagged(testFrame(1515, 0), 0x8100), nic.ErrFrameTooLong, "1519 bytes, and its MTU of 1500 allows 1518"},
			{"a service tag is part of the MTU", tagged(testFrame(1514, 0), 0x88a8), nic.ErrFrameTooLong, "1518 bytes, and its MTU of 1500 allows 1514"},
			{"no whole header", testFrame(100, 0)[:13], nic.ErrFrameTooShort, "13 bytes"},
			{"nothing", nil, nic.ErrFrameTooShort, "0 bytes"},
		} {
			t.Run(fmt.Sprintf("%s, way %d", c.name, i), func(t *testing.T) {
				n, err := left.Send([][]byte{good, good, c.frame, good}, soon())
				if n != 2 || !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("Send: sent %d, error %v; want 2 and %q", n, err, c.text)
				}
				receive(t, right, 2)
				w, err := left.Writer()
				if err != nil {
					t.Fatal(err)
				}
				place, err := w.Reserve(soon())
				if err != nil {
					t.Fatal(err)
				}
				copy(place, c.frame)
				if err := w.Commit(len(c.frame)); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
					t.Errorf("Commit: %v; want %q", err, c.text)
				}
			})
		}
	}
}

func TestWriterGoesOnAfterTheMTUFell(t *testing.T) {
	for _, ring := range []int{0, 1 << 20} {
		t.Run(fmt.Sprintf("ring of %d", ring), func(t *testing.T) {
			l, r := nettest.Pair(t)
			left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendRingBytes: ring})
			right := open(t, r, nic.Options{Interface: nettest.RightInterface})
			l.IP(t, "link set left0 mtu 1000")
			w, err := left.Writer()
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			commit := func(f []byte) {
				place, err := w.Reserve(soon())
				if err != nil {
					t.Fatal(err)
				}
				if err := w.Commit(copy(place, f)); err != nil {
					t.Fatal(err)
				}
			}
			for _, size := range []int{100, 1200, 101} {
				commit(testFrame(size, 0))
			}
			if err := w.Flush(soon()); !errors.Is(err, nic.ErrFrameTooLong) {
				t.Errorf("Flush: %v", err)
			}
			commit(testFrame(102, 0))
			if err := w.Flush(soon()); err != nil {
				t.Fatal(err)
			}
			var lengths []int
			for _, f := range receive(t, right, 2) {
				lengths = append(lengths, f.WireLen)
			}
			if diff := cmp.Diff([]int{100, 102}, lengths); diff != "" {
				t.Errorf("lengths of what arrived (-want +got)\n%s", diff)
			}
			if stats, err := left.Stats(); err != nil || stats.Sent != 2 {
				t.Errorf("counted %d as sent, want 2 (%v)", stats.Sent, err)
			}
		})
	}
}

func TestInterfaceGoesDown(t *testing.T) {
	l, r := nettest.Pair(t)
	for _, way := range ways {
		way.Interface = nettest.LeftInterface
		left := open(t, l, way)
		right := open(t, r, nic.Options{Interface: nettest.RightInterface})
		r.IP(t, "link set right0 down")
		l.IP(t, "link set left0 down")
		var batch nic.Batch
		var err error
		for err == nil {
			err = right.Receive(&batch, soon())
		}
		if !errors.Is(err, nic.ErrDown) {
			t.Errorf("Receive: %v", err)
		}
		if _, err := left.Send([][]byte{testFrame(100, 0)}, soon()); !errors.Is(err, nic.ErrDown) {
			t.Errorf("Send: %v", err)
		}
		w, err := left.Writer()
		if err != nil {
			t.Fatal(err)
		}
		if place, err := w.Reserve(soon()); err != nil {
			t.Fatal(err)
		} else if err := w.Commit(copy(place, testFrame(100, 0))); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(soon()); !errors.Is(err, nic.ErrDown) {
			t.Errorf("Flush: %v", err)
		}
		r.IP(t, "link set right0 up")
		l.IP(t, "link set left0 up")
		send(t, left, testFrame(100, 1))
		receive(t, right, 1)
		if err := left.Close(); err != nil { // one socket past the queue at a time
			t.Fatal(err)
		}
	}
}

// TestWriterWaitsForTheOtherEnd sends while the far end is down: frames that
// the driver would have thrown away are sent in their order when it is up.
func TestWriterWaitsForTheOtherEnd(t *testing.T) {
	l, r := nettest.Pair(t)
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendRingBytes: 1 << 20, QdiscBypass: true})
	r.IP(t, "link set right0 down")
	frames := [][]byte{testFrame(100, 1), testFrame(101, 2), testFrame(102, 3)}
	if err := write(left, frames, time.Now().Add(5*time.Millisecond)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("without a far end: %v", err)
	}
	if stats, err := left.Stats(); err != nil || stats.Sent != 0 {
		t.Errorf("counted %d as sent (%v)", stats.Sent, err)
	}
	done := make(chan error)
	go func() { done <- write(left, frames, soon()) }()
	r.IP(t, "link set right0 up")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if stats, err := left.Stats(); err != nil || stats.Sent != 3 {
		t.Errorf("counted %d as sent, want 3 (%v)", stats.Sent, err)
	}

	r.IP(t, "link set right0 down")
	go func() { done <- write(left, frames, time.Time{}) }()
	if err := left.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; !errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

// TestWritersSendSideBySide lets three goroutines send by one Link, and no more
// frames than what waits at the far end may be (net.core.netdev_max_backlog).
func TestWritersSendSideBySide(t *testing.T) {
	const writers, each = 3, 300
	for _, bypass := range []bool{false, true} {
		left, right := orderedCable(t, nic.Options{SendRingBytes: 1 << 18, Writers: writers, QdiscBypass: bypass}, nic.Options{})
		var senders sync.WaitGroup
		for i, w := range left.Writers() {
			senders.Go(func() {
				for n := range each {
					place, err := w.Reserve(soon())
					if err == nil {
						copy(place, testFrame(14+2, 0))
						place[14], place[15] = byte(i), byte(n)
						err = w.Commit(16)
					}
					if err != nil {
						t.Error(err)
						return
					}
				}
				if err := w.Flush(soon()); err != nil || w.Sent() != each {
					t.Errorf("writer %d sent %d frames: %v", i, w.Sent(), err)
				}
			})
		}
		next := make([]byte, writers)
		for _, f := range receive(t, right, writers*each) {
			if i := f.Data[14]; f.Data[15] != next[i] {
				t.Fatalf("writer %d: frame %d in place of %d", i, f.Data[15], next[i])
			}
			next[f.Data[14]]++
		}
		senders.Wait()
	}
}

// A queue that is full refuses frames (ENOBUFS), a long one fills the socket's
// memory (EAGAIN). In both cases sending waits, and loses nothing.
func TestSendWaitsForASlowInterface(t *testing.T) {
	frames := make([][]byte, 600)
	for i := range frames {
		frames[i] = testFrame(1000, i)
	}
	for _, queue := range []string{"limit 20k", "limit 10m"} {
		for _, ring := range []int{0, 1 << 20} {
			t.Run(fmt.Sprintf("%s, ring of %d", queue, ring), func(t *testing.T) {
				l, r := nettest.Pair(t)
				r.KeepOrder(t, nettest.RightInterface)
				left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendRingBytes: ring})
				bypass := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendRingBytes: ring, QdiscBypass: true})
				right := open(t, r, nic.Options{Interface: nettest.RightInterface})

				l.Run(t, "tc", "qdisc add dev left0 root tbf rate 100mbit burst 10k "+queue)
				writeAll(t, left, frames, soon())
				for i, f := range receive(t, right, len(frames)) {
					if !bytes.Equal(f.Data, frames[i]) {
						t.Fatalf("frame %d is another one: %s", i, cmp.Diff(frames[i], f.Data))
					}
				}

				l.Run(t, "tc", "qdisc change dev left0 root tbf rate 80kbit burst 10k "+queue)
				err := write(left, frames, time.Now().Add(20*time.Millisecond))
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("slower than the deadline: %v", err)
				}
				stats, err := left.Stats()
				if more := stats.Sent - 600; err != nil || more == 0 || more >= 600 {
					t.Errorf("slower than the deadline: %d of 600 sent, %v", more, err)
				}
				writeAll(t, bypass, frames, soon())
			})
		}
	}
}

// write sends frames through the Link's writer.
func write(link *nic.Link, frames [][]byte, deadline time.Time) error {
	w, err := link.Writer()
	if err != nil {
		return err
	}
	for _, f := range frames {
		place, err := w.Reserve(deadline)
		if err != nil {
			return err
		}
		if err := w.Commit(copy(place, f)); err != nil {
			return err
		}
	}
	return w.Flush(deadline)
}

func writeAll(t testing.TB, link *nic.Link, frames [][]byte, deadline time.Time) {
	t.Helper()
	if err := write(link, frames, deadline); err != nil {
		t.Fatal(err)
	}
}

func TestInterfaceIsRemoved(t *testing.T) {
	l, _ := nettest.Pair(t)
	for _, way := range ways {
		l.IP(t, "link add gone0 type veth peer name gone1")
		l.IP(t, "link set gone0 up")
		l.IP(t, "link set gone1 up")
		way.Interface = "gone0"
		link := open(t, l, way)
		l.IP(t, "link del gone0")
		if _, err := link.Send([][]byte{testFrame(100, 0)}, soon()); !errors.Is(err, nic.ErrGone) && !errors.Is(err, nic.ErrDown) {
			t.Errorf("Send: %v", err)
		}
		if err := write(link, [][]byte{testFrame(100, 0)}, soon()); !errors.Is(err, nic.ErrGone) && !errors.Is(err, nic.ErrDown) {
			t.Errorf("Writer: %v", err)
		}
		var batch nic.Batch
		var err error
		for err == nil {
			err = link.Receive(&batch, soon())
		}
		if !errors.Is(err, nic.ErrDown) {
			t.Errorf("Receive: %v", err)
		}
	}
}

func TestSendOnlyDoesNotReceive(t *testing.T) {
	left, _ := cable(t, nic.Options{SendOnly: true}, nic.Options{})
	if err := left.Receive(&nic.Batch{}, soon()); err == nil {
		t.Error("Receive did not fail")
	}
	send(t, left, testFrame(100, 1))
	if stats, err := left.Stats(); err != nil || stats != (nic.Stats{Sent: 1}) {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestSendAndReceiveDoNotAllocate(t *testing.T) {
	for i, way := range ways {
		left, right := cable(t, way, nic.Options{})
		frames := [][]byte{testFrame(100, 0), testFrame(100, 1)}
		w, err := left.Writer()
		if err != nil {
			t.Fatal(err)
		}
		var batch nic.Batch
		deadline := soon()
		round := func() {
			if _, err := left.Send(frames, deadline); err != nil {
				t.Fatal(err)
			}
			place, err := w.Reserve(deadline)
			if err != nil {
				t.Fatal(err)
			}
			if err := w.Commit(copy(place, frames[0])); err != nil {
				t.Fatal(err)
			}
			if err := w.Flush(deadline); err != nil {
				t.Fatal(err)
			}
			for got := 0; got < 3; {
				if err := right.Receive(&batch, deadline); err != nil {
					t.Fatal(err)
				}
				for _, f := range batch.Frames {
					if ours(f.Data) {
						got++
					}
				}
			}
		}
		if n := testing.AllocsPerRun(200, round); n != 0 {
			t.Errorf("way %d: %v allocations a round", i, n)
		}
	}
}
