package live

import (
	"io"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// palette is how things look. The colours are of the terminal's own sixteen, so
// that they fit its theme, and nothing is told by colour alone.
type palette struct {
	strong, faint, bar, accent lipgloss.Style
	chosen                     lipgloss.Style // the row under the cursor
	grades                     [analysis.Error + 1]lipgloss.Style
	ladder                     *analysis.Style
}

func newPalette(coloured bool) *palette {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(termenv.Ascii)
	if coloured {
		r.SetColorProfile(termenv.ANSI)
	}
	cyan := lipgloss.Color("6")
	return &palette{
		strong: r.NewStyle().Bold(true),
		faint:  r.NewStyle().Foreground(lipgloss.Color("8")),
		bar:    r.NewStyle().Foreground(cyan).Bold(true),
		accent: r.NewStyle().Foreground(cyan),
		chosen: r.NewStyle().Reverse(true),
		grades: [...]lipgloss.Style{
			analysis.Note:    r.NewStyle(),
			analysis.Warning: r.NewStyle().Foreground(lipgloss.Color("3")),
			analysis.Error:   r.NewStyle().Foreground(lipgloss.Color("9")).Bold(true),
		},
		ladder: analysis.NewStyle(coloured),
	}
}

// gradeMarks tell grades without colours.
var gradeMarks = [analysis.Error + 1]string{analysis.Note: " ", analysis.Warning: "!", analysis.Error: "X"}
