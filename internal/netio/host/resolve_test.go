package host

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
)

// deafPort answers a question only when it was asked often enough; before, every
// wait for an answer has reached its deadline.
type deafPort struct {
	asked, answersAt int
	answer           []byte
	outgoing         bool
	fail             error
}

func (p *deafPort) Send(frames [][]byte, _ time.Time) (int, error) {
	p.asked += len(frames)
	return len(frames), p.fail
}

func (p *deafPort) Receive(b *nic.Batch, _ time.Time) error {
	if p.asked != p.answersAt {
		return os.ErrDeadlineExceeded
	}
	b.Frames = []nic.Frame{{Data: []byte("noise")}, {Data: p.answer, Outgoing: p.outgoing}}
	if p.outgoing {
		p.answersAt = 0
	}
	return nil
}

func TestAskRepeatsTheQuestion(t *testing.T) {
	q := Question{asker, ip("192.0.2.1"), ip("192.0.2.2")}
	for n := 1; n <= asks; n++ {
		port := &deafPort{answersAt: n, answer: hexBytes(t, arpReply)}
		mac, err := Ask(t.Context(), port, q)
		if mac != answer || err != nil || port.asked != n {
			t.Errorf("answered at %d: asked %d times, %x, %v", n, port.asked, mac, err)
		}
	}
	port := &deafPort{}
	_, err := Ask(t.Context(), port, q)
	if !errors.Is(err, ErrNoAnswer) || port.asked != asks || !strings.Contains(err.Error(), "192.0.2.2") {
		t.Errorf("never answered: asked %d times, %v", port.asked, err)
	}
	port = &deafPort{answersAt: 1, answer: hexBytes(t, arpReply), outgoing: true}
	if _, err := Ask(t.Context(), port, q); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("an answer that this machine sent: %v", err)
	}
}

func TestAskEndsWithItsContext(t *testing.T) {
	q := Question{asker, ip("192.0.2.1"), ip("192.0.2.2")}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Ask(cancelled, &deafPort{}, q); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(time.Millisecond))
	defer cancel()
	if _, err := Ask(late, &deafPort{}, q); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v", err)
	}
	if _, err := Ask(t.Context(), &deafPort{fail: nic.ErrDown}, q); !errors.Is(err, nic.ErrDown) {
		t.Errorf("port that fails: %v", err)
	}
}

func TestLinksBelowADefaultRouteCarryIt(t *testing.T) {
	links := []Link{
		{Index: 1},
		{Index: 2, Master: 4},
		{Index: 3},
		{Index: 4},
		{Index: 5, Lower: 4},
		{Index: 6, Master: 7},
		{Index: 7, Master: 6},
	}
	for index, want := range map[int]bool{1: false, 2: true, 3: false, 4: true, 5: true, 6: false, 7: false, 99: false} {
		if got := carries(links, []int{5}, index); got != want {
			t.Errorf("link %d: %v, want %v", index, got, want)
		}
	}
}
