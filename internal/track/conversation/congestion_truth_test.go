package conversation

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/dcqcn"
)

// cnpSeeds is how many runs there are.
const cnpSeeds = 300

// congestedRun is a capture of a sender, a queue that marks in bursts, and a
// receiver with the notification point of package dcqcn, whose CNPs pass the
// capture point 7 us behind the marks that they answer.
type congestedRun struct {
	*flow
	dice     *rand.Rand
	notifier *dcqcn.Notifier
	due      []int64 // CNPs under way
	spurious []int   // packets: CNPs that nothing explains
	silent   bool    // the receiver sends no CNPs
}

const notificationDelay = int64(7 * time.Microsecond)

func newCongestedRun(t *testing.T, seed uint64) *congestedRun {
	return &congestedRun{
		flow: newFlow(t), dice: rand.New(rand.NewPCG(seed, 9)),
		notifier: dcqcn.NewNotifier(dcqcn.PerQP, dcqcn.CNPInterval, 8),
	}
}

// step sends a packet after a time, which the queue marks or not, and behind it
// the CNPs and the answer that are due.
func (r *congestedRun) step(after time.Duration, mark bool) {
	until := r.now + int64(after)
	r.deliver(until)
	r.now = max(r.now, until-1000)
	r.data(0, mark)
	if mark && !r.silent && r.notifier.CE(time.Unix(0, r.now), bob, 0x12) {
		r.due = append(r.due, r.now+notificationDelay)
	}
}

// deliver lets the CNPs pass that are due.
func (r *congestedRun) deliver(until int64) {
	for len(r.due) > 0 && r.due[0] <= until {
		r.now = max(r.now, r.due[0]-1000)
		r.cnp(0)
		r.due = r.due[1:]
	}
}

// burst sends with a queue that marks a share of the packets.
func (r *congestedRun) burst(packets int, share float64) {
	for range packets {
		r.step(time.Duration(2000+r.dice.IntN(8000)), r.dice.Float64() < share)
	}
	r.answer()
}

// quiet is longer than a CNP takes.
func (r *congestedRun) quiet() {
	r.deliver(r.now + int64(time.Millisecond))
	for range 40 {
		r.step(100*time.Microsecond, false)
		r.answer()
	}
}

func TestCNPsAreTakenForWhatTheyAre(t *testing.T) {
	for seed := range uint64(cnpSeeds) {
		r := newCongestedRun(t, seed)
		for range 1 + r.dice.IntN(5) {
			r.step(5*time.Microsecond, true) // so that a CNP without a mark is told
			r.burst(100+r.dice.IntN(200), r.dice.Float64())
			r.quiet()
			if r.dice.IntN(2) == 0 {
				r.cnp(0)
				r.spurious = append(r.spurious, r.number)
			}
		}
		g, counts := r.end(), r.notifier.Counts()
		if g.Marked != int(counts.Marked) || g.Notified != int(counts.Sent)+len(r.spurious) {
			t.Fatalf("seed %d: %d marks and %d CNPs, of %+v and %d", seed, g.Marked, g.Notified, counts, len(r.spurious))
		}
		var got []int
		for _, e := range r.kinds() {
			if e.Kind != CNPUnmarked {
				t.Fatalf("seed %d: told %+v", seed, e)
			}
			got = append(got, e.Packet)
		}
		if !slices.Equal(got, r.spurious) {
			t.Fatalf("seed %d: packets %v are told to be unmarked, want %v", seed, got, r.spurious)
		}
		// The first mark of a burst is answered at once.
		if least, most := g.Delay.Min(), g.Delay.Max(); least > time.Duration(notificationDelay)+1000 || most > time.Millisecond {
			t.Fatalf("seed %d: CNPs took from %v to %v", seed, least, most)
		}
		if n := g.Interval; n != nil && len(r.spurious) == 0 && n.Min() < dcqcn.CNPInterval-1000*time.Nanosecond {
			t.Fatalf("seed %d: a CNP %v behind another", seed, n.Min())
		}
	}
}

func TestMarksOfAReceiverWithoutCNPsAreTold(t *testing.T) {
	for seed := range uint64(cnpSeeds) {
		r := newCongestedRun(t, seed)
		switching := r.dice.IntN(5) // the receiver stops then
		told := 0
		for i := range 5 {
			if r.silent = i >= switching; r.silent {
				told = 1 // all of them are without a CNP behind the first
			}
			r.step(5*time.Microsecond, true)
			r.burst(400, 0.9) // 2.4 ms
			r.quiet()
		}
		r.end()
		got := r.kinds()
		if len(got) != told || told == 1 && got[0].Kind != CEUnanswered {
			t.Fatalf("seed %d: told %v, want %d", seed, got, told)
		}
	}
}
