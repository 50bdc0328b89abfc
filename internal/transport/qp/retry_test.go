package qp

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestRetriesEndAfterTheExactTime(t *testing.T) {
	x := newSendTest(t, RC, nil) // RetryCount 2
	x.post(x.send(300), x.send(1))
	burst := []string{"+0 SEND First 256", "+1 SEND Last 44 A", "+2 SEND Only 1 A"}
	x.wantSent(burst...)
	for range 2 {
		x.wantDeadline(sendTimeout)
		x.advance(sendTimeout - 1)
		x.wantSilence()
		x.say("the timeout; everything is sent again")
		x.advance(1)
		x.wantDeadline(0)
		x.wantSent(burst...)
	}
	x.advance(sendTimeout - 1)
	x.wantDone()
	x.advance(1)
	x.wantDone("1 transport retry counter exceeded", "2 Work Request Flushed Error")
	x.wantState(Error)
	x.wantSilence()
	x.wantDeadline(0)
	x.wantEvents(map[EventKind]int{EventTimeout: 3, EventRetransmit: 2, EventState: 1})
}

func TestTimeoutZeroIsNone(t *testing.T) {
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) { a.Timeout = 0 })
	x.post(x.send(1))
	x.wantSent("+0 SEND Only 1 A")
	x.wantDeadline(0)
	x.advance(time.Hour)
	x.wantSilence()
}

func TestRetryCountOfSeven(t *testing.T) {
	for _, test := range []struct {
		name    string
		endless bool
	}{{"is seven", false}, {"is without end by policy", true}} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, RC, func(c *Config, a *Attributes) { a.RetryCount, c.Policy.InfiniteRetry7 = 7, test.endless })
			x.post(x.send(1))
			for range 8 {
				x.wantSent("+0 SEND Only 1 A")
				x.advance(sendTimeout)
			}
			if test.endless {
				x.wantSent("+0 SEND Only 1 A")
				return
			}
			x.wantDone("1 transport retry counter exceeded")
		})
	}
}

func TestProgressRefillsTheCounter(t *testing.T) {
	x := newSendTest(t, RC, nil)
	for i := range 10 {
		x.post(x.send(1))
		want := fmt.Sprintf("+%d SEND Only 1 A", i)
		x.wantSent(want)
		for range 2 {
			x.advance(sendTimeout)
			x.wantSent(want)
		}
		x.ack(i)
		x.wantDone("1 success")
	}
}

func TestGoBackBeginsBehindTheAcknowledged(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(1), x.send(1), x.send(1), x.send(1))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND Only 1 A", "+2 SEND Only 1 A", "+3 SEND Only 1 A", "+4 SEND Only 1 A")
	x.advance(sendTimeout / 2)
	x.ack(1)
	x.wantDone("1 success", "2 success")
	x.wantDeadline(sendTimeout)
	x.advance(sendTimeout)
	x.wantSent("+2 SEND Only 1 A", "+3 SEND Only 1 A", "+4 SEND Only 1 A")
}

func TestSequenceNaks(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(600), x.send(1))
	x.wantSent("+0 SEND First 256", "+1 SEND Middle 256", "+2 SEND Last 88 A", "+3 SEND Only 1 A")
	x.say("a NAK, and the same again before anything is sent: one burst")
	x.nak(1, wire.NakPSNSequence)
	x.nak(1, wire.NakPSNSequence)
	x.wantDeadline(0)
	rest := []string{"+1 SEND Middle 256", "+2 SEND Last 88 A", "+3 SEND Only 1 A"}
	x.wantSent(rest...)
	x.wantDeadline(sendTimeout)
	x.nak(1, wire.NakPSNSequence)
	x.wantSent(rest...)
	x.say("the third without progress is one too many")
	x.nak(1, wire.NakPSNSequence)
	x.wantDone("1 transport retry counter exceeded", "2 Work Request Flushed Error")
	x.wantState(Error)
}

func TestRetransmissionIsIdentical(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(WorkRequest{Op: WriteImmediate, Immediate: 9, SGL: x.local(3, 600), RemoteAddr: 0x5000, RKey: 7})
	want := []string{"+0 RDMA WRITE First 256", "+1 RDMA WRITE Middle 256", "+2 RDMA WRITE Last Immediate 88 A"}
	first := x.wantSent(want...)
	x.advance(sendTimeout)
	for i, p := range x.wantSent(want...) {
		if string(p) != string(first[i]) {
			t.Errorf("packet %d: % x, before % x", i, p, first[i])
		}
	}
}

func TestLateAcknowledgementDuringTheResend(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(600), x.send(1))
	all := []string{"+0 SEND Only 1 A", "+1 SEND First 256", "+2 SEND Middle 256", "+3 SEND Last 88 A", "+4 SEND Only 1 A"}
	x.wantSent(all...)
	x.advance(sendTimeout)
	if got := describe(x.emit()); got != all[0] {
		t.Fatal(got)
	}
	x.say("the acknowledgement of +2 comes: what it covers is not sent again")
	x.ack(2)
	x.wantDone("1 success")
	x.wantSent(all[3:]...)
	x.say("and one of everything, after the next timeout and before the resend")
	x.advance(sendTimeout)
	x.ack(4)
	x.wantDone("2 success", "3 success")
	x.wantSilence()
	x.wantDeadline(0)
	x.post(x.send(1))
	x.wantSent("+5 SEND Only 1 A")
}

func TestReadIsAskedForAgainFromTheMiddle(t *testing.T) {
	for _, test := range []struct {
		name  string
		again []uint8 // opcodes of the rest
	}{
		{"answered as a READ of its own", []uint8{wire.OpReadResponseFirst, wire.OpReadResponseLast}},
		{"answered with the rest", []uint8{wire.OpReadResponseMiddle, wire.OpReadResponseLast}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, RC, nil)
			x.post(x.read(600), x.send(1))
			x.wantSent("+0 RDMA READ Request A", "+3 SEND Only 1 A")
			data := pattern(600)
			x.readAnswer(wire.OpReadResponseFirst, 0, data[:256])
			x.say("the second response is lost, the third tells of it at once")
			x.readAnswer(wire.OpReadResponseLast, 2, data[512:])
			sent := x.wantSent("+1 RDMA READ Request A", "+3 SEND Only 1 A")
			if h := wire.RETH(sent[0].View(wire.HdrRETH)); h.VA() != 0x5000+256 || h.DMALen() != 344 || h.RKey() != 0x77 {
				t.Errorf("RETH % x", h)
			}
			x.say("signs of the same loss that are under way change nothing")
			x.readAnswer(wire.OpReadResponseLast, 2, data[512:])
			x.ack(3)
			x.wantSilence()
			x.readAnswer(test.again[0], 1, data[256:512])
			x.readAnswer(test.again[1], 2, data[512:])
			x.wantDone("1 success")
			x.wantMemory(0, data)
			x.ack(3)
			x.wantDone("2 success")
			x.wantEvents(map[EventKind]int{EventGap: 2, EventRetransmit: 1})
		})
	}
}

func TestSignsOfALossCountAgainAfterTheTimeout(t *testing.T) {
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) { a.RetryCount = 7 })
	x.post(x.read(600))
	x.wantSent("+0 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseMiddle, 1, pattern(256))
	x.wantSent("+0 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseMiddle, 1, pattern(256))
	x.wantSilence()
	x.advance(sendTimeout)
	x.wantSent("+0 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseMiddle, 1, pattern(256))
	x.wantSent("+0 RDMA READ Request A")
}

func TestLastResponseIsAskedForAlone(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.read(600))
	x.wantSent("+0 RDMA READ Request A")
	data := pattern(600)
	x.readAnswer(wire.OpReadResponseFirst, 0, data[:256])
	x.readAnswer(wire.OpReadResponseMiddle, 1, data[256:512])
	x.say("only the timer helps")
	x.advance(sendTimeout)
	x.wantSent("+2 RDMA READ Request A")
	x.readAnswer(wire.OpReadResponseOnly, 2, data[512:])
	x.wantDone("1 success")
	x.wantMemory(0, data)
}

func TestLostReadRequestBehindASend(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.read(10), x.send(1), x.read(10))
	all := []string{"+0 RDMA READ Request A", "+1 SEND Only 1 A", "+2 RDMA READ Request A"}
	x.wantSent(all...)
	x.say("the response of the second READ passes the first and the SEND by")
	x.readAnswer(wire.OpReadResponseOnly, 2, pattern(10))
	x.wantSent(all...)
	x.wantDone()
	x.readAnswer(wire.OpReadResponseOnly, 0, pattern(10))
	x.readAnswer(wire.OpReadResponseOnly, 2, pattern(10))
	x.wantDone("1 success", "2 success", "3 success")
}

func TestNotReadyIsWaitedFor(t *testing.T) {
	x := newSendTest(t, RC, nil) // RNRRetry 1
	x.post(x.send(300), x.send(1))
	burst := []string{"+0 SEND First 256", "+1 SEND Last 44 A", "+2 SEND Only 1 A"}
	x.wantSent(burst...)
	x.rnr(0, 12)
	const wait = 640 * time.Microsecond
	x.wantDeadline(wait)
	x.say("nothing is sent before, nor is an RNR NAK of the same burst counted")
	x.rnr(0, 12)
	x.post(x.send(1))
	x.advance(wait - 1)
	x.wantSilence()
	x.advance(1)
	x.wantSent(append(burst, "+3 SEND Only 1 A")...)
	x.wantDeadline(sendTimeout)
	x.say("the second is one too many")
	x.rnr(0, 12)
	x.wantDone("1 RNR retry counter exceeded", "2 Work Request Flushed Error", "1 Work Request Flushed Error")
}

func TestNotReadyTimers(t *testing.T) {
	for code, want := range map[uint8]time.Duration{
		0: 655360 * time.Microsecond, 1: 10 * time.Microsecond, 20: 10240 * time.Microsecond, 31: 491520 * time.Microsecond,
	} {
		x := newSendTest(t, RC, nil)
		x.post(x.send(1))
		x.wantSent("+0 SEND Only 1 A")
		x.rnr(0, code)
		x.wantDeadline(want)
	}
}

func TestRNRRetrySevenIsWithoutEnd(t *testing.T) {
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) { a.RNRRetry = 7 })
	x.post(x.send(1))
	for range 50 {
		x.wantSent("+0 SEND Only 1 A")
		x.rnr(0, 1)
		x.advance(10 * time.Microsecond)
	}
	x.wantSent("+0 SEND Only 1 A")
	x.ack(0)
	x.wantDone("1 success")
}

func TestAcknowledgementWhileNotReady(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(1))
	x.wantSent("+0 SEND Only 1 A", "+1 SEND Only 1 A")
	x.rnr(0, 0)
	x.say("a late acknowledgement of +0; the wait goes on, longer than a timeout")
	x.ack(0)
	x.wantDone("1 success")
	x.wantSilence()
	const wait = 655360 * time.Microsecond
	x.wantDeadline(wait)
	x.advance(wait)
	x.wantSent("+1 SEND Only 1 A")
	x.wantEvents(map[EventKind]int{EventRNRReceived: 1})
}
