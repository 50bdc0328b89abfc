package qp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// sendTest is a queue pair that sends, in virtual time; the test plays its
// responder. PSNs in its verbs count from the first, which is two before the
// wrap.
type sendTest struct {
	t      testing.TB
	q      *QP
	now    time.Time
	memory *mr.Table
	pd     mr.PD
	region *mr.Region
	buf    []byte
	events []Event
}

const (
	sendPSN     = wire.PSN(0xFFFFFE)
	sendVA      = 0x10000
	sendMTU     = 256
	sendPeerQP  = 0xABCDEF
	sendTimeout = 4096 * time.Nanosecond << 14
)

func newSendTest(t testing.TB, typ Type, change func(c *Config, a *Attributes)) *sendTest {
	t.Helper()
	x := &sendTest{t: t, now: time.Unix(0, 0), memory: mr.NewTable(1), buf: make([]byte, 1<<16)}
	for i := range x.buf {
		x.buf[i] = byte(i*7 + i>>8)
	}
	x.pd = x.memory.AllocPD()
	var err error
	x.region, err = x.memory.Register(x.pd, x.buf, sendVA, mr.LocalWrite|mr.BindWindow)
	x.check(err)
	c := Config{
		Number: 0x12, Type: typ, PD: x.pd, Memory: x.memory, MaxSend: 64, MaxRecv: 4, MaxSGE: 4, Inline: 64, SignalAll: true,
		Trace: func(e Event) { x.events = append(x.events, e) },
	}
	a := Attributes{
		PKey: 0x8001, QKey: 0x1234, DestQP: sendPeerQP, PathMTU: sendMTU, Address: &Address{}, SQPSN: sendPSN,
		MaxRdAtomic: 4, Timeout: 14, RetryCount: 2, RNRRetry: 1,
	}
	if change != nil {
		change(&c, &a)
	}
	x.q, err = New(c)
	x.check(err)
	for _, s := range []State{Init, RTR, RTS} {
		x.check(x.q.Modify(x.now, s, a))
	}
	x.events = nil
	return x
}

func (x *sendTest) check(err error) {
	x.t.Helper()
	if err != nil {
		x.t.Fatal(err)
	}
}

func (x *sendTest) say(format string, args ...any) {
	x.t.Helper()
	x.t.Logf("# "+format, args...)
}

// local is a piece of the test's memory.
func (x *sendTest) local(from, n int) []SGE {
	return []SGE{{Addr: sendVA + uint64(from), Length: uint32(n), LKey: x.region.LKey()}}
}

// post posts requests, which get the IDs 1, 2, ...
func (x *sendTest) post(list ...WorkRequest) {
	x.t.Helper()
	for i, wr := range list {
		if wr.ID == 0 {
			wr.ID = uint64(i + 1)
		}
		x.check(x.q.PostSend(x.now, wr))
	}
}

func (x *sendTest) send(n int) WorkRequest { return WorkRequest{Op: Send, SGL: x.local(0, n)} }

func (x *sendTest) read(n int) WorkRequest {
	return WorkRequest{Op: Read, SGL: x.local(0, n), RemoteAddr: 0x5000, RKey: 0x77}
}

// emit takes one packet, nil if there is none.
func (x *sendTest) emit() wire.Packet {
	dst := make([]byte, sendMTU+100)
	n, to := x.q.Emit(x.now, dst)
	if n == 0 {
		return nil
	}
	if to == nil {
		x.t.Fatal("a packet without address")
	}
	p := wire.Packet(dst[:n])
	if !p.Valid() {
		x.t.Fatalf("invalid packet % x", dst[:n])
	}
	return p
}

// describe is a packet as the tests write it: "+1 SEND Last 44 A", with A for
// AckReq and S for a solicited event.
func describe(p wire.Packet) string {
	name := p.Opcode().String()
	s := fmt.Sprintf("+%d %s", distance(sendPSN, p.PSN()), name[strings.Index(name, " ")+1:])
	if p.Opcode().Info().Payload {
		s += fmt.Sprintf(" %d", len(p.Payload()))
	}
	if p.BTH().AckReq() {
		s += " A"
	}
	if p.BTH().Solicited() {
		s += " S"
	}
	return s
}

// wantSent takes all packets that can be sent now.
func (x *sendTest) wantSent(want ...string) (packets []wire.Packet) {
	x.t.Helper()
	var got []string
	for p := x.emit(); p != nil; p = x.emit() {
		packets, got = append(packets, p), append(got, describe(p))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		x.t.Fatalf("sent\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(want, "\n\t"))
	}
	return packets
}

func (x *sendTest) wantSilence() {
	x.t.Helper()
	x.wantSent()
}

// answer gives the queue pair a response.
func (x *sendTest) answer(op uint8, psn int, s wire.Syndrome, payload []byte) {
	x.answerRaw(x.response(op, psn, s, 0, payload))
}

func (x *sendTest) answerRaw(p wire.Packet) { x.q.Receive(x.now, Inbound{Packet: p}) }

func (x *sendTest) response(op uint8, psn int, s wire.Syndrome, msn uint32, payload []byte) wire.Packet {
	code := x.q.Type().Base() + wire.Opcode(op)
	head := code.Info().HeaderLen()
	pad := -len(payload) & 3
	p := wire.Packet(make([]byte, head+len(payload)+pad))
	p.BTH().SetOpcode(code)
	p.BTH().SetPSN(sendPSN.Add(psn))
	p.BTH().SetPadCount(pad)
	copy(p[head:], payload)
	if h := wire.AETH(p.View(wire.HdrAETH)); h != nil {
		h.SetSyndrome(s)
		h.SetMSN(msn)
	}
	return p
}

var ackUnlimited = wire.NewSyndrome(wire.Ack, wire.CreditsInvalid)

func (x *sendTest) ack(psn int) { x.answer(wire.OpAcknowledge, psn, ackUnlimited, nil) }

func (x *sendTest) nak(psn int, code uint8) {
	x.answer(wire.OpAcknowledge, psn, wire.NewSyndrome(wire.Nak, code), nil)
}

func (x *sendTest) rnr(psn int, timer uint8) {
	x.answer(wire.OpAcknowledge, psn, wire.NewSyndrome(wire.RNRNak, timer), nil)
}

func (x *sendTest) readAnswer(op uint8, psn int, data []byte) { x.answer(op, psn, ackUnlimited, data) }

func (x *sendTest) advance(d time.Duration) {
	x.now = x.now.Add(d)
	x.q.Advance(x.now)
}

// wantDeadline checks after what time there is something to do; 0 is never.
func (x *sendTest) wantDeadline(after time.Duration) {
	x.t.Helper()
	got := x.q.Deadline()
	switch {
	case after == 0 && !got.IsZero():
		x.t.Fatalf("deadline after %v, want none", got.Sub(x.now))
	case after != 0 && got.Sub(x.now) != after:
		x.t.Fatalf("deadline after %v, want %v", got.Sub(x.now), after)
	}
}

// wantDone takes all completions, each as "ID status".
func (x *sendTest) wantDone(want ...string) {
	x.t.Helper()
	var got []string
	for c, ok := x.q.Completion(); ok; c, ok = x.q.Completion() {
		got = append(got, fmt.Sprintf("%d %v", c.ID, c.Status))
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		x.t.Fatalf("completions %q, want %q", got, want)
	}
}

func (x *sendTest) wantState(want State) {
	x.t.Helper()
	if got := x.q.State(); got != want {
		x.t.Fatalf("state %v, want %v", got, want)
	}
}

// wantEvents checks how often each kind came since the last call.
func (x *sendTest) wantEvents(want map[EventKind]int) {
	x.t.Helper()
	got := map[EventKind]int{}
	for _, e := range x.events {
		got[e.Kind]++
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		x.t.Fatalf("events %v, want %v", got, want)
	}
	x.events = nil
}
