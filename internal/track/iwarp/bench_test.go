package iwarp

import (
	"math/rand/v2"
	"testing"
)

func BenchmarkFPDU(b *testing.B) {
	x := newSession(false, true)
	x.c.fpdu(write(0, make([]byte, 1400)))
	tr := NewTracker(DefaultLimits())
	for _, p := range x.handshake() {
		tr.Segment(p)
	}
	p := x.segment(true, x.c.origin, len(x.c.stream))
	b.SetBytes(int64(p.WireLen))
	b.ReportAllocs()
	for b.Loop() {
		tr.Segment(p)
		p.Seq += uint32(p.WireLen)
	}
}

// The price of connections that are not iWARP, until they are given up.
func BenchmarkOtherTCP(b *testing.B) {
	x := &session{}
	x.c.stream = noise(rand.New(rand.NewPCG(1, 15)), 1<<20)
	packets := x.cut(rand.New(rand.NewPCG(1, 16)), true, 0, 2900)
	b.SetBytes(1 << 20)
	b.ReportAllocs()
	for b.Loop() {
		tr := NewTracker(DefaultLimits())
		for _, p := range packets {
			tr.Segment(p)
		}
	}
}
