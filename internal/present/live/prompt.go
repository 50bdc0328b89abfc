package live

import (
	"errors"
	"strings"

	"github.com/charmbracelet/x/ansi"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rocecap/rocecap/internal/present/filter"
)

// prompt is a line that is typed.
type prompt struct {
	head string
	text []rune
	at   int // the cursor
	// done is called with what was typed; the line stays while it does not do.
	done func(text string) (tea.Cmd, error)
	err  error
}

func newPrompt(head, text string, done func(string) (tea.Cmd, error)) *prompt {
	p := &prompt{head: head, text: []rune(text), done: done}
	p.at = len(p.text)
	return p
}

// key takes a key; closed says that the line is not needed any more.
func (p *prompt) key(k tea.KeyMsg) (cmd tea.Cmd, closed bool) {
	switch k.Type {
	case tea.KeyEsc, tea.KeyCtrlC:
		return nil, true
	case tea.KeyEnter:
		cmd, p.err = p.done(string(p.text))
		return cmd, p.err == nil
	case tea.KeyLeft:
		p.at = max(0, p.at-1)
	case tea.KeyRight:
		p.at = min(len(p.text), p.at+1)
	case tea.KeyHome, tea.KeyCtrlA:
		p.at = 0
	case tea.KeyEnd, tea.KeyCtrlE:
		p.at = len(p.text)
	case tea.KeyBackspace:
		p.remove(p.at - 1)
	case tea.KeyDelete:
		p.remove(p.at)
	case tea.KeyCtrlU:
		p.change(append([]rune(nil), p.text[p.at:]...), 0)
	case tea.KeyCtrlK:
		p.change(p.text[:p.at:p.at], p.at)
	case tea.KeyRunes, tea.KeySpace:
		if !k.Alt {
			p.insert([]rune(printable(string(k.Runes))))
		}
	}
	return nil, false
}

func (p *prompt) insert(more []rune) {
	text := append(append([]rune(nil), p.text[:p.at]...), more...)
	p.change(append(text, p.text[p.at:]...), p.at+len(more))
}

func (p *prompt) remove(at int) {
	if at >= 0 && at < len(p.text) {
		p.change(append(append([]rune(nil), p.text[:at]...), p.text[at+1:]...), at)
	}
}

func (p *prompt) change(text []rune, at int) { p.text, p.at, p.err = text, at, nil }

// cursor stands before the character that it is at.
const cursor = "▏"

// view draws the line, and below it what is wrong with it.
func (p *prompt) view(width int, colours *palette) []string {
	head := p.head + " "
	before := ansi.StringWidth(string(p.text[:p.at]))
	room := max(1, width-ansi.StringWidth(head)-1)
	skip := max(0, before-room) // columns that are scrolled out at the left
	shown := ansi.TruncateLeft(string(p.text[:p.at]), skip, "")
	lines := []string{cut(colours.bar.Render(head)+shown+colours.accent.Render(cursor)+string(p.text[p.at:]), width)}
	return append(lines, p.fault(ansi.StringWidth(head)-skip, width, colours)...)
}

// fault marks what a filter's fault is about, and says what it is.
func (p *prompt) fault(indent, width int, colours *palette) []string {
	if p.err == nil {
		return nil
	}
	style := colours.grades[len(colours.grades)-1]
	var f *filter.Error
	if !errors.As(p.err, &f) {
		return []string{style.Render(cut(printable(p.err.Error()), width))}
	}
	from := ansi.StringWidth(f.Src[:f.Pos])
	n := max(1, ansi.StringWidth(f.Src[f.Pos:f.End]))
	marks := strings.Repeat(" ", max(0, indent+from)) + "^" + strings.Repeat("~", n-1)
	return []string{style.Render(cut(marks, width)), style.Render(cut(printable(f.Msg), width))}
}
