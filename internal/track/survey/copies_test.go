package survey

import "testing"

// at is a packet with the same content at a time of the capture.
type at struct {
	id    uint16
	hops  uint8
	time  int64
	other bool // it is another packet
	back  bool // it goes the other way
	twice bool // it was there before
}

func TestAPacketThatIsSentAgainIsNoCopy(t *testing.T) {
	const us, ms = 1000, 1000_000
	for name, list := range map[string][]at{
		"numbered packets, at two places": {{id: 7}, {id: 8, time: us, other: true}, {id: 7, time: ms, twice: true}},
		"numbered packets, very late":     {{id: 7}, {id: 8, time: us, other: true}, {id: 7, time: 11 * ms}},
		"all packets have one ID":         {{id: 7}, {id: 7, time: us, other: true}, {id: 7, time: ms}},
		"no IDs":                          {{}, {time: us, other: true}, {time: ms}},
		"behind a router":                 {{hops: 64}, {hops: 63, time: ms, twice: true}},
		"at once, no IDs":                 {{}, {time: us, other: true}, {time: 8 * us, twice: true}},
		"after an answer":                 {{}, {time: us, back: true}, {time: 2 * us}},
		"an answer before":                {{back: true}, {time: us}, {time: 2 * us, twice: true}},
		"the first packet":                {{id: 7}, {id: 7, time: 400 * us, twice: true}},
		"the first packet, late":          {{id: 7}, {id: 7, time: 600 * us}},
		"the first packet, no IDs":        {{}, {time: 400 * us}},
		"the first packet, answered":      {{id: 7}, {time: us, back: true}, {id: 7, time: 400 * us}},
		"a third time":                    {{hops: 64}, {hops: 63, time: us, twice: true}, {hops: 62, time: 2 * us, twice: true}},
		"a capture without times":         {{}, {other: true}, {hops: 0}},
	} {
		c := newCopies()
		for i, p := range list {
			s := sight{print: 1 << 60, stream: 3, way: 5, back: 6, id: p.id, hops: p.hops}
			if p.other || p.back {
				s.print += uint64(i+1) << 41
			}
			if p.back {
				s.way, s.back, s.stream = s.back, s.way, 4
			}
			if got := c.twice(&s, i+1, p.time); got != p.twice {
				t.Errorf("%s: packet %d was there before: %v", name, i+1, got)
			}
		}
	}
}

func TestACaptureOfAnyLengthTakesNoMoreMemoryForCopies(t *testing.T) {
	c := newCopies()
	number := 0
	if n := testing.AllocsPerRun(100_000, func() {
		number++
		s := sight{print: uint64(number) * 0x9e3779b97f4a7c15, stream: uint32(number), way: uint32(number), id: uint16(number)}
		c.twice(&s, number, int64(number))
	}); n > 0 {
		t.Errorf("%g allocations for each packet", n)
	}
	if len(c.packets) != rememberedPackets || len(c.streams) != rememberedStreams {
		t.Errorf("%d packets and %d streams are remembered", len(c.packets), len(c.streams))
	}
}
