package text

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// class is what a packet means to its reader; each class has its colour.
type class uint8

const (
	classOther   class = iota
	classRequest       // SEND, WRITE, READ request, atomic
	classAnswer        // acknowledgements and read responses
	classRNR
	classNak
	classCongestion // CNP, CE mark, FECN, BECN, PAUSE, PFC
	classManagement
	classBad // wrong CRC or malformed
	classCount
)

// Palette holds the terminal codes for every class. The zero value is plain.
type Palette struct {
	before, after [classCount]string
	dim, undim    string
}

// NewPalette returns the colours, or the plain palette.
func NewPalette(coloured bool) *Palette {
	r := lipgloss.NewRenderer(io.Discard)
	if coloured {
		r.SetColorProfile(termenv.ANSI)
	}
	colours := [classCount]string{
		classRequest: "", classAnswer: "8", classRNR: "3", classNak: "9",
		classCongestion: "5", classManagement: "6", classBad: "1",
	}
	p := &Palette{}
	for c, colour := range colours {
		style := r.NewStyle()
		if colour != "" {
			style = style.Foreground(lipgloss.Color(colour))
		}
		if class(c) == classBad || class(c) == classNak {
			style = style.Bold(true)
		}
		p.before[c], p.after[c] = codes(style)
	}
	p.dim, p.undim = codes(r.NewStyle().Faint(true))
	return p
}

// codes takes a style apart into what stands before and behind the text.
func codes(s lipgloss.Style) (before, after string) {
	before, after, _ = strings.Cut(s.Render("x"), "x")
	return before, after
}

func classify(p *packet.Packet) class {
	f := &p.Frame
	if crc := p.CRC(); crc.ICRC == icrc.Bad || crc.VCRC == icrc.Bad || f.Problems&serious != 0 {
		return classBad
	}
	switch f.Proto {
	case wire.ProtoPause, wire.ProtoPFC:
		return classCongestion
	case wire.ProtoTCP:
		return classifyPDUs(p)
	}
	op, ok := f.Opcode()
	if !ok {
		return classOther
	}
	if op.Service() == wire.CNP || congested(f) {
		return classCongestion
	}
	if _, ok := f.Last(wire.HdrMAD); ok {
		return classManagement
	}
	if h := f.View(wire.HdrAETH); len(h) == wire.AETHLen {
		switch wire.AETH(h).Syndrome().Kind() {
		case wire.RNRNak:
			return classRNR
		case wire.Nak:
			return classNak
		}
	}
	if op.Info().Response {
		return classAnswer
	}
	return classRequest
}

// serious problems make a receiver drop the packet.
const serious = wire.ProblemShort | wire.ProblemTVer | wire.ProblemPad | wire.ProblemBadMAD

func congested(f *wire.Frame) bool {
	if h := f.View(wire.HdrBTH); len(h) == wire.BTHLen && (wire.BTH(h).FECN() || wire.BTH(h).BECN()) {
		return true
	}
	return ecn(f) == 3
}
