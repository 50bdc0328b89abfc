package analysis

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// Ladder draws the packets of one conversation between two columns, an end
// each: an arrow for each packet, and below it what was found in it.
type Ladder struct {
	Style        *Style
	Lines        bool // draw with line characters instead of ASCII
	Conversation *conversation.Conversation
	Events       *Events          // may be nil
	Remarks      map[int][]Remark // by packets, too
	Width        int              // columns that there are; 0: as many as it takes

	previous int64
	begun    bool
	stopped  map[pause.MAC]stopped
}

// Remark is what is to be said about a packet.
type Remark struct {
	Grade Grade
	Text  string
}

// rungWidth is how many columns lie between the two ends when there is room, and
// margins are what stands before them, with the time and without it.
const (
	rungWidth   = 60
	leastRung   = 24
	wideMargin  = 33
	briefMargin = 20
)

// brief reports whether the time, but not the delta, is left out for want of room.
func (l *Ladder) brief() bool { return l.Width > 0 && l.Width < wideMargin+rungWidth+2 }

func (l *Ladder) rungWidth() int {
	if !l.brief() {
		return rungWidth
	}
	return min(rungWidth, max(leastRung, l.Width-briefMargin-2))
}

// margin is what stands before the rung of a packet.
func (l *Ladder) margin(number, since, delta string) string {
	if l.brief() {
		return fmt.Sprintf("%8s %9s  ", number, delta)
	}
	return fmt.Sprintf("%8s %12s %9s  ", number, since, delta)
}

// Head writes who the two columns are.
func (l *Ladder) Head(w io.Writer) error {
	c := l.Conversation
	left, right := Name(&c.Ends[0]), Name(&c.Ends[1])
	half := l.rungWidth()/2 + 1
	_, err := fmt.Fprintf(w, "%s, packets %d to %d\n%s%s\n", c.Service, c.First, c.Last,
		l.margin("packet", "time", "delta"), l.Style.strong.Render(fmt.Sprintf("%-*s%*s", half, left, half, right)))
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

// elapse says how long it is since the conversation began, and since what was written
// last.
func (l *Ladder) elapse(at int64) (since, delta string) {
	switch {
	case !l.begun:
	case at < l.previous:
		delta = "-" + Duration(time.Duration(l.previous-at))
	default:
		delta = "+" + Duration(time.Duration(at-l.previous))
	}
	l.begun, l.previous = true, at
	return fmt.Sprintf("%.6f", time.Duration(at-l.Conversation.Began).Seconds()), delta
}

// Packet writes a packet of the conversation.
func (l *Ladder) Packet(w io.Writer, p *conversation.Packet) error {
	b := &strings.Builder{}
	since, delta := l.elapse(p.Time)
	fmt.Fprintf(b, "%s%s\n", l.margin(strconv.Itoa(p.Number), since, delta), l.rung(p))
	for _, r := range l.remarks(p.Number) {
		margin := l.margin("", "", "")
		if l.brief() {
			margin = margin[:briefMargin/2]
		}
		fmt.Fprintf(b, "%s%s\n", margin, l.Style.grades[r.Grade].Render("! "+r.Text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (l *Ladder) remarks(packet int) []Remark {
	list := slices.Clip(l.Remarks[packet])
	if l.Events != nil {
		for _, e := range l.Events.Of(packet) {
			list = append(list, Remark{CodeOf(e.Kind).Grade, Describe(e)})
		}
	}
	return list
}

// rung is the arrow of a packet.
func (l *Ladder) rung(p *conversation.Packet) string {
	pole, line, left, right := "|", "-", "<", ">"
	if l.Lines {
		pole, line, left, right = "│", "─", "◀", "▶"
	}
	text := " " + packetText(p) + " "
	width := l.rungWidth()
	if most := width - 5; l.brief() && len(text) > most {
		text = text[:most-1] + " "
	}
	rest := max(4, width-1-len(text))
	if l.Sender(p) == 0 {
		return pole + strings.Repeat(line, 2) + text + strings.Repeat(line, rest-2) + right + pole
	}
	return pole + left + strings.Repeat(line, rest-2) + text + strings.Repeat(line, 2) + pole
}

// negative says what an acknowledgement refuses.
func negative(s wire.Syndrome) string {
	switch s.Kind() {
	case wire.RNRNak:
		return "RNR NAK (" + Duration(s.RNRTimer()) + ")"
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
