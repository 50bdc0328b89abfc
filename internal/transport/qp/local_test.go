package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

func (x *sendTest) window(typ mr.WindowType) *mr.Window {
	w, err := x.memory.AllocWindow(x.pd, typ)
	x.check(err)
	return w
}

func (x *sendTest) bind(w *mr.Window, n uint64) WorkRequest {
	return WorkRequest{Op: BindWindow, Bind: Bind{
		Window: w, Region: x.region, NewRKey: w.RKey() + 1, Addr: sendVA, Length: n, Access: mr.RemoteRead,
	}}
}

func TestWindowsAreBoundInOrder(t *testing.T) {
	x := newSendTest(t, RC, nil)
	w := x.window(mr.Type2)
	fenced := x.bind(w, 100)
	fenced.Flags = Fence
	x.post(x.read(1), fenced, x.send(1))
	x.wantSent("+0 RDMA READ Request A")
	if w.Bound() {
		t.Fatal("bound before the fence is open")
	}
	x.readAnswer(wire.OpReadResponseOnly, 0, pattern(1))
	x.wantSent("+1 SEND Only 1 A")
	if !w.Bound() {
		t.Fatal("not bound")
	}
	x.wantDone("1 success", "2 success")
	x.say("a bind is not done twice when the queue goes back")
	x.post(x.send(1), x.bind(x.window(mr.Type1), 10), x.send(1))
	x.wantSent("+2 SEND Only 1 A", "+3 SEND Only 1 A")
	x.advance(sendTimeout)
	x.wantSent("+1 SEND Only 1 A", "+2 SEND Only 1 A", "+3 SEND Only 1 A")
	x.ack(3)
	x.wantDone("3 success", "1 success", "2 success", "3 success")
}

func TestWindowsOfType2CloseWithTheQueuePair(t *testing.T) {
	for _, to := range []State{Reset, Error} {
		x := newSendTest(t, RC, nil)
		one, two := x.window(mr.Type1), x.window(mr.Type2)
		x.post(x.bind(one, 10), x.bind(two, 10))
		x.wantSilence()
		x.wantDone("1 success", "2 success")
		x.check(x.q.Modify(x.now, to, Attributes{}))
		if !one.Bound() || two.Bound() {
			t.Errorf("in %v: type 1 bound %v, type 2 %v", to, one.Bound(), two.Bound())
		}
	}
}

func TestFailedBindEndsTheQueuePairInItsTurn(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.bind(x.window(mr.Type2), 1<<40), x.send(1))
	x.wantSent("+0 SEND Only 1 A")
	x.wantDone()
	x.say("the request before is lost, sent again and completed")
	x.advance(sendTimeout)
	x.wantSent("+0 SEND Only 1 A")
	x.ack(0)
	x.wantDone("1 success", "2 memory bind operation error", "3 Work Request Flushed Error")
	x.wantState(Error)
}

func TestInvalidationWaitsForWhatMayBeSentAgain(t *testing.T) {
	x := newSendTest(t, RC, nil)
	fast, err := x.memory.AllocFast(x.pd, 4096)
	x.check(err)
	x.check(x.memory.FastRegister(x.pd, fast, 1, x.buf[:4096], 0, mr.LocalWrite))
	x.post(
		WorkRequest{Op: Send, SGL: []SGE{{Length: 10, LKey: fast.LKey()}}},
		WorkRequest{Op: LocalInvalidate, Invalidate: fast.LKey()},
		x.send(1),
		WorkRequest{Op: LocalInvalidate, Invalidate: 0x123},
	)
	x.wantSent("+0 SEND Only 10 A")
	x.advance(sendTimeout)
	x.wantSent("+0 SEND Only 10 A")
	x.ack(0)
	x.wantSent("+1 SEND Only 1 A")
	x.wantDone("1 success", "2 success")
	x.ack(1)
	x.wantSilence()
	x.wantDone("3 success", "4 local QP operation error")
}

func TestKeyThatGoesWhileAMessageIsSent(t *testing.T) {
	for _, test := range []struct {
		name   string
		answer func(x *sendTest)
		events map[EventKind]int
	}{
		{"an ACK", func(x *sendTest) { x.ack(0) }, map[EventKind]int{EventState: 1}},
		{
			"a NAK of the second, for which it is too late", func(x *sendTest) { x.nak(1, wire.NakPSNSequence) },
			map[EventKind]int{EventState: 1, EventNakReceived: 1},
		},
		{
			"a READ response that nobody asked for", func(x *sendTest) { x.readAnswer(wire.OpReadResponseOnly, 1, nil) },
			map[EventKind]int{EventState: 1},
		},
	} {
		x := newSendTest(t, RC, nil)
		other, err := x.memory.Register(x.pd, x.buf[:600], 0, mr.LocalWrite)
		x.check(err)
		x.post(x.send(1), WorkRequest{Op: Send, SGL: []SGE{{Length: 600, LKey: other.LKey()}}}, x.send(1))
		if a, b := describe(x.emit()), describe(x.emit()); a != "+0 SEND Only 1 A" || b != "+1 SEND First 256" {
			t.Fatal(a, b)
		}
		x.check(x.memory.Deregister(other))
		x.wantSilence()
		x.say("the first request may still succeed, and does by %s", test.name)
		x.wantState(RTS)
		test.answer(x)
		x.wantDone("1 success", "2 local protection error", "3 Work Request Flushed Error")
		x.wantState(Error)
		x.wantEvents(test.events)
	}
}

func TestKeyThatGoesBeforeTheRetransmission(t *testing.T) {
	x := newSendTest(t, RC, nil)
	other, err := x.memory.Register(x.pd, x.buf[:600], 0, mr.LocalWrite)
	x.check(err)
	x.post(WorkRequest{Op: Send, SGL: []SGE{{Length: 10, LKey: other.LKey()}}})
	x.wantSent("+0 SEND Only 10 A")
	x.check(x.memory.Deregister(other))
	x.advance(sendTimeout)
	x.wantSilence()
	x.wantDone("1 local protection error")
	x.wantState(Error)
}
