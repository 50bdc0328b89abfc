//go:build !linux

package nic

import (
	"net"
	"time"
)

// Link is an open interface. There are none on this system.
type Link struct{}

// Open returns ErrNotSupported.
func Open(Options) (*Link, error) { return nil, ErrNotSupported }

// Name is the interface's name.
func (l *Link) Name() string { return "" }

// Index is the interface's number.
func (l *Link) Index() int { return 0 }

// MTU is the longest IP packet that the interface took when it was opened.
func (l *Link) MTU() int { return 0 }

// MAC is the interface's own address.
func (l *Link) MAC() net.HardwareAddr { return nil }

// Receive returns ErrNotSupported.
func (l *Link) Receive(*Batch, time.Time) error { return ErrNotSupported }

// Send returns ErrNotSupported.
func (l *Link) Send([][]byte, time.Time) (int, error) { return 0, ErrNotSupported }

// Stats returns ErrNotSupported.
func (l *Link) Stats() (Stats, error) { return Stats{}, ErrNotSupported }

// Close does nothing.
func (l *Link) Close() error { return nil }

// Writer returns ErrNotSupported.
func (l *Link) Writer() (Writer, error) { return nil, ErrNotSupported }

// Writers returns none.
func (l *Link) Writers() []CountingWriter { return nil }

// Capture is an interface that is listened to. There are none on this system.
type Capture struct{}

// OpenCapture returns ErrNotSupported.
func OpenCapture(CaptureOptions) (*Capture, error) { return nil, ErrNotSupported }

// Name is the interface's name.
func (c *Capture) Name() string { return "" }

// Clock is what frames get their time from.
func (c *Capture) Clock() Clock { return KernelClock }

// Readers returns none.
func (c *Capture) Readers() []*CaptureReader { return nil }

// Stats returns ErrNotSupported.
func (c *Capture) Stats() (CaptureStats, error) { return CaptureStats{}, ErrNotSupported }

// Stop does nothing.
func (c *Capture) Stop() error { return nil }

// Close does nothing.
func (c *Capture) Close() error { return nil }

// CaptureReader hands out the frames of a Capture.
type CaptureReader struct{}

// Next returns ErrNotSupported.
func (r *CaptureReader) Next(time.Time) (*Block, error) { return nil, ErrNotSupported }

// Block is a run of captured frames.
type Block struct{}

// Len is how many frames Next has not given yet.
func (b *Block) Len() int { return 0 }

// Next gives no frame.
func (b *Block) Next(*Frame) bool { return false }

// Release does nothing.
func (b *Block) Release() {}
