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
