// Package perftest speaks with perftest's programs (ib_send_bw, ib_write_lat and
// their family) what they say over TCP around a test: versions and MTU, where
// each side's queue pairs and memory are, when to go on, and the results. Layout
// and order were observed on the wire, with perftest 6.24.
package perftest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strconv"

	"github.com/rocecap/rocecap/internal/wire"
)

// Destination is what one side tells of a queue pair and its memory.
type Destination struct {
	LID      uint16 // 0 on Ethernet
	OutReads uint16 // READs and atomics that it takes at a time
	QPN      uint32
	PSN      wire.PSN // of the first request that it sends
	RKey     uint32
	VAddr    uint64     // where the other side may write, read or add
	GID      netip.Addr // an IPv4 address is in it as ::ffff:a.b.c.d
	SRQN     uint32     // of XRC
}

// The line: hexadecimal numbers of fixed width, each with a colon behind it, the
// GID byte by byte, and a zero byte at the end.
var destinationDigits = [...]int{lid: 4, outReads: 4, qpn: 6, psn: 6, rkey: 8, vaddr: 16}

const (
	lid = iota
	outReads
	qpn
	psn
	rkey
	vaddr
)

const (
	gidPlace       = 50 // after the fields above
	gidBytes       = 16
	srqnPlace      = gidPlace + gidBytes*3
	srqnDigits     = 8
	DestinationLen = srqnPlace + srqnDigits + 2
)

// Append appends the line.
func (d Destination) Append(b []byte) []byte {
	b = fmt.Appendf(b, "%04x:%04x:%06x:%06x:%08x:%016x:", d.LID, d.OutReads, d.QPN, uint32(d.PSN), d.RKey, d.VAddr)
	for _, octet := range d.GID.As16() {
		b = fmt.Appendf(b, "%02x:", octet)
	}
	return fmt.Appendf(b, "%08x:\x00", d.SRQN)
}

// ParseDestination reads a line.
func ParseDestination(line []byte) (d Destination, err error) {
	if len(line) != DestinationLen {
		return d, fmt.Errorf("%d bytes are not the address of a queue pair, which has %d: %q", len(line), DestinationLen, line)
	}
	rest := line
	number := func(digits int) uint64 {
		field := rest[:digits]
		if rest[digits] != ':' && err == nil {
			err = fmt.Errorf("the address %q has no colon after %q", line, field)
		}
		rest = rest[digits+1:]
		n, e := strconv.ParseUint(string(field), 16, digits*4)
		if e != nil && err == nil {
			err = fmt.Errorf("the address %q: %w", line, e)
		}
		return n
	}
	d.LID = uint16(number(destinationDigits[lid]))
	d.OutReads = uint16(number(destinationDigits[outReads]))
	d.QPN = uint32(number(destinationDigits[qpn]))
	d.PSN = wire.PSN(number(destinationDigits[psn]))
	d.RKey = uint32(number(destinationDigits[rkey]))
	d.VAddr = number(destinationDigits[vaddr])
	gid := bytes.ReplaceAll(rest[:gidBytes*3], []byte(":"), nil)
	var raw [gidBytes]byte
	if n, e := hex.Decode(raw[:], gid[:min(len(gid), 2*gidBytes)]); (e != nil || n != gidBytes) && err == nil {
		err = fmt.Errorf("the address %q has no GID", line)
	}
	d.GID = netip.AddrFrom16(raw)
	rest = line[srqnPlace:]
	d.SRQN = uint32(number(srqnDigits))
	return d, err
}
