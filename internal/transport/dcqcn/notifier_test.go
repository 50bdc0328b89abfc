package dcqcn

import (
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"
)

var (
	peerA = netip.MustParseAddr("192.0.2.1")
	peerB = netip.MustParseAddr("2001:db8::2")
)

func TestScopeSaysWhoSharesAnInterval(t *testing.T) {
	for _, c := range []struct {
		scope                        Scope
		sameFlow, otherQP, otherPeer bool // answered within the interval
	}{
		{PerQP, false, true, true},
		{PerDestination, false, false, true},
		{PerPort, false, false, false},
	} {
		t.Run(c.scope.String(), func(t *testing.T) {
			n := NewNotifier(c.scope, CNPInterval, 100)
			for _, step := range []struct {
				name string
				at   time.Duration
				peer netip.Addr
				qpn  uint32
				want bool
			}{
				{"first", 0, peerA, 1, true},
				{"same flow", us, peerA, 1, c.sameFlow},
				{"other QP", 2 * us, peerA, 2, c.otherQP},
				{"other peer", 3 * us, peerB, 1, c.otherPeer},
				{"just before the end", 50*us - 1, peerA, 1, false},
				{"at the end", 50 * us, peerA, 1, true},
				{"the next interval", 99 * us, peerA, 1, false},
			} {
				if got := n.CE(at(step.at), step.peer, step.qpn); got != step.want {
					t.Errorf("%s: CNP is %v, want %v", step.name, got, step.want)
				}
			}
		})
	}
}

func TestCountsTellMarksAndCNPs(t *testing.T) {
	n := NewNotifier(PerQP, CNPInterval, 2)
	for i := range 300 {
		n.CE(at(time.Duration(i)*us), peerA, 1)
	}
	if got, want := n.Counts(), (Counts{Marked: 300, Sent: 6}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWithoutAnIntervalEveryMarkIsAnswered(t *testing.T) {
	n := NewNotifier(PerPort, 0, 1)
	for range 10 {
		if !n.CE(start, peerA, 1) {
			t.Fatal("no CNP")
		}
	}
}

// A million flows at once: the memory stays, and so does the least interval.
func TestMemoryIsBounded(t *testing.T) {
	const most = 64
	n := NewNotifier(PerQP, CNPInterval, most)
	for qpn := range uint32(1_000_000) {
		if got := n.CE(start, peerA, qpn); got != (qpn < most) {
			t.Fatalf("flow %d: CNP is %v", qpn, got)
		}
	}
	if len(n.recent) != most || len(n.sent) != most {
		t.Errorf("%d flows and %d CNPs are remembered, want %d", len(n.recent), len(n.sent), most)
	}
	if got, want := n.Counts(), (Counts{1_000_000, most, 1_000_000 - most}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if !n.CE(at(CNPInterval), peerA, 1_000_001) || len(n.recent) != 1 {
		t.Errorf("after the interval %d flows are remembered, want 1", len(n.recent))
	}
	if n := NewNotifier(PerQP, CNPInterval, 0); !n.CE(start, peerA, 1) {
		t.Error("a notifier of no memory sends no CNP")
	}
}

// The same as a plain table of every flow's last CNP says.
func TestNotifierAgreesWithAPlainTable(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n, last := NewNotifier(PerQP, CNPInterval, 200), map[uint32]time.Time{}
	now := start
	for range 100_000 {
		now = now.Add(time.Duration(rng.IntN(1000)))
		qpn := uint32(rng.IntN(150))
		before, ok := last[qpn]
		want := !ok || now.Sub(before) >= CNPInterval
		if want {
			last[qpn] = now
		}
		if got := n.CE(now, peerA, qpn); got != want {
			t.Fatalf("QP %d at %v: CNP is %v, want %v", qpn, now.Sub(start), got, want)
		}
	}
	if n.Counts().Full != 0 {
		t.Error("the notifier was full: the test compares too little")
	}
}

func TestAMarkCostsNoAllocation(t *testing.T) {
	n := NewNotifier(PerQP, CNPInterval, 64)
	now, qpn := start, uint32(0)
	mark := func() {
		now, qpn = now.Add(us), (qpn+1)%100
		n.CE(now, peerB, qpn)
	}
	for range 1000 {
		mark() // the map has its size
	}
	if got := testing.AllocsPerRun(1000, mark); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
