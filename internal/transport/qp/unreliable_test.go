package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestUCCompletesWhatIsSent(t *testing.T) {
	x := newSendTest(t, UC, nil)
	x.post(x.send(300), WorkRequest{Op: WriteImmediate, SGL: x.local(0, 5), Flags: Solicited}, x.send(1))
	if got := describe(x.emit()); got != "+0 SEND First 256" {
		t.Fatal(got)
	}
	x.wantDone()
	x.wantSent("+1 SEND Last 44", "+2 RDMA WRITE Only Immediate 5 S", "+3 SEND Only 1")
	x.wantDone("1 success", "2 success", "3 success")
	x.wantDeadline(0)
	x.say("responses mean nothing")
	p := x.response(wire.OpAcknowledge, 3, ackUnlimited, 0, nil)
	x.answerRaw(p)
	x.wantSilence()
}

func TestUCSendsLongMessagesWithoutWindow(t *testing.T) {
	x := newSendTest(t, UC, nil)
	x.post(x.send(1 << 16))
	n := 0
	for p := x.emit(); p != nil; p = x.emit() {
		n++
	}
	if n != 256 {
		t.Errorf("%d packets", n)
	}
	x.wantDone("1 success")
}

func TestUCErrorStopsTheSendQueueAlone(t *testing.T) {
	x := newSendTest(t, UC, nil)
	x.post(x.send(1), WorkRequest{Op: Send, SGL: []SGE{{Length: 1, LKey: 1}}}, x.send(1))
	x.wantSent("+0 SEND Only 1")
	x.wantDone("1 success", "2 local protection error", "3 Work Request Flushed Error")
	x.wantState(SQE)
	x.post(x.send(1))
	x.wantDone("1 Work Request Flushed Error")
	x.say("back to RTS, and on with the next PSN")
	x.check(x.q.Modify(x.now, RTS, Attributes{}))
	x.post(x.send(1))
	x.wantSent("+1 SEND Only 1")
	x.wantDone("1 success")
}

func TestUCGoesOnBehindAMessageThatBrokeOff(t *testing.T) {
	x := newSendTest(t, UC, nil)
	other, err := x.memory.Register(x.pd, x.buf[:600], 0, mr.LocalWrite)
	x.check(err)
	x.post(WorkRequest{Op: Send, SGL: []SGE{{Length: 600, LKey: other.LKey()}}})
	if got := describe(x.emit()); got != "+0 SEND First 256" {
		t.Fatal(got)
	}
	x.check(x.memory.Deregister(other))
	x.wantSilence()
	x.wantDone("1 local protection error")
	x.check(x.q.Modify(x.now, RTS, Attributes{}))
	x.post(x.send(1))
	x.wantSent("+1 SEND Only 1")
}

func datagram(x *sendTest, n int) WorkRequest {
	wr := x.send(n)
	wr.To, wr.DestQP, wr.QKey = &Address{HopLimit: 7}, 0x99, 0x4321
	return wr
}

func TestUDPacketsSayWhereTheyGo(t *testing.T) {
	x := newSendTest(t, UD, nil)
	own, imm := datagram(x, 256), datagram(x, 3)
	own.QKey = 1 << 31
	imm.Op, imm.Flags = SendImmediate, Solicited
	x.post(datagram(x, 0), own, imm)
	dst := make([]byte, 400)
	n, to := x.q.Emit(x.now, dst)
	p := wire.Packet(dst[:n])
	if h := wire.DETH(p.View(wire.HdrDETH)); to.HopLimit != 7 || p.BTH().DestQP() != 0x99 || h.QKey() != 0x4321 || h.SrcQP() != 0x12 {
		t.Errorf("to %v, % x", to, p)
	}
	x.wantDone("1 success")
	rest := x.wantSent("+1 SEND Only 256", "+2 SEND Only Immediate 3 S")
	if h := wire.DETH(rest[0].View(wire.HdrDETH)); h.QKey() != 0x1234 {
		t.Errorf("Q_Key %#x is not the queue pair's", h.QKey())
	}
	x.wantDone("2 success", "3 success")
}

func TestUDMessageLongerThanAPacket(t *testing.T) {
	x := newSendTest(t, UD, nil)
	x.post(datagram(x, 1), datagram(x, 257), datagram(x, 1))
	x.wantSent("+0 SEND Only 1")
	x.wantDone("1 success", "2 local length error", "3 Work Request Flushed Error")
	x.wantState(SQE)
}

func TestWindowsOfUC(t *testing.T) {
	x := newSendTest(t, UC, nil)
	w := x.window(mr.Type2)
	x.post(x.bind(w, 10), x.send(1))
	x.wantSent("+0 SEND Only 1")
	x.wantDone("1 success", "2 success")
}
