package rdmap

import (
	"testing"

	"github.com/rocecap/rocecap/internal/track/iwarp"
)

func BenchmarkSegment(b *testing.B) {
	x := newTalk()
	x.connect()
	tr := NewTracker(iwarp.DefaultLimits())
	for i := range x.all {
		tr.Segment(&x.all[i])
	}
	n := x.say(0, write(last, 9, 0, 1400))
	s := x.all[n-1]
	b.SetBytes(int64(s.WireLen))
	b.ReportAllocs()
	for b.Loop() {
		tr.Segment(&s)
		s.Seq += uint32(s.WireLen)
		s.Number++
	}
}
