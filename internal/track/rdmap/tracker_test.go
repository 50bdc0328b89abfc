package rdmap

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// told by end 0 is written "Kind@packet", by end 1 "~Kind@packet", with the
// cause behind.
func (got *told) text() string {
	var out []string
	for i, e := range got.events {
		s := strings.Repeat("~", got.ends[i]) + e.Kind.String() + "@" + strconv.Itoa(e.Packet)
		if e.Cause > 0 {
			s += "<" + strconv.Itoa(e.Cause)
		}
		out = append(out, s)
	}
	return strings.Join(out, " ")
}

// Each talk does one thing; what is told of it is all that is told.
func TestWhatIsWrongIsTold(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(x *talk)
		want string
	}{
		{"nothing", func(x *talk) {
			x.say(0, send(last, 1, 0, 10))
			x.say(1, read(1, 7, 1000, 300, 9))
			x.say(0, answer(more, 7, 1000, 200), answer(last, 7, 1200, 100), send(more, 2, 0, 100), send(last, 2, 100, 1))
			x.say(1, write(more, 8, 50, 100))
			x.say(1, send(last, 1, 0, 4)) // a SEND within a WRITE is another queue
			x.say(1, write(last, 8, 150, 100))
		}, ""},
		{"MSN begins with 2", func(x *talk) { x.say(0, send(last, 2, 0, 10)) }, "MsnOrder@5"},
		{"MSN skips one and goes on", func(x *talk) { x.say(0, send(last, 1, 0, 10), send(last, 3, 0, 10), send(last, 4, 0, 10)) }, "MsnOrder@6"},
		{"MSN of the READ queue", func(x *talk) { x.say(0, send(last, 1, 0, 10), read(2, 7, 0, 10, 9)) }, "MsnOrder@6"},
		{"MO does not begin with 0", func(x *talk) { x.say(0, send(last, 1, 4, 10)) }, "MoOrder@5"},
		{"MO skips", func(x *talk) { x.say(0, send(more, 1, 0, 10), send(last, 1, 20, 10)) }, "MoOrder@6"},
		{"no last flag", func(x *talk) { x.say(0, send(more, 1, 0, 10), send(last, 2, 0, 10)) }, "LastFlag@6"},
		{"last flag too early", func(x *talk) { x.say(0, send(last, 1, 0, 10), send(last, 1, 10, 10)) }, "LastFlag@6"},
		{"opcode changes", func(x *talk) { x.say(0, send(more, 1, 0, 10), untagged(last, 5, 0, 0, 1, 10, nil)) }, "OpcodeMixed@6"},
		{"WRITE jumps", func(x *talk) { x.say(0, write(more, 7, 0, 10), write(last, 7, 20, 10)) }, "TaggedOrder@6"},
		{"WRITE to two STags", func(x *talk) { x.say(0, write(more, 7, 0, 10), write(last, 8, 10, 10)) }, "TaggedOrder@6"},
		{"two WRITEs", func(x *talk) { x.say(0, write(last, 7, 0, 10), write(last, 8, 20, 10)) }, ""},
		{"READ response to another STag", func(x *talk) {
			x.say(0, read(1, 7, 0, 10, 9))
			x.say(1, answer(last, 6, 0, 10))
		}, "~ReadSink@6<5"},
		{"READ response jumps", func(x *talk) {
			x.say(0, read(1, 7, 0, 20, 9))
			x.say(1, answer(more, 7, 0, 10), answer(last, 7, 12, 10))
		}, "~ReadSink@7<5"},
		{"READ response too long", func(x *talk) {
			x.say(0, read(1, 7, 0, 10, 9))
			x.say(1, answer(more, 7, 0, 10), answer(more, 7, 10, 1), answer(last, 7, 11, 1))
		}, "~ReadBounds@7<5"},
		{"READ response too short", func(x *talk) {
			x.say(0, read(1, 7, 0, 10, 9))
			x.say(1, answer(last, 7, 0, 9))
		}, "~ReadShort@6<5"},
		{"READ responses in another order", func(x *talk) {
			x.say(0, read(1, 7, 0, 10, 9), read(2, 7, 10, 10, 9))
			x.say(1, answer(last, 7, 10, 10), answer(last, 7, 0, 10))
		}, "~ReadOrder@7<6"},
		{"READ response without last flag", func(x *talk) {
			x.say(0, read(1, 7, 0, 10, 9), read(2, 7, 0, 10, 9))
			x.say(1, answer(more, 7, 0, 10), answer(last, 7, 0, 10))
		}, "~LastFlag@8"},
		{"READ of nothing", func(x *talk) {
			x.say(0, read(1, 0, 0, 0, 0))
			x.say(1, answer(last, 0, 0, 0))
		}, ""},
		{"READ response to nothing", func(x *talk) { x.say(1, answer(last, 7, 0, 10)) }, "~ResponseUnasked@5"},
		{"atomic response to nothing", func(x *talk) { x.say(1, untagged(last, 11, 0, 3, 1, 0, make([]byte, 12))) }, "~ResponseUnasked@5"},
		{"atomic", func(x *talk) {
			x.say(0, untagged(last, 10, 0, 1, 1, 0, make([]byte, 52)))
			x.say(1, untagged(last, 11, 0, 3, 1, 0, make([]byte, 12)))
		}, ""},
		{"WRITE behind the invalidation", func(x *talk) { x.say(0, invalidate(0x77, 1), write(last, 0x77, 0, 10)) }, "InvalidSTag@6<5"},
		{"READ behind the invalidation", func(x *talk) { x.say(0, invalidate(0x77, 1), read(1, 7, 0, 10, 0x77)) }, "InvalidSTag@6<5"},
		{"WRITE when the STag may be valid again", func(x *talk) {
			x.say(0, invalidate(0x77, 1))
			x.say(1, send(last, 1, 0, 10))
			x.say(0, write(last, 0x77, 0, 10))
		}, ""},
		{"Terminate for a WRITE", func(x *talk) {
			x.say(0, write(last, 7, 0, 10))
			bad := write(last, 8, 0, 10)
			x.say(0, bad)
			x.say(1, terminate(bad[:14]))
		}, "~Terminated@7<6"},
		{"Terminate for one of two equal ones", func(x *talk) {
			bad := write(last, 8, 0, 10)
			x.say(0, bad, bad)
			x.say(1, terminate(bad[:14]))
		}, "~Terminated@7"},
		{"Terminate for a SEND, and on", func(x *talk) {
			bad := send(last, 1, 0, 100)
			x.say(0, bad)
			x.say(1, terminate(bad[:18]), send(last, 1, 0, 10))
		}, "~Terminated@6<5 ~AfterTerminate@7<6"},
		{"wrong CRC, and what follows is not judged", func(x *talk) {
			b := frame(send(last, 1, 0, 10))
			b[len(b)-1] ^= 1
			x.segment(0, tcpstream.ACK, b)
			x.say(0, send(last, 5, 0, 10), send(last, 7, 0, 10))
		}, "BadCRC@5 MsnOrder@7"},
		{"queue that is not the opcode's", func(x *talk) { x.say(0, untagged(last, 3, 0, 1, 1, 0, nil)) }, "BadHeader@5"},
		{"reserved bits", func(x *talk) {
			b := send(last, 1, 0, 10)
			b[0] |= 0x10
			x.say(0, b)
		}, "ReservedBits@5"},
		{"sent again", func(x *talk) {
			n := x.say(0, send(last, 1, 0, 10))
			again := x.all[n-1]
			again.Number = uint64(len(x.all) + 1)
			x.all = append(x.all, again)
		}, "Resent@6"},
		{"late", func(x *talk) {
			x.say(0, send(last, 1, 0, 10))
			n := x.say(0, send(last, 2, 0, 10))
			a, b := &x.all[n-2], &x.all[n-1]
			*a, *b = *b, *a
			a.Number, b.Number = b.Number, a.Number
			x.say(0, send(last, 3, 0, 10))
		}, "Late@6"},
		{"no room", func(x *talk) {
			for range 2 {
				x.all[x.ack(0)-1].Window = 0
			}
			x.ack(0)
		}, "ZeroWindow@5"},
		{"reset", func(x *talk) { x.segment(1, tcpstream.RST|tcpstream.ACK, nil) }, "~Reset@5"},
		{"reset when both are through", func(x *talk) {
			x.segment(0, tcpstream.FIN|tcpstream.ACK, nil)
			x.segment(1, tcpstream.FIN|tcpstream.ACK, nil)
			x.segment(1, tcpstream.RST|tcpstream.ACK, nil)
		}, ""},
	} {
		x := connected()
		test.make(x)
		if got := track(x.all).text(); got != test.want {
			t.Errorf("%s: told %q, want %q", test.name, got, test.want)
		}
	}
}

func TestReadsBeyondTheAgreedDepth(t *testing.T) {
	for _, test := range []struct {
		ird  uint16
		want string
	}{{2, "ReadDepth@7"}, {3, ""}, {0x3FFF, ""}} {
		x := connected(depths(9, 9), depths(test.ird, 9))
		for i := range uint32(3) {
			x.say(0, read(i+1, 7, uint64(i)*10, 10, 9))
		}
		got := track(x.all)
		if c := got.one(t); got.text() != test.want || c.Ends[0].MostReads != 3 || c.Ends[1].Start.IRD != test.ird {
			t.Errorf("IRD %d: told %q, want %q, %+v", test.ird, got.text(), test.want, c.Ends[0])
		}
	}
}

func TestStartFramesAreJudged(t *testing.T) {
	x := newTalk()
	x.segment(0, tcpstream.SYN, nil)
	x.segment(1, tcpstream.SYN|tcpstream.ACK, nil)
	x.segment(0, tcpstream.ACK, startFrame("MPA ID Req Frame", 0x40, nil))
	reply := startFrame("MPA ID Rep Frame", 0x60, nil)
	reply[17] = 3
	x.segment(1, tcpstream.ACK, reply)
	got := track(x.all)
	if text := got.text(); text != "~Rejected@4 ~BadStart@4" || !got.one(t).Ends[1].Start.Reject {
		t.Errorf("told %q", text)
	}
}

func TestMessagesAreCountedAndTimed(t *testing.T) {
	x := connected()
	x.say(0, send(more, 1, 0, 100))                          // 5 ms
	x.say(0, send(last, 1, 100, 20))                         // 6
	x.say(1, read(1, 7, 0, 300, 9))                          // 7, acknowledges the SEND
	x.say(0, answer(more, 7, 0, 200))                        // 8
	x.say(0, answer(last, 7, 200, 100))                      // 9
	x.say(0, write(last, 0x55, 0x1000, 64))                  // 10
	x.say(0, write(last, 0x55, 0x2000, 64))                  // 11
	x.ack(1)                                                 // 12
	x.say(1, untagged(last, 8, 0, 0, 1, 0, make([]byte, 8))) // 13, never acknowledged
	c := track(x.all).one(t)
	a, b := &c.Ends[0], &c.Ends[1]
	ms := time.Millisecond
	for _, test := range []struct {
		what  string
		o     *Operation
		n     int
		bytes int64
		min   time.Duration
		max   time.Duration
	}{
		{"SEND", &a.Operations[Send], 1, 120, 2 * ms, 2 * ms},
		{"WRITE", &a.Operations[Write], 2, 128, ms, 2 * ms},
		{"READ", &b.Operations[Read], 1, 300, 2 * ms, 2 * ms},
	} {
		if test.o.Messages != test.n || test.o.Bytes != test.bytes || test.o.Partial != 0 || test.o.Latency.Min() != test.min || test.o.Latency.Max() != test.max {
			t.Errorf("%s: %+v, in %v to %v", test.what, test.o, test.o.Latency.Min(), test.o.Latency.Max())
		}
	}
	if o := b.Operations[Immediate]; o.Messages != 1 || o.Bytes != 8 || o.Latency != nil {
		t.Errorf("IMMEDIATE: %+v", o)
	}
	if want := []Region{{STag: 0x55, Lowest: 0x1000, End: 0x2040, Written: 128}}; !slices.Equal(a.Regions, want) {
		t.Errorf("regions %+v", a.Regions)
	}
	if want := []Region{{STag: 9, End: 300, Read: 300}}; !slices.Equal(b.Regions, want) {
		t.Errorf("regions %+v", b.Regions)
	}
	if a.FPDUs != 6 || a.CRCs[iwarp.CRCGood] != 6 || a.Opcodes[3] != (Opcode{2, 1, 120}) || c.Initiator != 0 || a.Unfinished+b.Unfinished != 0 {
		t.Errorf("%+v", a)
	}
}

// Without a segment of the capture nothing may be told that it explains.
func TestWhatTheCaptureMissesIsNotJudged(t *testing.T) {
	full := func() *talk {
		x := connected()
		for i := range uint32(8) {
			x.say(0, read(i+1, 7+i%2, uint64(i)*100, 300, 9))
			x.say(1, answer(more, 7+i%2, uint64(i)*100, 200))
			x.say(1, answer(last, 7+i%2, uint64(i)*100+200, 100))
			x.say(0, send(more, i+1, 0, 100))
			x.say(0, send(last, i+1, 100, 100))
			x.say(1, write(more, 3, 0, 100))
			x.say(1, write(last, 3, 100, 100))
			x.ack(0)
			x.ack(1)
		}
		return x
	}
	if text := track(full().all).text(); text != "" {
		t.Fatalf("told %q", text)
	}
	for first := range full().all {
		for n := range 3 {
			x := full()
			x.all = slices.Delete(x.all, first, min(first+n+1, len(x.all)))
			track(x.all).only(t, fmt.Sprintf("without %d segments from %d on", n+1, first+1), Gap, Unframed)
		}
		x := full()
		track(x.all[first:]).only(t, fmt.Sprintf("from segment %d on", first+1), Gap, Unframed)
		cut := &x.all[first]
		payload := cut.Payload
		for n := range payload {
			cut.Payload = payload[:n]
			track(x.all).only(t, fmt.Sprintf("segment %d cut at %d", first+1, n), Gap, Unframed)
		}
	}
}

// Segments that come out of order, and twice, change nothing but what is told
// of TCP.
func TestReorderedSegmentsAreTheSameMessages(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := connected()
		for i := range uint32(20) {
			x.say(0, read(i+1, 7, uint64(i)*100, 300, 9))
			x.say(1, answer(more, 7, uint64(i)*100, 200))
			x.say(1, answer(last, 7, uint64(i)*100+200, 100))
			x.say(0, send(last, i+1, 0, 100))
		}
		for i := 6; i < len(x.all); i++ {
			if j := i + r.IntN(4); r.IntN(3) == 0 && j < len(x.all) {
				x.all[i], x.all[j] = x.all[j], x.all[i]
			}
			if r.IntN(10) == 0 {
				x.all = slices.Insert(x.all, i, x.all[i])
			}
		}
		for i := range x.all {
			x.all[i].Number, x.all[i].Time = uint64(i+1), int64(i+1)
		}
		got := track(x.all)
		got.only(t, fmt.Sprintf("seed %d", seed), Resent, Late, Gap)
		c := got.one(t)
		if s := c.Ends[0].Operations[Send]; s.Messages != 20 && c.Ends[0].Missing == 0 {
			t.Errorf("seed %d: %+v", seed, s)
		}
	}
}

func TestPortsAreUsedAgain(t *testing.T) {
	x := connected()
	x.say(0, send(last, 1, 0, 10))
	x.seq = [2]uint32{77, 88}
	x.connect()
	x.say(0, send(last, 1, 0, 10))
	got := track(x.all)
	if len(got.connections) != 2 || got.text() != "" || got.tracker.Seen() != 2 || got.tracker.Segments() != 10 {
		t.Errorf("%d connections, told %q", len(got.connections), got.text())
	}
}

func TestConnectionsAreBounded(t *testing.T) {
	limits := iwarp.DefaultLimits()
	limits.Conns = 10
	tr := NewTracker(limits)
	closed, evicted := 0, 0
	tr.Closed = func(c *Connection) {
		closed++
		if c.Evicted {
			evicted++
		}
		if c.Ends[0].Operations[Send].Messages != 1 || c.Ends[0].Tallies != nil {
			t.Errorf("%+v", c.Ends[0])
		}
	}
	const n = 100
	for i := range n {
		x := newTalk()
		x.ports[0] = netip.AddrPortFrom(x.ports[0].Addr(), uint16(1000+i))
		x.connect()
		x.say(0, send(last, 1, 0, 10))
		follow(tr, x.all)
		if len(tr.flows) > limits.Conns {
			t.Fatalf("%d flows", len(tr.flows))
		}
	}
	tr.Finish()
	if closed != n || evicted != n-limits.Conns || tr.Evicted() != evicted || tr.Seen() != n {
		t.Errorf("%d closed, %d evicted", closed, evicted)
	}
}

func TestOtherTCPIsNoConnection(t *testing.T) {
	x := newTalk()
	x.segment(0, tcpstream.SYN, nil)
	x.segment(1, tcpstream.SYN|tcpstream.ACK, nil)
	for range 50 {
		x.segment(0, tcpstream.ACK, []byte("GET / HTTP/1.1\r\n\r\n"))
	}
	if got := track(x.all); len(got.connections) != 0 || got.tracker.Segments() != 0 {
		t.Errorf("%d connections", len(got.connections))
	}
}

// What is outstanding is bounded.
func TestOutstandingThingsAreBounded(t *testing.T) {
	x := connected()
	for i := range uint32(maxReads + 500) {
		x.say(0, read(i+1, 7, 0, 10, i))
	}
	for i := range uint32(maxInvalid + 500) {
		x.say(0, invalidate(i, i+1))
	}
	tr := NewTracker(iwarp.DefaultLimits())
	follow(tr, x.all)
	e := &tr.recent.connection.Ends[0]
	s := &e.stream
	if len(s.reads.items()) != maxReads || cap(s.reads.all) > 4*maxReads || len(s.invalid) != maxInvalid ||
		len(s.unacked.items()) > maxUnacked || len(s.recent.all) != maxRecent || len(e.Regions) != maxRegions || e.MoreRegions == 0 || e.Unfinished != 500 {
		t.Errorf("%d reads in room for %d, %d invalid, %d without acknowledgement, %d unfinished", len(s.reads.items()), cap(s.reads.all), len(s.invalid), len(s.unacked.items()), e.Unfinished)
	}
}

// The steady path does not allocate.
func TestSegmentsDoNotAllocate(t *testing.T) {
	x := connected()
	tr := NewTracker(iwarp.DefaultLimits())
	follow(tr, x.all)
	msn := uint32(0)
	round := func() {
		x.all = x.all[:4]
		msn++
		req := read(msn, 7, 0, 100, 9)
		for i, b := range [][]byte{req, answer(last, 7, 0, 100), send(last, msn, 0, 100), write(last, 9, 0, 100)} {
			x.say(i%2, b)
		}
		x.ack(0)
		x.ack(1)
	}
	round()
	// Only the tracker is measured: the segments are made before.
	const runs = 200
	var made []Segment
	for range runs + 101 {
		round()
		made = append(made, x.all[4:]...)
	}
	// Messages of end 1 are not numbered from 1 here: one event, before.
	next := 0
	step := func() {
		for range 6 {
			made[next].Number = uint64(next + 10)
			tr.Segment(&made[next])
			next++
		}
	}
	for range 100 {
		step()
	}
	if n := testing.AllocsPerRun(runs, step); n != 0 {
		t.Errorf("%v allocations for six segments", n)
	}
}

// Random PDUs, all fields at random, neither panic nor break the bounds.
func TestHostilePDUs(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 2))
		x := connected(depths(uint16(r.Uint32()), 3), depths(2, uint16(r.Uint32())))
		for range 2000 {
			op := byte(r.IntN(16))
			var b []byte
			n := r.IntN(64)
			if op == 0 || op == 2 {
				b = tag(byte(r.IntN(2))<<6, op, r.Uint32()%4, r.Uint64()>>r.IntN(64), n)
			} else {
				qn := []uint32{0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 1, 3, 9, 9, 9, 9}[op]
				b = untagged(byte(r.IntN(2))<<6, op, r.Uint32()%4, qn, r.Uint32()%5, r.Uint32()>>r.IntN(32), make([]byte, n))
				if op == 1 {
					b = read(r.Uint32()%9, r.Uint32()%4, uint64(r.IntN(3)), r.Uint32()>>r.IntN(32), r.Uint32()%4)
				}
			}
			if r.IntN(4) == 0 && len(b) > 2 {
				b[r.IntN(len(b))] = byte(r.Uint32())
			}
			x.say(r.IntN(2), b)
			s := &x.all[len(x.all)-1]
			switch r.IntN(20) {
			case 0:
				s.Payload = s.Payload[:r.IntN(len(s.Payload)+1)]
			case 1:
				s.Seq = r.Uint32()
			case 2:
				s.Ack = r.Uint32()
			case 3:
				s.Flags = tcpstream.Flags(r.Uint32())
			case 4:
				s.Window = 0
			}
		}
		track(x.all).bounded(t)
	}
}

func TestKindsHaveNames(t *testing.T) {
	for k := range Kinds {
		if k.String() == "" {
			t.Errorf("kind %d has no name", k)
		}
	}
}

// swapped changes the places of two segments in the capture, as one from several
// queues has them.
func swapped(x *talk, a, b int) {
	x.all[a-1], x.all[b-1] = x.all[b-1], x.all[a-1]
	for i := range x.all {
		x.all[i].Number, x.all[i].Time = uint64(i+1), int64(i+1)*int64(time.Millisecond)
	}
}

// A segment that acknowledges what the capture has not shown yet was sent by an
// end that knows more than the capture.
func TestTheDirectionsOfACaptureMayBeOutOfOrder(t *testing.T) {
	x := connected()
	x.say(0, invalidate(0x77, 1))
	swapped(x, x.say(1, send(last, 1, 0, 10)), x.say(0, write(last, 0x77, 0, 10)))
	track(x.all).only(t, "invalidation")
	x = connected(depths(1, 1), depths(1, 1))
	x.say(0, read(1, 7, 0, 10, 9))
	swapped(x, x.say(1, answer(last, 7, 0, 10)), x.say(0, read(2, 7, 0, 10, 9)))
	track(x.all).only(t, "depth")
	x = connected()
	swapped(x, x.say(0, send(last, 1, 0, 10)), x.ack(1))
	x.ack(1)
	if o := track(x.all).one(t).Ends[0].Operations[Send]; o.Messages != 1 || o.Latency != nil {
		t.Errorf("acknowledged before it was sent: %+v", o)
	}
}

// A request seems to be answered by the response to the one before, which was not
// captured. Behind a second without responses there can be none of those left.
func TestNoTimeIsTakenFromAGuess(t *testing.T) {
	for _, quiet := range []time.Duration{0, 2 * time.Second} {
		x := connected()
		x.say(0, read(1, 7, 0, 10, 9))
		x.say(1, answer(last, 7, 0, 10))
		begin := x.say(0, read(2, 7, 0, 10, 9))
		x.say(0, read(3, 7, 0, 10, 9))
		x.say(1, answer(last, 7, 0, 10))
		x.say(1, answer(last, 7, 0, 10))
		x.now += int64(quiet)
		x.say(0, read(4, 7, 0, 10, 9))
		x.say(1, answer(last, 7, 0, 10))
		for missing, from := range []int{begin - 1, begin} {
			o := track(x.all[from:]).one(t).Ends[0].Operations[Read]
			if timed := o.Latency != nil && o.Latency.Count() == 1 && o.Latency.Max() == time.Millisecond; o.Messages != 3-missing || timed != (quiet > 0) {
				t.Errorf("%d requests missing, %v of quiet: %+v", missing+1, quiet, o)
			}
		}
	}
}

func TestKeepAlivesAreNotSentAgain(t *testing.T) {
	x := connected()
	x.say(0, send(last, 1, 0, 10))
	x.ack(1)
	for n := range 2 {
		x.seq[0]--
		x.segment(0, tcpstream.ACK, make([]byte, n))
		x.seq[0] += uint32(1 - n)
	}
	track(x.all).only(t, "keep-alives")
}

// A closed window is measured until it opens, or the connection ends.
func TestClosedWindowsAreMeasured(t *testing.T) {
	x := connected()
	for _, window := range []uint16{0, 0, 9, 0, 9, 0} {
		x.all[x.ack(0)-1].Window = window
	}
	x.ack(1)
	tcp := track(x.all).one(t).Ends[0].TCP
	if tcp.ZeroWindows != 3 || tcp.Closed != 4*time.Millisecond {
		t.Errorf("%+v", tcp)
	}
}

// Any bytes are segments of some kind: nothing may panic, and all bounds hold.
func FuzzTracker(f *testing.F) {
	f.Add([]byte{0x12, 0, 0, 1}, []byte("MPA ID Req Frame\x40\x01\x00\x00"), frame(send(last, 1, 0, 10)))
	f.Add([]byte{0x10, 1, 3, 0, 0x11, 0, 2, 0}, frame(read(1, 7, 0, 10, 9)), frame(answer(last, 7, 0, 10)))
	f.Add([]byte{0x10, 1, 0, 0, 0x14, 1, 9, 0}, frame(terminate(send(last, 1, 0, 0)[:18])), frame(invalidate(7, 1)))
	f.Fuzz(func(t *testing.T, script, a, b []byte) {
		x := connected()
		for i := 0; i+4 <= len(script) && i < 400; i += 4 {
			payload := a
			if script[i+1]&1 != 0 {
				payload = b
			}
			payload = payload[:min(len(payload), 2000)]
			x.segment(int(script[i+1]>>1&1), tcpstream.Flags(script[i]), payload)
			s := &x.all[len(x.all)-1]
			s.Seq += uint32(script[i+2]) << (script[i+3] & 31)
			s.Ack -= uint32(script[i+3])
			s.Window = uint16(script[i+2] & 1)
			s.Payload = s.Payload[:len(s.Payload)*int(255-script[i+3]>>6)/255]
		}
		track(x.all).bounded(t)
	})
}
