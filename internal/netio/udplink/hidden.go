package udplink

import (
	"math/bits"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// hiddenBits are those of an IPv4 header that the ICRC covers and a socket does
// not show: 16 of the identification, and the flag DF.
const hiddenBits = 17

// hidden finds what was in the fields of an IPv4 header that a socket does not
// show, from the ICRC.
type hidden struct {
	hasher icrc.Hasher
}

// flip turns one of the hidden bits over.
func flip(ip wire.IPv4Header, bit int) {
	if bit == hiddenBits-1 {
		ip.SetDontFragment(!ip.DontFragment())
		return
	}
	ip.SetID(ip.ID() ^ 1<<bit)
}

// find sets the hidden fields of a packet, from its IPv4 header to its ICRC, so
// that the ICRC is right, or leaves them if nothing makes it so. An ICRC is
// linear: each bit that is turned over turns the same bits of the ICRC over,
// whatever the rest of the packet is. So the bits that are to be turned solve a
// system of linear equations over GF(2).
func (h *hidden) find(packet []byte) {
	if len(packet) < wire.IPv4MinLen+wire.UDPLen+wire.BTHLen+icrc.Len {
		return
	}
	ip, covered := wire.IPv4Header(packet[:wire.IPv4MinLen]), packet[:len(packet)-icrc.Len]
	now := h.hasher.Sum(icrc.RoCEv2IPv4, covered)
	wrong := now ^ icrc.Load(packet[len(packet)-icrc.Len:])
	if wrong == 0 {
		return
	}
	// rows, by their highest bit, are what sets of hidden bits do to the ICRC.
	var rows [32]struct{ effect, bits uint32 }
	reduce := func(effect, set uint32) (uint32, uint32) {
		for effect != 0 {
			row := rows[bits.Len32(effect)-1]
			if row.effect == 0 {
				break
			}
			effect, set = effect^row.effect, set^row.bits
		}
		return effect, set
	}
	for bit := range hiddenBits {
		flip(ip, bit)
		effect, set := reduce(now^h.hasher.Sum(icrc.RoCEv2IPv4, covered), 1<<bit)
		flip(ip, bit)
		if effect != 0 {
			rows[bits.Len32(effect)-1].effect, rows[bits.Len32(effect)-1].bits = effect, set
		}
	}
	rest, set := reduce(wrong, 0)
	if rest != 0 {
		return // no identification explains it
	}
	for bit := range hiddenBits {
		if set>>bit&1 != 0 {
			flip(ip, bit)
		}
	}
}
