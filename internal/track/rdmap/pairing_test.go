package rdmap

import (
	"slices"
	"testing"
	"time"
)

// TestResponsesAreJudgedBehindMissingBytes leaves a segment out of a capture, in which
// a request or a response was, and has a response behind it that is wrong.
func TestResponsesAreJudgedBehindMissingBytes(t *testing.T) {
	ask := func(x *talk, msn, sink, size uint32) int { return x.say(0, read(msn, sink, 0, size, 9)) }
	reply := func(x *talk, sink uint32, n int) int { return x.say(1, answer(last, sink, 0, n)) }
	for _, test := range []struct {
		name string
		// say makes the connection and returns the segments that are missing, and what
		// is told besides; nothing when it cannot be known.
		say func(x *talk) (missing []int, want []Event)
	}{
		{"a request with its response behind it", func(x *talk) ([]int, []Event) {
			m := ask(x, 2, 8, 100)
			reply(x, 8, 100)
			cause := ask(x, 3, 7, 100)
			return []int{m}, []Event{{Kind: ReadBounds, Packet: reply(x, 7, 104), Cause: cause, Got: 104, Want: 100}}
		}},
		{"a request that is answered later", func(x *talk) ([]int, []Event) {
			m := ask(x, 2, 8, 100)
			cause := ask(x, 3, 7, 100)
			reply(x, 8, 77) // nobody knows what was asked for
			return []int{m}, []Event{{Kind: ReadShort, Packet: reply(x, 7, 99), Cause: cause, Got: 99, Want: 100}}
		}},
		{"three requests, one behind another that is open", func(x *talk) ([]int, []Event) {
			open := ask(x, 2, 6, 100)
			var m []int
			for i := range uint32(3) {
				m = append(m, ask(x, 3+i, 7, 100))
			}
			cause := ask(x, 6, 7, 100)
			bad := reply(x, 5, 100)
			for range 3 {
				reply(x, 7, 100)
			}
			return m, []Event{
				{Kind: ReadSink, Packet: bad, Cause: open, Got: 5, Want: 6},
				{Kind: ReadSink, Packet: reply(x, 4, 100), Cause: cause, Got: 4, Want: 7},
			}
		}},
		{"a response, the next one goes elsewhere", func(x *talk) ([]int, []Event) {
			ask(x, 2, 8, 100)
			cause := ask(x, 3, 7, 100)
			m := reply(x, 8, 100)
			return []int{m}, []Event{{Kind: ReadShort, Packet: reply(x, 7, 99), Cause: cause, Got: 99, Want: 100}}
		}},
		{"the first half of a response", func(x *talk) ([]int, []Event) {
			cause := ask(x, 2, 8, 200)
			m := x.say(1, answer(more, 8, 0, 100))
			x.say(1, answer(more, 8, 100, 50))
			return []int{m}, []Event{{Kind: ReadBounds, Packet: x.say(1, answer(last, 8, 150, 60)), Cause: cause, Got: 210, Want: 200}}
		}},
		{"the end of a response", func(x *talk) ([]int, []Event) {
			ask(x, 2, 8, 200)
			cause := ask(x, 3, 7, 100)
			x.say(1, answer(more, 8, 0, 100))
			m := x.say(1, answer(last, 8, 100, 100))
			return []int{m}, []Event{{Kind: ReadShort, Packet: reply(x, 7, 1), Cause: cause, Got: 1, Want: 100}}
		}},
		{"a response to one of two requests for the same place", func(x *talk) ([]int, []Event) {
			ask(x, 2, 7, 100)
			ask(x, 3, 7, 200)
			m := reply(x, 7, 100)
			reply(x, 7, 200)
			ask(x, 4, 7, 300)
			reply(x, 7, 400)
			return []int{m}, nil
		}},
		{"a response, and the next one goes nearly round", func(x *talk) ([]int, []Event) {
			x.say(0, read(2, 8, 1, 100, 9))
			x.say(0, read(3, 8, 300, 100, 9))
			m := x.say(1, answer(last, 8, 1, 100))
			x.say(1, answer(last, 8, 1<<64-50, 100))
			return []int{m}, nil
		}},
		{"a request and a response", func(x *talk) ([]int, []Event) {
			ask(x, 2, 6, 100)
			m := []int{ask(x, 3, 8, 100), reply(x, 6, 100)}
			ask(x, 4, 7, 100)
			reply(x, 7, 77)
			return m, nil
		}},
		{"the request, and a response that answers none that was seen", func(x *talk) ([]int, []Event) {
			m := ask(x, 2, 8, 100)
			reply(x, 8, 100)
			x.ack(0)
			ask(x, 3, 7, 100)
			reply(x, 7, 100)
			return []int{m}, []Event{{Kind: ResponseUnasked, Packet: reply(x, 7, 100)}}
		}},
	} {
		x := newTalk()
		x.connect()
		ask(x, 1, 7, 100)
		reply(x, 7, 100)
		x.ack(0)
		missing, want := test.say(x)
		x.ack(0)
		x.ack(1)
		for i := len(missing) - 1; i >= 0; i-- {
			x.all = slices.DeleteFunc(x.all, func(s Segment) bool { return int(s.Number) == missing[i] })
		}
		got := slices.DeleteFunc(track(x.all).events, func(e Event) bool { return e.Kind == Gap })
		if !slices.Equal(got, want) {
			t.Errorf("%s is missing: told %+v, want %+v", test.name, got, want)
		}
	}
}

// TestAGuessEndsWhenNoResponseComesForAWhile has a response that is judged again, after
// it was not known which request it answers.
func TestAGuessEndsWhenNoResponseComesForAWhile(t *testing.T) {
	for pause, want := range map[time.Duration]int{2 * time.Second: 1, 500 * time.Millisecond: 0} {
		x := newTalk()
		x.connect()
		x.say(0, read(1, 7, 0, 100, 9))
		x.say(0, read(2, 7, 0, 100, 9))
		missing := x.say(1, answer(last, 7, 0, 100))
		x.say(1, answer(last, 7, 0, 100)) // to one of the two
		x.ack(0)
		x.say(0, read(3, 7, 0, 100, 9))
		x.say(1, answer(last, 7, 0, 100))
		x.say(1, answer(last, 7, 0, 100)) // as if to the one that is still open
		x.now += int64(pause)
		x.say(0, read(4, 7, 0, 100, 9))
		x.say(1, answer(last, 7, 0, 104))
		x.ack(0)
		x.all = slices.Delete(x.all, missing-1, missing)
		got := 0
		for _, e := range track(x.all).events {
			if e.Kind == ReadBounds {
				got++
			}
		}
		if got != want {
			t.Errorf("after %v: %d times, want %d", pause, got, want)
		}
	}
}
