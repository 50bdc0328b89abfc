package rocecap

import (
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
)

// maxMemory is as many MiB as nobody has.
const maxMemory = 1 << 30

// checkMemory looks whether a backlog can have so many MiB.
func checkMemory(mib int) error {
	if mib < 1 || mib > maxMemory {
		return fmt.Errorf("--memory %d: want from a MiB to %d of them", mib, maxMemory)
	}
	return nil
}

// backlog keeps the packets of the last while in memory, up to a number of bytes.
type backlog struct {
	span   time.Duration
	limit  int      // bytes
	chunks []*chunk // the oldest first
	spare  *chunk
	bytes  int
}

// chunk is a run of packets.
type chunk struct {
	records []capfile.Record
	data    []byte
	lent    bool // somebody may read it still
}

// chunkBytes is how much a chunk holds; whole chunks are forgotten at a time.
const chunkBytes = 1 << 20

// chunkRecords is how many packets a chunk has at most, however short they are: those
// then take as much again.
const chunkRecords = chunkBytes / recordOverhead

// recordOverhead is the memory that a packet takes besides its bytes.
const recordOverhead = 96

// add takes a copy of a packet, and forgets what is too old.
func (b *backlog) add(rec *capfile.Record) {
	last := b.room(len(rec.Data))
	at := len(last.data)
	last.data = append(last.data, rec.Data...)
	kept := *rec
	kept.Data = last.data[at:len(last.data):len(last.data)]
	last.records = append(last.records, kept)
	b.bytes += len(rec.Data) + recordOverhead
	for len(b.chunks) > 1 && (b.bytes > b.limit || b.stale(b.chunks[0], rec.Time)) {
		b.forget()
	}
}

// room returns a chunk that has room for a packet, the last one.
func (b *backlog) room(n int) *chunk {
	if len(b.chunks) > 0 {
		if last := b.chunks[len(b.chunks)-1]; len(last.data)+n <= cap(last.data) && len(last.records) < chunkRecords {
			return last
		}
	}
	next := b.spare
	b.spare = nil
	if next == nil || cap(next.data) < n {
		next = &chunk{data: make([]byte, 0, max(n, chunkBytes))}
	}
	b.chunks = append(b.chunks, next)
	return next
}

func (b *backlog) stale(c *chunk, now int64) bool {
	return now-c.records[len(c.records)-1].Time > int64(b.span)
}

// forget forgets the oldest chunk.
func (b *backlog) forget() {
	oldest := b.chunks[0]
	b.bytes -= len(oldest.data) + recordOverhead*len(oldest.records)
	b.chunks = append(b.chunks[:0], b.chunks[1:]...)
	if oldest.lent {
		return
	}
	oldest.data, oldest.records = oldest.data[:0], oldest.records[:0]
	b.spare = oldest
}

// lend returns the packets, in parts, for another goroutine to read while more
// are added.
func (b *backlog) lend() (parts [][]capfile.Record) {
	for _, c := range b.chunks {
		c.lent = true
		parts = append(parts, c.records[:len(c.records):len(c.records)])
	}
	return parts
}

// take gives the packets since a time, and forgets all.
func (b *backlog) take(since int64, each func(*capfile.Record) error) error {
	for _, c := range b.chunks {
		for i := range c.records {
			if c.records[i].Time < since {
				continue
			}
			if err := each(&c.records[i]); err != nil {
				return err
			}
		}
	}
	for len(b.chunks) > 0 {
		b.forget()
	}
	return nil
}
