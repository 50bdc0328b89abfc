package capfile

import (
	"encoding/binary"
	"math/bits"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// The DOS Sniffer's format, uncompressed, as old captures of pause frames have
// it. All is little-endian. The file begins with a magic of 17 bytes and a
// version record; then records follow, each with a header of six bytes:
//
//	+-------------------------------+-------------------------------+
//	|             type              |            length             |
//	+-------------------------------+-------------------------------+
//	|           reserved            |
//	+-------------------------------+
//
// A frame record's body is a time of 40 bits since midnight, the day, three
// lengths and flags, and the captured bytes. The layout was worked out from a
// file, and compared with what tshark reads in it.
const (
	snifferMagic     = "TRSNIFF data    \x1a"
	snifferHeaderLen = 6

	snifferVersion = 1
	snifferEOF     = 3
	snifferFrame   = 4

	// the version record's body
	snifferVersionLen = 18
	snifferOffDate    = 6
	snifferOffNetwork = 9
	snifferOffFormat  = 10
	snifferOffUnit    = 11

	snifferEthernet     = 1
	snifferUncompressed = 1

	// a frame record's body
	snifferFrameLen   = 14
	snifferOffHigh    = 4
	snifferOffDay     = 5
	snifferOffSize    = 6
	snifferOffWireLen = 10 // 0 when nothing was cut
)

// snifferUnits is what one tick of the clock lasts, in picoseconds, by the
// version record's unit.
var snifferUnits = [...]uint64{15_000_000, 838_096, 15_000_000, 500_000, 2_000_000, 1_000_000, 100_000}

// snifferDecoder finds the frames of a Sniffer file.
type snifferDecoder struct {
	start int64  // midnight before the capture, nanoseconds since the epoch
	unit  uint64 // picoseconds
	ended bool
}

func newSnifferDecoder(described *described) *snifferDecoder {
	described.add(Interface{Link: wire.LinkEthernet, TSResol: 9, FCSLen: -1})
	return &snifferDecoder{}
}

func (d *snifferDecoder) decode(recs []Record, buf []byte, off int64) ([]Record, progress, *fault) {
	pos := 0
	for len(recs) < maxBatch {
		if d.ended { // some writers leave bytes behind the end record
			return recs, progress{used: len(buf)}, nil
		}
		h := buf[pos:]
		if len(h) < snifferHeaderLen {
			return recs, progress{pos, snifferHeaderLen}, nil
		}
		total := snifferHeaderLen + int(binary.LittleEndian.Uint16(h[2:]))
		if len(h) < total {
			return recs, progress{pos, total}, nil
		}
		at := off + int64(pos)
		body := h[snifferHeaderLen:total:total]
		var f *fault
		switch binary.LittleEndian.Uint16(h) {
		case snifferVersion:
			f = d.version(body, at)
		case snifferFrame:
			recs, f = d.frame(recs, body, at)
		case snifferEOF:
			d.ended = true
		}
		if f != nil {
			return recs, progress{pos, 0}, f
		}
		pos += total
	}
	return recs, progress{used: pos}, nil
}

func (d *snifferDecoder) version(b []byte, off int64) *fault {
	if len(b) < snifferVersionLen {
		return damaged(off, "the version record has %d bytes of %d", len(b), snifferVersionLen)
	}
	switch {
	case b[snifferOffNetwork] != snifferEthernet:
		return damaged(off, "Sniffer network type %d is not Ethernet", b[snifferOffNetwork])
	case b[snifferOffFormat] != snifferUncompressed:
		return damaged(off, "compressed Sniffer files are not read")
	case int(b[snifferOffUnit]) >= len(snifferUnits):
		return damaged(off, "unknown Sniffer time unit %d", b[snifferOffUnit])
	}
	date := binary.LittleEndian.Uint16(b[snifferOffDate:]) // MS-DOS: years since 1980, month, day
	year, month, day := int(date>>9)+1980, time.Month(date>>5&0xF), int(date&0x1F)
	d.start = time.Date(year, month, day, 0, 0, 0, 0, time.UTC).UnixNano()
	d.unit = snifferUnits[b[snifferOffUnit]]
	return nil
}

func (d *snifferDecoder) frame(recs []Record, b []byte, off int64) ([]Record, *fault) {
	if d.unit == 0 {
		return recs, damaged(off, "a frame before the version record")
	}
	if len(b) < snifferFrameLen {
		return recs, damaged(off, "the frame record has %d bytes of %d", len(b), snifferFrameLen)
	}
	size := int(binary.LittleEndian.Uint16(b[snifferOffSize:]))
	data := b[snifferFrameLen:]
	if size > len(data) {
		return recs, damaged(off, "captured length %d exceeds the %d bytes of the record", size, len(data))
	}
	data = data[:size:size]
	return append(recs, Record{
		Data:      data,
		WireLen:   max(int(binary.LittleEndian.Uint16(b[snifferOffWireLen:])), size),
		Time:      d.time(b),
		HasTime:   true,
		Offset:    off,
		Interface: -1,
		Link:      wire.LinkEthernet,
		FCSLen:    -1,
	}), nil
}

// time is the frame's time in nanoseconds since the epoch.
func (d *snifferDecoder) time(b []byte) int64 {
	ticks := uint64(b[snifferOffHigh])<<32 | uint64(binary.LittleEndian.Uint32(b))
	hi, lo := bits.Mul64(ticks, d.unit) // less than 2^64 * 1000
	nanos, _ := bits.Div64(hi, lo, 1000)
	return d.start + int64(b[snifferOffDay])*int64(24*time.Hour) + int64(nanos)
}

func (d *snifferDecoder) end(rest []byte, off int64) *fault {
	if len(rest) == 0 {
		return nil
	}
	return truncated(off, "the record is cut after %d bytes", len(rest))
}
