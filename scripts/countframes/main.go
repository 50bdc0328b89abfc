//go:build linux

// Command countframes counts the frames that an interface captures, until it is
// interrupted. It is what a capture costs that does nothing with its frames.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
)

func main() {
	var o nic.CaptureOptions
	flag.StringVar(&o.Interface, "i", "", "interface")
	flag.IntVar(&o.RingBytes, "ring", 0, "bytes of each reader's ring")
	flag.IntVar(&o.Readers, "readers", 1, "readers that share the frames")
	flag.DurationVar(&o.BlockTimeout, "timeout", 0, "how long the kernel keeps frames back")
	flag.Parse()
	o.Promiscuous = true
	if err := count(o); err != nil {
		fmt.Fprintf(os.Stderr, "countframes: %v\n", err)
		os.Exit(1)
	}
}

func count(o nic.CaptureOptions) error {
	capture, err := nic.OpenCapture(o)
	if err != nil {
		return err
	}
	interrupt := make(chan os.Signal, 1)
	signal.Notify(interrupt, os.Interrupt)
	fmt.Fprintln(os.Stderr, "listening")

	var frames, bytes atomic.Int64
	var readers sync.WaitGroup
	for _, r := range capture.Readers() {
		readers.Go(func() {
			for {
				block, err := r.Next(time.Time{})
				if errors.Is(err, nic.ErrStopped) {
					return
				}
				if err != nil {
					fmt.Fprintf(os.Stderr, "countframes: %v\n", err)
					return
				}
				n, total := 0, 0
				for f := (nic.Frame{}); block.Next(&f); n++ {
					total += len(f.Data)
				}
				block.Release()
				frames.Add(int64(n))
				bytes.Add(int64(total))
			}
		})
	}
	<-interrupt
	if err := capture.Stop(); err != nil {
		return err
	}
	readers.Wait()
	stats, err := capture.Stats()
	if err != nil {
		return err
	}
	fmt.Printf("%d packets captured\n%d packets dropped by kernel\n%d bytes, ring full %d times\n",
		frames.Load(), stats.Dropped, bytes.Load(), stats.Freezes)
	return capture.Close()
}
