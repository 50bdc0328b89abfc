package cm_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
)

// world is two Managers, their consumers and a bad network, in virtual time.
// What happens follows from the seed.
type world struct {
	t      *testing.T
	random *rand.Rand
	now    time.Time
	ends   [2]*consumer
	flying []flight
	bad    network
}

// network is how bad the network is.
type network struct {
	loss, duplication float64
	delay             time.Duration // at most; equal chances make the order random
}

// flight is something that happens later: a datagram arrives, or a consumer
// decides.
type flight struct {
	at time.Time
	do func()
}

// consumer is the user of one Manager, and what it knows of its connections.
type consumer struct {
	*world
	m       *cm.Manager
	peer    cm.Peer // this end
	other   *consumer
	last    map[cm.ConnID]cm.EventKind // kind of the last event
	mine    map[cm.ConnID]uint32       // what it asked for, and the tag in the private data
	aborted map[cm.ConnID]bool
	open    map[cm.ConnID]bool // established, as far as it knows
	// Tags of what it accepted for the other side, and of its own connections that
	// it has established.
	served, ready map[uint32]bool
	tags          map[cm.ConnID]uint32 // of requests of the other side
	qpn           uint32
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, random: rand.New(rand.NewPCG(seed, 3)), now: start}
	w.bad = network{
		loss: []float64{0, 0.1, 0.2, 0.4, 0.85}[w.random.IntN(5)], duplication: 0.3 * w.random.Float64(),
		delay: time.Duration(w.random.Int64N(int64(3 * time.Second))),
	}
	for i, peer := range []cm.Peer{peerA, peerB} {
		config := cm.DefaultConfig(uint64(i)+1, seed)
		config.MRA = cm.MRAPolicy(w.random.IntN(3))
		config.MRATimeout = 18
		config.RejectOnTimeout = w.random.IntN(2) == 0
		config.ManualDREP = w.random.IntN(2) == 0
		c := &consumer{
			world: w, m: cm.New(config), peer: peer,
			last: map[cm.ConnID]cm.EventKind{}, mine: map[cm.ConnID]uint32{}, aborted: map[cm.ConnID]bool{},
			open: map[cm.ConnID]bool{}, served: map[uint32]bool{}, ready: map[uint32]bool{},
			tags: map[cm.ConnID]uint32{}, qpn: uint32(i+1) << 16,
		}
		c.m.ListenIP(cm.PortSpaceTCP, port)
		c.m.ListenIP(cm.PortSpaceUDP, port)
		w.ends[i] = c
	}
	w.ends[0].other, w.ends[1].other = w.ends[1], w.ends[0]
	return w
}

// later lets something happen within a time.
func (w *world) later(within time.Duration, do func()) {
	w.flying = append(w.flying, flight{w.now.Add(time.Duration(w.random.Int64N(int64(within) + 1))), do})
}

// run lets everything happen up to a time.
func (w *world) run(until time.Time) {
	for {
		w.settle()
		next, which := until, -1
		for i, f := range w.flying {
			if f.at.Before(next) {
				next, which = f.at, i
			}
		}
		for _, c := range w.ends {
			if at := c.m.Deadline(); !at.IsZero() && at.Before(next) {
				next, which = at, -1
			}
		}
		w.now = next
		if which >= 0 {
			f := w.flying[which]
			w.flying[which] = w.flying[len(w.flying)-1]
			w.flying = w.flying[:len(w.flying)-1]
			f.do()
		}
		for _, c := range w.ends {
			c.m.Advance(w.now)
		}
		if !w.now.Before(until) {
			w.settle()
			return
		}
	}
}

// settle takes what the Managers have to send and to tell.
func (w *world) settle() {
	for _, c := range w.ends {
		for _, e := range events(c.m) {
			c.hear(&e)
		}
		var m mad
		for _, ok := c.m.Emit(&m); ok; _, ok = c.m.Emit(&m) {
			copies := 1
			if w.random.Float64() < w.bad.loss {
				copies = 0
			} else if w.random.Float64() < w.bad.duplication {
				copies = 2
			}
			for range copies {
				datagram := m
				w.later(w.bad.delay, func() { c.other.m.Receive(w.now, datagram[:], c.peer) })
			}
		}
		if err := c.m.Check(); err != nil {
			w.t.Fatal(err)
		}
	}
}

// legal is which event may follow which, for one ID; 0 is none before.
var legal = map[cm.EventKind][]cm.EventKind{
	0: {
		cm.ConnectRequest, cm.Reply, cm.Rejected, cm.Unreachable, cm.SIDRRequest, cm.SIDRReply,
	},
	cm.ConnectRequest: {cm.Established, cm.Rejected, cm.Unreachable, cm.Disconnected, cm.TimewaitExit},
	cm.Reply:          {cm.Rejected, cm.Disconnected, cm.TimewaitExit},
	cm.Established:    {cm.Rejected, cm.Disconnected},
	cm.Rejected:       {cm.TimewaitExit},
	cm.Disconnected:   {cm.TimewaitExit, cm.Rejected},
}

func (c *consumer) hear(e *cm.Event) {
	before := c.last[e.Conn]
	found := false
	for _, k := range legal[before] {
		found = found || k == e.Kind
	}
	if !found {
		c.t.Fatalf("%v follows %v", e.Kind, before)
	}
	c.last[e.Conn] = e.Kind
	id := e.Conn
	switch e.Kind {
	case cm.ConnectRequest:
		c.qpn++
		qpn, tag := c.qpn, binary.BigEndian.Uint32(e.PrivateData())
		c.tags[id] = tag
		c.later(10*time.Second, func() { c.decide(id, qpn, tag) })
	case cm.Reply:
		tag := binary.BigEndian.Uint32(e.PrivateData())
		if tag != c.mine[id] || !c.other.served[tag] {
			c.t.Fatal("a reply that nobody gave to this request")
		}
		c.later(5*time.Second, func() {
			if c.m.Establish(id, nil) == nil { // else the other side has given up meanwhile
				c.open[id], c.ready[tag] = true, true
			}
		})
	case cm.Established:
		if !c.other.ready[c.tags[id]] {
			c.t.Fatal("established, and the other side does not know")
		}
		c.open[id] = true
	case cm.Disconnected:
		if c.m.ManualDREP {
			c.later(5*time.Second, func() { _ = c.m.Disconnect(c.now, id, nil) })
		}
		delete(c.open, id)
	case cm.Rejected, cm.Unreachable, cm.TimewaitExit:
		delete(c.open, id)
	case cm.SIDRRequest:
		c.later(5*time.Second, func() { _ = c.m.AnswerSIDR(id, cm.SIDRAnswer{QPN: 7}) })
	}
}

// decide is what the consumer makes of a request.
func (c *consumer) decide(id cm.ConnID, qpn, tag uint32) {
	switch c.random.IntN(6) {
	case 0:
		_ = c.m.Reject(c.now, id, cm.Rejection{Reason: cm.ConsumerReject})
	case 1:
		_ = c.m.Delay(id, 20)
		c.later(10*time.Second, func() { c.decide(id, qpn, tag) })
	default:
		s := side()
		s.QPN = qpn
		if c.m.Accept(c.now, id, s, binary.BigEndian.AppendUint32(nil, tag)) == nil {
			c.served[tag] = true
		}
		if c.random.IntN(3) == 0 { // data comes before the RTU
			c.later(10*time.Second, func() {
				if c.other.ready[tag] {
					_ = c.m.Establish(id, nil)
				}
			})
		}
	}
}

// ask begins a connection, or a service resolution.
func (c *consumer) ask() {
	if c.random.IntN(4) == 0 {
		r := sidr()
		r.To = c.other.peer
		id, err := c.m.ResolveSIDR(c.now, r)
		if err != nil {
			c.t.Fatal(err)
		}
		c.mine[id] = 0
		return
	}
	r := request()
	r.To = c.other.peer
	c.qpn++
	r.Local.QPN = c.qpn
	r.PrivateData = binary.BigEndian.AppendUint32(nil, c.qpn)
	id, err := c.m.Connect(c.now, r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.mine[id] = c.qpn
	if c.random.IntN(8) == 0 {
		c.later(20*time.Second, func() {
			if c.m.Abort(c.now, id) == nil {
				c.aborted[id] = true
				delete(c.open, id)
			}
		})
	}
}

// TestEachSideComesToAnEndWhateverTheNetworkDoes is many seeded runs. After the
// setting-up, a consumer knows of each of its connections that it is
// established, or was told why not; then all are ended, and nothing is left on
// either side.
func TestEachSideComesToAnEndWhateverTheNetworkDoes(t *testing.T) {
	runs := uint64(1500)
	if testing.Short() {
		runs = 100
	}
	total := map[string]int{}
	for seed := range runs {
		w := newWorld(t, seed)
		for range 1 + w.random.IntN(5) {
			c := w.ends[w.random.IntN(2)]
			w.later(5*time.Second, c.ask)
		}
		w.run(w.now.Add(time.Hour))
		for _, c := range w.ends {
			c.setUp(seed, total)
		}
		for range 3 { // those that one side alone takes for established end too
			for _, c := range w.ends {
				for _, id := range c.m.IDs() {
					c.end(id)
				}
			}
			w.run(w.now.Add(time.Hour))
		}
		for _, c := range w.ends {
			if n := c.m.Connections(); n != 0 || !c.m.Deadline().IsZero() {
				t.Fatalf("seed %d: %d connections are stuck", seed, n)
			}
			if len(c.open) > 0 {
				t.Fatalf("seed %d: a consumer was not told of the end of %v", seed, c.open)
			}
		}
	}
	t.Log(total)
	for _, outcome := range []string{"established", "rejected", "SIDR reply", "unreachable", "aborted"} {
		if total[outcome] == 0 {
			t.Errorf("no outcome was %q", outcome)
		}
	}
}

// setUp checks what became of the connections so far.
func (c *consumer) setUp(seed uint64, total map[string]int) {
	for id := range c.mine {
		last := c.last[id]
		switch {
		case c.aborted[id]:
			total["aborted"]++
		case c.open[id]:
			total["established"]++
		case last == cm.Rejected || last == cm.Unreachable || last == cm.SIDRReply || last == cm.TimewaitExit || last == cm.Disconnected:
			total[last.String()]++
		default:
			c.t.Fatalf("seed %d: a connection ended with %v", seed, last)
		}
	}
	for _, id := range c.m.IDs() {
		if !c.open[id] {
			c.t.Fatalf("seed %d: a connection is kept that is not established: %v", seed, c.last[id])
		}
	}
}

func (c *consumer) end(id cm.ConnID) {
	if c.random.IntN(4) == 0 {
		_ = c.m.Abort(c.now, id)
		delete(c.open, id)
		return
	}
	c.later(3*time.Second, func() { _ = c.m.Disconnect(c.now, id, nil) })
}

func TestARunIsDecidedByItsSeed(t *testing.T) {
	run := func() string {
		w := newWorld(t, 42)
		for range 4 {
			w.ends[0].ask()
		}
		w.run(w.now.Add(time.Minute))
		return fmt.Sprint(w.ends[0].last, w.ends[1].last, w.now)
	}
	if a, b := run(), run(); a != b {
		t.Errorf("%s\n%s", a, b)
	}
}
