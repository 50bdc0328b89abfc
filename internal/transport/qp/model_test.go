package qp

import (
	"math/bits"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// Random work between two sides, over a net that loses, doubles, reorders and
// spoils packets: each message of a reliable service arrives once, in order and
// with the right bytes, each atomic is done once, and what fails does so with a
// documented status and in order. A fault is made as small as rapid can.
//
// `make nightly` plays 10,000 games (-rapid.checks).
func TestRandomWorkHappensOnceAndInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { newWorld(t, drawn(t), game{}).play() })
}

// A net that changes packets and lets them through can make everything wrong but
// one: no memory outside the region changes, nothing panics, no queue pair gets
// stuck, and each request ends once.
func TestUnnoticedCorruptionDoesNoHarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { newWorld(t, drawn(t), game{careless: true}).play() })
}

// Over a cable nothing is sent twice, nothing is answered that was not asked, and
// nothing is refused but for want of a receive request.
func TestNothingIsSentAgainOverACable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t, drawn(t), game{clean: true})
		w.play()
		for _, e := range w.ends {
			for _, kind := range []EventKind{
				EventRetransmit, EventTimeout, EventNakSent, EventDuplicate, EventGhostAck, EventBadResponse, EventDropped,
			} {
				if n := e.events[kind]; n > 0 && e.reliable() {
					t.Fatalf("%s, %v: event %d happened %d times\n%s", e.name, e.q.Type(), kind, n, w.story())
				}
			}
		}
	})
}

// drawn throws with coins: rapid's numbers would mostly be small, and so the
// games.
func drawn(t *rapid.T) dice {
	coin := rapid.Bool()
	return func(n int) (v int) {
		for range bits.Len(uint(n-1)) + 2 {
			v <<= 1
			if coin.Draw(t, "") {
				v++
			}
		}
		return v % n
	}
}

// Games by seeds, which are less alike than rapid's, until so many packets have
// arrived: ROCECAP_PACKETS, of which `make nightly` has a hundred million.
// ROCECAP_SEED is the first game's. Each fourth is careless.
func TestPacketsInVirtualTime(t *testing.T) {
	goal, first := setting("ROCECAP_PACKETS", 200_000), setting("ROCECAP_SEED", 1)
	carried, games := 0, 0
	for seed := uint64(first); carried < goal; seed++ {
		w := newWorld(testTB{t, seed}, rand.New(rand.NewPCG(seed, 1)).IntN, game{careless: seed%4 == 0})
		w.play()
		carried += w.net.carried
		games++
	}
	t.Logf("%d packets in %d games", carried, games)
}

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// testTB says the seed with a failure.
type testTB struct {
	*testing.T
	seed uint64
}

func (t testTB) Fatalf(format string, args ...any) {
	t.Helper()
	t.Logf("seed %d", t.seed)
	t.T.Fatalf(format, args...)
}
