// Package nic sends and receives whole Ethernet frames on an interface of this
// machine, over Linux's packet sockets (packet(7)). It needs the capability
// CAP_NET_RAW. On other systems Open and OpenCapture return ErrNotSupported.
//
// A Link sends and receives for a protocol, which waits for each frame; a Capture
// listens, and gets frames by the thousand.
//
// A Link has a receiving and a sending side. They do not disturb each other:
// one goroutine may receive while another sends. Deadlines are points in time
// like those of package net; the zero time is no deadline, and what fails by
// one returns os.ErrDeadlineExceeded. After Close everything returns
// net.ErrClosed.
package nic

import (
	"errors"
	"time"
)

var (
	// ErrNotSupported is what Open returns where there are no packet sockets.
	ErrNotSupported = errors.New("sending and receiving frames is only supported on Linux")
	// ErrPermission says which right is missing.
	ErrPermission = errors.New("needs CAP_NET_RAW: run as root, or give the program the capability with setcap cap_net_raw+ep")
	// ErrUnknownInterface is for a name that no interface has.
	ErrUnknownInterface = errors.New("there is no such interface")
	// ErrNotEthernet is for an interface whose frames have no Ethernet header.
	ErrNotEthernet = errors.New("is not an Ethernet interface")
	// ErrDown is for an interface that is not up.
	ErrDown = errors.New("the interface is down")
	// ErrGone is for an interface that was removed after Open.
	ErrGone = errors.New("the interface was removed")
	// ErrFrameTooLong is for a frame longer than the interface's MTU allows.
	ErrFrameTooLong = errors.New("the frame is too long for the interface")
	// ErrFrameTooShort is for a frame without a whole Ethernet header.
	ErrFrameTooShort = errors.New("the frame is shorter than an Ethernet header")
)

// Options say how a Link is opened.
type Options struct {
	Interface string // its name, "eth0" say
	// Promiscuous receives frames to any MAC address while the Link is open.
	Promiscuous bool
	// IgnoreOutgoing does not receive what this machine sends, by whatever
	// socket. Without it such frames are received, and marked.
	IgnoreOutgoing bool
	// SendOnly saves the receive ring; Receive is an error.
	SendOnly bool
	// SendRingBytes, when not 0, lets each Writer use memory of that size
	// shared with the kernel. Without it a Writer copies, by sendmmsg(2).
	SendRingBytes int
	// Writers is how many writers over shared memory there are, for goroutines
	// that send side by side. 0 is one.
	Writers int
	// QdiscBypass hands frames to the driver without the traffic control
	// layer. It is faster, captures on this machine do not see the frames,
	// and a full driver queue refuses them sooner. Writers over shared memory
	// then use AF_XDP where they can, by the interface's first queue, and do
	// not notice that the MTU fell.
	QdiscBypass bool
	// SnapLen cuts received frames to so many bytes. 0 does not cut.
	SnapLen int
	// RingBytes is the memory for frames that were received and not yet read.
	// 0 is DefaultRingBytes.
	RingBytes int
}

// DefaultRingBytes is the size of the receive ring when none is asked for.
const DefaultRingBytes = 8 << 20

// Frame is one received frame.
type Frame struct {
	// Data begins with the Ethernet header. A VLAN tag that the kernel had
	// taken out is back in its place. It is valid until the next Receive.
	Data     []byte
	WireLen  int   // length on the wire, never less than len(Data)
	Time     int64 // kernel's time of arrival, nanoseconds since the epoch
	Outgoing bool  // sent by this machine
	// ChecksumPending says that whoever sent the frame, on this machine or in a
	// virtual one, left a checksum for the hardware to complete.
	ChecksumPending bool
	// Merged says that the frame is several TCP segments, which segmentation
	// offload has joined or has yet to part.
	Merged bool
	// HardwareTime says that Time is from the interface's clock.
	HardwareTime bool
}

// Batch is what one Receive returns. A Batch used again costs no allocation.
type Batch struct {
	Frames []Frame
}

// Stats counts since Open.
type Stats struct {
	Received uint64 // frames put into the ring
	Dropped  uint64 // frames lost because the ring was full
	Sent     uint64 // frames that the kernel accepted
}

// Writer sends frames that are built where they are sent from: Reserve a place,
// write the frame, Commit its length. It is for one goroutine.
type Writer interface {
	// Reserve returns the place of the next frame, with room for the longest
	// frame and whatever an earlier one left there. It may send, and then waits
	// while the interface has no room.
	Reserve(deadline time.Time) ([]byte, error)
	// Commit says that the first n bytes of the reserved place are a frame.
	Commit(n int) error
	// Flush sends what is committed. After an error, here and in Reserve, what
	// the kernel has not accepted is dropped. Stats tells how much it has.
	Flush(deadline time.Time) error
	// Close gives the memory back; places must not be written to any more.
	Close()
}

// CountingWriter is a Writer of a Link. Its count is that of the frames that the
// kernel has accepted from it.
type CountingWriter interface {
	Writer
	Sent() uint64
}
