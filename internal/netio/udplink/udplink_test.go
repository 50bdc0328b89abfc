package udplink

import (
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// packet is an IPv4 header, UDP, BTH and so many bytes, with a right ICRC.
func packet(random *rand.Rand, payload int) []byte {
	b := make([]byte, wire.IPv4MinLen+wire.UDPLen+wire.BTHLen+payload+icrc.Len)
	for i := range b {
		b[i] = byte(random.Uint32())
	}
	ip := wire.IPv4Header(b[:wire.IPv4MinLen])
	ip.SetVersion(4)
	ip.SetHeaderLen(wire.IPv4MinLen)
	icrc.Put(icrc.RoCEv2IPv4, b)
	return b
}

func TestHiddenFieldsAreFoundFromTheICRC(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var h hidden
	for range 300 {
		b := packet(random, 4*random.IntN(100))
		ip := wire.IPv4Header(b[:wire.IPv4MinLen])
		id, df := ip.ID(), ip.DontFragment()
		ip.SetID(0)
		ip.SetDontFragment(true)
		h.find(b)
		if ip.ID() != id || ip.DontFragment() != df {
			t.Fatalf("found ID %#x and DF %v, want %#x and %v", ip.ID(), ip.DontFragment(), id, df)
		}
	}
}

func TestADamagedPacketIsNotExplainedAway(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var h hidden
	passed := 0
	const tries = 3000
	for range tries {
		b := packet(random, 64)
		b[60] ^= byte(1 + random.IntN(255))
		b[70] ^= byte(random.Uint32())
		h.find(b)
		if icrc.Compute(icrc.RoCEv2IPv4, b[:len(b)-icrc.Len]) == icrc.Load(b[len(b)-icrc.Len:]) {
			passed++
		}
	}
	if passed > 2 { // one in 32,768
		t.Errorf("%d of %d passed", passed, tries)
	}
}
