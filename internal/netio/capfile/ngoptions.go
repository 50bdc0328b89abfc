package capfile

import (
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// Options of pcapng blocks: a 16-bit code, a 16-bit length, and the value,
// padded to a multiple of 4.
const (
	ngOptionLen = 4

	ngOptEnd     = 0
	ngOptComment = 1

	ngOptUserAppl = 4 // of the section header

	ngOptPacketFlags = 2 // of both kinds of packet block

	ngOptIfName        = 2
	ngOptIfDescription = 3
	ngOptIfSpeed       = 8
	ngOptIfTSResol     = 9
	ngOptIfFilter      = 11
	ngOptIfOS          = 12
	ngOptIfFCSLen      = 13
	ngOptIfTSOffset    = 14
	ngOptIfHardware    = 15

	ngOptStatStart     = 2
	ngOptStatEnd       = 3
	ngOptStatReceived  = 4
	ngOptStatDropped   = 5
	ngOptStatAccepted  = 6
	ngOptStatOSDropped = 7
	ngOptStatDelivered = 8

	// ngMaxText bounds what is kept of a text that describes an interface.
	ngMaxText = 1024
)

// option is one option of a block.
type option struct {
	code  uint16
	value []byte
}

// nextOption takes the first option off b. ok is false at the end of the list;
// left is then what the list's end left over, nil when it ended as it should.
func (d *ngDecoder) nextOption(b []byte) (o option, left []byte, ok bool) {
	if len(b) == 0 {
		return option{}, nil, false
	}
	if len(b) < ngOptionLen {
		return option{}, b, false
	}
	o.code = u16(b, d.big)
	n := int(u16(b[2:], d.big))
	if o.code == ngOptEnd {
		return option{}, nil, false
	}
	if n > len(b)-ngOptionLen {
		return option{}, b, false
	}
	o.value = b[ngOptionLen : ngOptionLen+n]
	return o, b[min(ngOptionLen+(n+3)&^3, len(b)):], true
}

// packetOptions takes the comments and the length of the frame check sequence
// from the options of a packet. They are decoration: a list that is damaged
// ends early, and the packet stays.
func (d *ngDecoder) packetOptions(rec *Record, list []byte) {
	comment := d.comment[:0]
	for o, rest, ok := d.nextOption(list); ok; o, rest, ok = d.nextOption(rest) {
		switch {
		case o.code == ngOptComment:
			if len(comment) > 0 {
				comment = append(comment, '\n')
			}
			comment = append(comment, o.value...)
		case o.code == ngOptPacketFlags && len(o.value) == 4:
			if n := u32(o.value, d.big) >> 5 & 0xf; n != 0 { // 0: not said
				rec.FCSLen = int8(n)
			}
		}
	}
	rec.Comment = string(comment) // no allocation when there is none
	d.comment = comment
}

// addInterface takes in an interface description block. Its options decide how
// the packets are to be read, so that damage in them is a fault.
func (d *ngDecoder) addInterface(b []byte, off int64) *fault {
	info := Interface{
		Link:    wire.LinkType(u16(b[ngOffLink:], d.big)),
		SnapLen: u32(b[ngOffSnapLen:], d.big),
		TSResol: 6, // the default of if_tsresol
		FCSLen:  -1,
	}
	left := b[ngOffIfOptions : len(b)-ngTrailerLen]
	for {
		o, rest, ok := d.nextOption(left)
		if !ok {
			if rest != nil {
				return damaged(off, "an option of the interface description exceeds the %d bytes left in its block", len(rest))
			}
			break
		}
		if !d.interfaceOption(&info, o) {
			return damaged(off, "option %d of the interface description has the impossible length %d", o.code, len(o.value))
		}
		left = rest
	}
	index, ok := d.described.add(info)
	if !ok {
		return damaged(off, "more than %d interfaces", maxInterfaces)
	}
	d.interfaces = append(d.interfaces, ngInterface{
		scale:   newScale(info.TSResol, info.TSOffset),
		snapLen: info.SnapLen,
		index:   index,
		link:    info.Link,
		fcs:     info.FCSLen,
	})
	return nil
}

// interfaceOption takes in one option; it is false when a value that has to be
// understood has the wrong length.
func (d *ngDecoder) interfaceOption(info *Interface, o option) bool {
	v := o.value
	switch o.code {
	case ngOptComment:
		info.Comment = ngText(v)
	case ngOptIfName:
		info.Name = ngText(v)
	case ngOptIfDescription:
		info.Description = ngText(v)
	case ngOptIfFilter:
		if len(v) > 0 && v[0] == 0 { // 0: a filter string, 1: compiled code
			info.Filter = ngText(v[1:])
		}
	case ngOptIfOS:
		info.OS = ngText(v)
	case ngOptIfHardware:
		info.Hardware = ngText(v)
	case ngOptIfSpeed:
		if len(v) == 8 {
			info.Speed = u64(v, d.big)
		}
	case ngOptIfFCSLen:
		if len(v) == 1 {
			info.FCSLen = ngFCSLen(v[0])
		}
	case ngOptIfTSResol:
		if len(v) != 1 {
			return false
		}
		info.TSResol = v[0]
	case ngOptIfTSOffset:
		if len(v) != 8 {
			return false
		}
		info.TSOffset = int64(u64(v, d.big))
	}
	return true
}

// ngFCSLen reads if_fcslen. The draft says that it counts bits, and gives 4 as
// its example; Wireshark counts bytes. No sequence is shorter than 8 bits or
// longer than 7 bytes.
func ngFCSLen(n byte) int8 {
	if n >= 8 {
		n /= 8
	}
	return int8(n)
}

// statistics takes in an interface statistics block.
func (d *ngDecoder) statistics(b []byte, off int64) *fault {
	iface, f := d.interfaceOf(u32(b[ngOffInterface:], d.big), off)
	if f != nil {
		return f
	}
	var s Statistics
	list := b[ngOffStatOptions : len(b)-ngTrailerLen]
	for o, rest, ok := d.nextOption(list); ok; o, rest, ok = d.nextOption(rest) {
		if len(o.value) != 8 {
			continue
		}
		switch n := u64(o.value, d.big); o.code {
		case ngOptStatStart:
			s.Start = iface.scale.nanos(d.wordTime(o.value))
		case ngOptStatEnd:
			s.End = iface.scale.nanos(d.wordTime(o.value))
		case ngOptStatReceived:
			s.Received = Count(n)
		case ngOptStatDropped:
			s.Dropped = Count(n)
		case ngOptStatAccepted:
			s.Accepted = Count(n)
		case ngOptStatOSDropped:
			s.OSDropped = Count(n)
		case ngOptStatDelivered:
			s.Delivered = Count(n)
		}
	}
	d.described.setStatistics(iface.index, s)
	return nil
}

// wordTime reads a time of two 32-bit words, the upper one first in either byte
// order.
func (d *ngDecoder) wordTime(b []byte) uint64 {
	return uint64(u32(b, d.big))<<32 | uint64(u32(b[4:], d.big))
}

// ngText keeps a bounded copy of a text. Some writers end it with a NUL.
func ngText(v []byte) string {
	return strings.TrimRight(string(v[:min(len(v), ngMaxText)]), "\x00")
}
