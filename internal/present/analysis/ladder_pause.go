package analysis

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// stopped says what a sender of flow control has stopped: a bit for each priority, and
// one for everything.
type stopped uint16

const everything stopped = 1 << wire.PFCClasses

func (s stopped) after(p *pause.Frame) stopped {
	set := func(bit stopped, quanta uint16) {
		if s &^= bit; quanta > 0 {
			s |= bit
		}
	}
	if p.Plain {
		set(everything, p.Quanta[0])
		return s
	}
	for class, quanta := range p.Quanta {
		if p.Enabled>>class&1 == 1 {
			set(1<<class, quanta)
		}
	}
	return s
}

func (s stopped) String() string {
	var parts []string
	if s&everything != 0 {
		parts = append(parts, channel{class: pause.All}.heading())
	}
	for class := range wire.PFCClasses {
		if s>>class&1 == 1 {
			parts = append(parts, channel{class: class}.heading())
		}
	}
	return strings.Join(parts, ", ")
}

// FlowControl says what a flow control frame stops, and what it releases, "" when
// that is what the one before it from the same sender said. All frames have to be given,
// in their order.
func (l *Ladder) FlowControl(p *pause.Frame) string {
	if l.stopped == nil {
		l.stopped = make(map[pause.MAC]stopped)
	}
	before := l.stopped[p.Src]
	now := before.after(p)
	if now == before || before == 0 && len(l.stopped) == maxPausers {
		return ""
	}
	l.stopped[p.Src] = now
	var parts []string
	if more := now &^ before; more != 0 {
		parts = append(parts, "stops "+more.String())
	}
	if less := before &^ now; less != 0 {
		parts = append(parts, "releases "+less.String())
	}
	return p.Src.String() + " " + strings.Join(parts, ", ")
}

// maxPausers bounds how many senders of flow control are known.
const maxPausers = 256

// Aside writes what happened beside the conversation, in its place between the packets.
func (l *Ladder) Aside(w io.Writer, number int, at int64, text string) error {
	pole := "|"
	if l.Lines {
		pole = "│"
	}
	since, delta := l.elapse(at)
	rest := max(0, l.rungWidth()-len(text)-4)
	_, err := fmt.Fprintf(w, "%s%s~~ %s %s%s\n", l.margin(strconv.Itoa(number), since, delta), pole, text, strings.Repeat("~", rest), pole)
	return err
}
