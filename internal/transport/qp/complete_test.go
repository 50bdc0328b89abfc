package qp

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// pattern is what a responder's memory would hold.
func pattern(n int) []byte {
	data := make([]byte, n)
	for i := range data {
		data[i] = byte(200 - i*3)
	}
	return data
}

// wantMemory checks the test's memory.
func (x *sendTest) wantMemory(from int, want []byte) {
	x.t.Helper()
	if !bytes.Equal(x.buf[from:from+len(want)], want) {
		x.t.Fatal("wrong bytes in memory")
	}
}

func TestAnAcknowledgementCompletesAllBefore(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(300), x.send(1), x.send(1), x.send(1))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND First 256", "+2 SEND Last 44 A", "+3 SEND Only 1 A", "+4 SEND Only 1 A", "+5 SEND Only 1 A")
	x.say("one in the middle of a message completes what lies before it")
	x.ack(1)
	x.wantDone("1 success")
	x.wantDeadline(sendTimeout)
	x.say("an older one is no news, and neither is the same again")
	x.ack(0)
	x.ack(1)
	x.wantDone()
	x.say("the last completes everything")
	x.ack(5)
	x.wantDone("2 success", "3 success", "4 success", "5 success")
	x.wantDeadline(0)
	x.wantSilence()
	x.wantEvents(map[EventKind]int{})
}

func TestEveryOperationCompletes(t *testing.T) {
	plain := func(x *sendTest) { x.ack(1) }
	for _, test := range []struct {
		wr     WorkRequest
		n      int
		sent   []string
		answer func(x *sendTest)
		bytes  uint32
	}{
		{WorkRequest{Op: Send}, 300, []string{"+0 SEND First 256", "+1 SEND Last 44 A"}, plain, 0},
		{WorkRequest{Op: SendImmediate}, 300, []string{"+0 SEND First 256", "+1 SEND Last Immediate 44 A"}, plain, 0},
		{WorkRequest{Op: SendInvalidate}, 300, []string{"+0 SEND First 256", "+1 SEND Last Invalidate 44 A"}, plain, 0},
		{WorkRequest{Op: Write}, 300, []string{"+0 RDMA WRITE First 256", "+1 RDMA WRITE Last 44 A"}, plain, 0},
		{WorkRequest{Op: WriteImmediate}, 300, []string{"+0 RDMA WRITE First 256", "+1 RDMA WRITE Last Immediate 44 A"}, plain, 0},
		{WorkRequest{Op: Read}, 300, []string{"+0 RDMA READ Request A"}, func(x *sendTest) {
			x.readAnswer(wire.OpReadResponseFirst, 0, pattern(256))
			x.readAnswer(wire.OpReadResponseLast, 1, pattern(44))
		}, 300},
		{WorkRequest{Op: CompareSwap}, 8, []string{"+0 Compare Swap A"}, func(x *sendTest) { x.answer(wire.OpAtomicAcknowledge, 0, ackUnlimited, nil) }, 8},
		{WorkRequest{Op: FetchAdd}, 8, []string{"+0 Fetch Add A"}, func(x *sendTest) { x.answer(wire.OpAtomicAcknowledge, 0, ackUnlimited, nil) }, 8},
		{WorkRequest{Op: Flush}, 0, []string{"+0 FLUSH A"}, func(x *sendTest) { x.readAnswer(wire.OpReadResponseOnly, 0, nil) }, 0},
		{WorkRequest{Op: AtomicWrite}, 8, []string{"+0 ATOMIC WRITE 8 A"}, func(x *sendTest) { x.readAnswer(wire.OpReadResponseOnly, 0, nil) }, 0},
	} {
		for _, typ := range []Type{RC, XRCSend} {
			t.Run(typ.String()+" "+test.wr.Op.String(), func(t *testing.T) {
				x := newSendTest(t, typ, nil)
				wr := test.wr
				wr.ID, wr.SGL = 77, x.local(0, test.n)
				x.post(wr)
				x.wantSent(test.sent...)
				x.wantDone()
				test.answer(x)
				c, ok := x.q.Completion()
				if want := (Completion{ID: 77, Op: wr.Op, QPN: 0x12, Bytes: test.bytes}); !ok || c != want {
					t.Errorf("completion %+v, want %+v", c, want)
				}
				x.wantDeadline(0)
				x.wantEvents(map[EventKind]int{})
			})
		}
	}
}

func TestOnlySignaledRequestsAreCompleted(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.SignalAll = false })
	loud := x.send(1)
	loud.Flags = Signaled
	x.post(x.send(1), loud, x.send(1), x.send(1))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND Only 1 A", "+2 SEND Only 1 A", "+3 SEND Only 1 A")
	x.ack(2)
	x.wantDone("2 success")
	x.say("failures are always told")
	x.nak(3, wire.NakRemoteOperation)
	x.wantDone("4 remote operation error")
}

// The rows of the completer's table: a response to something that is outstanding.
func TestResponsesToOutstandingRequests(t *testing.T) {
	type row struct {
		name   string
		change func(c *Config, a *Attributes)
		give   func(x *sendTest)
		sent   []string
		done   []string
		state  State
		events map[EventKind]int
	}
	policy := func(set func(p *Policy)) func(*Config, *Attributes) {
		return func(c *Config, _ *Attributes) { set(&c.Policy) }
	}
	fatal := func(status string) []string {
		return []string{"1 success", "2 " + status, "3 Work Request Flushed Error", "4 Work Request Flushed Error"}
	}
	dead := map[EventKind]int{EventState: 1, EventNakReceived: 1}
	syndrome := func(psn int, s wire.Syndrome) func(x *sendTest) {
		return func(x *sendTest) { x.answer(wire.OpAcknowledge, psn, s, nil) }
	}
	// Outstanding: SEND +0; SEND +1 to +2; READ of 600 bytes +3 to +5; SEND +6.
	tail := []string{"+3 RDMA READ Request A", "+6 SEND Only 1 A"}
	for _, test := range []row{
		{"ACK beyond what was sent", nil, func(x *sendTest) { x.ack(106) }, nil, nil, RTS, map[EventKind]int{EventGhostAck: 1}},
		{
			"ACK beyond what was sent, policy", policy(func(p *Policy) { p.AcceptGhostAck = true }),
			func(x *sendTest) { x.ack(106) }, tail,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{EventGhostAck: 1, EventRetransmit: 1},
		},
		{"ACK of half the space before", nil, func(x *sendTest) { x.ack(-1000) }, nil, nil, RTS, map[EventKind]int{}},
		{
			"ACK of a SEND behind a READ is an implied NAK", nil, func(x *sendTest) { x.ack(6) }, tail,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{EventRetransmit: 1},
		},
		{
			"ACK of a SEND behind a READ, policy", policy(func(p *Policy) { p.ReadGap = ReadGapWait }),
			func(x *sendTest) { x.ack(6) }, nil,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{},
		},
		{"ACK within a READ", nil, func(x *sendTest) { x.ack(3) }, nil, []string{"1 success", "2 success"}, RTS, map[EventKind]int{}},
		{
			"first response of the READ completes the SENDs before", nil,
			func(x *sendTest) { x.readAnswer(wire.OpReadResponseFirst, 3, pattern(256)) }, nil,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{},
		},
		{
			"gap in the READ's responses", nil, func(x *sendTest) { x.readAnswer(wire.OpReadResponseMiddle, 4, pattern(256)) }, tail,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{EventGap: 1, EventRetransmit: 1},
		},
		{
			"gap in the READ's responses, policy", policy(func(p *Policy) { p.ReadGap = ReadGapWait }),
			func(x *sendTest) { x.readAnswer(wire.OpReadResponseMiddle, 4, pattern(256)) }, nil,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{EventGap: 1},
		},
		{
			"READ response for a SEND", nil, func(x *sendTest) { x.readAnswer(wire.OpReadResponseOnly, 1, pattern(4)) }, nil,
			fatal("bad response error"), Error,
			map[EventKind]int{EventState: 1, EventBadResponse: 1},
		},
		{
			"NAK sequence in the middle of a message", nil, func(x *sendTest) { x.nak(2, wire.NakPSNSequence) },
			append([]string{"+2 SEND Last 44 A"}, tail...),
			[]string{"1 success"},
			RTS,
			map[EventKind]int{EventNakReceived: 1, EventRetransmit: 1},
		},
		{"NAK sequence of an acknowledged PSN", nil, func(x *sendTest) { x.nak(-1, wire.NakPSNSequence) }, nil, nil, RTS, map[EventKind]int{}},
		{"NAK sequence of an unsent PSN", nil, func(x *sendTest) { x.nak(7, wire.NakPSNSequence) }, nil, nil, RTS, map[EventKind]int{EventGhostAck: 1}},
		{"NAK invalid request", nil, func(x *sendTest) { x.nak(1, wire.NakInvalidRequest) }, nil, fatal("remote invalid request error"), Error, dead},
		{"NAK remote access", nil, func(x *sendTest) { x.nak(2, wire.NakRemoteAccess) }, nil, fatal("remote access error"), Error, dead},
		{"NAK remote operation", nil, func(x *sendTest) { x.nak(1, wire.NakRemoteOperation) }, nil, fatal("remote operation error"), Error, dead},
		{
			"NAK of the READ", nil, func(x *sendTest) { x.nak(3, wire.NakRemoteAccess) }, nil,
			[]string{"1 success", "2 success", "3 remote access error", "4 Work Request Flushed Error"},
			Error, dead,
		},
		{
			"fatal NAK behind a READ whose data is lost", nil, func(x *sendTest) { x.nak(6, wire.NakRemoteAccess) }, tail,
			[]string{"1 success", "2 success"},
			RTS,
			map[EventKind]int{EventNakReceived: 1, EventRetransmit: 1},
		},
		{"NAK of a reserved code", nil, func(x *sendTest) { x.nak(1, 5) }, nil, nil, RTS, map[EventKind]int{EventDropped: 1}},
		{"NAK invalid RD request", nil, func(x *sendTest) { x.nak(1, 4) }, nil, nil, RTS, map[EventKind]int{EventDropped: 1}},
		{
			"NAK of a reserved code, policy", policy(func(p *Policy) { p.FatalReserved = true }),
			func(x *sendTest) { x.nak(1, 31) }, nil, fatal("remote operation error"), Error, dead,
		},
		{"reserved kind of AETH", nil, syndrome(1, 0x40), nil, nil, RTS, map[EventKind]int{EventDropped: 1}},
		{"top bit of the AETH", nil, syndrome(1, 0x9F), nil, nil, RTS, map[EventKind]int{EventDropped: 1}},
		{
			"READ response with a NAK's syndrome", nil,
			func(x *sendTest) { x.answer(wire.OpReadResponseFirst, 3, 0x60, pattern(256)) }, nil,
			[]string{"1 success", "2 success", "3 bad response error", "4 Work Request Flushed Error"},
			Error,
			map[EventKind]int{EventState: 1, EventBadResponse: 1},
		},
		{
			"response of another service", nil, func(x *sendTest) {
				p := x.response(wire.OpAcknowledge, 6, ackUnlimited, 0, nil)
				p.BTH().SetOpcode(wire.BaseXRC + wire.OpAcknowledge)
				x.answerRaw(p)
			}, nil, nil, RTS, map[EventKind]int{EventDropped: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, RC, test.change)
			x.post(x.send(1), x.send(300), x.read(600), x.send(1))
			x.wantSent("+0 SEND Only 1 A", "+1 SEND First 256", "+2 SEND Last 44 A", "+3 RDMA READ Request A", "+6 SEND Only 1 A")
			test.give(x)
			x.wantSent(test.sent...)
			x.wantDone(test.done...)
			x.wantState(test.state)
			x.wantEvents(test.events)
		})
	}
}

func TestRNRNakInTheTable(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(300))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND First 256", "+2 SEND Last 44 A")
	x.rnr(1, 12)
	x.wantDone("1 success")
	x.wantSilence()
	x.wantEvents(map[EventKind]int{EventRNRReceived: 1})
}

// Answers to a READ of 600 bytes, to an atomic, to an ATOMIC WRITE.
func TestAnswersHaveToFit(t *testing.T) {
	for _, test := range []struct {
		name string
		give func(x *sendTest)
		want []string
	}{
		{"MIDDLE first", func(x *sendTest) { x.readAnswer(wire.OpReadResponseMiddle, 0, pattern(256)) }, []string{"1 bad response error"}},
		{"short FIRST", func(x *sendTest) { x.readAnswer(wire.OpReadResponseFirst, 0, pattern(255)) }, []string{"1 bad response error"}},
		{"long FIRST", func(x *sendTest) { x.readAnswer(wire.OpReadResponseFirst, 0, pattern(260)) }, []string{"1 bad response error"}},
		{"ONLY for three", func(x *sendTest) { x.readAnswer(wire.OpReadResponseOnly, 0, pattern(256)) }, []string{"1 bad response error"}},
		{"atomic for READ", func(x *sendTest) { x.answer(wire.OpAtomicAcknowledge, 0, ackUnlimited, nil) }, []string{"1 bad response error"}},
		{"FIRST twice", func(x *sendTest) {
			x.readAnswer(wire.OpReadResponseFirst, 0, pattern(256))
			x.readAnswer(wire.OpReadResponseFirst, 1, pattern(256))
		}, []string{"1 bad response error"}},
		{"LAST too early", func(x *sendTest) {
			x.readAnswer(wire.OpReadResponseFirst, 0, pattern(256))
			x.readAnswer(wire.OpReadResponseLast, 1, pattern(256))
		}, []string{"1 bad response error"}},
		{"short LAST", func(x *sendTest) {
			x.readAnswer(wire.OpReadResponseFirst, 0, pattern(256))
			x.readAnswer(wire.OpReadResponseMiddle, 1, pattern(256))
			x.readAnswer(wire.OpReadResponseLast, 2, pattern(87))
		}, []string{"1 bad response error"}},
		{"READ response for an atomic", func(x *sendTest) {
			x.fullRead(0)
			x.readAnswer(wire.OpReadResponseOnly, 3, pattern(8))
		}, []string{"1 success", "2 bad response error"}},
		{"data for an ATOMIC WRITE", func(x *sendTest) {
			x.fullRead(0)
			x.answer(wire.OpAtomicAcknowledge, 3, ackUnlimited, nil)
			x.readAnswer(wire.OpReadResponseOnly, 4, pattern(8))
		}, []string{"1 success", "2 success", "3 bad response error"}},
		{"all as it should be", func(x *sendTest) {
			x.fullRead(0)
			x.answer(wire.OpAtomicAcknowledge, 3, ackUnlimited, nil)
			x.readAnswer(wire.OpReadResponseOnly, 4, nil)
		}, []string{"1 success", "2 success", "3 success"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, RC, nil)
			x.post(x.read(600), WorkRequest{Op: FetchAdd, SGL: x.local(0, 8)}, WorkRequest{Op: AtomicWrite, SGL: x.local(0, 8)})
			x.wantSent("+0 RDMA READ Request A", "+3 Fetch Add A", "+4 ATOMIC WRITE 8 A")
			test.give(x)
			want := test.want
			if last := want[len(want)-1]; last[2:] != "success" {
				for id := len(want) + 1; id <= 3; id++ {
					want = append(want, string(rune('0'+id))+" Work Request Flushed Error")
				}
			}
			x.wantDone(want...)
		})
	}
}

// fullRead answers a READ of 600 bytes.
func (x *sendTest) fullRead(psn int) {
	data := pattern(600)
	x.readAnswer(wire.OpReadResponseFirst, psn, data[:256])
	x.readAnswer(wire.OpReadResponseMiddle, psn+1, data[256:512])
	x.readAnswer(wire.OpReadResponseLast, psn+2, data[512:])
}

func TestReadResponsesArePlaced(t *testing.T) {
	x := newSendTest(t, RC, nil)
	wr := x.read(0)
	wr.SGL = []SGE{x.local(1000, 100)[0], x.local(3000, 400)[0], x.local(2000, 100)[0]}
	x.post(wr)
	x.wantSent("+0 RDMA READ Request A")
	x.fullRead(0)
	c, _ := x.q.Completion()
	if c.Status != Success || c.Op != Read || c.Bytes != 600 || c.QPN != 0x12 {
		t.Errorf("completion %+v", c)
	}
	data := pattern(600)
	x.wantMemory(1000, data[:100])
	x.wantMemory(3000, data[100:500])
	x.wantMemory(2000, data[500:])
	x.wantDeadline(0)
}

func TestReadOfNothing(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(WorkRequest{Op: Read}, x.send(1))
	x.wantSent("+0 RDMA READ Request A", "+1 SEND Only 1 A")
	x.readAnswer(wire.OpReadResponseOnly, 0, nil)
	x.wantDone("1 success")
}

func TestAtomicResultIsInOurByteOrder(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(WorkRequest{Op: CompareSwap, SGL: x.local(64, 8), RemoteAddr: 0x5000})
	x.wantSent("+0 Compare Swap A")
	p := x.response(wire.OpAtomicAcknowledge, 0, ackUnlimited, 1, nil)
	wire.AtomicAckETH(p.View(wire.HdrAtomicAckETH)).SetOriginal(0x1122334455667788)
	x.answerRaw(p)
	if got := binary.NativeEndian.Uint64(x.buf[64:]); got != 0x1122334455667788 {
		t.Errorf("memory has %#x", got)
	}
	if c, _ := x.q.Completion(); c.Bytes != 8 || c.Op != CompareSwap {
		t.Errorf("completion %+v", c)
	}
}

func TestReadIntoMemoryThatMayNotBeWritten(t *testing.T) {
	x := newSendTest(t, RC, nil)
	readOnly, err := x.memory.Register(x.pd, x.buf[:512], 0, 0)
	x.check(err)
	wr := x.read(0)
	wr.SGL = []SGE{{Length: 100, LKey: readOnly.LKey()}}
	x.post(wr)
	x.wantSent("+0 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseOnly, 0, pattern(100))
	x.wantDone("1 local protection error")
	x.wantState(Error)
}

func TestResponsesAreIgnoredWithoutRequests(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.say("nothing outstanding: an answer to the next PSN, the last and one far off")
	x.ack(0)
	x.ack(-1)
	x.ack(1 << 20)
	x.readAnswer(wire.OpReadResponseOnly, 0, pattern(10))
	x.wantEvents(map[EventKind]int{EventGhostAck: 3})
	x.check(x.q.Modify(x.now, Error, Attributes{}))
	x.ack(0)
	x.wantEvents(map[EventKind]int{EventState: 1, EventDropped: 1})
	x.wantDone()
}

func TestCongestionNotificationIsTold(t *testing.T) {
	x := newSendTest(t, RC, nil)
	p := wire.Packet(make([]byte, wire.BTHLen+wire.CNPLen))
	p.BTH().SetOpcode(wire.OpcodeRoCECNP)
	x.answerRaw(p)
	x.wantEvents(map[EventKind]int{EventCNP: 1})
}
