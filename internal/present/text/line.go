// Package text prints packets for people: a line each, a full tree, a hex dump
// with the field under each byte, and tshark's columns of fields.
package text

import (
	"bytes"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// TimeFormat says how the time column is printed, as tshark's -t.
type TimeFormat uint8

// The forms of the time column.
const (
	Relative TimeFormat = iota // r: since the first packet
	Absolute                   // a: time of day
	Date                       // ad: date and time of day
	Delta                      // d: since the packet before
	Epoch                      // e: since 1970
	UTC                        // u: time of day, UTC
	UTCDate                    // ud: date and time of day, UTC
)

// Line prints packets, a line each. It belongs to one goroutine.
type Line struct {
	Time    TimeFormat
	Palette *Palette

	routes [4]route
	oldest int // of routes
}

// route is the printed columns of a source and a destination.
type route struct {
	of        wire.HeaderID
	addresses []byte
	text      []byte
}

// the widths of the columns that nearly every packet fits
const (
	widthNumber = 6
	widthTime   = 13 // of relative seconds: 999 and nine decimals
	widthSource = 15
	widthProto  = 7
)

// Append adds the packet's line, with its newline, to dst.
func (l *Line) Append(dst []byte, p *packet.Packet) []byte {
	seen := look(&p.Frame)
	c := seen.classify(p)
	dst = append(dst, l.Palette.before[c]...)
	dst = appendRight(dst, uint64(p.Number), widthNumber)
	dst = append(dst, ' ')
	dst = l.appendTime(dst, p)
	dst = append(dst, ' ')
	dst = l.appendRoute(dst, &seen)
	start := len(dst)
	dst = append(dst, protocolName(p)...)
	dst = pad(dst, start, widthProto)
	dst = append(dst, ' ')
	dst = seen.appendInfo(dst, p)
	dst = append(dst, l.Palette.after[c]...)
	return append(dst, '\n')
}

// appendRoute adds the columns of source and destination. Most packets have the
// addresses of the last one in their direction.
func (l *Line) appendRoute(dst []byte, s *sight) []byte {
	addresses := s.addresses()
	for i := range l.routes {
		if r := &l.routes[i]; r.of == s.netID && bytes.Equal(r.addresses, addresses) {
			return append(dst, r.text...)
		}
	}
	r := &l.routes[l.oldest]
	l.oldest = (l.oldest + 1) % len(l.routes)
	r.of, r.addresses = s.netID, append(r.addresses[:0], addresses...)
	r.text = s.appendAddress(r.text[:0], true)
	r.text = pad(r.text, 0, widthSource)
	r.text = append(r.text, " → "...)
	start := len(r.text)
	r.text = s.appendAddress(r.text, false)
	r.text = append(pad(r.text, start, widthSource), ' ')
	return append(dst, r.text...)
}

// spaces is longer than any column is wide.
const spaces = "                                                                "

// pad adds spaces until dst has grown by width bytes since start.
func pad(dst []byte, start, width int) []byte {
	if n := width - (len(dst) - start); n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}

// appendRight adds a number with spaces in front of it.
func appendRight(dst []byte, n uint64, width int) []byte {
	var digits [20]byte
	i := len(digits)
	for {
		i--
		digits[i] = '0' + byte(n%10)
		n /= 10
		if n == 0 {
			break
		}
	}
	if missing := width - (len(digits) - i); missing > 0 {
		dst = append(dst, spaces[:missing]...)
	}
	return append(dst, digits[i:]...)
}

func (l *Line) appendTime(dst []byte, p *packet.Packet) []byte {
	if !p.HasTime {
		return append(dst, "            -"...)
	}
	switch l.Time {
	case Absolute:
		return time.Unix(0, p.Time).AppendFormat(dst, "15:04:05.000000000")
	case Date:
		return time.Unix(0, p.Time).AppendFormat(dst, "2006-01-02 15:04:05.000000000")
	case UTC:
		return time.Unix(0, p.Time).UTC().AppendFormat(dst, "15:04:05.000000000")
	case UTCDate:
		return time.Unix(0, p.Time).UTC().AppendFormat(dst, "2006-01-02 15:04:05.000000000")
	case Epoch:
		return field.AppendSeconds(dst, p.Time, 9)
	}
	since := p.First
	if l.Time == Delta {
		since = p.Previous
	}
	return appendSpan(dst, p.Time-since)
}

// appendSpan adds a number of nanoseconds as seconds, aligned at the point.
func appendSpan(dst []byte, ns int64) []byte {
	if ns < 0 { // a capture whose clock was set back
		return field.AppendSeconds(dst, ns, 9)
	}
	const point = widthTime - 10
	dst = appendRight(dst, uint64(ns)/1e9, point)
	return field.AppendFraction(dst, uint32(uint64(ns)%1e9), 9)
}

var protoNames = [...]string{
	wire.ProtoOther: "-", wire.ProtoRoCEv1: "RoCEv1", wire.ProtoRoCEv2: "RoCEv2", wire.ProtoIB: "IB",
	wire.ProtoIBRaw: "IB raw", wire.ProtoIBLink: "IB link", wire.ProtoTCP: "TCP", wire.ProtoUDP: "UDP",
	wire.ProtoPause: "PAUSE", wire.ProtoPFC: "PFC", wire.ProtoARP: "ARP", wire.ProtoICMP: "ICMP",
}

func protocolName(p *packet.Packet) string {
	if len(p.PDUs) > 0 {
		return "iWARP"
	}
	return protoNames[p.Frame.Proto]
}

// appendInfo adds the last column: what the packet is and carries.
func (s *sight) appendInfo(dst []byte, p *packet.Packet) []byte {
	f := &p.Frame
	switch {
	case f.BTH >= 0:
		dst = s.appendTransport(dst, p)
	case len(p.PDUs) > 0:
		dst = appendPDUs(dst, p)
	default:
		dst = appendOther(dst, f)
	}
	return appendWarnings(dst, p)
}

// appendWarnings adds, in brackets, what a reader must not miss.
func appendWarnings(dst []byte, p *packet.Packet) []byte {
	f := &p.Frame
	for bit := wire.Problem(1); bit <= f.Problems; bit <<= 1 {
		if f.Problems&bit != 0 {
			if text := shortProblem(bit); text != "" {
				dst = append(append(append(dst, " ["...), text...), ']')
			}
		}
	}
	crc := p.CRC()
	switch crc.ICRC {
	case icrc.Bad:
		dst = append(dst, " [ICRC bad"...)
		if crc.Mistake != "" {
			dst = append(append(dst, ": "...), crc.Mistake...)
		}
		dst = append(dst, ']')
	case icrc.Cut:
		dst = append(dst, " [cut]"...)
	case icrc.NotCheckable:
		dst = append(dst, " [ICRC not checkable]"...)
	}
	if crc.VCRC == icrc.Bad {
		dst = append(dst, " [VCRC bad]"...)
	}
	return dst
}

// shortProblem is the word for a problem on a packet's line; "" for one that
// the line shows already.
func shortProblem(bit wire.Problem) string {
	switch bit {
	case wire.ProblemShort:
		return "too short"
	case wire.ProblemLength:
		return "lengths disagree"
	case wire.ProblemTVer:
		return "TVer not 0"
	case wire.ProblemPad:
		return "pad exceeds payload"
	case wire.ProblemReserved:
		return "reserved bit set"
	case wire.ProblemPayload:
		return "unexpected payload"
	case wire.ProblemFragment:
		return "fragment"
	case wire.ProblemOptions:
		return "IP options"
	case wire.ProblemTooDeep:
		return "too many headers"
	case wire.ProblemVersion:
		return "unexpected version"
	case wire.ProblemBadMAD:
		return "short MAD"
	}
	return ""
}
