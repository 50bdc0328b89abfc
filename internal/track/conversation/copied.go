package conversation

// copied counts a packet that is in the capture for the second time. h is nil when
// nothing is known of its stream.
func (h *half) copied(p *Packet) {
	if h == nil {
		return
	}
	c, from := h.conversation, h.sender()
	c.Last, c.Ended = p.Number, p.Time
	from.Packets++
	from.Bytes += int64(p.WireLen)
	info := p.Opcode.Info()
	if info.Response || !info.Defined() || !from.Asks.follows(info.Service) {
		return
	}
	from.Asks.DuplicateReqs++
	from.Asks.tell(Event{Kind: Duplicate, Packet: p.Number, PSN: p.PSN, N: 1})
}
