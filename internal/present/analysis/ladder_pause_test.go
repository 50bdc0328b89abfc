package analysis

import (
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
)

func TestOnlyChangesOfFlowControlAreTold(t *testing.T) {
	a, b := pause.MAC{2, 0, 0, 0, 0, 1}, pause.MAC{2, 0, 0, 0, 0, 2}
	quanta := func(class int, n uint16) (q [8]uint16) {
		q[class] = n
		return q
	}
	l := &Ladder{}
	for i, step := range []struct {
		frame pause.Frame
		want  string
	}{
		{pause.Frame{Src: a, Enabled: 1 << 3, Quanta: quanta(3, 7)}, a.String() + " stops priority 3"},
		{pause.Frame{Src: a, Enabled: 1 << 3, Quanta: quanta(3, 9)}, ""},
		{pause.Frame{Src: b, Enabled: 1 << 3, Quanta: quanta(3, 9)}, b.String() + " stops priority 3"},
		{pause.Frame{Src: a, Enabled: 1<<3 | 1<<4, Quanta: quanta(4, 9)}, a.String() + " stops priority 4, releases priority 3"},
		{pause.Frame{Src: a, Enabled: 1 << 5}, ""},
		{pause.Frame{Src: a, Plain: true, Quanta: quanta(0, 9)}, a.String() + " stops all priorities"},
		{pause.Frame{Src: a, Plain: true}, a.String() + " releases all priorities"},
		{pause.Frame{Src: a, Enabled: 1 << 4}, a.String() + " releases priority 4"},
	} {
		if got := l.FlowControl(&step.frame); got != step.want {
			t.Errorf("frame %d: %q, want %q", i+1, got, step.want)
		}
	}
	for i := range 1000 {
		l.FlowControl(&pause.Frame{Src: pause.MAC{4, byte(i >> 8), byte(i)}, Enabled: 1, Quanta: quanta(0, 1)})
	}
	if len(l.stopped) != maxPausers {
		t.Errorf("%d senders are known", len(l.stopped))
	}
}

func TestAnAsideIsAsWideAsARung(t *testing.T) {
	l := &Ladder{Style: NewStyle(false), Conversation: &conversation.Conversation{}}
	var b strings.Builder
	if err := l.Aside(&b, 7, 1000, "something"); err != nil {
		t.Fatal(err)
	}
	line := strings.TrimSuffix(b.String(), "\n")
	if len(line) != wideMargin+rungWidth+2 || !strings.HasSuffix(line, "~|") || !strings.Contains(line, "|~~ something ~") {
		t.Errorf("%q is %d wide", line, len(line))
	}
}
