package qp

import (
	"bytes"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// FuzzResponses lets a hostile responder answer: each five bytes of the input are
// a request to post, a wait, or a response with an operation, a PSN near those in
// flight, a syndrome and a length. Whatever comes, each request ends once and in
// order, and no memory changes but what READs and atomics name.
func FuzzResponses(f *testing.F) {
	f.Add([]byte("\x00\x01\x00\x00\x00\x01\x11\x00\x1f\x00"))
	f.Add([]byte("\x00\x02\x02\x58\x00\x01\x0d\x00\x1f\x00\x01\x0f\x02\x1f\x58\x02\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		x := newSendTest(t, RC, nil)
		before := bytes.Clone(x.buf)
		var posted, done uint64
		for ; len(data) >= 5; data = data[5:] {
			switch data[0] % 3 {
			case 0:
				wr := hostileRequest(x, data)
				wr.ID = posted
				if x.q.PostSend(x.now, wr) == nil {
					posted++
				}
			case 1:
				x.answerRaw(hostileResponse(x, data))
			case 2:
				x.advance(time.Duration(data[1]) * time.Millisecond)
			}
			for range data[0] / 3 {
				x.emit()
			}
			for c, ok := x.q.Completion(); ok; c, ok = x.q.Completion() {
				if c.ID != done {
					t.Fatalf("request %d ends when %d should: %v", c.ID, done, c.Status)
				}
				done++
			}
			if fault := unsound(x.q); fault != "" {
				t.Fatal(fault)
			}
		}
		x.check(x.q.Modify(x.now, Error, Attributes{}))
		for _, ok := x.q.Completion(); ok; _, ok = x.q.Completion() {
			done++
		}
		if done != posted {
			t.Fatalf("%d requests, %d completions", posted, done)
		}
		const written = hostileResult + hostileLength
		if !bytes.Equal(x.buf[:hostileResult], before[:hostileResult]) || !bytes.Equal(x.buf[written:], before[written:]) {
			t.Fatal("memory changed that no READ or atomic names")
		}
	})
}

// What READs and atomics of the fuzz test may change.
const (
	hostileResult = 1 << 12
	hostileLength = 1<<10 + 8
)

func hostileRequest(x *sendTest, data []byte) WorkRequest {
	n := int(data[2])<<2 | int(data[3])&3
	switch data[1] % 6 {
	case 0:
		return WorkRequest{Op: Send, SGL: x.local(0, n)}
	case 1:
		return WorkRequest{Op: Write, SGL: x.local(0, n), Flags: Fence}
	case 2:
		return WorkRequest{Op: Read, SGL: x.local(hostileResult, n)}
	case 3:
		return WorkRequest{Op: FetchAdd, SGL: x.local(hostileResult+n, 8)}
	case 4:
		return WorkRequest{Op: Flush}
	}
	return WorkRequest{Op: LocalInvalidate, Invalidate: uint32(n)}
}

func hostileResponse(x *sendTest, data []byte) wire.Packet {
	op := wire.OpReadResponseFirst + data[1]%6
	psn := distance(sendPSN, x.q.requester.unacked) + int(data[2]) - 8
	var payload []byte
	if wire.Opcode(op).Info().Payload {
		payload = make([]byte, [...]int{0, 1, sendMTU - 1, sendMTU, sendMTU + 4}[data[4]%5])
	}
	return x.response(op, psn, wire.Syndrome(data[3]), uint32(data[4]), payload)
}
