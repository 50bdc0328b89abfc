package text

import (
	"net/netip"
	"strconv"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/wire"
)

// sight is what a packet's line needs of the frame, found in one pass.
type sight struct {
	netID wire.HeaderID // innermost header with addresses, HdrNone when cut off
	net   []byte
	bth   wire.BTH  // nil when there is none or it was cut
	aeth  wire.AETH // the same
	mad   bool
	ecn   uint8 // of the innermost IP header or GRH
	width int   // room for the opcode's name
}

func look(f *wire.Frame) (s sight) {
	s.width = widthOpcode
	for _, h := range f.Headers() {
		switch h.ID {
		case wire.HdrEthernet, wire.HdrLRH, wire.HdrIPv4, wire.HdrIPv6, wire.HdrGRH:
			if b := f.Whole(h); b != nil {
				s.netID, s.net = h.ID, b
			}
		case wire.HdrBTH:
			if b := f.Bytes(h); len(b) == wire.BTHLen {
				s.bth = b
			}
		case wire.HdrAETH:
			if b := f.Bytes(h); len(b) == wire.AETHLen {
				s.aeth = b
			}
		case wire.HdrMAD:
			s.mad = true
		}
	}
	switch s.netID {
	case wire.HdrIPv4:
		s.ecn = wire.IPv4Header(s.net).ECN()
	case wire.HdrIPv6:
		s.ecn = wire.IPv6Header(s.net).ECN()
	case wire.HdrGRH:
		s.ecn = wire.GRH(s.net).ECN()
	}
	return s
}

// addresses returns the bytes of the header that hold both addresses, perhaps
// with others between them.
func (s *sight) addresses() []byte {
	switch s.netID {
	case wire.HdrIPv4:
		return wire.IPv4Header(s.net).Addresses()
	case wire.HdrIPv6:
		return wire.IPv6Header(s.net).Addresses()
	case wire.HdrGRH:
		return wire.GRH(s.net).GIDs()
	}
	return s.net
}

// appendAddress adds the source or destination: IP address, GID, LID or MAC.
func (s *sight) appendAddress(dst []byte, source bool) []byte {
	switch s.netID {
	case wire.HdrIPv4:
		h := wire.IPv4Header(s.net)
		return pick(h.Src(), h.Dst(), source).AppendTo(dst)
	case wire.HdrIPv6:
		h := wire.IPv6Header(s.net)
		return pick(h.Src(), h.Dst(), source).AppendTo(dst)
	case wire.HdrGRH:
		h := wire.GRH(s.net)
		return pick(h.SGID(), h.DGID(), source).Unmap().AppendTo(dst)
	case wire.HdrLRH:
		h := wire.LRH(s.net)
		return strconv.AppendUint(append(dst, "LID "...), uint64(pick(h.SLID(), h.DLID(), source)), 10)
	case wire.HdrEthernet:
		h := wire.Ethernet(s.net)
		mac := pick(h.Src(), h.Dst(), source)
		return field.AppendColons(dst, mac[:])
	}
	return append(dst, '-')
}

// Source names the sender of a frame as the packet's line does.
func Source(f *wire.Frame) string {
	s := look(f)
	return string(s.appendAddress(nil, true))
}

func pick[T netip.Addr | uint16 | [6]byte](src, dst T, source bool) T {
	if source {
		return src
	}
	return dst
}
