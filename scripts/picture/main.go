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

// style is how text is shown from one escape sequence to the next.
type style struct {
	fill  string
	bold  bool
	faint bool
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
	fmt.Fprintf(out, `<rect width="100%%" height="100%%" rx="8" fill="#1e222a"/>`+"\n")
	fmt.Fprintf(out, `<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="%d" fill="#d7dae0" xml:space="preserve">`+"\n", fontSize)
	for i, line := range lines {
		fmt.Fprintf(out, `<text x="%d" y="%d">%s</text>`+"\n", margin, margin+(i+1)*lineHeight-5, spans(line))
	}
	fmt.Fprintln(out, "</g>\n</svg>")
	return out.Flush()
}

// spans turns one line with escape sequences into tspans.
func spans(line string) string {
	b := &strings.Builder{}
	var s style
	for line != "" {
		text, rest, found := strings.Cut(line, "\x1b[")
		writeSpan(b, s, text)
		if !found {
			break
		}
		codes, after, _ := strings.Cut(rest, "m")
		s = s.apply(codes)
		line = after
	}
	return b.String()
}

func writeSpan(b *strings.Builder, s style, text string) {
	if text == "" {
		return
	}
	b.WriteString("<tspan")
	if s.fill != "" {
		fmt.Fprintf(b, ` fill="%s"`, s.fill)
	}
	if s.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if s.faint {
		b.WriteString(` opacity="0.6"`)
	}
	fmt.Fprintf(b, ">%s</tspan>", html.EscapeString(text))
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
