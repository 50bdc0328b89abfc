// Package capfile reads and writes capture files: pcap in all its variants and
// pcapng, and, for reading only, ERF and Sniffer, plain or compressed with gzip
// or zstd.
//
// A Reader hands out records in batches that are slices of the blocks that the
// file was read into: nothing is copied or allocated per record, blocks are
// recycled, and a file of any size is read in a few megabytes. A file is never
// believed: what it makes the reader allocate is bounded by the bytes that have
// really arrived.
//
// Formats: draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng (pcapng),
// the Endace "Extensible Record Format" (ERF), and pcap-savefile(5) and
// pcap-linktype(7) for what the drafts leave open.
package capfile

import (
	"io"
	"slices"
	"sync/atomic"
)

const (
	// blockSize is how much is read at once. It fits the second-level cache, so
	// that the consumer finds the bytes there.
	blockSize = 256 << 10
	// maxBatch bounds the records of a batch, so that a file of tiny records
	// does not fill the memory with their descriptions.
	maxBatch = 4096
	// freeBatches is how many released batches are kept for reuse.
	freeBatches = 32
	// MaxRecord is the largest captured length that is believed. The largest
	// snapshot length of tcpdump and Wireshark is 262144 for every link type
	// that carries RDMA.
	MaxRecord = 16 << 20
	// maxInterfaces bounds the interfaces of a pcapng file, and of all its
	// sections together.
	maxInterfaces = 8192
)

// Format is the kind of a capture file.
type Format uint8

// The formats that a Reader knows.
const (
	Pcap         Format = iota + 1 // classic pcap, microseconds
	PcapNano                       // classic pcap, nanoseconds
	PcapModified                   // pcap with the 24-byte record header of Kuznetzov's patch
	PcapNG
	ERF
	Sniffer // DOS Sniffer, uncompressed
)

// String gives the name of the format.
func (f Format) String() string {
	switch f {
	case Pcap:
		return "pcap"
	case PcapNano:
		return "pcap (nanoseconds)"
	case PcapModified:
		return "pcap (modified)"
	case PcapNG:
		return "pcapng"
	case ERF:
		return "ERF"
	case Sniffer:
		return "Sniffer"
	}
	return "unknown"
}

// decoder finds the records of one format in a stream of bytes.
type decoder interface {
	// decode appends to recs the complete records at the start of buf, whose
	// first byte is at offset off, until recs is full.
	decode(recs []Record, buf []byte, off int64) ([]Record, progress, *fault)
	// end judges what is left at the end of the stream; nil is a clean end.
	end(rest []byte, off int64) *fault
}

// progress says how far a decoder came.
type progress struct {
	used int // bytes that are done with
	need int // how many bytes from there on are needed to go on
}

// Reader reads a capture file. One goroutine at a time may call Next, and Close
// after that; Interfaces, Sections, BytesRead and Batch.Release may be called by
// others meanwhile.
type Reader struct {
	name   string
	src    source
	format Format
	dec    decoder

	cur     *Batch // being filled
	lo, hi  int    // cur.block[lo:hi] has arrived and is not decoded yet
	off     int64  // offset of cur.block[lo]
	need    int    // how many bytes from lo on the decoder waits for
	records int64  // handed out
	srcErr  error  // how the source ended
	err     error  // how this reader ended
	free    chan *Batch
	block   int // size of a block

	described described
	count     atomic.Int64
}

// Next returns the next records, at least one. The caller releases the batch.
// At the end of the file the error is io.EOF; when the file is damaged, cut or
// unreadable it is a *FormatError, after every record before that place.
func (r *Reader) Next() (*Batch, error) {
	for r.err == nil {
		f := r.decode()
		if f != nil {
			r.fail(f)
		}
		if len(r.cur.Records) > 0 {
			return r.handOut(), nil
		}
		if f == nil {
			r.fill()
		}
	}
	return nil, r.err
}

// Format returns the kind of file.
func (r *Reader) Format() Format { return r.format }

// Compression returns "gzip", "zstd", or "" for a plain file.
func (r *Reader) Compression() string { return r.src.codec }

// Interfaces returns what the file has said about its interfaces so far, in
// order of Record.Interface.
func (r *Reader) Interfaces() []Interface {
	r.described.mu.Lock()
	defer r.described.mu.Unlock()
	return slices.Clone(r.described.interfaces)
}

// Sections returns how many pcapng sections have begun so far; any other file
// is one section.
func (r *Reader) Sections() int {
	r.described.mu.Lock()
	defer r.described.mu.Unlock()
	return max(r.described.sections, 1)
}

// BytesRead returns how many bytes of the file have been read, before
// decompression; compare it with Size.
func (r *Reader) BytesRead() int64 { return r.count.Load() }

// Size returns the size of the file, -1 when it is not known.
func (r *Reader) Size() int64 { return r.src.size }

// Close closes the file. Batches that were handed out stay valid.
func (r *Reader) Close() error { return r.src.close() }

// decode runs the decoder over what has arrived.
func (r *Reader) decode() *fault {
	recs, p, f := r.dec.decode(r.cur.Records, r.cur.block[r.lo:r.hi], r.off)
	r.cur.Records = recs
	r.lo += p.used
	r.off += int64(p.used)
	r.need = p.need
	return f
}

func (r *Reader) fail(f *fault) {
	r.err = &FormatError{
		File: r.name, Record: r.records + int64(len(r.cur.Records)) + 1,
		Offset: f.offset, Reason: f.reason, Class: f.class, Cause: f.cause,
	}
}

// handOut gives the current batch away and begins the next one with the bytes
// that are left. They are copied now, because the caller may release the batch,
// and its block be overwritten, at any time.
func (r *Reader) handOut() *Batch {
	b := r.cur
	b.First = r.records + 1
	b.home = r.free
	r.records += int64(len(b.Records))

	r.cur = r.newBatch()
	r.hi = copy(r.cur.block, b.block[r.lo:r.hi])
	r.lo = 0
	return b
}

func (r *Reader) newBatch() *Batch {
	select {
	case b := <-r.free:
		b.Records = b.Records[:0]
		return b
	default:
		return &Batch{block: make([]byte, r.block), Records: make([]Record, 0, r.block/1024)}
	}
}

// fill reads more bytes behind those that wait, or ends the reader when there
// are none. Nothing of the current block has been handed out.
func (r *Reader) fill() {
	if r.srcErr != nil {
		r.finish()
		return
	}
	r.hi = copy(r.cur.block, r.cur.block[r.lo:r.hi])
	r.lo = 0
	if r.hi == len(r.cur.block) {
		r.grow()
	}
	n, err := r.src.read(r.cur.block[r.hi:])
	r.hi += n
	r.srcErr = err
}

// grow enlarges a block that one incomplete record fills. It at most doubles,
// so that a record has to deliver its bytes before it is given more room, and
// never exceeds the record, so that no other follows in a grown block.
func (r *Reader) grow() {
	block := make([]byte, min(2*len(r.cur.block), r.need))
	copy(block, r.cur.block)
	r.cur.block, r.cur.grown = block, true
}

// finish ends the reader when all bytes of the source have been decoded.
func (r *Reader) finish() {
	if r.srcErr != io.EOF {
		r.fail(sourceFault(r.src.codec, r.off, r.srcErr))
		return
	}
	if f := r.dec.end(r.cur.block[r.lo:r.hi], r.off); f != nil {
		r.fail(f)
		return
	}
	r.err = io.EOF
}
