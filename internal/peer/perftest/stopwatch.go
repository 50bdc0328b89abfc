package perftest

import (
	"time"

	"github.com/rocecap/rocecap/endpoint"
)

const signaled = endpoint.Signaled

// mark is when so many messages were complete.
type mark struct {
	at   time.Time
	done int
}

// stopwatch has the times of a bandwidth test.
type stopwatch struct {
	moderation int
	posted     []time.Time
	completed  []mark
}

// report makes the result of the times: the average from the first post to the
// last completion, the peak over the fastest run of messages.
func (w *stopwatch) report(size int) Report {
	last := w.completed[len(w.completed)-1]
	r := rate(size, last.done, last.at.Sub(w.posted[0]))
	if last.done <= maxPeak {
		r.Peak = w.peak(size)
	}
	return r
}

// peak is the best bandwidth from the post of any message to the completion of
// any later one.
func (w *stopwatch) peak(size int) (best float64) {
	for i, from := range w.posted {
		for _, m := range w.completed {
			if m.done <= i {
				continue
			}
			if took := m.at.Sub(from).Seconds(); took > 0 {
				best = max(best, float64(size)*float64(m.done-i)/took)
			}
		}
	}
	return best / mebi
}

func rate(size, messages int, took time.Duration) Report {
	s := max(took.Seconds(), 1e-9)
	return Report{
		Size: uint64(size), Iterations: uint64(messages),
		Average: float64(size) * float64(messages) / s / mebi, Rate: float64(messages) / s / 1e6,
	}
}
