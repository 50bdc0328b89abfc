package capfile

import (
	"github.com/rocecap/rocecap/internal/wire"
)

// ERF, the Extensible Record Format of Endace. A file is a run of records and
// has no header; wire.ERF draws the record's. The record length counts the
// headers; the wire length counts neither them nor the two pad bytes that
// Ethernet types have before the frame.
const (
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
		h := wire.ERF(buf[pos:])
		if len(h) < wire.ERFLen {
			return recs, progress{pos, wire.ERFLen}, nil
		}
		total := h.RecordLen()
		if total < wire.ERFLen {
			return recs, progress{pos, 0}, damaged(off+int64(pos),
				"record length %d is less than the %d bytes of its header", total, wire.ERFLen)
		}
		if len(h) < total {
			return recs, progress{pos, total}, nil
		}
		if h.Type() != wire.ERFTypePad {
			recs = append(recs, erfRecord(h[:total:total], off+int64(pos)))
		}
		pos += total
	}
	return recs, progress{used: pos}, nil
}

// erfRecord describes the record that b is. Where the wire length is known to
// count the whole frame, the bytes behind it, which align the next record, are
// left out, as they are in pcap.
func erfRecord(b wire.ERF, off int64) Record {
	wireLen, exact := erfWireLen(b)
	if exact && wireLen < len(b) {
		b = b[:wireLen:wireLen]
	}
	return Record{
		Data:      b,
		WireLen:   max(wireLen, len(b)),
		Time:      erfNanos(b.Timestamp()),
		HasTime:   true,
		Offset:    off,
		Interface: -1,
		Link:      wire.LinkERF,
		FCSLen:    -1,
	}
}

// erfWireLen is the length of the record had nothing been cut: headers, pad
// bytes and frame. exact is false for types whose framing is not known here.
func erfWireLen(b wire.ERF) (n int, exact bool) {
	n = wire.ERFLen
	for more := b.HasExtension(); more && len(b) >= n+wire.ERFExtLen; n += wire.ERFExtLen {
		more = wire.ERFExt(b[n:]).More()
	}
	n += b.WireLen()
	switch b.Type() {
	case wire.ERFTypeEthernet, wire.ERFTypeColourEthernet, wire.ERFTypeDSMColourEthernet, wire.ERFTypeColourHashEthernet:
		return n + wire.ERFEthernetPad, true
	case wire.ERFTypeInfiniBand, wire.ERFTypeInfiniBandLink:
		return n, true
	}
	return n, false
}

func (erfDecoder) end(rest []byte, off int64) *fault {
	switch {
	case len(rest) == 0:
		return nil
	case len(rest) < wire.ERFLen:
		return truncated(off, "the record header is cut after %d of %d bytes", len(rest), wire.ERFLen)
	}
	return truncated(off, "record length %d exceeds the %d bytes left", wire.ERF(rest).RecordLen(), len(rest))
}

// erfPlausible walks the whole records at the start of buf, up to erfEnough. It
// returns their number, and whether all that can be seen may be ERF.
func erfPlausible(buf []byte) (records int, ok bool) {
	var last int64
	for records < erfEnough && len(buf) >= wire.ERFLen {
		h := wire.ERF(buf)
		kind := h.Type()
		if kind == 0 || (kind > wire.ERFTypeMeta && kind != wire.ERFTypePad) {
			return records, false
		}
		seconds := int64(h.Timestamp() >> 32)
		if records > 0 && (seconds-last > erfMaxGap || last-seconds > erfMaxGap) {
			return records, false
		}
		last = seconds
		total := h.RecordLen()
		if total < wire.ERFLen {
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
