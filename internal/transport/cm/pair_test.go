package cm_test

import (
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
	"github.com/rocecap/rocecap/internal/wire"
)

var start = time.Unix(1000, 0)

const (
	guidA = 0x0A0A
	guidB = 0x0B0B
	port  = 7174
)

var (
	addrA = netip.MustParseAddr("192.0.2.1")
	addrB = netip.MustParseAddr("192.0.2.2")
	peerA = cm.Peer{GID: addrA, QPN: 1}
	peerB = cm.Peer{GID: addrB, QPN: 1}
)

type mad = [wire.MADLen]byte

// end is a Manager and what came out of it.
type end struct {
	*cm.Manager
	peer cm.Peer // how the other end knows it
	sent []mad
}

// pair is two Managers that talk to each other in virtual time.
type pair struct {
	t    testing.TB
	now  time.Time
	a, b *end
	// lost says which datagrams do not arrive; nil loses none.
	lost func(attribute uint16) bool
}

func newPair(t testing.TB, change ...func(a, b *cm.Config)) *pair {
	configA, configB := cm.DefaultConfig(guidA, 1), cm.DefaultConfig(guidB, 2)
	for _, f := range change {
		f(&configA, &configB)
	}
	p := &pair{
		t: t, now: start,
		a: &end{Manager: cm.New(configA), peer: peerA},
		b: &end{Manager: cm.New(configB), peer: peerB},
	}
	p.b.ListenIP(cm.PortSpaceTCP, port)
	return p
}

// lose drops the next n datagrams with the attribute.
func (p *pair) lose(attribute uint16, n int) {
	p.lost = func(a uint16) bool {
		if a != attribute || n == 0 {
			return false
		}
		n--
		return true
	}
}

func (p *pair) other(e *end) *end {
	if e == p.a {
		return p.b
	}
	return p.a
}

// flush lets everything through that waits to be sent, and what it leads to.
func (p *pair) flush() {
	p.t.Helper()
	for moved := true; moved; {
		moved = false
		for _, e := range []*end{p.a, p.b} {
			var m mad
			for _, ok := e.Emit(&m); ok; _, ok = e.Emit(&m) {
				moved = true
				e.sent = append(e.sent, m)
				if p.lost == nil || !p.lost(wire.MAD(m[:]).AttributeID()) {
					p.other(e).Receive(p.now, m[:], e.peer)
				}
				for _, x := range []*end{p.a, p.b} {
					if err := x.Check(); err != nil {
						p.t.Fatal(err)
					}
				}
			}
		}
	}
}

// wait lets time pass.
func (p *pair) wait(d time.Duration) {
	p.t.Helper()
	p.flush()
	until := p.now.Add(d)
	for {
		next := until
		for _, e := range []*end{p.a, p.b} {
			if at := e.Deadline(); !at.IsZero() && at.Before(next) {
				next = at
			}
		}
		p.now = next
		p.a.Advance(p.now)
		p.b.Advance(p.now)
		p.flush()
		if p.now.Equal(until) {
			return
		}
	}
}

// inject gives an end a datagram that it was sent once, or one like it.
func (p *pair) inject(e *end, m mad) cm.Outcome {
	p.t.Helper()
	outcome := e.Receive(p.now, m[:], p.other(e).peer)
	if err := e.Check(); err != nil {
		p.t.Fatal(err)
	}
	return outcome
}

// ignores injects a datagram that an end has to ignore.
func (p *pair) ignores(e *end, m mad, format string, args ...any) {
	p.t.Helper()
	if outcome := p.inject(e, m); outcome != cm.Ignored {
		p.t.Errorf("%s: %v", fmt.Sprintf(format, args...), outcome)
	}
}

// take returns the one datagram that an end has to send, and nobody receives it.
func (p *pair) take(e *end, attribute uint16) mad {
	p.t.Helper()
	var m, more mad
	to, ok := e.Emit(&m)
	if !ok {
		p.t.Fatalf("nothing sent, want %#04x", attribute)
	}
	if to != p.other(e).peer {
		p.t.Errorf("sent to %v", to)
	}
	if got := wire.MAD(m[:]).AttributeID(); got != attribute {
		p.t.Fatalf("sent %#04x, want %#04x", got, attribute)
	}
	if _, ok := e.Emit(&more); ok {
		p.t.Fatalf("sent %#04x as well", wire.MAD(more[:]).AttributeID())
	}
	return m
}

// silent says that an end has nothing to send and nothing to tell.
func (p *pair) silent(e *end) {
	p.t.Helper()
	var m mad
	if _, ok := e.Emit(&m); ok {
		p.t.Errorf("sent %#04x, want nothing", wire.MAD(m[:]).AttributeID())
	}
	if ev, ok := e.Event(); ok {
		p.t.Errorf("event %v, want none", ev.Kind)
	}
}

// event returns the only event that an end has to tell.
func (p *pair) event(e *end, kind cm.EventKind) cm.Event {
	p.t.Helper()
	ev, ok := e.Event()
	if !ok || ev.Kind != kind {
		p.t.Fatalf("event %v, want %v", ev.Kind, kind)
	}
	if more, ok := e.Event(); ok {
		p.t.Fatalf("event %v as well", more.Kind)
	}
	return ev
}

// sentOf is how many datagrams with the attribute an end has sent; they have to
// be equal.
func (p *pair) sentOf(e *end, attribute uint16) int {
	p.t.Helper()
	all := slices.DeleteFunc(slices.Clone(e.sent), func(m mad) bool { return wire.MAD(m[:]).AttributeID() != attribute })
	for _, m := range all {
		if m != all[0] {
			p.t.Errorf("%#04x was not resent as it was", attribute)
		}
	}
	return len(all)
}

func (p *pair) wantSent(e *end, attribute uint16, n int) {
	p.t.Helper()
	if got := p.sentOf(e, attribute); got != n {
		p.t.Errorf("%#04x was sent %d times, want %d", attribute, got, n)
	}
}

func request() *cm.Request {
	return &cm.Request{
		To:        peerB,
		ServiceID: cm.ServiceID(cm.PortSpaceTCP, port),
		IP:        cm.IPHeader{Src: addrA, SrcPort: 40000, Dst: addrB},
		Local: cm.Side{
			QPN: 0x11, StartingPSN: 0xFFFFF0, ResponderResources: 8, InitiatorDepth: 4, RNRRetryCount: 7,
		},
		Terms:       cm.Terms{PathMTU: 3, RetryCount: 7, Primary: cm.RoCEPath(addrA, addrB)},
		PrivateData: []byte("hello"),
	}
}

func side() *cm.Side {
	return &cm.Side{QPN: 0x22, StartingPSN: 5, ResponderResources: 4, InitiatorDepth: 8, RNRRetryCount: 6}
}

func (p *pair) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// connect asks for a connection, without anything arriving yet.
func (p *pair) connect(r *cm.Request) cm.ConnID {
	p.t.Helper()
	id, err := p.a.Connect(p.now, r)
	p.must(err)
	return id
}

// ask brings the REQ to the consumer of b.
func (p *pair) ask(r *cm.Request) (a, b cm.ConnID) {
	p.t.Helper()
	a = p.connect(r)
	p.flush()
	return a, p.event(p.b, cm.ConnectRequest).Conn
}

// reply brings the REP to the consumer of a.
func (p *pair) reply() (a, b cm.ConnID) {
	p.t.Helper()
	a, b = p.ask(request())
	p.must(p.b.Accept(p.now, b, side(), []byte("welcome")))
	p.flush()
	p.event(p.a, cm.Reply)
	return a, b
}

// establish goes all the way.
func (p *pair) establish() (a, b cm.ConnID) {
	p.t.Helper()
	a, b = p.reply()
	p.must(p.a.Establish(a, nil))
	p.flush()
	p.event(p.b, cm.Established)
	return a, b
}

// of is the last datagram with the attribute that an end has sent.
func (p *pair) of(e *end, attribute uint16) mad {
	p.t.Helper()
	for _, m := range slices.Backward(e.sent) {
		if wire.MAD(m[:]).AttributeID() == attribute {
			return m
		}
	}
	p.t.Fatalf("%#04x was not sent", attribute)
	return mad{}
}

func rej(m mad) wire.CMRej { return wire.CMRej(wire.MAD(m[:]).Data()) }
