package rdmap

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// author writes random messages that keep to the rules, and one that does not
// when it is told to.
type author struct {
	*talk
	r     *rand.Rand
	msn   [2]uint32 // SENDs of each end so far
	reads [2]uint32
	sinks uint64
}

func newAuthor(seed uint64) *author {
	a := &author{talk: newTalk(), r: rand.New(rand.NewPCG(seed, 3))}
	a.connect(depths(1, 1), depths(1, 1))
	return a
}

// normal sends a message of any kind.
func (a *author) normal() {
	from, n := a.r.IntN(2), 1+a.r.IntN(4)
	switch a.r.IntN(4) {
	case 0:
		a.send(from, n)
	case 1:
		a.write(from, n)
	case 2:
		a.read(from, n)
	default:
		a.ack(from)
	}
}

// send sends a SEND of n segments.
func (a *author) send(from, n int) {
	a.msn[from]++
	for i := range n {
		a.say(from, send(flagOf(i, n), a.msn[from], uint32(i*100), 100))
	}
}

func (a *author) write(from, n int) {
	for i := range n {
		a.say(from, write(flagOf(i, n), 3, uint64(i*100), 100))
	}
}

// read sends a READ request and its response of n segments; the packet of the
// request is returned.
func (a *author) read(from, n int) int {
	packet := a.ask(from, n)
	for i := range n {
		a.say(1-from, answer(flagOf(i, n), 7, a.sinks+uint64(i*100), 100))
	}
	return packet
}

// ask sends a READ request for n segments.
func (a *author) ask(from, n int) int {
	a.reads[from]++
	a.sinks += 1 << 20
	return a.say(from, read(a.reads[from], 7, a.sinks, uint32(n*100), 9))
}

func flagOf(i, n int) byte {
	if i == n-1 {
		return last
	}
	return more
}

// harm does one thing that must not be, and returns what has to be told.
func (a *author) harm() Event {
	from := a.r.IntN(2)
	switch a.r.IntN(12) {
	case 0:
		a.msn[from] += 1 + uint32(a.r.IntN(5))
		want := a.msn[from]
		a.send(from, 1)
		return Event{Kind: MsnOrder, Packet: len(a.all), Got: uint64(want) + 1}
	case 1:
		a.msn[from]++
		a.say(from, send(more, a.msn[from], 0, 100))
		return Event{Kind: MoOrder, Packet: a.say(from, send(last, a.msn[from], 101, 100)), Got: 101}
	case 2:
		a.msn[from]++
		a.say(from, send(more, a.msn[from], 0, 100))
		a.send(from, 1)
		return Event{Kind: LastFlag, Packet: len(a.all)}
	case 3:
		a.send(from, 2)
		return Event{Kind: LastFlag, Packet: a.say(from, send(last, a.msn[from], 200, 1))}
	case 4:
		a.say(from, write(more, 3, 0, 100))
		return Event{Kind: TaggedOrder, Packet: a.say(from, write(last, 3, 99, 100)), Got: 99}
	case 5:
		cause := a.ask(from, 1)
		return Event{Kind: ReadSink, Packet: a.say(1-from, answer(last, 8, a.sinks, 100)), Cause: cause, Got: 8}
	case 6:
		cause := a.ask(from, 1)
		return Event{Kind: ReadBounds, Packet: a.say(1-from, answer(last, 7, a.sinks, 104)), Cause: cause, Got: 104}
	case 7:
		cause := a.ask(from, 2)
		return Event{Kind: ReadShort, Packet: a.say(1-from, answer(last, 7, a.sinks, 100)), Cause: cause, Got: 100}
	case 8:
		return Event{Kind: ResponseUnasked, Packet: a.say(1-from, answer(last, 7, 0, 100))}
	case 9:
		a.ask(from, 1)
		packet := a.ask(from, 1)
		a.say(1-from, answer(last, 7, a.sinks-1<<20, 100))
		a.say(1-from, answer(last, 7, a.sinks, 100))
		return Event{Kind: ReadDepth, Packet: packet, Got: 2}
	case 10:
		a.msn[from]++
		cause := a.say(from, invalidate(0x99, a.msn[from]))
		a.ack(1 - from)
		return Event{Kind: InvalidSTag, Packet: a.say(from, write(last, 0x99, 0, 8)), Cause: cause, Got: 0x99}
	default:
		a.msn[from]++
		a.say(from, send(more, a.msn[from], 0, 100))
		return Event{Kind: OpcodeMixed, Packet: a.say(from, untagged(last, 5, 0, 0, a.msn[from], 100, nil)), Got: 5}
	}
}

// Whatever is around it, what was done is told, once, and nothing else is.
func TestWhatWasDoneIsWhatIsTold(t *testing.T) {
	seen := map[Kind]bool{}
	for seed := range uint64(1000) {
		a := newAuthor(seed)
		for range a.r.IntN(30) {
			a.normal()
		}
		want := a.harm()
		for range a.r.IntN(30) {
			a.normal()
		}
		got := track(a.all).events
		seen[want.Kind] = true
		if len(got) != 1 {
			t.Fatalf("seed %d: told %+v, want %+v", seed, got, want)
		}
		e := got[0]
		if e.Kind != want.Kind || e.Packet != want.Packet || e.Cause != want.Cause || e.Got != want.Got {
			t.Fatalf("seed %d: told %+v, want %+v", seed, e, want)
		}
	}
	if len(seen) != 11 {
		t.Errorf("%d kinds of harm were done", len(seen))
	}
}

// When the capture begins late, lacks segments or has them cut, in another order
// or twice, no end is accused of anything.
func TestACaptureThatIsNotCompleteAccusesNobody(t *testing.T) {
	for seed := range uint64(1000) {
		a := newAuthor(seed)
		for range 20 + a.r.IntN(60) {
			a.normal()
		}
		segments := a.all[a.r.IntN(10):]
		for range a.r.IntN(6) {
			i := a.r.IntN(len(segments))
			switch a.r.IntN(5) {
			case 0:
				segments = slices.Delete(segments, i, i+1)
			case 1:
				segments[i].Payload = segments[i].Payload[:a.r.IntN(len(segments[i].Payload)+1)]
			case 2:
				segments = slices.Insert(segments, i, segments[i])
			default:
				j := min(i+a.r.IntN(5), len(segments)-1)
				segments[i], segments[j] = segments[j], segments[i]
			}
		}
		for i := range segments {
			segments[i].Number, segments[i].Time = uint64(i+1), int64(i+1)*1e6
		}
		track(segments).only(t, fmt.Sprintf("seed %d", seed), Gap, Unframed, Resent, Late)
	}
}
