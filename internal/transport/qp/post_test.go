package qp

import (
	"errors"
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
)

func TestRequestsThatCannotBePosted(t *testing.T) {
	sge := func(n uint32) []SGE { return []SGE{{Length: n}} }
	for _, test := range []struct {
		name string
		typ  Type
		wr   WorkRequest
	}{
		{"no operation", RC, WorkRequest{}},
		{"a completion's operation", RC, WorkRequest{Op: Receive}},
		{"READ over UC", UC, WorkRequest{Op: Read}},
		{"SEND with invalidate over UC", UC, WorkRequest{Op: SendInvalidate}},
		{"WRITE over UD", UD, WorkRequest{Op: Write, To: &Address{}}},
		{"UD without address", UD, WorkRequest{Op: Send}},
		{"UD to a queue pair of 25 bits", UD, WorkRequest{Op: Send, To: &Address{}, DestQP: 1 << 24}},
		{"too many pieces", RC, WorkRequest{Op: Send, SGL: make([]SGE, 5)}},
		{"too much inline data", RC, WorkRequest{Op: Send, Inline: make([]byte, 65)}},
		{"inline data and memory", RC, WorkRequest{Op: Send, Inline: make([]byte, 1), SGL: sge(1)}},
		{"inline READ", RC, WorkRequest{Op: Read, Inline: make([]byte, 1)}},
		{"too long", RC, WorkRequest{Op: Send, SGL: []SGE{{Length: 1 << 31}, {Length: 1}}}},
		{"length that wraps", RC, WorkRequest{Op: Send, SGL: []SGE{{Length: 1<<32 - 1}, {Length: 1}}}},
		{"atomic of 4 bytes", RC, WorkRequest{Op: FetchAdd, SGL: sge(4)}},
		{"ATOMIC WRITE of nothing", RC, WorkRequest{Op: AtomicWrite}},
		{"FLUSH with memory", RC, WorkRequest{Op: Flush, SGL: sge(4)}},
		{"no window", RC, WorkRequest{Op: BindWindow}},
	} {
		t.Run(test.name, func(t *testing.T) {
			x := newSendTest(t, test.typ, nil)
			var refused *RequestError
			if err := x.q.PostSend(x.now, test.wr); !errors.As(err, &refused) {
				t.Errorf("error %v", err)
			}
			x.wantSilence()
			x.wantDone()
		})
	}
	x := newSendTest(t, RC, func(_ *Config, a *Attributes) { a.MaxRdAtomic = 0 })
	if err := x.q.PostSend(x.now, x.read(1)); err == nil {
		t.Error("READ although none were agreed on")
	}
}

func TestAFullSendQueue(t *testing.T) {
	x := newSendTest(t, RC, func(c *Config, _ *Attributes) { c.MaxSend = 2 })
	x.post(x.send(1), x.send(1))
	if err := x.q.PostSend(x.now, x.send(1)); !errors.Is(err, ErrQueueFull) {
		t.Fatalf("error %v", err)
	}
	x.wantSent("+0 SEND Only 1 A", "+1 SEND Only 1 A")
	for i := range 5 {
		x.ack(i)
		x.post(x.send(1))
		if x.emit() == nil {
			t.Fatal("not sent")
		}
	}
}

func TestPostingInEachState(t *testing.T) {
	memory := mr.NewTable(1)
	q, err := New(Config{Type: RC, Memory: memory, PD: memory.AllocPD(), MaxSend: 4})
	if err != nil {
		t.Fatal(err)
	}
	x := &sendTest{t: t, q: q}
	a := Attributes{PathMTU: 256, Address: &Address{}}
	for _, s := range []State{Reset, Init, RTR} {
		if s != Reset {
			x.check(q.Modify(x.now, s, a))
		}
		var refused *StateError
		if err := q.PostSend(x.now, WorkRequest{Op: Send}); !errors.As(err, &refused) || refused.State != s {
			t.Errorf("in %v: error %v", s, err)
		}
	}
	x.check(q.Modify(x.now, RTS, a))
	x.post(WorkRequest{ID: 1, Op: Send})
	x.check(q.Modify(x.now, SQD, a))
	x.post(WorkRequest{ID: 2, Op: Send})
	x.check(q.Modify(x.now, Error, a))
	x.wantDone("1 Work Request Flushed Error", "2 Work Request Flushed Error")
	x.post(WorkRequest{ID: 3, Op: Send})
	x.wantDone("3 Work Request Flushed Error")
}
