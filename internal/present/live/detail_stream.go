package live

// stream draws a page of an iWARP connection.
func (d *detailView) stream(width, height int) []string {
	switch d.part {
	case partPackets:
		return d.streamPackets(height)
	case partAnalysis:
		return d.scrolled(d.analysis(width), height)
	case partCM:
		return []string{"", "  an iWARP connection is set up by the first frames of its stream; see the analysis"}
	}
	return d.streamOverview(width, height)
}

// streamOverview is counts, a graph and the last packets.
func (d *detailView) streamOverview(width, height int) []string {
	lines := append(d.counts(), d.speed())
	lines = append(lines, d.graph(width, max(2, (height-len(lines))/4))...)
	lines = append(lines, d.rule("last packets", "", width))
	if len(d.data.Lines) == 0 {
		return append(lines, d.colours.faint.Render(noPackets))
	}
	rest := max(0, height-len(lines))
	return append(lines, d.data.Lines[max(0, len(d.data.Lines)-rest):]...)
}

// streamPackets is the page of the packets: their end, unless it is scrolled up.
func (d *detailView) streamPackets(height int) []string {
	list := d.data.Lines
	if len(list) == 0 {
		return []string{d.colours.faint.Render(noPackets)}
	}
	d.top = max(min(0, height-len(list)), min(0, d.top))
	end := len(list) + d.top
	return list[max(0, end-height):end]
}
