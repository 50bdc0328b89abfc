package qp

import (
	"errors"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/mr"
)

// goodAttributes are enough for every transition.
func goodAttributes() Attributes {
	return Attributes{PathMTU: 1024, Address: &Address{}, DestQP: 5, MaxRdAtomic: 1}
}

// inState is a queue pair in a state.
func inState(t *testing.T, typ Type, want State) *QP {
	t.Helper()
	memory := mr.NewTable(1)
	q, err := New(Config{Type: typ, Memory: memory, PD: memory.AllocPD(), MaxSend: 1, MaxRecv: 1})
	if err != nil {
		t.Fatal(err)
	}
	path := map[State][]State{
		Init: {Init}, RTR: {Init, RTR}, RTS: {Init, RTR, RTS}, SQD: {Init, RTR, RTS, SQD}, SQE: {Init, RTR, RTS}, Error: {Error},
	}
	for _, s := range path[want] {
		if err := q.Modify(time.Time{}, s, goodAttributes()); err != nil {
			t.Fatal(err)
		}
	}
	if want == SQE {
		q.sendError(time.Time{})
	}
	if q.State() != want {
		t.Fatalf("state %v, want %v", q.State(), want)
	}
	return q
}

func TestTransitions(t *testing.T) {
	allowed := map[State]string{
		Reset: "RESET INIT ERR", Init: "RESET INIT RTR ERR", RTR: "RESET RTS ERR",
		RTS: "RESET RTS SQD ERR", SQD: "RESET RTS SQD ERR", SQE: "RESET RTS ERR", Error: "RESET ERR",
	}
	for from := Reset; from <= Error; from++ {
		got := ""
		for to := Reset; to <= Error; to++ {
			q := inState(t, UC, from)
			err := q.Modify(time.Time{}, to, goodAttributes())
			var refused *StateError
			switch {
			case err == nil && q.State() == to:
				got += " " + to.String()
			case err == nil, !errors.As(err, &refused), q.State() != from:
				t.Errorf("%v to %v: error %v, state %v", from, to, err, q.State())
			}
		}
		if got[1:] != allowed[from] {
			t.Errorf("from %v to%s, want %s", from, got, allowed[from])
		}
	}
}

func TestAttributesThatATransitionNeeds(t *testing.T) {
	for _, test := range []struct {
		name   string
		typ    Type
		from   State
		change func(a *Attributes)
		ok     bool
	}{
		{"no path MTU", RC, Init, func(a *Attributes) { a.PathMTU = 0 }, false},
		{"odd path MTU", RC, Init, func(a *Attributes) { a.PathMTU = 1500 }, false},
		{"odd path MTU", UD, Init, func(a *Attributes) { a.PathMTU = 1500 }, false},
		{"UD needs none", UD, Init, func(a *Attributes) { *a = Attributes{} }, true},
		{"no address", RC, Init, func(a *Attributes) { a.Address = nil }, false},
		{"long QP number", UC, Init, func(a *Attributes) { a.DestQP = 1 << 24 }, false},
		{"long receive PSN", RC, Init, func(a *Attributes) { a.RQPSN = 1 << 24 }, false},
		{"RNR timer", RC, Init, func(a *Attributes) { a.MinRNRTimer = 32 }, false},
		{"negative depth", RC, Init, func(a *Attributes) { a.MaxDestRdAtomic = -1 }, false},
		{"long send PSN", UD, RTR, func(a *Attributes) { a.SQPSN = 1 << 24 }, false},
		{"timeout", RC, RTR, func(a *Attributes) { a.Timeout = 32 }, false},
		{"longest timeout", RC, RTR, func(a *Attributes) { a.Timeout = 31 }, true},
		{"retry count", RC, RTR, func(a *Attributes) { a.RetryCount = 8 }, false},
		{"RNR retry count", RC, RTR, func(a *Attributes) { a.RNRRetry = 8 }, false},
		{"negative depth", RC, RTR, func(a *Attributes) { a.MaxRdAtomic = -1 }, false},
	} {
		q := inState(t, test.typ, test.from)
		a := goodAttributes()
		test.change(&a)
		if err := q.Modify(time.Time{}, test.from+1, a); (err == nil) != test.ok {
			t.Errorf("%v, %s: error %v", test.typ, test.name, err)
		}
	}
}

func TestReliableQueuePairsHaveNoWayBackFromSQE(t *testing.T) {
	q := inState(t, RC, RTS)
	q.state = SQE
	if err := q.Modify(time.Time{}, RTS, goodAttributes()); err == nil {
		t.Error("allowed")
	}
}

func TestAttributesInForce(t *testing.T) {
	q := inState(t, RC, RTS)
	if a := q.Attributes(); a.PKey != 0xFFFF || a.PathMTU != 1024 || a.DestQP != 5 || a.MaxRdAtomic != 1 {
		t.Errorf("attributes %+v", a)
	}
	b := Attributes{QKey: 9, MinRNRTimer: 3, Access: mr.RemoteRead, PathMTU: 256, SQPSN: 7, Timeout: 5}
	if err := q.Modify(time.Time{}, RTS, b); err != nil {
		t.Fatal(err)
	}
	if a := q.Attributes(); a.QKey != 9 || a.MinRNRTimer != 3 || a.Access != mr.RemoteRead || a.PathMTU != 1024 || a.SQPSN != 0 || a.Timeout != 0 {
		t.Errorf("attributes after RTS to RTS %+v", a)
	}
	for range 2 {
		if err := q.Modify(time.Time{}, SQD, b); err != nil {
			t.Fatal(err)
		}
	}
	if a := q.Attributes(); a.Timeout != 5 || a.Address == nil || a.PathMTU != 1024 {
		t.Errorf("attributes after SQD to SQD %+v", a)
	}
}

func TestDrainingCompletesWhatIsBegun(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(300), x.send(1))
	if a, b := describe(x.emit()), describe(x.emit()); a != "+0 SEND Only 1 A" || b != "+1 SEND First 256" {
		t.Fatal(a, b)
	}
	x.check(x.q.Modify(x.now, SQD, Attributes{}))
	x.post(x.send(1))
	x.say("the rest of the message that is begun is sent, and is sent again")
	x.wantSent("+2 SEND Last 44 A")
	x.advance(sendTimeout)
	x.wantSent("+0 SEND Only 1 A", "+1 SEND First 256", "+2 SEND Last 44 A")
	x.ack(1)
	x.wantEvents(map[EventKind]int{EventState: 1, EventTimeout: 1, EventRetransmit: 1})
	x.ack(2)
	x.wantEvents(map[EventKind]int{EventDrained: 1})
	x.wantDone("1 success", "2 success")
	x.wantSilence()
	x.say("and on")
	x.check(x.q.Modify(x.now, RTS, Attributes{}))
	x.wantSent("+3 SEND Only 1 A", "+4 SEND Only 1 A")
}

func TestAnIdleQueueIsDrainedAtOnce(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.check(x.q.Modify(x.now, SQD, Attributes{}))
	x.wantEvents(map[EventKind]int{EventState: 1, EventDrained: 1})
}

func TestResetForgetsRequests(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.post(x.send(1), x.send(1))
	x.emit()
	x.check(x.q.Modify(x.now, Reset, Attributes{}))
	x.wantDone()
	x.wantSilence()
	x.wantDeadline(0)
	a := goodAttributes()
	a.SQPSN = sendPSN.Add(100)
	for _, s := range []State{Init, RTR, RTS} {
		x.check(x.q.Modify(x.now, s, a))
	}
	x.post(x.send(1))
	x.wantSent("+100 SEND Only 1 A")
}

func TestErrorFlushesBothQueuesInOrder(t *testing.T) {
	x := newSendTest(t, RC, nil)
	x.check(x.q.PostRecv(x.now, RecvRequest{ID: 10}))
	x.check(x.q.PostRecv(x.now, RecvRequest{ID: 11}))
	x.post(x.send(1), x.read(1))
	x.emit()
	x.check(x.q.Modify(x.now, Error, Attributes{}))
	x.wantDone(
		"1 Work Request Flushed Error", "2 Work Request Flushed Error",
		"10 Work Request Flushed Error", "11 Work Request Flushed Error",
	)
	x.wantSilence()
	x.wantDeadline(0)
}

func TestImpossibleQueuePairs(t *testing.T) {
	memory := mr.NewTable(1)
	for _, c := range []Config{
		{},
		{Type: XRCRecv + 1, Memory: memory},
		{Type: RC},
		{Type: RC, Memory: memory, Number: 1 << 24},
		{Type: RC, Memory: memory, MaxSend: -1},
		{Type: XRCRecv, Memory: memory, MaxSend: 1, FindSRQ: func(uint32) *SRQ { return nil }},
		{Type: XRCRecv, Memory: memory},
	} {
		var refused *ConfigError
		if _, err := New(c); !errors.As(err, &refused) {
			t.Errorf("%+v: error %v", c, err)
		}
	}
}
