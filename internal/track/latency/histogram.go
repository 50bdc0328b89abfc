// Package latency counts durations in a histogram of bounded size whose
// buckets grow with the value, so that percentiles of nanoseconds and of
// minutes have the same relative error.
package latency

import (
	"math"
	"math/bits"
	"time"
)

// Each power of two is cut into so many buckets; a value is told with at most
// half a bucket's error, 1/32.
const (
	subBits    = 4
	perOctave  = 1 << subBits
	maxOctaves = 36 // up to 2^40 ns, 18 minutes; longer ones count as that
	buckets    = perOctave * (maxOctaves + 1)
)

// fewKept is how many durations are counted without an array of all buckets: in
// a capture with many conversations most are short.
const fewKept = 16

// Histogram counts durations. The zero value is empty. A copy shares its buckets:
// Merge and the methods that only read leave those of a copy alone, and Add does
// not; Clone makes a copy that is its own.
type Histogram struct {
	few         [fewKept]uint16 // the buckets of the first ones, as long as counts is nil
	counts      *[buckets]uint32
	n           uint64
	least, most time.Duration
	sum         float64
}

// Add counts one duration; a negative one, which a clock that was set back
// makes, counts as none.
func (h *Histogram) Add(d time.Duration) {
	d = max(d, 0)
	i := bucket(d)
	switch {
	case h.counts == nil && h.n < fewKept:
		h.few[h.n] = uint16(i)
	case h.counts == nil:
		h.counts = h.spread(&[buckets]uint32{})
		fallthrough
	default:
		if h.counts[i] < math.MaxUint32 {
			h.counts[i]++
		}
	}
	if h.n == 0 || d < h.least {
		h.least = d
	}
	h.most = max(h.most, d)
	h.n++
	h.sum += float64(d)
}

// spread returns what is in each bucket: the array that there is, or else room,
// which has to be empty.
func (h *Histogram) spread(room *[buckets]uint32) *[buckets]uint32 {
	if h.counts != nil {
		return h.counts
	}
	for _, i := range h.few[:h.n] {
		room[i]++
	}
	return room
}

// Bytes is about how much memory the histogram takes.
func (h *Histogram) Bytes() int {
	if h.counts == nil {
		return 80
	}
	return 80 + 4*buckets
}

// Clone returns a copy that shares nothing.
func (h *Histogram) Clone() Histogram {
	c := *h
	if c.counts != nil {
		counts := *c.counts
		c.counts = &counts
	}
	return c
}

// Count is how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Min is the shortest duration, exactly.
func (h *Histogram) Min() time.Duration { return h.least }

// Max is the longest duration, exactly.
func (h *Histogram) Max() time.Duration { return h.most }

// Mean is the average.
func (h *Histogram) Mean() time.Duration {
	if h.n == 0 {
		return 0
	}
	return time.Duration(h.sum / float64(h.n))
}

// Quantile is the duration that a share q of all, from 0 to 1, do not exceed.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(math.Ceil(q * float64(h.n)))
	if rank <= 1 {
		return h.least
	}
	if rank >= h.n {
		return h.most
	}
	var seen uint64
	for i, c := range h.spread(&[buckets]uint32{}) {
		if seen += uint64(c); seen >= rank {
			return min(max(middle(i), h.least), h.most)
		}
	}
	return h.most
}

// Merge adds what another histogram has counted.
func (h *Histogram) Merge(other *Histogram) {
	if other.n == 0 {
		return
	}
	h.gather(other)
	if h.n == 0 || other.least < h.least {
		h.least = other.least
	}
	h.most = max(h.most, other.most)
	h.n += other.n
	h.sum += other.sum
}

// gather adds the buckets of another histogram.
func (h *Histogram) gather(other *Histogram) {
	if h.counts == nil && other.counts == nil && h.n+other.n <= fewKept {
		copy(h.few[h.n:], other.few[:other.n])
		return
	}
	all := *h.spread(&[buckets]uint32{})
	for i, c := range other.spread(&[buckets]uint32{}) {
		all[i] = uint32(min(uint64(all[i])+uint64(c), math.MaxUint32))
	}
	h.counts = &all
}

// bucket is where a duration is counted: small ones each have their own, from
// then on the leading bits decide.
func bucket(d time.Duration) int {
	v := uint64(d)
	octave := bits.Len64(v) - subBits - 1
	if octave <= 0 {
		return int(v)
	}
	if octave >= maxOctaves {
		return buckets - 1
	}
	return octave*perOctave + int(v>>octave)
}

// middle is the duration that stands for a bucket.
func middle(i int) time.Duration {
	if i < 2*perOctave {
		return time.Duration(i)
	}
	octave := i/perOctave - 1
	low := uint64(i-octave*perOctave) << octave
	return time.Duration(low + 1<<octave/2)
}

// Since is what was added after an earlier copy of the histogram was made. Its
// shortest and longest durations are told as its buckets tell them.
func (h *Histogram) Since(before *Histogram) (since Histogram) {
	earlier := before.spread(&[buckets]uint32{})
	counts := &[buckets]uint32{}
	for i, c := range h.spread(&[buckets]uint32{}) {
		n := c - earlier[i]
		if n == 0 {
			continue
		}
		if since.n == 0 {
			since.least = max(middle(i), h.least)
		}
		since.most = min(max(middle(i), h.least), h.most)
		counts[i] = n
		since.n += uint64(n)
	}
	since.sum, since.counts = h.sum-before.sum, counts
	return since
}

// Within is how many durations were no longer than d, as the buckets tell.
func (h *Histogram) Within(d time.Duration) (n uint64) {
	for _, c := range h.spread(&[buckets]uint32{})[:bucket(max(d, 0))+1] {
		n += uint64(c)
	}
	return n
}
