package analysis

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// Ladder draws the packets of one conversation between two columns, an end
// each: an arrow for each packet, and below it what was found in it.
type Ladder struct {
	Style        *Style
	Lines        bool // draw with line characters instead of ASCII
	Conversation *conversation.Conversation
	Events       *Events

	previous int64
	begun    bool
}

// rungWidth is how many columns lie between the two ends.
const rungWidth = 60

// Head writes who the two columns are.
func (l *Ladder) Head(w io.Writer) error {
	c := l.Conversation
	left, right := name(&c.Ends[0]), name(&c.Ends[1])
	_, err := fmt.Fprintf(w, "%s, packets %d to %d\n%8s %12s %9s  %s\n", c.Service, c.First, c.Last,
		"packet", "time", "delta", l.Style.strong.Render(fmt.Sprintf("%-*s%*s", rungWidth/2+1, left, rungWidth/2+1, right)))
	return err
}

// Sender is the end that a packet is from, -1 when it belongs to another
// conversation.
func (l *Ladder) Sender(p *conversation.Packet) int {
	c := l.Conversation
	if p.Number < c.First || p.Number > c.Last {
		return -1
	}
	for i := range c.Ends {
		from, to := &c.Ends[i], &c.Ends[1-i]
		if p.Src == from.Addr && p.Dst == to.Addr && to.Known && p.DestQP == to.QPN {
			return i
		}
	}
	return -1
}

// Packet writes a packet of the conversation.
func (l *Ladder) Packet(w io.Writer, p *conversation.Packet) error {
	b := &strings.Builder{}
	delta := ""
	if l.begun {
		delta = "+" + duration(time.Duration(p.Time-l.previous))
	}
	if p.Time < l.previous && l.begun {
		delta = "-" + duration(time.Duration(l.previous-p.Time))
	}
	l.begun, l.previous = true, p.Time
	since := time.Duration(p.Time - l.Conversation.Began)
	fmt.Fprintf(b, "%8d %12.6f %9s  %s\n", p.Number, since.Seconds(), delta, l.rung(p))
	for _, e := range l.Events.Of(p.Number) {
		grade := l.Style.grades[codeOf(e.Kind).Grade]
		fmt.Fprintf(b, "%8s %12s %9s  %s\n", "", "", "", grade.Render("! "+Describe(e)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rung is the arrow of a packet.
func (l *Ladder) rung(p *conversation.Packet) string {
	pole, line, left, right := "|", "-", "<", ">"
	if l.Lines {
		pole, line, left, right = "│", "─", "◀", "▶"
	}
	text := " " + packetText(p) + " "
	rest := max(4, rungWidth-1-len(text))
	if l.Sender(p) == 0 {
		return pole + strings.Repeat(line, 2) + text + strings.Repeat(line, rest-2) + right + pole
	}
	return pole + left + strings.Repeat(line, rest-2) + text + strings.Repeat(line, 2) + pole
}

// negative says what an acknowledgement refuses.
func negative(s wire.Syndrome) string {
	switch s.Kind() {
	case wire.RNRNak:
		return "RNR NAK (" + duration(s.RNRTimer()) + ")"
	case wire.Nak:
		return "NAK " + wire.NakName(s.Code())
	}
	return fmt.Sprintf("syndrome 0x%02x", uint8(s))
}

// packetText says what a packet is, in a few words.
func packetText(p *conversation.Packet) string {
	info := p.Opcode.Info()
	text := info.Name
	if !info.Defined() {
		text = fmt.Sprintf("opcode 0x%02x", uint8(p.Opcode))
	}
	switch {
	case info.Service == wire.CNP:
		return text
	case p.Opcode.Operation() == wire.OpAcknowledge && p.Syndrome.Kind() != wire.Ack:
		text = negative(p.Syndrome)
	}
	text += fmt.Sprintf(" PSN %d", p.PSN)
	switch {
	case p.Payload > 0:
		text += fmt.Sprintf(", %d B", p.Payload)
	case p.Opcode.Operation() == wire.OpReadRequest:
		text += fmt.Sprintf(", for %d B", p.DMALen)
	}
	return text
}
