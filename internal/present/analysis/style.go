package analysis

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// Style colours the text, or leaves it plain.
type Style struct {
	strong, faint lipgloss.Style
	grades        [Error + 1]lipgloss.Style
}

// NewStyle returns the colours, or none.
func NewStyle(coloured bool) *Style {
	r := lipgloss.NewRenderer(io.Discard)
	if coloured {
		r.SetColorProfile(termenv.ANSI)
	}
	return &Style{
		strong: r.NewStyle().Bold(true),
		faint:  r.NewStyle().Faint(true),
		grades: [...]lipgloss.Style{
			Note:    r.NewStyle(),
			Warning: r.NewStyle().Foreground(lipgloss.Color("3")),
			Error:   r.NewStyle().Foreground(lipgloss.Color("9")).Bold(true),
		},
	}
}
