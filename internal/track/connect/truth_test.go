package connect

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

// truth lets two connection managers talk in virtual time, loses some of their
// datagrams before or behind the capture point, and knows what was captured.
type truth struct {
	t        *testing.T
	rand     *rand.Rand
	ends     [2]*cm.Manager
	peers    [2]cm.Peer
	now      time.Time
	track    *Tracker
	number   int
	told     map[Kind]int
	last     *Connection
	captured map[datagramID]int
	heard    [2]map[cm.EventKind]cm.Event
}

// datagramID tells datagrams from each other: a copy has the same.
type datagramID struct {
	end         int
	attribute   uint16
	transaction uint64
}

func newTruth(t *testing.T, seed uint64) *truth {
	x := &truth{
		t: t, rand: rand.New(rand.NewPCG(seed, 7)), now: time.Unix(1000, 0), track: NewTracker(Limit),
		peers: [2]cm.Peer{{GID: alice, QPN: 1}, {GID: bob, QPN: 1}},
		told:  map[Kind]int{}, captured: map[datagramID]int{},
	}
	for i := range x.ends {
		config := cm.DefaultConfig(uint64(i+1), seed*2+uint64(i))
		config.MaxRetries = 2
		x.ends[i] = cm.New(config)
		x.heard[i] = map[cm.EventKind]cm.Event{}
	}
	x.ends[1].ListenIP(cm.PortSpaceTCP, 7174)
	x.track.Report = func(_ *Connection, e Event) { x.told[e.Kind]++ }
	x.track.Closed = func(c *Connection) { x.last = c }
	return x
}

// carry takes what an end sends past the capture point to the other end.
func (x *truth) carry(from int) (moved bool) {
	var m [wire.MADLen]byte
	for {
		if _, ok := x.ends[from].Emit(&m); !ok {
			return moved
		}
		moved = true
		lost := x.rand.IntN(10)
		if lost == 0 {
			continue // before the capture point
		}
		x.number++
		mad := wire.MAD(m[:])
		x.captured[datagramID{from, mad.AttributeID(), mad.TransactionID()}]++
		read := Message{Number: x.number, Time: x.now.UnixNano(), Src: x.peers[from].GID, Dst: x.peers[1-from].GID}
		if !read.Read(frame(x.t, m[:])) {
			x.t.Fatalf("%#04x is not read", mad.AttributeID())
		}
		x.track.Take(&read)
		if lost > 2 {
			x.ends[1-from].Receive(x.now, m[:], x.peers[from])
		}
	}
}

// consume does what the consumers of both ends do.
func (x *truth) consume(refuse bool) {
	for i, end := range x.ends {
		for e, ok := end.Event(); ok; e, ok = end.Event() {
			x.heard[i][e.Kind] = e
			var err error
			switch {
			case e.Kind == cm.ConnectRequest && refuse:
				err = end.Reject(x.now, e.Conn, cm.Rejection{Reason: cm.RejectReason(28)})
			case e.Kind == cm.ConnectRequest:
				err = end.Accept(x.now, e.Conn, &cm.Side{QPN: 0x12, StartingPSN: 5, InitiatorDepth: 2, ResponderResources: 2}, nil)
			case e.Kind == cm.Reply:
				if err = end.Establish(e.Conn, nil); err == nil {
					x.carry(i)
					err = end.Disconnect(x.now, e.Conn, nil)
				}
			}
			if err != nil {
				x.t.Fatal(err)
			}
		}
	}
}

// run makes a connection and ends it, or does not.
func (x *truth) run(refuse bool) {
	_, err := x.ends[0].Connect(x.now, &cm.Request{
		To: x.peers[1], ServiceID: cm.ServiceID(cm.PortSpaceTCP, 7174), IP: cm.IPHeader{Src: alice, SrcPort: 4000, Dst: bob},
		Local: cm.Side{QPN: 0x11, StartingPSN: 9, ResponderResources: 2, InitiatorDepth: 2},
		Terms: cm.Terms{PathMTU: 3, RetryCount: 7, Primary: cm.RoCEPath(alice, bob)},
	})
	if err != nil {
		x.t.Fatal(err)
	}
	for {
		for x.carry(0) || x.carry(1) {
			x.consume(refuse)
		}
		x.consume(refuse)
		next := time.Time{}
		for _, end := range x.ends {
			if at := end.Deadline(); !at.IsZero() && (next.IsZero() || at.Before(next)) {
				next = at
			}
		}
		if next.IsZero() {
			break
		}
		x.now = next
		x.ends[0].Advance(next)
		x.ends[1].Advance(next)
	}
	x.track.Finish(x.now.UnixNano())
}

// sent reports whether a kind of message was captured.
func (x *truth) sent(attribute uint16) bool {
	for id := range x.captured {
		if id.attribute == attribute {
			return true
		}
	}
	return false
}

// TestWhatTwoManagersDidIsTold compares what is told with what two managers and
// their consumers know, for many seeds.
func TestWhatTwoManagersDidIsTold(t *testing.T) {
	outcomes := map[Outcome]int{}
	for seed := range uint64(400) {
		x := newTruth(t, seed)
		x.run(seed%4 == 0)
		if len(x.captured) == 0 {
			continue
		}
		repeated := 0
		for id, n := range x.captured {
			if forms[Attribute(id.attribute)].asks {
				repeated += n - 1
			}
		}
		c := x.last
		outcomes[c.Outcome]++
		refusals := 0
		if x.sent(wire.CMAttrRej) {
			refusals = 1
		}
		_, rejected := x.heard[0][cm.Rejected]
		ended, over := x.heard[0][cm.Disconnected]
		_, given := x.heard[0][cm.Unreachable]
		silent := !x.sent(wire.CMAttrRep) && !x.sent(wire.CMAttrRej)
		switch {
		case x.track.Seen() != 1:
			t.Errorf("seed %d: %d connections", seed, x.track.Seen())
		case x.told[Repeated] != repeated || x.told[Rejected] != refusals || x.told[Mismatch] != 0 || x.told[Stale] != 0:
			t.Errorf("seed %d: told %v; %d were repeated, %d refused", seed, x.told, repeated, refusals)
		case rejected && c.Outcome != Refused, over && !ended.TimedOut && c.Outcome != Disconnected:
			t.Errorf("seed %d: %v", seed, c.Outcome)
		case given && silent && (c.Outcome != Asked || x.told[Unanswered] != 1):
			t.Errorf("seed %d: nobody answered: %v, told %v", seed, c.Outcome, x.told)
		case over && !ended.TimedOut && x.told[Unanswered] != 0:
			t.Errorf("seed %d: all was answered, told %v", seed, x.told)
		}
	}
	for _, want := range []Outcome{Asked, Replied, Refused, Disconnected} {
		if outcomes[want] == 0 {
			t.Errorf("no seed ends with %v: %v", want, outcomes)
		}
	}
	t.Logf("outcomes %v", outcomes)
}
