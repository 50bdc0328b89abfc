// Package pingpong speaks with the ping-pong examples of rdma-core
// (ibv_rc_pingpong, ibv_uc_pingpong, ibv_ud_pingpong, ibv_srq_pingpong) what
// they say over TCP before the first RDMA packet: where each side's queue pairs
// are. Layout and order were observed on the wire.
package pingpong

import (
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/rocecap/rocecap/internal/wire"
)

// Address is what one side tells of a queue pair.
type Address struct {
	LID uint16 // 0 on Ethernet
	QPN uint32
	PSN wire.PSN   // of the first request that it sends
	GID netip.Addr // an IPv4 address is in it as ::ffff:a.b.c.d
}

// Places of the line's fields: hexadecimal digits of fixed width, parted by
// colons, and a zero byte at the end.
const (
	lidDigits  = 4
	qpnDigits  = 6
	psnDigits  = 6
	gidDigits  = 32
	qpnPlace   = lidDigits + 1
	psnPlace   = qpnPlace + qpnDigits + 1
	gidPlace   = psnPlace + psnDigits + 1
	lineEnd    = gidPlace + gidDigits
	AddressLen = lineEnd + 1 // of a line with its zero byte
)

// Append appends the line that tells the address.
func (a Address) Append(b []byte) []byte {
	gid := a.GID.As16()
	return fmt.Appendf(b, "%04x:%06x:%06x:%x\x00", a.LID, a.QPN, uint32(a.PSN), gid[:])
}

// ParseAddress reads a line.
func ParseAddress(line []byte) (a Address, err error) {
	if len(line) != AddressLen || line[qpnPlace-1] != ':' || line[psnPlace-1] != ':' || line[gidPlace-1] != ':' {
		return a, fmt.Errorf("%q is not the address of a queue pair", line)
	}
	number := func(from, digits, bits int) uint32 {
		n, e := strconv.ParseUint(string(line[from:from+digits]), 16, bits)
		if e != nil && err == nil {
			err = fmt.Errorf("the address %q: %w", line, e)
		}
		return uint32(n)
	}
	a.LID = uint16(number(0, lidDigits, 16))
	a.QPN = number(qpnPlace, qpnDigits, 24)
	a.PSN = wire.PSN(number(psnPlace, psnDigits, 24))
	var gid [16]byte
	if _, e := hex.Decode(gid[:], line[gidPlace:lineEnd]); e != nil && err == nil {
		err = fmt.Errorf("the address %q: %w", line, e)
	}
	a.GID = netip.AddrFrom16(gid)
	return a, err
}

// String describes the address in the examples' words.
func (a Address) String() string {
	return fmt.Sprintf("LID 0x%04x, QPN 0x%06x, PSN 0x%06x, GID %s", a.LID, a.QPN, uint32(a.PSN), netip.AddrFrom16(a.GID.As16()))
}
