package rewrite

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// sums are what is known about a frame's checksums before it is changed. For a
// CRC that is the difference between the right value and the one that is there:
// it is kept, so that a wrong CRC stays as wrong, and changing the frame back
// gives the same bytes. For the one's complement checksums it is the sum of
// what is there; the checksum moves by as much as the sum does (RFC 1624), which
// also works when the capture was cut.
type sums struct {
	sealed    bool // the ICRC can be computed
	icrc      uint32
	vcrc      uint16
	fcsAt     int // -1 when the frame has none
	fcs       uint32
	checksums [wire.MaxHeaders]uint16
}

// touch notes the sums of a frame that will be changed, once.
func (e *Engine) touch(f *wire.Frame, fcs int) {
	if e.result.Changed {
		return
	}
	e.result.Changed = true
	b := &e.before
	v, computed, received := e.hasher.Judge(f)
	b.sealed = v == icrc.Good || v == icrc.Bad
	b.icrc = computed ^ received
	_, right, there := icrc.JudgeVCRC(f)
	b.vcrc = right ^ there
	b.fcsAt = fcsPlace(f, fcs)
	if b.fcsAt >= 0 {
		b.fcs = crc32.ChecksumIEEE(f.Data[:b.fcsAt]) ^ binary.LittleEndian.Uint32(f.Data[b.fcsAt:])
	}
	for i := range f.Headers() {
		b.checksums[i] = checksum(f, i)
	}
	if e.fix {
		b.icrc, b.vcrc, b.fcs = 0, 0, 0
	}
}

// fcsPlace is where the frame check sequence begins.
func fcsPlace(f *wire.Frame, fcs int) int {
	const length = 4
	if fcs != length || len(f.Data) < f.WireLen || len(f.Data) < f.End+length {
		return -1
	}
	return len(f.Data) - length
}

// seal puts right what changes have made wrong, from the inside out: each
// checksum covers those within.
func (e *Engine) seal(f *wire.Frame) {
	if v, computed, _ := e.hasher.Judge(f); v == icrc.Good || v == icrc.Bad {
		icrc.Store(f.Data[f.ICRC:], computed^e.before.icrc)
	}
	headers := f.Headers()
	for i := len(headers) - 1; i >= 0; i-- {
		e.moveChecksum(f, i)
	}
	if v, computed, _ := icrc.JudgeVCRC(f); v == icrc.Good || v == icrc.Bad {
		binary.LittleEndian.PutUint16(f.Data[f.VCRC:], computed^e.before.vcrc)
	}
	if at := e.before.fcsAt; at >= 0 {
		binary.LittleEndian.PutUint32(f.Data[at:], crc32.ChecksumIEEE(f.Data[:at])^e.before.fcs)
	}
}

// checksum computes the checksum that belongs into header i, over what was
// captured of what it covers; 0 for a header without one.
func checksum(f *wire.Frame, i int) uint16 {
	h := f.Headers()[i]
	b := f.Whole(h)
	if b == nil {
		return 0
	}
	switch h.ID {
	case wire.HdrIPv4:
		return wire.IPv4Checksum(b)
	case wire.HdrUDP:
		if src, dst := addresses(f, i); src != nil && wire.UDP(b).Checksum() != 0 {
			return wire.UDPChecksum(src, dst, covered(f, int(h.Off), wire.UDP(b).Length()))
		}
	case wire.HdrTCP:
		if src, dst := addresses(f, i); src != nil {
			return wire.TCPChecksum(src, dst, covered(f, int(h.Off), f.End-int(h.Off)))
		}
	}
	return 0
}

// moveChecksum moves the checksum of header i by as much as what it covers.
func (e *Engine) moveChecksum(f *wire.Frame, i int) {
	h := f.Headers()[i]
	b := f.Whole(h)
	if b == nil {
		return
	}
	was, is := e.before.checksums[i], checksum(f, i)
	switch h.ID {
	case wire.HdrIPv4:
		ip := wire.IPv4Header(b)
		ip.SetChecksum(e.moved(ip.Checksum(), was, is, true))
	case wire.HdrUDP:
		if udp := wire.UDP(b); is != 0 {
			whole := !f.Cut() && f.Problems&wire.ProblemFragment == 0
			if sum := e.moved(udp.Checksum(), was, is, whole); sum != 0 {
				udp.SetChecksum(sum)
			} else {
				udp.SetChecksum(0xFFFF) // 0 means that there is none
			}
		}
	case wire.HdrTCP:
		if tcp := wire.TCP(b); is != 0 || was != 0 {
			whole := !f.Cut() && f.Problems&wire.ProblemFragment == 0
			tcp.SetChecksum(e.moved(tcp.Checksum(), was, is, whole))
		}
	}
}

// moved is what becomes of a checksum when the right one goes from was to is.
// known says that those are over all that it covers.
func (e *Engine) moved(old, was, is uint16, known bool) uint16 {
	const ones = 0xFFFF // one's complement arithmetic is that modulo 65535
	switch {
	case e.fix && known:
		return is
	case was == is:
		return old
	}
	return uint16((uint32(old) + ones - uint32(was) + uint32(is)) % ones)
}

// covered is what was captured of the length bytes at off.
func covered(f *wire.Frame, off, length int) []byte {
	return f.Data[off:max(off, min(off+length, len(f.Data)))]
}

// addresses are those of the IP header before header i, nil when there is none.
func addresses(f *wire.Frame, i int) (src, dst []byte) {
	headers := f.Headers()
	for i--; i >= 0; i-- {
		b := f.Whole(headers[i])
		switch {
		case b == nil:
		case headers[i].ID == wire.HdrIPv4:
			a := wire.IPv4Header(b).Addresses()
			return a[:4], a[4:]
		case headers[i].ID == wire.HdrIPv6:
			a := wire.IPv6Header(b).Addresses()
			return a[:16], a[16:]
		}
	}
	return nil, nil
}
