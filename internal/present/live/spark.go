package live

import (
	"slices"
	"strings"
)

// blocks are bars of an eighth to eight eighths of a line.
var blocks = [...]rune{' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'}

// last are the last values, at most n.
func last(values []float64, n int) []float64 { return values[max(0, len(values)-max(0, n)):] }

// graph draws values as bars, the newest at the right. The highest is as high as
// there is room, and what is not nothing can be seen.
func graph(values []float64, width, height int) []string {
	values = last(values, width)
	lines := make([]string, height)
	if len(values) == 0 || height <= 0 {
		return lines
	}
	highest := max(slices.Max(values), 1e-9)
	pad := strings.Repeat(" ", width-len(values))
	for i := range lines {
		bars := make([]rune, len(values))
		for x, v := range values {
			eighths := int(v/highest*float64(8*height) + 0.5)
			if v > 0 {
				eighths = max(1, eighths)
			}
			bars[x] = blocks[min(8, max(0, eighths-8*(height-1-i)))]
		}
		lines[i] = pad + string(bars)
	}
	return lines
}

// spark draws values in one line.
func spark(values []float64, width int) string {
	if width <= 0 {
		return ""
	}
	if len(values) == 0 {
		return strings.Repeat(" ", width)
	}
	return graph(values, width, 1)[0]
}
