package dcqcn

import (
	"net/netip"
	"time"
)

// Scope is what shares one interval between CNPs. Adapters differ in it.
type Scope uint8

// The scopes.
const (
	PerQP          Scope = iota // each flow, as in the paper
	PerDestination              // all CNPs to one address
	PerPort                     // everything
)

// String names the scope.
func (s Scope) String() string {
	switch s {
	case PerQP:
		return "per QP"
	case PerDestination:
		return "per destination"
	case PerPort:
		return "per port"
	}
	return "unknown scope"
}

// CNPInterval is the paper's least time between two CNPs of a flow (N =
// 50 us).
const CNPInterval = 50 * time.Microsecond

// Notifier is the notification point of one port: it decides which packets
// marked CE are answered with a CNP.
type Notifier struct {
	scope    Scope
	interval time.Duration
	// sent are the latest CNPs, at most as many as fit; those of the interval
	// before now. They lie in the order of their time, which is the one in which
	// they cease to count.
	sent        []cnp
	first, held int
	recent      map[flow]struct{} // the flows of those
	counts      Counts
}

// Counts are what a notifier has seen and decided.
type Counts struct {
	Marked uint64 // packets marked CE (np_ecn_marked_roce_packets)
	Sent   uint64 // CNPs (np_cnp_sent)
	// Full counts marked packets without an answer because as many flows as the
	// notifier remembers had one within the interval.
	Full uint64
}

type flow struct {
	peer netip.Addr
	qpn  uint32
}

type cnp struct {
	flow flow
	at   time.Time
}

// NewNotifier returns a notifier that leaves at least the interval between two
// CNPs of the same scope, and remembers at most so many of them (1 or more).
// When it can remember no more, other flows get no CNP: the least interval
// holds for all.
func NewNotifier(scope Scope, interval time.Duration, most int) *Notifier {
	return &Notifier{
		scope: scope, interval: interval,
		sent: make([]cnp, max(1, most)), recent: map[flow]struct{}{},
	}
}

// CE tells of a packet marked CE from the peer to the local QP, and reports
// whether a CNP has to go back now. now never goes back.
func (n *Notifier) CE(now time.Time, peer netip.Addr, qpn uint32) bool {
	n.counts.Marked++
	n.forget(now)
	f := n.flow(peer, qpn)
	if _, ok := n.recent[f]; ok {
		return false
	}
	if n.held == len(n.sent) {
		n.counts.Full++
		return false
	}
	n.counts.Sent++
	if n.interval > 0 {
		n.sent[(n.first+n.held)%len(n.sent)] = cnp{f, now}
		n.held++
		n.recent[f] = struct{}{}
	}
	return true
}

// Counts returns the counters.
func (n *Notifier) Counts() Counts { return n.counts }

func (n *Notifier) flow(peer netip.Addr, qpn uint32) flow {
	switch n.scope {
	case PerQP:
		return flow{peer, qpn}
	case PerDestination:
		return flow{peer: peer}
	default:
		return flow{}
	}
}

// forget drops the CNPs that the interval has passed since.
func (n *Notifier) forget(now time.Time) {
	for n.held > 0 && now.Sub(n.sent[n.first].at) >= n.interval {
		delete(n.recent, n.sent[n.first].flow)
		n.first = (n.first + 1) % len(n.sent)
		n.held--
	}
}
