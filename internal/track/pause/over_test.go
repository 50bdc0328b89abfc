package pause

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestThePausesThatAreToldAreThoseThatAreCounted(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	track := NewTracker()
	track.Speed = quantumPerNanosecond
	type channel struct {
		link  *Link
		class int
	}
	count, sum := map[channel]int{}, map[channel]time.Duration{}
	track.Over = func(l *Link, class int, from, to int64) {
		if to < from {
			t.Errorf("a pause from %d to %d", from, to)
		}
		count[channel{l, class}]++
		sum[channel{l, class}] += time.Duration(to - from)
	}
	at := int64(0)
	for i := range 5000 {
		at += rng.Int64N(40)
		src, quanta := left, uint16(rng.IntN(50))
		if rng.IntN(2) == 0 {
			src = right
		}
		if rng.IntN(4) == 0 {
			quanta = 0
		}
		if class := rng.IntN(9); class == 8 {
			track.Frame(plain(i+1, at, src, quanta))
		} else {
			track.Frame(pfc(i+1, at, src, class, quanta))
		}
	}
	track.Finish(at + 10)
	for _, l := range track.Links() {
		for class := -1; class < len(l.Classes); class++ {
			c := &l.Plain
			if class >= 0 {
				c = &l.Classes[class]
			}
			if at := (channel{l, class}); c.Pauses == 0 || count[at] != c.Pauses || sum[at] != c.Paused {
				t.Errorf("class %d: %d pauses of %v are told, %d of %v counted", class, count[at], sum[at], c.Pauses, c.Paused)
			}
		}
	}
}
