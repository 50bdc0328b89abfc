package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// maxMessages bounds how many messages are remembered, in the order in which
// they end.
const maxMessages = 1 << 17

// Messages are those of a capture, by conversation.
type Messages struct {
	// Chosen tells which conversations the messages are wanted of; nil wants all.
	Chosen  func(*conversation.Conversation) bool
	Dropped int // that there was no room for

	of    map[*conversation.Conversation][]asked
	count int
}

// asked is a message and the end that asked for it.
type asked struct {
	conversation.Message
	end int
}

// Listen has the messages of a tracker, which has seen nothing yet, added.
func (l *Messages) Listen(t *conversation.Tracker) {
	others := t.United
	t.Message = l.Add
	t.United = func(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
		if others != nil {
			others(kept, end, gone)
		}
		l.unite(kept, end, gone)
	}
}

// Add takes a message that has ended.
func (l *Messages) Add(c *conversation.Conversation, end int, m *conversation.Message) {
	// Which conversation one belongs to is known when both its ends are.
	if whole := c.Ends[0].Known && c.Ends[1].Known; whole && l.Chosen != nil && !l.Chosen(c) {
		return
	}
	if l.count == maxMessages {
		l.Dropped++
		return
	}
	if l.of == nil {
		l.of = make(map[*conversation.Conversation][]asked)
	}
	l.count++
	l.of[c] = append(l.of[c], asked{*m, end})
}

// unite takes it that gone is what an end of another conversation sends.
func (l *Messages) unite(kept *conversation.Conversation, end int, gone *conversation.Conversation) {
	for _, m := range l.of[gone] {
		m.end = end
		l.of[kept] = append(l.of[kept], m)
	}
	delete(l.of, gone)
}

// list returns the messages of a conversation in the order of their first packets.
func (l *Messages) list(c *conversation.Conversation) []asked {
	if l == nil {
		return nil
	}
	slices.SortStableFunc(l.of[c], func(a, b asked) int { return cmp.Compare(a.FirstPacket, b.FirstPacket) })
	return l.of[c]
}

// OperationName tells an operation from others of its kind.
func OperationName(m *conversation.Message) string {
	switch {
	case m.Carries(wire.HdrImmDt):
		return m.Op.String() + " imm"
	case m.Carries(wire.HdrIETH):
		return m.Op.String() + " inv"
	case m.Opcode.Operation() == wire.OpCompareSwap:
		return "COMPARE SWAP"
	case m.Opcode.Operation() == wire.OpFetchAdd:
		return "FETCH ADD"
	}
	return m.Op.String()
}

// dropped says that not all messages are listed.
func (t *Text) dropped(b *strings.Builder, l *Messages) {
	if l != nil && l.Dropped > 0 {
		fmt.Fprintf(b, "not listed: %s that ended behind the first %d\n", count(l.Dropped, "message"), maxMessages)
	}
}

// messages writes a line for each message of a conversation.
func (t *Text) messages(b *strings.Builder, l *Messages, c *conversation.Conversation) {
	list := l.list(c)
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "   messages: -> %s asks, <- %s\n", Name(&c.Ends[0]), Name(&c.Ends[1]))
	row(b, "", "packet", "to", "at", "operation", "bytes", "PSN", "to", "rkey", "address", "ended by", "MSN", "after", "")
	for i := range list {
		t.message(b, c, &list[i])
	}
}

func row(b *strings.Builder, way, packet, to, at, op, size, psn, last, rkey, va, by, msn, after, rest string) {
	line := fmt.Sprintf("     %2s %8s %8s %9s  %-12s %10s %8s %8s  %-10s %-18s %8s %8s %9s  %s",
		way, packet, to, at, op, size, psn, last, rkey, va, by, msn, after, rest)
	b.WriteString(strings.TrimRight(line, " "))
	b.WriteByte('\n')
}

func (t *Text) message(b *strings.Builder, c *conversation.Conversation, m *asked) {
	rkey, va, by, msn, after := "-", "-", "-", "-", "-"
	if m.Addressed {
		rkey, va = hex(uint64(m.RKey), 8), hex(m.VA, 16)
	}
	if m.By > 0 {
		by = fmt.Sprint(m.By)
	}
	if m.AETH {
		msn = fmt.Sprint(m.MSN)
	}
	if m.Ended > 0 {
		after = Duration(time.Duration(m.Ended - m.Began))
	}
	row(b, [...]string{"->", "<-"}[m.end], fmt.Sprint(m.FirstPacket), fmt.Sprint(m.LastPacket), Duration(time.Duration(m.Began-c.Began)),
		OperationName(&m.Message), fmt.Sprint(m.Bytes), fmt.Sprint(m.First), fmt.Sprint(m.Last), rkey, va, by, msn, after, Remarks(&m.Message))
}

// Remarks is what is special about a message.
func Remarks(m *conversation.Message) string {
	var parts []string
	add := func(when bool, format string, args ...any) {
		if when {
			parts = append(parts, fmt.Sprintf(format, args...))
		}
	}
	add(m.Carries(wire.HdrImmDt), "immediate %s", hex(uint64(m.Immediate), 8))
	add(m.Carries(wire.HdrIETH), "invalidates %s", hex(uint64(m.Invalidated), 8))
	add(m.Solicited, "SE")
	switch {
	case m.Restarts == 1:
		add(true, "sent again from PSN %d", m.Restart)
	case m.Restarts > 1:
		add(true, "sent again %d times, the last from PSN %d", m.Restarts, m.Restart)
	default:
		add(m.Again, "sent again")
	}
	add(m.Partial, "not captured whole")
	if m.Nak != 0 {
		add(true, "%s", negative(m.Nak))
	} else {
		add(m.Unfinished, "no good answer")
	}
	return strings.Join(parts, ", ")
}

func hex(v uint64, digits int) string { return string(wire.AppendHex(nil, v, digits)) }

// jsonMessage is one of `messages`.
type jsonMessage struct {
	Conversation int     `json:"conversation"`
	End          int     `json:"end"`
	Operation    string  `json:"operation"`
	Opcode       string  `json:"opcode"`
	Bytes        int64   `json:"bytes"`
	FirstPacket  int     `json:"first_packet"`
	LastPacket   int     `json:"last_packet"`
	FirstPSN     uint32  `json:"first_psn"`
	LastPSN      uint32  `json:"last_psn"`
	Start        int64   `json:"start_ns"`
	RKey         string  `json:"rkey,omitempty"`
	VA           string  `json:"va,omitempty"`
	Length       uint32  `json:"dma_length,omitempty"`
	Immediate    *uint32 `json:"immediate,omitempty"`
	Invalidated  string  `json:"invalidated_rkey,omitempty"`
	Solicited    bool    `json:"solicited"`
	EndedBy      int     `json:"ended_by_packet"`
	Took         *int64  `json:"completion_ns"`
	MSN          *uint32 `json:"msn,omitempty"`
	Nak          string  `json:"nak,omitempty"`
	Again        bool    `json:"sent_again"`
	Restarts     int     `json:"restarts"`
	Restart      *uint32 `json:"restart_psn,omitempty"`
	Partial      bool    `json:"partial"`
	Unfinished   bool    `json:"unfinished"`
}

// jsonMessages lists those of the conversations that are listed.
func (r *Report) jsonMessages() []jsonMessage {
	if r.Messages == nil {
		return nil
	}
	all := []jsonMessage{}
	for i, c := range r.list() {
		for _, m := range r.Messages.list(c) {
			all = append(all, jsonMessageOf(i+1, c, &m))
		}
	}
	return all
}

func jsonMessageOf(number int, c *conversation.Conversation, m *asked) jsonMessage {
	j := jsonMessage{
		Conversation: number, End: m.end, Operation: m.Op.String(), Opcode: m.Opcode.String(), Bytes: m.Bytes,
		FirstPacket: m.FirstPacket, LastPacket: m.LastPacket, FirstPSN: uint32(m.First), LastPSN: uint32(m.Last), Start: m.Began - c.Began,
		Solicited: m.Solicited, EndedBy: m.By, Again: m.Again, Restarts: m.Restarts, Partial: m.Partial, Unfinished: m.Unfinished,
	}
	if m.Addressed {
		j.RKey, j.VA, j.Length = hex(uint64(m.RKey), 8), hex(m.VA, 16), m.Length
	}
	if m.Carries(wire.HdrImmDt) {
		j.Immediate = &m.Immediate
	}
	if m.Carries(wire.HdrIETH) {
		j.Invalidated = hex(uint64(m.Invalidated), 8)
	}
	if m.Ended > 0 {
		took := m.Ended - m.Began
		j.Took = &took
	}
	if m.AETH {
		j.MSN = &m.MSN
	}
	if m.Nak != 0 {
		j.Nak = negative(m.Nak)
	}
	if m.Restarts > 0 {
		restart := uint32(m.Restart)
		j.Restart = &restart
	}
	return j
}
