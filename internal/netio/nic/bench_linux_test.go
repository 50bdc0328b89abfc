package nic_test

import (
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
)

// BenchmarkWriter sends frames over a cable to a kernel that drops them.
func BenchmarkWriter(b *testing.B) {
	left, _ := nettest.Pair(b)
	for _, size := range []int{64, 1024} {
		for _, ring := range []int{0, 1 << 20} {
			for _, bypass := range []bool{false, true} {
				link := open(b, left, nic.Options{
					Interface: nettest.LeftInterface, SendOnly: true,
					QdiscBypass: bypass, SendRingBytes: ring,
				})
				b.Run(fmt.Sprintf("size=%d/ring=%v/bypass=%v", size, ring > 0, bypass), func(b *testing.B) {
					b.ReportAllocs()
					repeat(b, link, testFrame(size, 0), b.N)
					b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
				})
				if err := link.Close(); err != nil { // one XDP socket on a queue
					b.Fatal(err)
				}
			}
		}
	}
}

// repeat sends a frame n times through the Link's writer.
func repeat(b *testing.B, link *nic.Link, frame []byte, n int) {
	b.Helper()
	w, err := link.Writer()
	if err != nil {
		b.Fatal(err)
	}
	for range n {
		place, err := w.Reserve(time.Time{})
		if err != nil {
			b.Fatal(err)
		}
		copy(place, frame)
		if err := w.Commit(len(frame)); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Flush(time.Time{}); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkReceive sends frames over a cable and counts those that arrive: what
// the two sides do together on one machine.
func BenchmarkReceive(b *testing.B) {
	left, right := nettest.Pair(b)
	for _, size := range []int{64, 1024} {
		b.Run(fmt.Sprintf("size=%d", size), func(b *testing.B) {
			from := open(b, left, nic.Options{Interface: nettest.LeftInterface, SendOnly: true})
			to := open(b, right, nic.Options{Interface: nettest.RightInterface, RingBytes: 32 << 20})
			received := make(chan int)
			go func() {
				n := 0
				for batch := (nic.Batch{}); ; n += len(batch.Frames) {
					if err := to.Receive(&batch, time.Time{}); errors.Is(err, net.ErrClosed) {
						received <- n
						return
					}
				}
			}()
			b.ReportAllocs()
			b.ResetTimer()
			repeat(b, from, testFrame(size, 0), b.N)
			b.StopTimer()
			stats, err := to.Stats()
			if err != nil {
				b.Fatal(err)
			}
			_ = to.Close()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "frames/s")
			b.ReportMetric(float64(stats.Dropped)/float64(b.N)*100, "%dropped")
			if n := <-received; uint64(n) > stats.Received+1000 {
				b.Fatalf("received %d frames, counted %d", n, stats.Received)
			}
		})
	}
}
