package text

import (
	"encoding/hex"
	"math/bits"
	"strconv"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// Tree prints every field of a packet with its place: byte, or byte and bits,
// counted from the start of the frame; bit 0 is the most significant.
type Tree struct {
	Palette *Palette
}

const (
	widthPlace = 12
	widthText  = 62
)

// Append adds the packet's tree, with an empty line behind it, to dst.
func (t *Tree) Append(dst []byte, p *packet.Packet) []byte {
	dst = t.appendFrame(dst, p)
	for i := range p.Stacks() {
		base := 0
		if i > 0 {
			dst, base = t.appendPDU(dst, p, i-1)
		}
		stack := p.Stack(i)
		for _, h := range stack.Headers() {
			dst = t.appendHeader(dst, stack, h, base)
			dst = appendVerdict(dst, h.ID, p.CRC())
		}
	}
	for _, note := range p.AppendNotes(nil) {
		dst = append(dst, t.Palette.before[classBad]...)
		dst = append(append(append(dst, "["...), note...), ']')
		dst = append(dst, t.Palette.after[classBad]...)
		dst = append(dst, '\n')
	}
	return append(dst, '\n')
}

func (t *Tree) appendFrame(dst []byte, p *packet.Packet) []byte {
	dst = appendCount(dst, "Frame ", p.Number, ": ")
	dst = appendCount(dst, "", p.Frame.WireLen, " bytes on the wire, ")
	dst = appendCount(dst, "", len(p.Frame.Data), " captured")
	if p.Interface >= 0 {
		dst = appendCount(dst, ", interface ", p.Interface, "")
	}
	dst = append(dst, '\n')
	if p.HasTime {
		dst = append(dst, "    Arrival time "...)
		dst = time.Unix(0, p.Time).UTC().AppendFormat(dst, "2006-01-02 15:04:05.000000000 UTC")
		dst = append(dst, ", "...)
		dst = field.AppendSeconds(dst, p.Time-p.First, 9)
		dst = append(dst, " s since the first packet, "...)
		dst = field.AppendSeconds(dst, p.Time-p.Previous, 9)
		dst = append(dst, " s since the one before\n"...)
	}
	if p.Comment != "" {
		dst = field.AppendOneLine(append(dst, "    Comment: "...), p.Comment)
		dst = append(dst, '\n')
	}
	return dst
}

// appendVerdict adds, under a CRC, what it says.
func appendVerdict(dst []byte, id wire.HeaderID, crc *packet.Judgement) []byte {
	var v icrc.Verdict
	switch id {
	case wire.HdrICRC:
		v = crc.ICRC
	case wire.HdrVCRC:
		v = crc.VCRC
	}
	if v == icrc.NotApplicable {
		return dst
	}
	dst = append(append(dst, "                Verdict: "...), v.String()...)
	if v == icrc.Bad && id == wire.HdrICRC {
		dst = wire.AppendHex(append(dst, ", should be "...), uint64(bits.ReverseBytes32(crc.Computed)), 8)
	}
	return append(dst, '\n')
}

func appendCount(dst []byte, before string, n int, behind string) []byte {
	dst = strconv.AppendInt(append(dst, before...), int64(n), 10)
	return append(dst, behind...)
}

// appendHeader adds one header and its fields. base is where the header's run
// of bytes begins in the frame; negative when it was put together from several
// frames, and places count from its own start.
func (t *Tree) appendHeader(dst []byte, s *wire.Stack, h wire.Header, base int) []byte {
	spec := wire.SpecOf(h.ID)
	off := int(h.Off) + max(base, 0)
	dst = append(dst, spec.Title...)
	dst = append(append(append(dst, " ("...), spec.Name...), "), "...)
	dst = appendCount(dst, "", int(h.Len), " bytes at ")
	dst = appendCount(dst, "", off, "")
	b := s.Bytes(h)
	if len(b) < int(h.Len) {
		dst = appendCount(dst, ", ", len(b), " of them captured")
	}
	dst = append(dst, '\n')
	if len(spec.Fields) == 0 {
		return appendBytes(dst, b)
	}
	for i := range spec.Fields {
		f := &spec.Fields[i]
		if !f.Present(b) {
			continue
		}
		dst = t.appendField(dst, f, b, off)
	}
	return dst
}

func (t *Tree) appendField(dst []byte, f *wire.Field, b []byte, off int) []byte {
	dst = append(dst, "    "...)
	start := len(dst)
	dst = appendPlace(dst, f, len(b), off)
	dst = pad(dst, start, widthPlace)
	start = len(dst)
	dst = append(append(dst, f.Title...), ": "...)
	if f.Kind == wire.Bytes && f.Bits == 0 {
		dst = appendShort(dst, f.Raw(b))
	} else {
		dst = field.AppendWire(dst, f, b)
	}
	dst = pad(dst, start, widthText)
	dst = append(append(dst, t.Palette.dim...), "  "...)
	dst = append(append(dst, f.Name...), t.Palette.undim...)
	return append(dst, '\n')
}

// appendPlace adds "42", "42-45" or, for part of a byte, "42.0-3".
func appendPlace(dst []byte, f *wire.Field, length, off int) []byte {
	bits := f.Bits
	if bits == 0 {
		bits = length*8 - f.Bit
	}
	first, last := f.Bit, f.Bit+max(bits, 1)-1
	dst = strconv.AppendInt(dst, int64(off+first/8), 10)
	wholeBytes := first%8 == 0 && (last+1)%8 == 0
	if !wholeBytes {
		dst = appendCount(dst, ".", first%8, "")
	}
	switch {
	case first/8 != last/8:
		dst = appendCount(dst, "-", off+last/8, "")
		if !wholeBytes {
			dst = appendCount(dst, ".", last%8, "")
		}
	case !wholeBytes && first != last:
		dst = appendCount(dst, "-", last%8, "")
	}
	return dst
}

// appendShort adds up to 24 bytes in hexadecimal, and how many there are.
func appendShort(dst, b []byte) []byte {
	const most = 24
	dst = hex.AppendEncode(dst, b[:min(len(b), most)])
	if len(b) > most {
		dst = appendCount(dst, "... (", len(b), " bytes)")
	}
	return dst
}

func appendBytes(dst, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	return append(appendShort(append(dst, "    "...), b), '\n')
}
