// Command picture turns the coloured output of a terminal program, on its
// standard input, into an SVG on its standard output: the README's picture.
package main

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"strings"
	"unicode/utf8"
)

const (
	fontSize   = 13
	charWidth  = 7.83
	lineHeight = 18
	margin     = 14
)

// colours are those of the ANSI codes that the project's palette uses.
var colours = map[string]string{
	"31": "#ff6b6b", "33": "#e5c07b", "35": "#c678dd", "36": "#56b6c2", "90": "#8b93a1", "91": "#ff7b72",
}

// The picture's own colours.
const (
	background = "#1e222a"
	foreground = "#d7dae0"
)

// style is how text is shown from one escape sequence to the next.
type style struct {
	fill    string
	bold    bool
	faint   bool
	reverse bool
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "picture:", err)
		os.Exit(1)
	}
}

func run() error {
	var lines []string
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		lines = append(lines, strings.TrimRight(in.Text(), " "))
	}
	if err := in.Err(); err != nil {
		return err
	}
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(plain(line)))
	}
	out := bufio.NewWriter(os.Stdout)
	width, height := int(float64(widest)*charWidth)+2*margin, len(lines)*lineHeight+2*margin
	fmt.Fprintf(out, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">`+"\n", width, height, width, height)
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(out, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" fill="%s" xml:space="preserve">`+"\n", fontSize, foreground)
	var last style
	for i, line := range lines {
		l := &svgLine{y: margin + i*lineHeight, style: last}
		l.write(line)
		last = l.style
		fmt.Fprintf(out, "%s<text y=\"%d\">%s</text>\n", &l.boxes, l.y+lineHeight-5, &l.text)
	}
	fmt.Fprintln(out, "</g>\n</svg>")
	return out.Flush()
}

// svgLine is one line with escape sequences, as tspans. Each has its place, so
// that columns stay columns in every font.
type svgLine struct {
	y      int
	column int
	style  style
	boxes  strings.Builder // behind reversed text
	text   strings.Builder
}

func (l *svgLine) write(line string) {
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		l.span(text)
		if !found {
			return
		}
		codes, after, _ := strings.Cut(rest, "m")
		l.style = l.style.apply(codes)
		line = after
	}
}

func (l *svgLine) span(text string) {
	if text == "" {
		return
	}
	s := l.style
	x, columns := float64(margin)+float64(l.column)*charWidth, utf8.RuneCountInString(text)
	l.column += columns
	fill := s.fill
	if s.reverse {
		fill = background
		fmt.Fprintf(&l.boxes, `<rect x="%.2f" y="%d" width="%.2f" height="%d" fill="%s"/>`, x, l.y, float64(columns)*charWidth, lineHeight, foreground)
	}
	fmt.Fprintf(&l.text, `<tspan x="%.2f"`, x)
	if fill != "" {
		fmt.Fprintf(&l.text, ` fill="%s"`, fill)
	}
	if s.bold {
		l.text.WriteString(` font-weight="bold"`)
	}
	if s.faint {
		l.text.WriteString(` opacity="0.6"`)
	}
	fmt.Fprintf(&l.text, ">%s</tspan>", strings.ReplaceAll(html.EscapeString(text), " ", "\u00a0")) // browsers take several spaces for one
}

func (s style) apply(codes string) style {
	for _, code := range strings.Split(codes, ";") {
		switch code {
		case "", "0":
			s = style{}
		case "1":
			s.bold = true
		case "2":
			s.faint = true
		case "22":
			s.bold, s.faint = false, false
		case "7":
			s.reverse = true
		case "27":
			s.reverse = false
		default:
			s.fill = colours[code]
		}
	}
	return s
}

func plain(line string) string {
	b := &strings.Builder{}
	for line != "" {
		text, rest, _ := strings.Cut(line, "\x1b[")
		b.WriteString(text)
		_, line, _ = strings.Cut(rest, "m")
	}
	return b.String()
}
