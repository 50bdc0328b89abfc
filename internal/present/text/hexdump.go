package text

import (
	"strings"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

const hexDigits = "0123456789abcdef"

// Hex prints a packet's bytes, header by header, with the name of the field
// under each byte.
type Hex struct {
	Palette *Palette
}

const (
	bytesPerRow = 16
	columns     = 3 // of one byte in a row
)

// Append adds the packet's dump, with an empty line behind it, to dst.
func (x *Hex) Append(dst []byte, p *packet.Packet) []byte {
	for i := range p.Stacks() {
		base := 0
		if i > 0 {
			dst, base = (&Tree{Palette: x.Palette}).appendPDU(dst, p, i-1)
		}
		stack := p.Stack(i)
		end := 0
		for _, h := range stack.Headers() {
			if int(h.Off) < end {
				continue // lies inside the one before, which showed its bytes
			}
			if gap := int(h.Off) - end; gap > 0 {
				dst = appendDump(dst, stack.Data[min(end, len(stack.Data)):min(int(h.Off), len(stack.Data))], end+max(base, 0))
			}
			dst = x.appendHeader(dst, stack, h, max(base, 0))
			end = int(h.Off + h.Len)
		}
		if end < len(stack.Data) {
			dst = appendDump(dst, stack.Data[end:], end+max(base, 0))
		}
	}
	return append(dst, '\n')
}

func (x *Hex) appendHeader(dst []byte, s *wire.Stack, h wire.Header, base int) []byte {
	spec := wire.SpecOf(h.ID)
	b := s.Bytes(h)
	dst = append(append(dst, spec.Title...), '\n')
	if len(spec.Fields) == 0 {
		return appendDump(dst, b, int(h.Off)+base)
	}
	labels := labelRow(spec, b)
	for at := 0; at < len(b); at += bytesPerRow {
		row := b[at:min(at+bytesPerRow, len(b))]
		dst = appendOffset(dst, int(h.Off)+base+at)
		dst = appendHexBytes(dst, row)
		dst = append(dst, '\n')
		names := strings.TrimRight(labels[at*columns:(at+len(row))*columns], " ")
		if names != "" {
			dst = append(append(dst, x.Palette.dim...), "        "...)
			dst = append(append(dst, names...), x.Palette.undim...)
			dst = append(dst, '\n')
		}
	}
	return dst
}

// labelRow lays the last word of each field's name under its bytes, cut to the
// room there is. A byte that several fields share shows the first, and a plus.
func labelRow(spec *wire.Spec, b []byte) string {
	row := []byte(strings.Repeat(" ", len(b)*columns))
	taken := make([]bool, len(b))
	for i := range spec.Fields {
		f := &spec.Fields[i]
		if !f.Present(b) {
			continue
		}
		first := f.Bit / 8
		last := len(b)
		if f.Bits > 0 {
			last = (f.Bit + f.Bits + 7) / 8
		}
		for first < last && taken[first] {
			if f.Bit%8 != 0 || f.Bits%8 != 0 {
				row[first*columns+1] = '+'
			}
			first++
		}
		if first >= last {
			continue
		}
		label := f.Name[strings.LastIndexByte(f.Name, '.')+1:]
		copy(row[first*columns:last*columns-1], label)
		for j := first; j < last; j++ {
			taken[j] = true
		}
	}
	return string(row)
}

func appendOffset(dst []byte, off int) []byte {
	dst = append(dst, "  "...)
	for shift := 12; shift >= 0; shift -= 4 {
		dst = append(dst, hexDigits[off>>shift&15])
	}
	return append(dst, "  "...)
}

func appendHexBytes(dst, row []byte) []byte {
	for i, c := range row {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

// appendDump adds rows of bytes with their printable characters beside them.
func appendDump(dst, b []byte, off int) []byte {
	for at := 0; at < len(b); at += bytesPerRow {
		row := b[at:min(at+bytesPerRow, len(b))]
		dst = appendOffset(dst, off+at)
		start := len(dst)
		dst = appendHexBytes(dst, row)
		dst = pad(dst, start, bytesPerRow*columns+1)
		for _, c := range row {
			if c < 0x20 || c > 0x7E {
				c = '.'
			}
			dst = append(dst, c)
		}
		dst = append(dst, '\n')
	}
	return dst
}
