package text

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// JSON prints packets as one JSON object a line:
//
//	{"number":1,"time":"…","wire_len":70,"cap_len":70,"protocol":"RoCEv2",
//	 "info":"RC SEND Only …","icrc":"good","layers":[{"layer":"eth","off":0,
//	 "len":14,"eth.dst":"…"},…],"notes":[]}
//
// Decimal integers and booleans are JSON numbers and booleans; what tshark
// prints in hexadecimal, addresses and bytes are strings.
type JSON struct{}

// Append adds the packet's object and a newline to dst.
func (JSON) Append(dst []byte, p *packet.Packet) []byte {
	seen := look(&p.Frame)
	seen.width = 0
	dst = appendCount(dst, `{"number":`, p.Number, "")
	if p.HasTime {
		dst = append(dst, `,"time":"`...)
		dst = time.Unix(0, p.Time).UTC().AppendFormat(dst, "2006-01-02T15:04:05.000000000Z")
		dst = append(dst, `","time_epoch":"`...)
		dst = field.AppendSeconds(dst, p.Time, 9)
		dst = append(dst, '"')
	}
	if p.Interface >= 0 {
		dst = appendCount(dst, `,"interface":`, p.Interface, "")
	}
	if p.Comment != "" {
		dst = appendString(append(dst, `,"comment":`...), p.Comment)
	}
	dst = appendCount(dst, `,"wire_len":`, p.Frame.WireLen, "")
	dst = appendCount(dst, `,"cap_len":`, len(p.Frame.Data), "")
	dst = appendString(append(dst, `,"protocol":`...), protocolName(p))
	dst = appendString(append(dst, `,"info":`...), string(seen.appendInfo(nil, p)))
	if status := p.CRC().ICRC.String(); status != "" {
		dst = appendString(append(dst, `,"icrc":`...), status)
	}
	dst = append(dst, `,"layers":[`...)
	for i := range p.Stacks() {
		stack := p.Stack(i)
		for _, h := range stack.Headers() {
			dst = appendLayer(dst, stack, h, i)
		}
	}
	if dst[len(dst)-1] == ',' {
		dst = dst[:len(dst)-1]
	}
	dst = append(dst, ']')
	dst = appendNotes(dst, p)
	return append(dst, '}', '\n')
}

func appendNotes(dst []byte, p *packet.Packet) []byte {
	dst = append(dst, `,"notes":[`...)
	for i, note := range p.AppendNotes(nil) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendString(dst, note)
	}
	return append(dst, ']')
}

// appendLayer adds one header. unit is 0 for the frame's own headers, else the
// number of the iWARP unit whose bytes off counts in.
func appendLayer(dst []byte, s *wire.Stack, h wire.Header, unit int) []byte {
	spec := wire.SpecOf(h.ID)
	dst = appendString(append(dst, `{"layer":`...), spec.Name)
	if unit > 0 {
		dst = appendCount(dst, `,"unit":`, unit, "")
	}
	dst = appendCount(dst, `,"off":`, int(h.Off), "")
	dst = appendCount(dst, `,"len":`, int(h.Len), "")
	b := s.Bytes(h)
	if len(spec.Fields) == 0 {
		dst = append(dst, `,"bytes":"`...)
		dst = hex.AppendEncode(dst, b)
		dst = append(dst, '"')
	}
	for i := range spec.Fields {
		f := &spec.Fields[i]
		if !f.Present(b) {
			continue
		}
		dst = append(append(dst, `,"`...), f.Name...)
		dst = appendJSONValue(append(dst, `":`...), f, b)
	}
	return append(dst, '}', ',')
}

func appendJSONValue(dst []byte, f *wire.Field, b []byte) []byte {
	switch {
	case f.Kind == wire.Bool:
		return strconv.AppendBool(dst, f.Uint(b) != 0)
	case f.Kind == wire.Uint && f.Base == wire.Dec && f.Bits <= 53:
		return strconv.AppendUint(dst, f.Value(b), 10)
	}
	if f.Kind == wire.Text {
		return appendString(dst, string(field.AppendPlain(nil, f, b)))
	}
	return append(field.AppendPlain(append(dst, '"'), f, b), '"')
}

// appendString adds s as a JSON string.
func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < 0x20:
			dst = append(dst, `\u00`...)
			dst = append(dst, hexDigits[r>>4], hexDigits[r&15])
		default: // a byte that is not UTF-8 arrives as the replacement rune
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
