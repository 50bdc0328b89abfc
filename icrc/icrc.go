// Package icrc computes, checks and repairs the checksums of RDMA packets: the
// invariant CRC of InfiniBand and RoCE, the variant CRC of native InfiniBand
// and the CRC32c of iWARP's MPA. When an ICRC is wrong, Explain says which
// known mistake produces the value that was received.
//
// The ICRC is the common CRC-32 (the one of Ethernet and zlib) over the packet
// from its network header to the last pad byte, with every field that a switch
// or router may change replaced by ones, and stored least significant byte
// first. IBTA volume 1, 7.8.1; annex A16 for RoCEv1, A17 for RoCEv2.
//
// Compute and Put work on a packet whose Form is known. Verify, Explain and Patch
// find the packet in an Ethernet frame; their namesakes with IB take a packet that
// begins with an LRH. A Hasher allocates nothing. What takes a parsed frame is for
// the rest of this module, which has parsed it already.
package icrc

import (
	"encoding/binary"
	"hash/crc32"

	"github.com/rocecap/rocecap/internal/wire"
)

// Len is the length of an ICRC in bytes.
const Len = wire.ICRCLen

// Form says where a packet begins and which of its fields are masked.
type Form uint8

// The forms of a packet. Bytes and fields named are replaced by ones.
const (
	// RoCEv1 begins at the GRH: traffic class, flow label, hop limit.
	RoCEv1 Form = iota
	// RoCEv2IPv4 begins at an IPv4 header without options: TOS, TTL, header
	// checksum, UDP checksum.
	RoCEv2IPv4
	// RoCEv2IPv6 begins at an IPv6 header without extension headers: traffic
	// class, flow label, hop limit, UDP checksum.
	RoCEv2IPv6
	// IBLocal begins at the LRH and has no GRH: virtual lane.
	IBLocal
	// IBGlobal begins at the LRH and has a GRH: all of the LRH, traffic class,
	// flow label, hop limit.
	IBGlobal
)

var formNames = [...]string{"RoCEv1", "RoCEv2/IPv4", "RoCEv2/IPv6", "IB local", "IB global"}

// String returns the form's name.
func (f Form) String() string {
	if int(f) < len(formNames) {
		return formNames[f]
	}
	return "invalid"
}

// bthAt is where the BTH of each form begins.
var bthAt = [...]int{
	RoCEv1:     wire.GRHLen,
	RoCEv2IPv4: wire.IPv4MinLen + wire.UDPLen,
	RoCEv2IPv6: wire.IPv6Len + wire.UDPLen,
	IBLocal:    wire.LRHLen,
	IBGlobal:   wire.LRHLen + wire.GRHLen,
}

// The CRC register, not inverted, before the first byte of a packet. RoCE has
// no LRH: eight bytes of ones stand in for it (A16.5, A17.3.3), and with a GRH
// all eight bytes of a real LRH are ones too.
const (
	stateOnes    = 0xFFFFFFFF
	stateDummy   = 0xDEBB20E3 // after eight 0xFF
	maskedPrefix = wire.LRHLen
)

// Sizes of one run of the CRC. The processor's carry-less multiplication takes
// 64 bytes or more, in steps of 16; what is left goes byte by byte, slowly.
const (
	step    = 16
	minRun  = 64
	longest = minRun + step + minRun // packets up to here make one run
)

// Hasher computes ICRCs. It holds scratch space, so that reusing one allocates
// nothing per packet. The zero value is ready; it is not for concurrent use.
type Hasher struct {
	// Zeros, which stay so, and the head of the packet with its masks.
	buf [minRun + longest]byte
}

// Sum returns the ICRC of a packet that ends just before its ICRC. It is 0 for
// a packet too short to hold a BTH. The packet is only read.
//
// The head of the packet is copied and masked; the rest is read in place. Zero
// bytes before a message do not change a CRC register of zero, so the head is
// filled up on the left to make both runs a multiple of 16 bytes, after the
// register's first value was folded into the first four bytes.
func (h *Hasher) Sum(form Form, packet []byte) uint32 {
	state := uint32(stateDummy)
	switch form {
	case IBLocal:
		state = stateOnes
	case IBGlobal:
		if len(packet) < maskedPrefix {
			return 0
		}
		form, packet = RoCEv1, packet[maskedPrefix:]
	}
	n := len(packet)
	if int(form) >= len(bthAt) || n < bthAt[form]+wire.BTHLen {
		return 0
	}
	head := n
	if n > longest {
		head = minRun + n%step
	}
	b := h.buf[minRun : minRun+head]
	copy(b, packet)
	mask(form, b)
	binary.LittleEndian.PutUint32(b, binary.LittleEndian.Uint32(b)^state)
	fill := max(minRun-head, -head&(step-1))
	crc := crc32.Update(^uint32(0), crc32.IEEETable, h.buf[minRun-fill:minRun+head])
	if head < n {
		crc = crc32.Update(crc, crc32.IEEETable, packet[head:])
	}
	return crc
}

// mask puts ones in place of the fields that are not covered. Byte 4 of the
// BTH holds FECN, BECN and six reserved bits.
func mask(form Form, b []byte) {
	const ones = 0xFF
	b[bthAt[form]+4] = ones
	switch form {
	case RoCEv2IPv4:
		b[1] = ones               // TOS
		b[8] = ones               // TTL
		b[10], b[11] = ones, ones // header checksum
		b[26], b[27] = ones, ones // UDP checksum
	case RoCEv2IPv6:
		b[46], b[47] = ones, ones // UDP checksum
		fallthrough
	case RoCEv1:
		b[0] |= 0x0F                        // traffic class, high bits
		b[1], b[2], b[3] = ones, ones, ones // traffic class, flow label
		b[7] = ones                         // hop limit
	case IBLocal:
		b[0] |= 0xF0 // virtual lane
	case IBGlobal:
		copy(b, "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF")
		mask(RoCEv1, b[maskedPrefix:])
	}
}

// Put computes the ICRC of a packet whose last four bytes are the place for
// it, and stores it there. A packet too short to hold BTH and ICRC is left
// alone.
func (h *Hasher) Put(form Form, packet []byte) {
	body := len(packet) - Len
	if int(form) >= len(bthAt) || body < bthAt[form]+wire.BTHLen {
		return
	}
	Store(packet[body:], h.Sum(form, packet[:body]))
}

// Compute returns the ICRC of a packet that ends just before its ICRC, as
// Hasher.Sum does.
func Compute(form Form, packet []byte) uint32 {
	return new(Hasher).Sum(form, packet)
}

// Put computes and stores the ICRC of a packet, as Hasher.Put does.
func Put(form Form, packet []byte) { new(Hasher).Put(form, packet) }

// Store writes an ICRC as it goes over the wire: least significant byte first.
// The IBTA text sends the coefficient of the highest term first, and in this
// reflected CRC that is bit 0.
func Store(b []byte, icrc uint32) { binary.LittleEndian.PutUint32(b, icrc) }

// Load reads an ICRC as Store writes it.
func Load(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

// castagnoli returns the table of CRC32c; hash/crc32 builds it once.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// CRC32C returns the checksum of an MPA FPDU, from its length field to the
// last pad byte (RFC 5044, 4.4). It goes over the wire least significant byte
// first, as in iSCSI (RFC 3720, appendix B.4), so Store and Load serve it too.
func CRC32C(b []byte) uint32 { return crc32.Checksum(b, castagnoli()) }
