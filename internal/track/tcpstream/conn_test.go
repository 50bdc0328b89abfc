package tcpstream

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// seg is a segment of direction 0 or 1 with the given sequence number.
func seg(number, seq, ack uint32, flags Flags, data string) Segment {
	return Segment{Number: uint64(number), Seq: seq, Ack: ack, Flags: flags, Payload: []byte(data), Len: len(data)}
}

// feed pushes a segment and writes what comes out: "text" for data, "gap 3" for
// a hole, "cut 3" for the rest of a segment that was cut.
func feed(c *Conn, dir int, s Segment) string {
	c.Push(dir, s)
	return drain(c)
}

func drain(c *Conn) string {
	var out []string
	for chunk, ok := c.Next(); ok; chunk, ok = c.Next() {
		switch {
		case chunk.Gap > 0 && chunk.Cut:
			out = append(out, fmt.Sprintf("cut %d", chunk.Gap))
		case chunk.Gap > 0:
			out = append(out, fmt.Sprintf("gap %d", chunk.Gap))
		default:
			out = append(out, fmt.Sprintf("%d:%s", chunk.Off, chunk.Data))
		}
	}
	return strings.Join(out, " ")
}

func TestPush(t *testing.T) {
	type step struct {
		dir  int
		s    Segment
		want string
	}
	syn := seg(1, 99, 0, SYN, "")
	tests := []struct {
		name  string
		steps []step
	}{
		{"in order", []step{
			{0, syn, ""}, {0, seg(2, 100, 0, ACK, "abc"), "0:abc"}, {0, seg(3, 103, 0, ACK, "de"), "3:de"},
		}},
		{"out of order", []step{
			{0, syn, ""}, {0, seg(2, 103, 0, 0, "de"), ""}, {0, seg(3, 105, 0, 0, "f"), ""}, {0, seg(4, 100, 0, 0, "abc"), "0:abc 3:de 5:f"},
		}},
		{"retransmission", []step{
			{0, syn, ""}, {0, seg(2, 100, 0, 0, "abc"), "0:abc"}, {0, seg(3, 100, 0, 0, "abc"), ""}, {0, seg(4, 101, 0, 0, "bcde"), "3:de"},
		}},
		{"overlap of stored segments", []step{
			{0, syn, ""}, {0, seg(2, 102, 0, 0, "cd"), ""}, {0, seg(3, 102, 0, 0, "cdef"), ""}, {0, seg(4, 103, 0, 0, "d"), ""}, {0, seg(5, 100, 0, 0, "ab"), "0:ab 2:cdef"},
		}},
		{"wrap", []step{
			{0, seg(1, 0xfffffffd, 0, SYN, ""), ""}, {0, seg(2, 0, 0, 0, "cd"), ""}, {0, seg(3, 0xfffffffe, 0, 0, "ab"), "0:ab 2:cd"}, {0, seg(4, 2, 0, 0, "e"), "4:e"},
		}},
		{"hole that the peer acknowledges", []step{
			{0, syn, ""},
			{1, seg(2, 500, 100, ACK, ""), ""},
			{0, seg(3, 100, 0, 0, "ab"), "0:ab"},
			{0, seg(4, 105, 0, 0, "f"), ""},
			{1, seg(5, 500, 102, ACK, ""), ""},
			{1, seg(6, 500, 106, ACK, ""), "gap 3 5:f"},
		}},
		{"acknowledgement seen before the data", []step{
			{0, syn, ""}, {1, seg(2, 500, 103, ACK, ""), ""}, {0, seg(3, 100, 0, 0, "abc"), "0:abc"},
		}},
		{"cut segment", []step{
			{0, syn, ""}, {0, Segment{Seq: 100, Payload: []byte("ab"), Len: 10}, "0:ab cut 8"}, {0, seg(3, 110, 0, 0, "k"), "10:k"},
		}},
		{"cut segment that waited", []step{
			{0, syn, ""}, {0, Segment{Seq: 102, Payload: []byte("c"), Len: 3}, ""}, {0, seg(3, 100, 0, 0, "ab"), "0:ab 2:c cut 2"},
		}},
		{"tail of a cut segment comes again", []step{
			{0, syn, ""}, {0, Segment{Seq: 100, Payload: []byte("ab"), Len: 4}, "0:ab cut 2"}, {0, seg(3, 102, 0, 0, "cdef"), "4:ef"},
		}},
		{"nothing captured of a segment", []step{
			{0, syn, ""}, {0, Segment{Seq: 100, Len: 4}, "cut 4"},
		}},
		{"data on the SYN", []step{
			{0, seg(1, 99, 0, SYN, "ab"), "0:ab"}, {0, seg(2, 102, 0, 0, "c"), "2:c"},
		}},
		{"begins in the middle", []step{
			{0, seg(1, 7000, 0, ACK, "ab"), "0:ab"}, {0, seg(2, 7002, 0, ACK, "c"), "2:c"}, {0, seg(3, 6998, 0, ACK, "xx"), ""},
		}},
		{"keep-alive", []step{
			{0, syn, ""}, {0, seg(2, 100, 0, 0, "abc"), "0:abc"}, {0, seg(3, 102, 0, 0, "c"), ""}, {0, seg(4, 102, 0, 0, ""), ""},
		}},
		{"more than 64 MiB lost", []step{
			{0, syn, ""},
			{1, seg(2, 500, 0, 0, ""), ""},
			{0, seg(3, 100, 0, 0, "a"), "0:a"},
			{0, seg(4, 101+0xc0000000, 0, 0, "z"), ""},
			{1, seg(5, 500, 102+0xc0000000, ACK, ""), "gap 3221225472 3221225473:z"},
		}},
		{"both directions", []step{
			{0, syn, ""}, {1, seg(2, 499, 100, SYN|ACK, ""), ""}, {1, seg(3, 500, 100, ACK, "hello"), "0:hello"}, {0, seg(4, 100, 505, ACK, "hi"), "0:hi"},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := NewConn(NewBudget(DefaultLimits()))
			for i, s := range tt.steps {
				if got := feed(c, s.dir, s.s); got != s.want {
					t.Errorf("step %d: %q, want %q", i, got, s.want)
				}
			}
		})
	}
}

func TestChunksKnowTheirSegment(t *testing.T) {
	c := NewConn(NewBudget(DefaultLimits()))
	c.Push(0, seg(1, 99, 0, SYN, ""))
	s := seg(2, 100, 0, 0, "abc")
	s.Offset = 54
	c.Push(0, s)
	if got, _ := c.Next(); !got.Start || !got.End || got.SegLen != 3 || got.Number != 2 || got.Offset != 54 {
		t.Errorf("whole segment: %+v", got)
	}
	s = seg(3, 101, 0, 0, "bcdef")
	s.Offset = 54
	c.Push(0, s)
	if got, _ := c.Next(); got.Start || !got.End || got.SegLen != 5 || got.Number != 3 || got.Offset != 56 {
		t.Errorf("new part of a segment: %+v", got)
	}
	c.Push(0, Segment{Number: 4, Seq: 106, Payload: []byte("g"), Len: 2})
	if got, _ := c.Next(); !got.Start || got.End || got.SegLen != 2 {
		t.Errorf("captured part: %+v", got)
	}
	if got, _ := c.Next(); got.Start || !got.End || got.Number != 4 || got.Gap != 1 {
		t.Errorf("missing part: %+v", got)
	}
}

func TestRestarts(t *testing.T) {
	c := NewConn(NewBudget(DefaultLimits()))
	syn := seg(1, 99, 0, SYN, "")
	if c.Restarts(0, syn) {
		t.Error("the first SYN restarts")
	}
	feed(c, 0, syn)
	if c.Restarts(0, syn) {
		t.Error("a repeated SYN restarts")
	}
	feed(c, 0, seg(2, 100, 0, FIN|ACK, "bye"))
	feed(c, 1, seg(3, 500, 104, FIN|ACK, ""))
	again := seg(4, 5000, 0, SYN, "")
	if !c.Restarts(0, again) {
		t.Error("a SYN with another number does not restart")
	}
	c.Reset()
	feed(c, 0, again)
	if got := feed(c, 0, seg(5, 5001, 0, 0, "new")); got != "0:new" {
		t.Errorf("new connection: %q", got)
	}
	if got := feed(c, 0, seg(6, 5004, 0, RST, "why")); got != "" {
		t.Errorf("a reset delivers %q", got)
	}
}

func TestBufferIsBounded(t *testing.T) {
	budget := NewBudget(Limits{PerStream: 4000, Total: 1 << 20})
	c := NewConn(budget)
	feed(c, 0, seg(1, 99, 0, SYN, ""))
	delivered := 0
	for i := range uint32(100) {
		out := feed(c, 0, seg(i+2, 101+i*100, 0, 0, strings.Repeat("x", 100)))
		if i == 0 && out != "" {
			t.Fatalf("data behind a hole came out: %q", out)
		}
		delivered += strings.Count(out, "x")
		if budget.Used() > 4000+100+storedCost {
			t.Fatalf("%d bytes in use", budget.Used())
		}
	}
	if delivered < 9000 {
		t.Errorf("%d bytes came out", delivered)
	}
	c.Flush()
	if out := drain(c); budget.Used() != 0 {
		t.Errorf("%d bytes in use after Flush gave %q", budget.Used(), out)
	}
}

// A capture of one direction has no ACK that says that a hole was filled.
func TestAHoleIsNotWaitedForWithoutAPeer(t *testing.T) {
	const size = 1460
	payload := strings.Repeat("x", size)
	waits := func(peer bool) (segments int) {
		c := NewConn(NewBudget(DefaultLimits()))
		feed(c, 0, seg(1, 0, 0, ACK, payload))
		for n := uint32(2); n < 1000; n++ { // the second is missing
			if got := feed(c, 0, seg(n, n*size, 0, ACK, payload)); got != "" {
				return int(n) - 1
			}
			if peer {
				feed(c, 1, seg(n, 0, size, ACK, ""))
			}
		}
		return 1000
	}
	if n := waits(false); n > 100 {
		t.Errorf("%d segments were held back without a peer", n)
	}
	if n := waits(true); n != 1000 {
		t.Errorf("after %d segments the peer's retransmission was not waited for", n)
	}
}

func TestTheBudgetIsShared(t *testing.T) {
	budget := NewBudget(Limits{PerStream: 1 << 20, Total: 2000})
	a, b := NewConn(budget), NewConn(budget)
	feed(a, 0, seg(1, 99, 0, SYN, ""))
	feed(b, 0, seg(1, 99, 0, SYN, ""))
	feed(a, 0, seg(2, 101, 0, 0, strings.Repeat("x", 1700)))
	if out := feed(b, 0, seg(2, 101, 0, 0, strings.Repeat("x", 500))); !strings.HasPrefix(out, "gap 1 1:xx") {
		t.Errorf("the second connection kept its data: %.20q", out)
	}
	a.Reset()
	if budget.Used() != 0 {
		t.Errorf("%d bytes in use", budget.Used())
	}
}

// Any way to cut, reorder and repeat a stream gives the same bytes.
func TestReassemblyGivesTheStream(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		want := make([]byte, 20000)
		for i := range want {
			want[i] = byte(r.Uint32())
		}
		isn := -uint32(r.IntN(20000))
		var segments []Segment
		for lo := 0; lo < len(want); {
			hi := min(len(want), lo+1+r.IntN(1460))
			from := max(0, lo-r.IntN(3)*r.IntN(500)) // some overlap what was sent
			segments = append(segments, Segment{Seq: isn + 1 + uint32(from), Payload: want[from:hi], Len: hi - from})
			lo = hi
		}
		for i := range segments {
			j := min(len(segments)-1, i+r.IntN(8))
			segments[i], segments[j] = segments[j], segments[i]
		}
		c := NewConn(NewBudget(DefaultLimits()))
		c.Push(0, Segment{Seq: isn, Flags: SYN})
		var got []byte
		for _, s := range segments {
			c.Push(0, s)
			for chunk, ok := c.Next(); ok; chunk, ok = c.Next() {
				if chunk.Gap > 0 || chunk.Off != int64(len(got)) {
					t.Fatalf("seed %d: chunk at %d with gap %d, %d bytes so far", seed, chunk.Off, chunk.Gap, len(got))
				}
				got = append(got, chunk.Data...)
			}
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("seed %d: other bytes", seed)
		}
	}
}

func TestInOrderSegmentsDoNotAllocate(t *testing.T) {
	c := NewConn(NewBudget(DefaultLimits()))
	s := seg(1, 1, 0, 0, strings.Repeat("x", 1460))
	n := testing.AllocsPerRun(100, func() {
		c.Push(0, s)
		for _, ok := c.Next(); ok; _, ok = c.Next() {
			continue
		}
		s.Seq += 1460
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Chunks follow each other whatever the segments are.
func FuzzConn(f *testing.F) {
	f.Add([]byte{0x02, 0, 0, 0, 0, 0x10, 1, 0, 5, 5, 0x90, 9, 0, 3, 3})
	f.Add([]byte{0x04, 1, 2, 3, 4, 0x11, 5, 6, 7, 8})
	f.Fuzz(func(t *testing.T, b []byte) {
		budget := NewBudget(Limits{PerStream: 1000, Total: 3000})
		c := NewConn(budget)
		next := [2]int64{}
		check := func() {
			for chunk, ok := c.Next(); ok; chunk, ok = c.Next() {
				if chunk.Off != next[chunk.Dir] || (chunk.Gap > 0) == (len(chunk.Data) > 0) {
					t.Fatalf("chunk %+v after offset %d", chunk, next[chunk.Dir])
				}
				next[chunk.Dir] += int64(len(chunk.Data)) + chunk.Gap
			}
		}
		for number := uint64(1); len(b) >= 5; number++ {
			s := Segment{
				Number: number, Flags: Flags(b[0] & 0x1f), Seq: uint32(b[1])<<24>>(b[2]%25) | uint32(b[2]),
				Ack: uint32(b[3]), Payload: make([]byte, b[3]), Len: int(b[3]) + int(b[4])/2,
			}
			dir := int(b[0] >> 7)
			if c.Restarts(dir, s) {
				c.Reset()
				next = [2]int64{}
			}
			c.Push(dir, s)
			check()
			b = b[5:]
		}
		c.Flush()
		check()
		c.Reset()
		if budget.Used() != 0 {
			t.Fatalf("%d bytes in use at the end", budget.Used())
		}
	})
}
