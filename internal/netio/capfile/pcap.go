package capfile

import (
	"encoding/binary"
	"math/bits"

	"github.com/rocecap/rocecap/internal/wire"
)

// Classic pcap (draft-ietf-opsawg-pcap), file header:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                             magic                             |
//	+-------------------------------+-------------------------------+
//	|         major version         |         minor version         |
//	+-------------------------------+-------------------------------+
//	|                     reserved (time zone)                      |
//	|                   reserved (time accuracy)                    |
//	|                         snapshot length                       |
//	+-------+-+-+-------------------+-------------------------------+
//	|FCS len|R|P|     reserved      |           link type           |
//	+-------+-+-+-------------------+-------------------------------+
//
// Record header: seconds, fraction, captured length and wire length of 32 bits
// each; the modified form adds 8 bytes (interface index, protocol, packet type
// and a pad) that say nothing across machines.
const (
	pcapHeaderLen         = 24
	pcapRecordLen         = 16
	pcapModifiedRecordLen = 24

	pcapOffMajor   = 4
	pcapOffMinor   = 6
	pcapOffSnapLen = 16
	pcapOffLink    = 20

	pcapMicroMagic    = 0xa1b2c3d4
	pcapNanoMagic     = 0xa1b23c4d
	pcapModifiedMagic = 0xa1b2cd34

	pcapMajor = 2
	pcapMinor = 4

	pcapFCSPresent = 1 << 26 // the P bit
	pcapFCSShift   = 28      // the length counts 16-bit words
)

// pcapForm is what the magic number says.
type pcapForm struct {
	format Format
	big    bool // big-endian
}

// pcapMagic recognises the file header of classic pcap.
func pcapMagic(head []byte) (pcapForm, bool) {
	for _, big := range []bool{false, true} {
		switch u32(head, big) {
		case pcapMicroMagic:
			return pcapForm{Pcap, big}, true
		case pcapNanoMagic:
			return pcapForm{PcapNano, big}, true
		case pcapModifiedMagic:
			return pcapForm{PcapModified, big}, true
		}
	}
	return pcapForm{}, false
}

// pcapDecoder finds the records of classic pcap.
type pcapDecoder struct {
	big       bool
	headerLen int
	perTick   int64 // nanoseconds per unit of the fraction
	link      wire.LinkType
	fcs       int8
}

func newPcapDecoder(described *described, form pcapForm, head []byte) (*pcapDecoder, *fault) {
	major, minor := u16(head[pcapOffMajor:], form.big), u16(head[pcapOffMinor:], form.big)
	if major != pcapMajor || minor != pcapMinor {
		// Versions before 2.4 order the two lengths differently.
		return nil, damaged(0, "pcap version %d.%d is not supported, only 2.4 is", major, minor)
	}
	link := u32(head[pcapOffLink:], form.big)
	d := &pcapDecoder{
		big: form.big, headerLen: pcapRecordLen, perTick: 1000,
		link: wire.LinkType(link), fcs: -1,
	}
	if link&pcapFCSPresent != 0 {
		d.fcs = int8(link >> pcapFCSShift * 2)
	}
	resolution := uint8(6)
	switch form.format {
	case PcapNano:
		d.perTick, resolution = 1, 9
	case PcapModified:
		d.headerLen = pcapModifiedRecordLen
	}
	described.add(Interface{
		Link: d.link, SnapLen: u32(head[pcapOffSnapLen:], form.big),
		TSResol: resolution, FCSLen: d.fcs,
	})
	return d, nil
}

func (d *pcapDecoder) decode(recs []Record, buf []byte, off int64) ([]Record, progress, *fault) {
	pos := 0
	for len(recs) < maxBatch {
		h := buf[pos:]
		if len(h) < d.headerLen {
			return recs, progress{pos, d.headerLen}, nil
		}
		caplen := int64(u32(h[8:], d.big))
		if caplen > MaxRecord {
			return recs, progress{pos, 0}, tooLong(off+int64(pos), caplen)
		}
		total := d.headerLen + int(caplen)
		if len(h) < total {
			return recs, progress{pos, total}, nil
		}
		recs = append(recs, Record{
			Data:      h[d.headerLen:total:total],
			WireLen:   max(int(u32(h[12:], d.big)), int(caplen)),
			Time:      int64(u32(h, d.big))*nanosPerSecond + int64(u32(h[4:], d.big))*d.perTick,
			HasTime:   true,
			Offset:    off + int64(pos),
			Interface: -1,
			Link:      d.link,
			FCSLen:    d.fcs,
		})
		if d.link == wire.LinkERF && caplen >= wire.ERFLen {
			// The ERF header has the time that the card took; the record's is
			// a rounded copy of it.
			recs[len(recs)-1].Time = erfNanos(wire.ERF(h[d.headerLen:]).Timestamp())
		}
		pos += total
	}
	return recs, progress{used: pos}, nil
}

func (d *pcapDecoder) end(rest []byte, off int64) *fault {
	switch {
	case len(rest) == 0:
		return nil
	case len(rest) < d.headerLen:
		return truncated(off, "the record header is cut after %d of %d bytes", len(rest), d.headerLen)
	}
	return exceeds(off, int64(u32(rest[8:], d.big)), len(rest)-d.headerLen)
}

// tooLong is the fault of a captured length that is not believed.
func tooLong(off, caplen int64) *fault {
	return damaged(off, "captured length %d exceeds the limit of %d", caplen, MaxRecord)
}

// exceeds is the fault of a captured length that the file does not hold.
func exceeds(off, caplen int64, left int) *fault {
	return truncated(off, "captured length %d exceeds the %d bytes left", caplen, left)
}

// u16 reads the first two bytes of b in the byte order of the file.
func u16(b []byte, big bool) uint16 {
	v := binary.LittleEndian.Uint16(b)
	if big {
		v = bits.ReverseBytes16(v)
	}
	return v
}

// u32 reads the first four bytes of b in the byte order of the file.
func u32(b []byte, big bool) uint32 {
	v := binary.LittleEndian.Uint32(b)
	if big {
		v = bits.ReverseBytes32(v)
	}
	return v
}

// u64 reads the first eight bytes of b in the byte order of the file.
func u64(b []byte, big bool) uint64 {
	v := binary.LittleEndian.Uint64(b)
	if big {
		v = bits.ReverseBytes64(v)
	}
	return v
}
