package live

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/rates"
)

// column is one of the table.
type column struct {
	name  string
	key   string // sorts by it
	width int
	// worth says what goes when there is no room: the least.
	worth   int
	compare func(a, b *Row) int
	// number is what it shows, as a text; nil for what is drawn otherwise.
	number func(r *Row) string
	// count is what it counts, for columns that show counts.
	count func(c *rates.Counts) int
	grade analysis.Grade // how bad it is when it counts
}

// order compares two rows, by what has come since the last look or by everything.
func (c *column) order(a, b *Row, recent bool) int {
	if c.count == nil {
		return c.compare(a, b)
	}
	return cmp.Compare(c.count(a.counts(recent)), c.count(b.counts(recent)))
}

// counts are those of the last interval, or all.
func (r *Row) counts(recent bool) *rates.Counts {
	if recent {
		return &r.New
	}
	return &r.Total
}

// wanted is added to the worth of a column that has something to show.
const wanted = 100

// The columns that are drawn in their own way.
const (
	columnID = iota
	columnService
	columnNames
	columnBits
)

var columns = [...]column{
	columnID: {
		name: "#", key: "#", width: 4, worth: 98, compare: func(a, b *Row) int { return b.ID - a.ID },
		number: func(r *Row) string { return strconv.Itoa(r.ID) },
	},
	columnService: {
		name: "svc", key: "V", width: 4, worth: 10, compare: func(a, b *Row) int { return strings.Compare(b.Service, a.Service) },
		number: func(r *Row) string { return r.Service },
	},
	columnNames: {name: "from → to", key: "F", worth: 1000, compare: func(a, b *Row) int { return strings.Compare(b.From+b.To, a.From+a.To) }},
	columnBits: {
		name: "bit/s", key: "B", width: 6, worth: 1000, compare: by(func(r *Row) float64 { return r.Bits }),
		number: func(r *Row) string { return scaled(r.Bits) },
	},
	{
		name: "pkt/s", key: "P", width: 6, worth: 20, compare: by(func(r *Row) float64 { return r.Packets }),
		number: func(r *Row) string { return scaled(r.Packets) },
	},
	{
		name: "msg/s", key: "M", width: 6, worth: 90, compare: by(func(r *Row) float64 { return r.Messages }),
		number: func(r *Row) string { return scaled(r.Messages) },
	},
	{
		name: "p50", key: "5", width: 7, worth: 30, compare: by(func(r *Row) float64 { return float64(r.P50) }),
		number: func(r *Row) string { return latency(r.P50) },
	},
	{
		name: "p99", key: "9", width: 7, worth: 95, compare: by(func(r *Row) float64 { return float64(r.P99) }),
		number: func(r *Row) string { return latency(r.P99) },
	},
	{name: "again", key: "A", width: 6, worth: 89, grade: analysis.Warning, count: func(c *rates.Counts) int { return c.Again }},
	{name: "NAK", key: "N", width: 4, worth: 88, grade: analysis.Error, count: func(c *rates.Counts) int { return c.NAKs }},
	{name: "RNR", key: "R", width: 4, worth: 87, grade: analysis.Warning, count: func(c *rates.Counts) int { return c.RNRs }},
	{name: "CNP", key: "C", width: 4, worth: 60, grade: analysis.Warning, count: func(c *rates.Counts) int { return c.CNPs }},
	{name: "CE", key: "E", width: 4, worth: 55, grade: analysis.Warning, count: func(c *rates.Counts) int { return c.CE }},
	{name: "ICRC", key: "I", width: 5, worth: 50, grade: analysis.Error, count: func(c *rates.Counts) int { return c.BadICRC }},
}

// by compares numbers.
func by(of func(r *Row) float64) func(a, b *Row) int {
	return func(a, b *Row) int { return cmp.Compare(of(a), of(b)) }
}

// nothing stands for 0, so that what is more catches the eye.
const nothing = "·"

// scaled is a rate without the space before its unit.
func scaled(n float64) string {
	if n == 0 {
		return nothing
	}
	return strings.ReplaceAll(Scaled(n), " ", "")
}

// latency is a latency, 0 when none was measured.
func latency(d time.Duration) string {
	if d == 0 {
		return nothing
	}
	return analysis.Duration(d)
}

// counted is a count in few columns.
func counted(n int) string {
	switch {
	case n == 0:
		return nothing
	case n < 10_000:
		return strconv.Itoa(n)
	}
	text := strings.ReplaceAll(Scaled(float64(n)), " ", "")
	if whole, unit, ok := strings.Cut(text, "."); ok {
		return whole + unit[len(unit)-1:]
	}
	return text
}
