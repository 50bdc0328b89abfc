package capfile

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/wire"
)

// ERF, the Extensible Record Format of Endace. A file is a run of records and
// has no header. The time is little-endian, all else big-endian:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|              fraction of the second, units of 2^-32           |
//	|                  seconds since the epoch                      |
//	+-+-------------+---------------+-------------------------------+
//	|X|    type     |     flags     |        record length          |
//	+-+-------------+---------------+-------------------------------+
//	|      loss counter or colour   |         wire length           |
//	+-------------------------------+-------------------------------+
//	|  8 bytes of extension header while X is set, and again while  |
//	|  the top bit of the extension header before is set            |
//
// The record length counts the header; the wire length counts neither it nor
// the two pad bytes that Ethernet types have before the frame.
const (
	erfHeaderLen    = 16
	erfExtensionLen = 8

	erfOffType    = 8
	erfOffLength  = 10
	erfOffWireLen = 14

	erfMore     = 0x80
	erfTypeMask = 0x7f

	erfTypeEthernet          = 2
	erfTypeColourEthernet    = 11
	erfTypeDSMColourEthernet = 16
	erfTypeInfiniBand        = 21
	erfTypeColourHashEth     = 20
	erfTypeInfiniBandLink    = 25
	erfTypeMeta              = 27 // the highest type in use but padding
	erfTypePad               = 48

	// erfEnough is how many plausible records make an ERF file.
	erfEnough = 8
	// erfMaxGap is how far apart, in seconds, neighbouring records may be
	// before a file is no longer believed to be ERF.
	erfMaxGap = 7 * 24 * 3600
)

// erfDecoder finds the records of an ERF file.
type erfDecoder struct{}

func newERFDecoder(described *described) erfDecoder {
	described.add(Interface{Link: wire.LinkERF, TSResol: 0x80 | 32, FCSLen: -1})
	return erfDecoder{}
}

func (erfDecoder) decode(recs []Record, buf []byte, off int64) ([]Record, progress, *fault) {
	pos := 0
	for len(recs) < maxBatch {
		h := buf[pos:]
		if len(h) < erfHeaderLen {
			return recs, progress{pos, erfHeaderLen}, nil
		}
		total := erfLength(h)
		if total < erfHeaderLen {
			return recs, progress{pos, 0}, damaged(off+int64(pos),
				"record length %d is less than the %d bytes of its header", total, erfHeaderLen)
		}
		if len(h) < total {
			return recs, progress{pos, total}, nil
		}
		if h[erfOffType]&erfTypeMask != erfTypePad {
			recs = append(recs, erfRecord(h[:total:total], off+int64(pos)))
		}
		pos += total
	}
	return recs, progress{used: pos}, nil
}

// erfRecord describes the record that b is. Where the wire length is known to
// count the whole frame, the bytes behind it, which align the next record, are
// left out, as they are in pcap.
func erfRecord(b []byte, off int64) Record {
	wireLen, exact := erfWireLen(b)
	if exact && wireLen < len(b) {
		b = b[:wireLen:wireLen]
	}
	return Record{
		Data:      b,
		WireLen:   max(wireLen, len(b)),
		Time:      erfNanos(binary.LittleEndian.Uint64(b)),
		HasTime:   true,
		Offset:    off,
		Interface: -1,
		Link:      wire.LinkERF,
		FCSLen:    -1,
	}
}

// erfWireLen is the length of the record had nothing been cut: headers, pad
// bytes and frame. exact is false for types whose framing is not known here.
func erfWireLen(b []byte) (n int, exact bool) {
	n = erfHeaderLen
	for more := b[erfOffType]; more&erfMore != 0 && len(b) >= n+erfExtensionLen; n += erfExtensionLen {
		more = b[n]
	}
	n += int(binary.BigEndian.Uint16(b[erfOffWireLen:]))
	switch b[erfOffType] & erfTypeMask {
	case erfTypeEthernet, erfTypeColourEthernet, erfTypeDSMColourEthernet, erfTypeColourHashEth:
		return n + 2, true
	case erfTypeInfiniBand, erfTypeInfiniBandLink:
		return n, true
	}
	return n, false
}

func (erfDecoder) end(rest []byte, off int64) *fault {
	switch {
	case len(rest) == 0:
		return nil
	case len(rest) < erfHeaderLen:
		return truncated(off, "the record header is cut after %d of %d bytes", len(rest), erfHeaderLen)
	}
	return truncated(off, "record length %d exceeds the %d bytes left", erfLength(rest), len(rest))
}

func erfLength(h []byte) int { return int(binary.BigEndian.Uint16(h[erfOffLength:])) }

// erfPlausible walks the whole records at the start of buf, up to erfEnough. It
// returns their number, and whether all that can be seen may be ERF.
func erfPlausible(buf []byte) (records int, ok bool) {
	var last int64
	for records < erfEnough && len(buf) >= erfHeaderLen {
		kind := buf[erfOffType] & erfTypeMask
		if kind == 0 || (kind > erfTypeMeta && kind != erfTypePad) {
			return records, false
		}
		seconds := int64(binary.LittleEndian.Uint32(buf[4:]))
		if records > 0 && (seconds-last > erfMaxGap || last-seconds > erfMaxGap) {
			return records, false
		}
		last = seconds
		total := erfLength(buf)
		if total < erfHeaderLen {
			return records, false
		}
		if len(buf) < total {
			break
		}
		buf = buf[total:]
		records++
	}
	return records, true
}
