package nic

import (
	"errors"
	"time"

	"golang.org/x/net/bpf"
)

// ErrStopped is what a CaptureReader returns when it has handed out everything
// that came before Stop.
var ErrStopped = errors.New("the capture was stopped")

// Clock is what gave frames their time.
type Clock uint8

// The clocks of a capture.
const (
	KernelClock   Clock = iota // the kernel's, when the frame came to it
	HardwareClock              // the interface's own, which need not show the time of day
)

func (c Clock) String() string {
	if c == HardwareClock {
		return "hardware"
	}
	return "kernel"
}

// CaptureOptions say how a Capture is opened.
type CaptureOptions struct {
	Interface string // its name
	// Promiscuous captures frames to any MAC address. It is no change of the
	// interface's flags: the kernel ends it with the Capture.
	Promiscuous bool
	// SnapLen cuts frames to so many bytes. 0 keeps them whole.
	SnapLen int
	// RingBytes is the memory of each reader for frames that it has not read.
	// 0 is DefaultCaptureBytes.
	RingBytes int
	// BlockTimeout is how long the kernel keeps frames back to hand over many at
	// once; a frame may wait twice as long. 0 is DefaultBlockTimeout. The kernel
	// counts in milliseconds.
	BlockTimeout time.Duration
	// Readers is how many readers share the frames, each packet flow going to
	// one of them. 0 is one.
	Readers int
	// Filter is run by the kernel on each frame, whose VLAN tag may have been
	// taken out, before it is copied. Without one all frames are captured.
	Filter []bpf.RawInstruction
	// Clock HardwareClock takes the times of an interface that stamps frames
	// already; the Capture does not tell it to.
	Clock Clock
}

const (
	// DefaultCaptureBytes is the size of a capture's ring. A block takes an eighth of
	// it, however few frames it has when its time is over: a reader may stay away for
	// a second and a half when little comes.
	DefaultCaptureBytes = 128 << 20
	// DefaultBlockTimeout is the BlockTimeout when none is asked for. A shorter one
	// wakes readers more often.
	DefaultBlockTimeout = 250 * time.Millisecond
)

// CaptureStats counts since a Capture was opened.
type CaptureStats struct {
	Received uint64 // frames that passed the filter and went into a ring
	Dropped  uint64 // frames that passed the filter and found the ring full
	Freezes  uint64 // how often a ring became full

	// What the interface itself counted, of all that came to it, whether it passes
	// the filter or not; Told is false when the kernel does not tell.
	Told             bool
	InterfaceCame    uint64 // frames that it received
	InterfaceDropped uint64 // and those that it lost before they came to the capture
}
