package filter

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a filter that does not compile.
type Error struct {
	Src string // the filter
	Pos int    // where in Src, in bytes, the fault begins
	End int    // one past its last byte
	Msg string
}

// Error returns the message and, below it, the filter with the fault marked.
func (e *Error) Error() string {
	before, marked := printable(e.Src[:e.Pos]), printable(e.Src[e.Pos:e.End])
	marks := max(utf8.RuneCountInString(marked), 1)
	return e.Msg +
		"\n    " + before + marked + printable(e.Src[e.End:]) +
		"\n    " + strings.Repeat(" ", utf8.RuneCountInString(before)) + "^" + strings.Repeat("~", marks-1)
}

// printable makes every rune one column wide, so that the marks stand below
// what they mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case !unicode.IsPrint(r):
			return '?'
		}
		return r
	}, s)
}

// fault is an Error whose source is not known yet.
type fault struct {
	at  region
	msg string
}

// region is a part of the source, in bytes.
type region struct{ pos, end int }

func (r region) to(last region) region { return region{r.pos, last.end} }

func (r region) fault(format string, args ...any) *fault {
	return &fault{at: r, msg: fmt.Sprintf(format, args...)}
}

func (f *fault) in(src string) *Error {
	return &Error{Src: src, Pos: f.at.pos, End: f.at.end, Msg: f.msg}
}
