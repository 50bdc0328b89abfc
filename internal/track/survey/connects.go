package survey

import (
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// generalQP gets the messages of connection management (IBTA vol. 1, 3.9.2).
const generalQP = 1

// connect takes the connection management message out of a packet's frame.
func (f *Facts) connect(frame *wire.Frame, p *conversation.Packet) {
	if p.DestQP != generalQP {
		return
	}
	m := connect.Message{Number: p.Number, Time: p.Time, Src: p.Src, Dst: p.Dst}
	if m.Read(frame) {
		f.Connects = append(f.Connects, m)
	}
}

// connect takes the message that is in a packet, if there is one, and returns
// the others. A corrupt one is dropped, as its receiver does, and a copy.
func (t *Tracker) connect(messages []connect.Message, p *conversation.Packet) []connect.Message {
	if len(messages) == 0 || messages[0].Number != p.Number {
		return messages
	}
	m := &messages[0]
	if p.Trust != conversation.Corrupt && !p.Copy {
		c := t.Connections.Take(m)
		if a, b := c.Ends[0], c.Ends[1]; uint16(m.Attribute) == wire.CMAttrDrep && a.QPN != 0 && b.QPN != 0 {
			t.Conversations.Disconnected(a.Addr, a.QPN, b.Addr, b.QPN, m.Time)
		}
	}
	return messages[1:]
}
