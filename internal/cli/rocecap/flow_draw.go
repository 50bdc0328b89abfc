package rocecap

import (
	"bytes"
	"io"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// aroundPackets is how many packets are drawn before one, and behind it, when
// nothing else is asked for.
const aroundPackets = 10

// belongs reports whether a packet is one of a conversation.
func belongs(p *conversation.Packet, c *conversation.Conversation) bool {
	l := analysis.Ladder{Conversation: c}
	return l.Sender(p) >= 0
}

// excerpt is the part of a conversation that is drawn.
type excerpt struct {
	around int // the packet in its middle; 0: it begins with the first
	count  int // how many are drawn; or before the middle, and behind it; 0: all

	before [][]byte // the last ones before the middle, drawn
	drawn  int
}

// draw draws a line if it is in the excerpt; done when none behind it is.
func (e *excerpt) draw(out io.Writer, number int, line func(io.Writer) error) (done bool, err error) {
	if number < e.around {
		var b bytes.Buffer
		if err := line(&b); err != nil {
			return false, err
		}
		e.before = append(e.before[max(0, len(e.before)-e.count+1):], b.Bytes())
		return false, nil
	}
	for _, text := range e.before {
		if _, err := out.Write(text); err != nil {
			return false, err
		}
	}
	e.before = nil
	if err := line(out); err != nil {
		return false, err
	}
	e.drawn++
	last := e.count
	if e.around > 0 {
		last++
	}
	return e.count > 0 && e.drawn == last, nil
}

// drawing draws what some facts say of a conversation.
type drawing struct {
	out    io.Writer
	ladder *analysis.Ladder
	part   excerpt
}

// take draws the packets of the conversation, and the flow control frames between them.
// The error is errEnough when that was all.
func (d *drawing) take(facts *survey.Facts) error {
	pauses := facts.Pauses
	for i := range facts.Packets {
		p := &facts.Packets[i]
		for len(pauses) > 0 && pauses[0].Number < p.Number {
			if err := d.pause(&pauses[0]); err != nil {
				return err
			}
			pauses = pauses[1:]
		}
		if p.Number > d.ladder.Conversation.Last {
			return errEnough
		}
		if d.ladder.Sender(p) < 0 {
			continue
		}
		if err := d.line(p.Number, func(w io.Writer) error { return d.ladder.Packet(w, p) }); err != nil {
			return err
		}
	}
	for i := range pauses {
		if err := d.pause(&pauses[i]); err != nil {
			return err
		}
	}
	return nil
}

func (d *drawing) pause(p *pause.Frame) error {
	text := d.ladder.FlowControl(p)
	if c := d.ladder.Conversation; text == "" || p.Number < c.First || p.Number > c.Last {
		return nil
	}
	return d.line(p.Number, func(w io.Writer) error { return d.ladder.Aside(w, p.Number, p.Time, text) })
}

func (d *drawing) line(number int, line func(io.Writer) error) error {
	done, err := d.part.draw(d.out, number, line)
	if err == nil && done {
		return errEnough
	}
	return err
}
