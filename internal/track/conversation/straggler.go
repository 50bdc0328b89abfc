package conversation

// straggler takes a request that was overtaken, as the numbers of the packets tell:
// it says nothing about where the requester is.
func (d *Direction) straggler(p *Packet, n int, sized bool) {
	e := Event{Kind: Reordered, Packet: p.Number, PSN: p.PSN, N: 1}
	if !p.PSN.Less(d.frontier) {
		cursor, again := d.cursor, d.cursor != d.frontier
		d.forward(p, n, sized)
		if again {
			d.cursor = cursor
		}
		d.tell(e)
		return
	}
	d.past.repeat(p.PSN)
	d.precede(p.PSN, p.Number, p.Time)
	h, unseen := d.holes.fill(p.PSN, n)
	switch {
	case !unseen:
		e.Kind = Duplicate
		d.DuplicateReqs++
	case h.again:
		d.DuplicateReqs++
		d.repeat(p.PSN, p.Payload, false)
		e.Packet = h.packet
	default:
		d.messages.add(p, n, sized)
		e.Packet = h.packet
	}
	d.recall(p)
	d.lateOnes.add(sign{set: true, psn: p.PSN, packet: p.Number, time: p.Time})
	d.tell(e)
}
