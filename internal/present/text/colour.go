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

func (s *sight) classify(p *packet.Packet) class {
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
	if s.bth == nil {
		return classOther
	}
	op := s.bth.Opcode()
	switch {
	case op.Service() == wire.CNP || s.ecn == wire.ECNCE || s.bth.FECN() || s.bth.BECN():
		return classCongestion
	case s.mad:
		return classManagement
	case s.aeth != nil && s.aeth.Syndrome().Kind() == wire.RNRNak:
		return classRNR
	case s.aeth != nil && s.aeth.Syndrome().Kind() == wire.Nak:
		return classNak
	case op.Info().Response:
		return classAnswer
	}
	return classRequest
}

// serious problems make a receiver drop the packet.
const serious = wire.ProblemShort | wire.ProblemTVer | wire.ProblemPad | wire.ProblemBadMAD
