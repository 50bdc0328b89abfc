package text

import (
	"encoding/hex"
	"strconv"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// JSON prints packets as one JSON object a line:
//
//	{"number":1,"time":"…","wire_len":70,"cap_len":70,"protocol":"RoCEv2",
//	 "info":"RC SEND Only …","icrc":"good","layers":[{"layer":"eth","off":0,
//	 "len":14,"eth.dst":"…"},…],"notes":[]}
//
// Packets that complete iWARP units have "units" too; the layers of the n-th
// unit have "unit":n and count their places from its start.
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
	dst = appendUnits(dst, p)
	dst = appendNotes(dst, p)
	return append(dst, '}', '\n')
}

// appendUnits adds what is known of the iWARP units as a whole: which packets
// hold them, where in the frame they begin (-1 when not in one piece), markers
// taken out, and the verdict on the CRC32c.
func appendUnits(dst []byte, p *packet.Packet) []byte {
	if len(p.PDUs) == 0 {
		return dst
	}
	for i, pdu := range p.PDUs {
		head := `},{"kind":`
		if i == 0 {
			head = `,"units":[{"kind":`
		}
		dst = appendString(append(dst, head...), pdu.Kind.String())
		dst = appendCount(dst, `,"first":`, int(pdu.First), "")
		dst = appendCount(dst, `,"last":`, int(pdu.Last), "")
		dst = appendCount(dst, `,"off":`, pdu.Offset, "")
		dst = appendCount(dst, `,"stream_len":`, int(pdu.Len), "")
		dst = appendCount(dst, `,"markers":`, len(pdu.Markers), "")
		if pdu.Kind == iwarp.FPDU {
			dst = appendString(append(dst, `,"crc":`...), pdu.CRC.String())
		}
	}
	return append(dst, '}', ']')
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
	repeats := repeating()[h.ID]
	for i := range spec.Fields {
		f := &spec.Fields[i]
		if !f.Present(b) || repeats && named(spec.Fields[:i], f.Name, b) {
			continue
		}
		dst = append(append(dst, `,"`...), f.Name...)
		dst = append(dst, `":`...)
		if repeats && named(spec.Fields[i+1:], f.Name, b) {
			dst = appendArray(dst, spec.Fields[i:], f.Name, b)
		} else {
			dst = appendJSONValue(dst, f, b)
		}
	}
	return append(dst, '}', ',')
}

// repeating says which headers list a name more than once: tables, and fields
// whose place depends on others.
var repeating = sync.OnceValue(func() map[wire.HeaderID]bool {
	ids := make(map[wire.HeaderID]bool)
	for _, spec := range wire.Specs() {
		seen := make(map[string]bool)
		for i := range spec.Fields {
			name := spec.Fields[i].Name
			ids[spec.ID] = ids[spec.ID] || seen[name]
			seen[name] = true
		}
	}
	return ids
})

// named reports whether one of the fields has the name and is in the header.
func named(fields []wire.Field, name string, b []byte) bool {
	for i := range fields {
		if fields[i].Name == name && fields[i].Present(b) {
			return true
		}
	}
	return false
}

// appendArray adds the values of a field that a header has several times.
func appendArray(dst []byte, fields []wire.Field, name string, b []byte) []byte {
	open := byte('[')
	for i := range fields {
		if f := &fields[i]; f.Name == name && f.Present(b) {
			dst = appendJSONValue(append(dst, open), f, b)
			open = ','
		}
	}
	return append(dst, ']')
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
