package live

import (
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// dot is a packet in the PSN strip.
type dot struct {
	psn int // as a distance from the first one's
	is  glyph
}

// glyph is what a packet is, those that matter more the higher.
type glyph int

const (
	dotRequest glyph = iota
	dotAnswer
	dotAgain
	dotRefused
)

var glyphs = [...]struct {
	mark  rune
	name  string
	grade analysis.Grade
}{
	dotRequest: {'•', "request", analysis.Note},
	dotAnswer:  {'+', "answer", analysis.Note},
	dotAgain:   {'o', "again, or late", analysis.Warning},
	dotRefused: {'X', "NAK", analysis.Error},
}

// dots are the packets of one end's PSNs: its requests, and what answers them.
func dots(packets []conversation.Packet, from *conversation.End) (list []dot) {
	var base wire.PSN
	highest := -1
	for i := range packets {
		p := &packets[i]
		info := p.Opcode.Info()
		asks := p.Src == from.Addr && !info.Response
		if info.Service == wire.CNP || !asks && (p.Src == from.Addr || !info.Response) {
			continue
		}
		if len(list) == 0 {
			base = p.PSN
		}
		d := dot{psn: p.PSN.Diff(base), is: dotRequest}
		switch {
		case !asks && p.Opcode.Operation() == wire.OpAcknowledge && p.Syndrome.Kind() != wire.Ack:
			d.is = dotRefused
		case !asks:
			d.is = dotAnswer
		case len(list) > 0 && d.psn <= highest:
			d.is = dotAgain
		}
		if asks && (d.psn > highest || highest < 0) {
			highest = d.psn
		}
		list = append(list, d)
	}
	return list
}

// psnColumns is how wide a PSN is, with a space.
const psnColumns = 9

// strip draws PSNs over packets: the newest at the right, the highest at the top.
func strip(packets []conversation.Packet, from *conversation.End, width, height int, colours *palette) []string {
	list := dots(packets, from)
	list = list[max(0, len(list)-max(0, width-psnColumns)):]
	if len(list) == 0 || height < 2 {
		return []string{colours.faint.Render("no packets with its PSNs are remembered yet")}
	}
	low, high := list[0].psn, list[0].psn
	for _, d := range list {
		low, high = min(low, d.psn), max(high, d.psn)
	}
	height = min(height, high-low+1)
	cells := make([][]glyph, height)
	for y := range cells {
		cells[y] = make([]glyph, len(list))
		for x := range cells[y] {
			cells[y][x] = -1
		}
	}
	for x, d := range list {
		y := 0
		if high > low {
			y = (high - d.psn) * (height - 1) / (high - low)
		}
		cells[y][x] = d.is
	}
	base := firstPSN(packets, from)
	lines := make([]string, height)
	for y := range cells {
		label := ""
		switch y {
		case 0:
			label = strconv.Itoa(int(base.Add(high)))
		case height - 1:
			label = strconv.Itoa(int(base.Add(low)))
		}
		lines[y] = colours.faint.Render(right(label, psnColumns-1)) + " " + colours.dots(cells[y])
	}
	return lines
}

// firstPSN is what the distances of dots are from.
func firstPSN(packets []conversation.Packet, from *conversation.End) wire.PSN {
	for i := range packets {
		if len(dots(packets[i:i+1], from)) > 0 {
			return packets[i].PSN
		}
	}
	return 0
}

// dots draws a line of the strip.
func (p *palette) dots(cells []glyph) string {
	b := &strings.Builder{}
	for _, g := range cells {
		switch {
		case g < 0:
			b.WriteByte(' ')
		case g == dotAnswer:
			b.WriteString(p.accent.Render(string(glyphs[g].mark)))
		default:
			b.WriteString(p.grades[glyphs[g].grade].Render(string(glyphs[g].mark)))
		}
	}
	return b.String()
}

// legend says what the marks of the strip are.
func (p *palette) legend() string {
	var parts []string
	for g := range glyphs {
		parts = append(parts, p.dots([]glyph{glyph(g)})+" "+glyphs[g].name)
	}
	return strings.Join(parts, "  ")
}
