package live

import (
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// ellipsis stands for what was cut off.
const ellipsis = "…"

// cut shortens a text, which may be coloured, to a width.
func cut(s string, width int) string {
	if width <= 0 {
		return ""
	}
	return ansi.Truncate(s, width, ellipsis)
}

// cutMiddle shortens a text to a width; what tells addresses apart is at their ends.
func cutMiddle(s string, width int) string {
	n := ansi.StringWidth(s)
	switch {
	case n <= width:
		return s
	case width < 3:
		return cut(s, width)
	}
	tail := (width - 1) / 2
	return ansi.Truncate(s, width-1-tail, "") + ellipsis + ansi.TruncateLeft(s, n-tail, "")
}

// left and right fill a text up to a width, and cut what is longer.
func left(s string, width int) string {
	s = cut(s, width)
	return s + strings.Repeat(" ", max(0, width-ansi.StringWidth(s)))
}

func right(s string, width int) string {
	s = cut(s, width)
	return strings.Repeat(" ", max(0, width-ansi.StringWidth(s))) + s
}

// spread puts one text at the left and one at the right of a line; the left one
// goes first when there is no room for both.
func spread(a, b string, width int) string {
	gap := width - ansi.StringWidth(a) - ansi.StringWidth(b)
	if gap < 2 {
		return cut(a, width)
	}
	return a + strings.Repeat(" ", gap) + b
}

// printable takes out what would move the cursor: names of files, and what a
// terminal pastes, may have anything.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
}

// wrap breaks a text into lines at spaces.
func wrap(s string, width int) []string {
	return strings.Split(ansi.Wordwrap(s, max(1, width), ""), "\n")
}
