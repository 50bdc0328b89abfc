package capfile

import "github.com/rocecap/rocecap/internal/wire"

// Record is one captured packet.
type Record struct {
	// Data is what was captured. It is part of the batch: valid until the
	// batch is released, and not to be written to. A record of link type 197
	// begins with its ERF header, whatever kind of file it comes from.
	Data    []byte
	WireLen int // length on the wire, never less than len(Data)
	// Time is in nanoseconds since the epoch. A finer time is rounded down, an
	// ERF time to the nearest nanosecond; one outside int64 saturates.
	Time    int64
	Comment string // the comments of the packet, one a line
	// Offset is where the record's header is in the file, or in what the file
	// decompresses to.
	Offset    int64
	Interface int32 // index into Reader.Interfaces; -1 in pcap and ERF, which name none
	Link      wire.LinkType
	HasTime   bool // false for a simple packet block of pcapng
	FCSLen    int8 // bytes of frame check sequence at the end, -1 when not said
}

// Batch is a run of consecutive records. It does not change once Next has
// returned it, so that several goroutines may read it at the same time.
type Batch struct {
	Records []Record
	First   int64 // number of the first record, counted from 1

	block []byte
	grown bool // the block is larger than others
	home  chan<- *Batch
}

// Release gives the batch back to its reader for reuse. Neither the batch nor
// the data and slices in it may be used afterwards; comments may.
func (b *Batch) Release() {
	home := b.home
	if home == nil {
		return
	}
	b.home = nil
	if b.grown {
		return // for one huge record: not worth keeping
	}
	select {
	case home <- b:
	default:
	}
}
