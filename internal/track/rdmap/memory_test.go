package rdmap

import (
	"net/netip"
	"testing"

	"github.com/rocecap/rocecap/internal/track/iwarp"
)

// crowd makes the segments of connections that are open at a time and all send, in
// turn.
func crowd(connections, messages int) (all []Segment) {
	talks := make([]*talk, connections)
	for i := range talks {
		talks[i] = newTalk()
		talks[i].ports[0] = netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), uint16(1000+i))
		talks[i].connect()
		for n := range messages {
			talks[i].say(0, send(last, uint32(n+1), 0, 10))
			talks[i].say(0, write(last, uint32(n), 0, 10))
			talks[i].say(0, read(uint32(n+1), 7, uint64(n), 10, 9))
		}
	}
	for at := range talks[0].all {
		for _, x := range talks {
			s := x.all[at]
			s.Number = uint64(len(all) + 1)
			all = append(all, s)
		}
	}
	return all
}

// TestMemoryOfManyConnectionsIsBounded has connections of which all remember much.
func TestMemoryOfManyConnectionsIsBounded(t *testing.T) {
	const connections = 60
	limits := iwarp.DefaultLimits()
	limits.Messages = 128 << 10
	tr := NewTracker(limits)
	marked := 0
	tr.Closed = func(c *Connection) {
		if c.Evicted {
			marked++
		}
	}
	segments := crowd(connections, 100)
	for i := range segments {
		tr.Segment(&segments[i])
		sum := 0
		for f := tr.order.newer; f != &tr.order; f = f.newer {
			sum += f.held
		}
		if sum != tr.held {
			t.Fatalf("segment %d: %d bytes are counted, the connections hold %d", i, tr.held, sum)
		}
		if tr.held > limits.Messages {
			t.Fatalf("segment %d: %d bytes, want at most %d", i, tr.held, limits.Messages)
		}
	}
	if tr.Evicted() == 0 || tr.Evicted() != marked {
		t.Errorf("%d are counted as given up, %d say so", tr.Evicted(), marked)
	}
	tr.Finish()
	if tr.held != 0 {
		t.Errorf("%d bytes are counted when all is over", tr.held)
	}
}

// TestWhatMakesResultsFinerGoesFirst has connections that fit when they remember
// less: none is given up.
func TestWhatMakesResultsFinerGoesFirst(t *testing.T) {
	const connections = 20
	limits := iwarp.DefaultLimits()
	tr := NewTracker(limits)
	segments := crowd(connections, 100)
	feed := func() {
		for i := range segments {
			tr.Segment(&segments[i])
		}
	}
	feed()
	much := tr.held
	limits.Messages = much * 3 / 4
	tr = NewTracker(limits)
	feed()
	if tr.Evicted() > 0 || tr.held >= much*3/4 {
		t.Errorf("%d given up; %d bytes are held, %d without a bound", tr.Evicted(), tr.held, much)
	}
	for c := range tr.All() {
		if c.Ends[0].Operations[Send].Messages != 100 {
			t.Errorf("%d messages", c.Ends[0].Operations[Send].Messages)
		}
	}
}

// TestACopyIsWhatIsKnownNow takes a copy in the middle of a connection.
func TestACopyIsWhatIsKnownNow(t *testing.T) {
	x := newTalk()
	x.connect()
	x.say(0, send(last, 1, 0, 10))
	x.ack(1)
	half := len(x.all)
	x.say(0, send(last, 2, 0, 10))
	x.segment(1, 0x10, nil)
	tr := NewTracker(iwarp.DefaultLimits())
	var copied *Connection
	for i := range x.all {
		if i == half {
			for c := range tr.All() {
				copied = c.Copy()
			}
		}
		tr.Segment(&x.all[i])
	}
	if copied == nil {
		t.Fatal("there is no connection")
	}
	e := &copied.Ends[0]
	if copied.Last != half || copied.Ended != x.all[half-1].Time || e.Operations[Send].Messages != 1 || e.Operations[Send].Latency.Count() != 1 || e.TCP.Segments != 3 {
		t.Errorf("last %d, %d messages, %d timed, %d segments", copied.Last, e.Operations[Send].Messages, e.Operations[Send].Latency.Count(), e.TCP.Segments)
	}
}

// TestTotalsAreTheSumOfConnections adds up two connections, one of which goes on.
func TestTotalsAreTheSumOfConnections(t *testing.T) {
	segments := crowd(2, 5)
	for i := range segments {
		segments[i].FrameLen, segments[i].CE = 100, i%4 == 0
	}
	tr := NewTracker(iwarp.DefaultLimits())
	var sum Totals
	for i := range segments {
		tr.Segment(&segments[i])
	}
	for c := range tr.All() {
		sum.Add(c)
	}
	n := len(segments)
	if sum.Connections != 2 || sum.TCP.Segments != n || sum.TCP.Frames != int64(100*n) || sum.TCP.CE != (n+3)/4 || sum.CRCs[iwarp.CRCGood] != 30 || sum.Operations[Write].Bytes != 100 {
		t.Errorf("%+v", sum)
	}
	own := sum.Clone()
	if own.Operations[Send].Latency != nil && own.Operations[Send].Latency == sum.Operations[Send].Latency {
		t.Error("a copy shares its histogram")
	}
}
