package nic_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
)

// capture opens a capture inside a namespace, and promises that it has one reader.
func capture(t testing.TB, n *nettest.Namespace, o nic.CaptureOptions) (*nic.Capture, *nic.CaptureReader) {
	t.Helper()
	var c *nic.Capture
	n.Do(t, func() {
		var err error
		if c, err = nic.OpenCapture(o); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = c.Close() })
	return c, c.Readers()[0]
}

// listen makes a cable with a sender at one end and a capture at the other.
func listen(t testing.TB, o nic.CaptureOptions) (*nic.Link, *nic.Capture, *nic.CaptureReader) {
	t.Helper()
	l, r := nettest.Pair(t)
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
	o.Interface = nettest.RightInterface
	c, reader := capture(t, r, o)
	return left, c, reader
}

// onlyOurs is a filter that passes the test's frames, by their source address:
// what kernels send by themselves is not counted.
var onlyOurs = []bpf.RawInstruction{
	{Op: 0x20, K: 6},
	{Op: 0x15, Jf: 3, K: 0x02000000},
	{Op: 0x28, K: 10},
	{Op: 0x15, Jf: 1, K: 1},
	{Op: 0x06, K: 1 << 18},
	{Op: 0x06},
}

// deliver sends frames, a few at a time, and waits until the capture, with the
// filter onlyOurs, has counted them: more would overrun the far kernel's backlog
// (net.core.netdev_max_backlog) when the machine is busy.
func deliver(t testing.TB, link *nic.Link, c *nic.Capture, frames ...[]byte) {
	t.Helper()
	before, err := c.Stats()
	if err != nil {
		t.Fatal(err)
	}
	want, end := before.Received+before.Dropped, soon()
	for len(frames) > 0 {
		n := min(len(frames), 500)
		send(t, link, frames[:n]...)
		frames, want = frames[n:], want+uint64(n)
		for {
			now, err := c.Stats()
			if err != nil || time.Now().After(end) {
				t.Fatalf("%d of %d frames arrived, %v", now.Received+now.Dropped, want, err)
			}
			if now.Received+now.Dropped >= want {
				break
			}
		}
	}
}

// each calls do with frames of the test until it has seen n, and returns then.
func each(t testing.TB, r *nic.CaptureReader, n int, do func(f *nic.Frame)) {
	t.Helper()
	for seen := 0; seen < n; {
		block, err := r.Next(soon())
		if err != nil {
			t.Fatalf("after %d of %d frames: %v", seen, n, err)
		}
		for f := (nic.Frame{}); block.Next(&f); {
			if ours(f.Data) {
				seen++
				do(&f)
			}
		}
		block.Release()
	}
}

// captured returns copies of n frames of the test.
func captured(t testing.TB, r *nic.CaptureReader, n int) (frames []nic.Frame) {
	t.Helper()
	each(t, r, n, func(f *nic.Frame) {
		keep := *f
		keep.Data = bytes.Clone(f.Data)
		frames = append(frames, keep)
	})
	return frames
}

// rest reads a capture that was stopped to its end.
func rest(t testing.TB, r *nic.CaptureReader, do func(f *nic.Frame)) {
	t.Helper()
	for {
		block, err := r.Next(soon())
		if errors.Is(err, nic.ErrStopped) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for f := (nic.Frame{}); block.Next(&f); {
			if ours(f.Data) {
				do(&f)
			}
		}
		block.Release()
	}
}

func TestCaptureGetsEveryFrameUnchanged(t *testing.T) {
	left, c, reader := listen(t, nic.CaptureOptions{Filter: onlyOurs})
	var frames [][]byte
	for i := range 20000 { // some 16 MB: many blocks
		frames = append(frames, testFrame(14+i%1501, i))
	}
	before := time.Now().UnixNano()
	deliver(t, left, c, frames...)
	i, last := 0, before
	each(t, reader, len(frames), func(f *nic.Frame) {
		if !bytes.Equal(f.Data, frames[i]) || f.WireLen != len(frames[i]) {
			t.Fatalf("frame %d of %d bytes: %s", i, f.WireLen, cmp.Diff(frames[i], f.Data))
		}
		if f.Time < last || f.Outgoing || f.HardwareTime || f.Merged || f.ChecksumPending {
			t.Fatalf("frame %d after %d: %+v", i, last, f)
		}
		last = f.Time
		i++
	})
	if now := time.Now().UnixNano(); last > now {
		t.Errorf("the last frame came at %d, and it is %d", last, now)
	}
}

// The outgoing side keeps the tag apart too, when the interface says that it
// inserts tags itself.
func TestCaptureMarksWhatIsSent(t *testing.T) {
	l, _ := nettest.Pair(t)
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
	_, reader := capture(t, l, nic.CaptureOptions{Interface: nettest.LeftInterface})
	want := tagged(testFrame(100, 1), 0x8100)
	send(t, left, want)
	f := captured(t, reader, 1)[0]
	if diff := cmp.Diff(want, f.Data); diff != "" || !f.Outgoing {
		t.Errorf("marked as sent: %v (-sent +captured)\n%s", f.Outgoing, diff)
	}
}

func TestCaptureOfALoopbackSeesAFrameOnce(t *testing.T) {
	n := nettest.New(t)
	n.IP(t, "link set lo up")
	link := open(t, n, nic.Options{Interface: "lo", SendOnly: true})
	c, reader := capture(t, n, nic.CaptureOptions{Interface: "lo", Filter: onlyOurs})
	deliver(t, link, c, testFrame(100, 1), testFrame(100, 2))
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	seen := 0
	rest(t, reader, func(*nic.Frame) { seen++ })
	if seen != 2 {
		t.Errorf("2 frames were captured as %d", seen)
	}
}

// flow makes a UDP datagram of one of many flows.
func flow(number int) []byte {
	f := testFrame(60, 0)
	copy(f[12:], []byte{0x08, 0x00, 0x45, 0, 0, 46, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	binary.BigEndian.PutUint16(f[34:], uint16(number)|0xC000) // source port
	binary.BigEndian.PutUint16(f[36:], 4791)
	binary.BigEndian.PutUint16(f[38:], 26)
	return f
}

func TestReadersShareTheFrames(t *testing.T) {
	const readers, flows, each = 3, 64, 50
	left, c, _ := listen(t, nic.CaptureOptions{Readers: readers, Filter: onlyOurs})
	var frames [][]byte
	for i := range flows * each {
		f := flow(i % flows)
		f[42] = byte(i / flows) // the place in its flow
		frames = append(frames, f)
	}
	deliver(t, left, c, frames...)
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	var next [flows]byte
	busy := 0
	for _, r := range c.Readers() {
		seen := 0
		rest(t, r, func(f *nic.Frame) {
			seen++
			number := binary.BigEndian.Uint16(f.Data[34:]) &^ 0xC000
			if f.Data[42] != next[number] {
				t.Fatalf("flow %d: frame %d in place of %d", number, f.Data[42], next[number])
			}
			next[number]++
		})
		if seen > 0 {
			busy++
		}
	}
	for number, n := range next {
		if n != each {
			t.Errorf("flow %d: %d of %d frames", number, n, each)
		}
	}
	if busy != readers {
		t.Errorf("%d of %d readers had frames", busy, readers)
	}
}

func TestStopLosesNothing(t *testing.T) {
	for range 5 {
		// The kernel would hand the frames over much later than Stop.
		left, c, reader := listen(t, nic.CaptureOptions{BlockTimeout: 100 * time.Millisecond, Filter: onlyOurs})
		deliver(t, left, c, testFrame(100, 1), testFrame(100, 2), testFrame(100, 3))
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		send(t, left, testFrame(100, 4))
		seen := 0
		rest(t, reader, func(*nic.Frame) { seen++ })
		if seen != 3 {
			t.Fatalf("%d frames of the 3 before Stop", seen)
		}
		if _, err := reader.Next(soon()); !errors.Is(err, nic.ErrStopped) {
			t.Fatalf("Next after the end: %v", err)
		}
		if err := c.Stop(); err != nil {
			t.Fatalf("Stop again: %v", err)
		}
	}
}

// TestCaptureEndsAWait stops or closes while readers wait without a deadline.
func TestCaptureEndsAWait(t *testing.T) {
	_, r := nettest.Pair(t)
	for _, c := range []struct {
		end  func(*nic.Capture) error
		want error
	}{{(*nic.Capture).Close, net.ErrClosed}, {(*nic.Capture).Stop, nic.ErrStopped}} {
		for range 10 {
			listening, _ := capture(t, r, nic.CaptureOptions{Interface: nettest.RightInterface, Readers: 2})
			results := make(chan error)
			for _, reader := range listening.Readers() {
				go func() {
					for {
						block, err := reader.Next(time.Time{})
						if err != nil {
							results <- err
							return
						}
						block.Release()
					}
				}()
			}
			if err := c.end(listening); err != nil {
				t.Fatal(err)
			}
			for range listening.Readers() {
				if err := <-results; !errors.Is(err, c.want) {
					t.Fatalf("Next ended with %v, want %v", err, c.want)
				}
			}
			_ = listening.Close()
		}
	}
}

func TestClosedCapture(t *testing.T) {
	left, c, reader := listen(t, nic.CaptureOptions{})
	frame := testFrame(100, 1)
	send(t, left, frame)
	var f nic.Frame
	var block *nic.Block
	for block == nil || !ours(f.Data) {
		if block != nil && block.Next(&f) {
			continue
		}
		var err error
		if block, err = reader.Next(soon()); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(frame, f.Data); diff != "" {
		t.Errorf("the block after Close (-want +got)\n%s", diff)
	}
	block.Release()
	stats, statsErr := c.Stats()
	if stats.Received == 0 {
		t.Error("the counts are gone after Close")
	}
	_, nextErr := reader.Next(soon())
	for what, err := range map[string]error{
		"Next": nextErr, "Stats": statsErr, "Stop": c.Stop(), "Close": c.Close(),
	} {
		if !errors.Is(err, net.ErrClosed) {
			t.Errorf("%s after Close: %v", what, err)
		}
	}
}

func TestNextHasADeadline(t *testing.T) {
	left, _, reader := listen(t, nic.CaptureOptions{})
	send(t, left, testFrame(100, 1))
	block, err := reader.Next(soon())
	if err != nil {
		t.Fatal(err)
	}
	defer block.Release()
	for _, wait := range []time.Duration{5 * time.Millisecond, -time.Hour} {
		for { // while the last block is held, too; a kernel's own frame is no fault
			again, err := reader.Next(time.Now().Add(wait))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			again.Release()
		}
	}
}

// stayOnOneProcessor keeps the test's thread on a processor: frames that are sent
// from another one may overtake those from before.
func stayOnOneProcessor(t *testing.T) {
	t.Helper()
	runtime.LockOSThread() // for good: the thread ends with the test
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	cpu := 0
	for !all.IsSet(cpu) {
		cpu++
	}
	one.Set(cpu)
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Fatal(err)
	}
}

func TestFullCaptureRingCountsWhatItDrops(t *testing.T) {
	const n = 20000
	left, c, reader := listen(t, nic.CaptureOptions{RingBytes: 1, Filter: onlyOurs})
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = testFrame(200, i)
	}
	stayOnOneProcessor(t)
	deliver(t, left, c, frames...)
	stats, err := c.Stats()
	if err != nil || stats.Dropped == 0 || stats.Freezes == 0 || stats.Received+stats.Dropped != n {
		t.Errorf("%+v of %d frames, %v", stats, n, err)
	}
	if err := c.Stop(); err != nil {
		t.Fatal(err)
	}
	seen := uint64(0)
	rest(t, reader, func(f *nic.Frame) {
		if !bytes.Equal(f.Data, frames[seen]) {
			t.Fatalf("frame %d is another one", seen)
		}
		seen++
	})
	last, err := c.Stats()
	last.InterfaceCame = stats.InterfaceCame // kernels send frames of their own
	if err != nil || last != stats || seen != stats.Received {
		t.Errorf("read %d frames, counted %+v, and %+v before (%v)", seen, last, stats, err)
	}
}

// A reader that fell behind catches up, and the ring works on.
func TestCaptureGoesOnAfterALoss(t *testing.T) {
	left, c, reader := listen(t, nic.CaptureOptions{RingBytes: 1, Filter: onlyOurs})
	frames := make([][]byte, 8000)
	for i := range frames {
		frames[i] = testFrame(1000, i)
	}
	for range 3 {
		before, err := c.Stats()
		if err != nil {
			t.Fatal(err)
		}
		deliver(t, left, c, frames...)
		after, err := c.Stats()
		if err != nil || after.Dropped == before.Dropped {
			t.Fatalf("%+v became %+v (%v)", before, after, err)
		}
		captured(t, reader, int(after.Received-before.Received))
	}
}

// TestCaptureRingGoesRound holds blocks for a while and gives them back in
// another order, from another goroutine. No more than four of the eight are held.
func TestCaptureRingGoesRound(t *testing.T) {
	left, _, reader := listen(t, nic.CaptureOptions{RingBytes: 8 << 20, BlockTimeout: time.Millisecond})
	held := make(chan *nic.Block, 2)
	var releaser sync.WaitGroup
	releaser.Go(func() {
		for {
			first, ok := <-held
			if !ok {
				return
			}
			if second, ok := <-held; ok {
				second.Release()
			}
			first.Release()
		}
	})
	for i := range 100 {
		frame := testFrame(300, i)
		send(t, left, frame)
		for found := false; !found; {
			block, err := reader.Next(soon())
			if err != nil {
				t.Fatal(err)
			}
			for f := (nic.Frame{}); block.Next(&f); {
				if ours(f.Data) {
					if found = true; !bytes.Equal(f.Data, frame) {
						t.Fatalf("frame %d is another one: %s", i, cmp.Diff(frame, f.Data))
					}
				}
			}
			held <- block
		}
	}
	close(held)
	releaser.Wait()
}

func TestCapturedInterfaceGoesDown(t *testing.T) {
	l, r := nettest.Pair(t)
	left := open(t, l, nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
	_, reader := capture(t, r, nic.CaptureOptions{Interface: nettest.RightInterface})
	send(t, left, testFrame(100, 1))
	r.IP(t, "link set right0 down")
	seen := 0
	for {
		block, err := reader.Next(soon())
		if err != nil {
			if !errors.Is(err, nic.ErrDown) {
				t.Errorf("Next: %v", err)
			}
			break
		}
		for f := (nic.Frame{}); block.Next(&f); {
			if ours(f.Data) {
				seen++
			}
		}
		block.Release()
	}
	if seen != 1 {
		t.Errorf("%d frames of 1 came before the interface went down", seen)
	}
	r.Do(t, func() {
		if _, err := nic.OpenCapture(nic.CaptureOptions{Interface: nettest.RightInterface}); !errors.Is(err, nic.ErrDown) {
			t.Errorf("opened an interface that is down: %v", err)
		}
	})
	r.IP(t, "link set right0 up")
	r.Ready(t, nettest.RightInterface)
	send(t, left, testFrame(100, 2))
	if got := captured(t, reader, 1)[0]; !bytes.Equal(got.Data, testFrame(100, 2)) {
		t.Error("another frame came when the interface was up again")
	}
}

func TestCapturedInterfaceIsRemoved(t *testing.T) {
	l, _ := nettest.Pair(t)
	l.IP(t, "link add gone0 type veth peer name gone1")
	l.IP(t, "link set gone0 up")
	l.IP(t, "link set gone1 up")
	_, reader := capture(t, l, nic.CaptureOptions{Interface: "gone0"})
	l.IP(t, "link del gone0")
	for range 2 {
		var err error
		for err == nil {
			var block *nic.Block
			if block, err = reader.Next(soon()); err == nil {
				block.Release()
			}
		}
		if !errors.Is(err, nic.ErrGone) {
			t.Errorf("Next: %v", err)
		}
	}
}

func TestAnInterfaceWithoutAClockGivesTheKernelsTime(t *testing.T) {
	left, c, reader := listen(t, nic.CaptureOptions{Clock: nic.HardwareClock})
	if c.Clock() != nic.KernelClock || c.Clock().String() != "kernel" {
		t.Errorf("a cable in memory has a %v clock", c.Clock())
	}
	before := time.Now().UnixNano()
	send(t, left, testFrame(100, 1))
	if f := captured(t, reader, 1)[0]; f.HardwareTime || f.Time < before || f.Time > time.Now().UnixNano() {
		t.Errorf("%+v after %d", f, before)
	}
}

func TestPromiscuousEndsWithTheCapture(t *testing.T) {
	_, r := nettest.Pair(t)
	c, _ := capture(t, r, nic.CaptureOptions{Interface: nettest.RightInterface, Promiscuous: true})
	if got := promiscuity(t, r); got != "1" {
		t.Errorf("promiscuity %s while capturing", got)
	}
	_ = c.Close()
	if got := promiscuity(t, r); got != "0" {
		t.Errorf("promiscuity %s after Close", got)
	}
}

// promiscuity is how many users ask the interface to accept every frame.
func promiscuity(t testing.TB, n *nettest.Namespace) (count string) {
	t.Helper()
	n.Do(t, func() {
		out, err := exec.Command(testneed.Tool(t, "ip"), "-details", "link", "show", nettest.RightInterface).Output()
		if err != nil {
			t.Fatal(err)
		}
		fields := strings.Fields(string(out))
		count = fields[slices.Index(fields, "promiscuity")+1]
	})
	return count
}

func TestCaptureDoesNotAllocate(t *testing.T) {
	left, _, reader := listen(t, nic.CaptureOptions{BlockTimeout: time.Millisecond})
	frames := [][]byte{testFrame(100, 0), tagged(testFrame(100, 1), 0x8100)}
	deadline := soon()
	round := func() {
		if _, err := left.Send(frames, deadline); err != nil {
			t.Fatal(err)
		}
		for got := 0; got < len(frames); {
			block, err := reader.Next(deadline)
			if err != nil {
				t.Fatal(err)
			}
			for f := (nic.Frame{}); block.Next(&f); {
				if ours(f.Data) {
					got++
				}
			}
			block.Release()
		}
	}
	if n := testing.AllocsPerRun(200, round); n != 0 {
		t.Errorf("%v allocations a round", n)
	}
}

func ExampleClock() {
	fmt.Println(nic.KernelClock, nic.HardwareClock)
	// Output: kernel hardware
}
