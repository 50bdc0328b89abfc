package conversation_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// Some devices repeat only what is missing (selective repeat), which our engine
// does not. A requester and a responder that do are scripted here: the responder
// keeps what comes out of order, and asks for the first PSN that it misses, once
// each; the requester answers a NAK with that packet alone.

const (
	selectiveEvery  = 200   // ns between requests
	selectiveWay    = 2_000 // ns from the capture point to the requester and back
	selectiveAnswer = 1_000 // ns from the capture point to the responder and back
)

// arrival is a packet at the capture point.
type arrival struct {
	at     int64
	answer bool
	psn    int // from the first one on
	nak    bool
	trust  conversation.Trust
	fate   conversation.Kind
}

// selective is a run of a requester that repeats selectively.
type selective struct {
	first    wire.PSN
	queue    []arrival
	tracker  *conversation.Tracker
	number   int
	got      map[int]bool
	expected int
	asked    map[int]bool
	told     map[string]int
	want     map[string]int
}

func (x *selective) expect(kind conversation.Kind, psn int) {
	x.want[fmt.Sprint(kind, " ", x.first.Add(psn), " 1")]++
}

// seen is the fate of a packet that nothing happens to.
const seen = conversation.Kinds

// plan decides what happens to a request, and says what is to be told of it.
func (x *selective) plan(a arrival, fate conversation.Kind) {
	a.fate = fate
	switch fate {
	case conversation.Lost, conversation.LostBehind:
	case conversation.LostCorrupt:
		a.trust = conversation.Corrupt
		x.expect(conversation.BadICRC, a.psn)
	}
	if fate != seen {
		x.expect(fate, a.psn)
		x.expect(conversation.NakSequence, a.psn)
		x.expect(conversation.RetransmitNak, a.psn)
	}
	x.push(a)
}

func (x *selective) push(a arrival) {
	i, _ := slices.BinarySearchFunc(x.queue, a, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), -1) })
	x.queue = slices.Insert(x.queue, i, a)
}

// pass lets the first packet of the queue come to the capture point.
func (x *selective) pass() {
	a := x.queue[0]
	x.queue = x.queue[1:]
	if a.fate != conversation.Lost {
		x.capture(a)
	}
	switch {
	case a.answer && a.nak:
		x.push(arrival{at: a.at + selectiveWay, psn: a.psn, fate: seen})
	case !a.answer && a.fate == seen:
		x.receive(a)
	}
}

// receive is what the responder does with a request.
func (x *selective) receive(a arrival) {
	x.got[a.psn] = true
	for x.got[x.expected] {
		x.expected++
	}
	missing := len(x.got) > x.expected
	switch at := a.at + selectiveAnswer; {
	case missing && !x.asked[x.expected]:
		x.asked[x.expected] = true
		x.push(arrival{at: at, answer: true, psn: x.expected, nak: true, fate: seen})
	case !missing:
		x.push(arrival{at: at, answer: true, psn: x.expected - 1, fate: seen})
	}
}

func (x *selective) capture(a arrival) {
	x.number++
	addrs := ends()
	p := conversation.Packet{
		Number: x.number, Time: a.at, Src: addrs[0], Dst: addrs[1], DestQP: 0x12, Opcode: wire.OpSendOnly,
		PSN: x.first.Add(a.psn), Payload: 64, WireLen: 130, AckReq: true, Trust: a.trust,
	}
	if a.answer {
		p.Src, p.Dst, p.DestQP, p.Opcode, p.Payload = addrs[1], addrs[0], 0x11, wire.OpAcknowledge, 0
		p.Syndrome, p.MSN = wire.NewSyndrome(wire.Ack, wire.CreditsInvalid), uint32(x.expectedAt(a))
		if a.nak {
			p.Syndrome = wire.NewSyndrome(wire.Nak, wire.NakPSNSequence)
		}
	}
	x.tracker.Packet(&p)
}

// expectedAt is the MSN of an answer: how many messages are complete.
func (x *selective) expectedAt(a arrival) int {
	if a.nak {
		return a.psn
	}
	return a.psn + 1
}

// TestSelectiveRepeatIsToldExactly loses requests before and behind the capture
// point, and lets others be corrupt; of each everything has to be told, and
// nothing else.
func TestSelectiveRepeatIsToldExactly(t *testing.T) {
	const messages = 300
	wrong := 0
	for i := range *truthSeeds {
		rng := rand.New(rand.NewPCG(*truthFrom+i, 11))
		x := &selective{
			first: wire.PSN(rng.Uint32()).Add(0), tracker: conversation.NewTracker(conversation.DefaultLimits()),
			got: map[int]bool{}, asked: map[int]bool{}, told: map[string]int{}, want: map[string]int{},
		}
		if i%4 == 0 {
			x.first = wire.PSN(0).Add(-messages / 2) // runs over
		}
		x.tracker.Report = func(_ *conversation.Conversation, _ int, e conversation.Event) {
			x.told[fmt.Sprint(e.Kind, " ", e.PSN, " ", e.N)]++
		}
		for psn := range messages {
			fate := seen
			// The first tell the way, and the last are shown by nothing.
			if psn > 40 && psn < messages-1 && rng.IntN(1000) < 30 {
				fate = [...]conversation.Kind{conversation.Lost, conversation.LostBehind, conversation.LostCorrupt}[rng.IntN(3)]
			}
			x.plan(arrival{at: int64(1+psn) * selectiveEvery, psn: psn}, fate)
		}
		for len(x.queue) > 0 {
			x.pass()
		}
		x.tracker.Finish()
		if maps.Equal(x.want, x.told) {
			continue
		}
		if wrong++; wrong == 1 {
			t.Logf("seed %d: told %v\nwant %v", *truthFrom+i, x.told, x.want)
		}
	}
	if wrong > 0 {
		t.Errorf("%d of %d seeds are told wrongly", wrong, *truthSeeds)
	}
}
