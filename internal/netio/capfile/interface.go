package capfile

import "github.com/rocecap/rocecap/internal/wire"

// Interface describes one interface that packets were captured on.
type Interface struct {
	Name        string
	Description string
	Filter      string // capture filter
	Hardware    string
	OS          string
	Comment     string
	Link        wire.LinkType
	SnapLen     uint32 // 0 means no limit
	Section     int    // number of the pcapng section, from 0
	// TSResol is the resolution of the times in the file, coded as if_tsresol
	// is: 10^-n, or 2^-(n-128) when the top bit is set. A Writer ignores it.
	TSResol  uint8
	TSOffset int64  // seconds that were added to the times. A Writer ignores it.
	Speed    uint64 // bits per second, 0 when not said
	FCSLen   int8   // bytes of frame check sequence, -1 when not said
	Stats    Statistics
}

// Statistics are the counters of one interface, from the last interface
// statistics block of pcapng.
type Statistics struct {
	Received  Counter // seen by the interface
	Dropped   Counter // dropped by the interface
	Accepted  Counter // accepted by the capture filter
	OSDropped Counter // dropped by the operating system
	Delivered Counter // delivered to the capturing program
	Start     int64   // nanoseconds since the epoch, 0 when not said
	End       int64
}

// Counter is a number that a file may not tell. The zero Counter is unknown.
type Counter struct {
	N     uint64
	Known bool
}

// Count returns a known Counter.
func Count(n uint64) Counter { return Counter{N: n, Known: true} }
