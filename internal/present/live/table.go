package live

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// key names a row: it is in one place now and in another at the next look.
type key struct{ id, end int }

func (r *Row) key() key { return key{r.ID, r.End} }

// table is the rows, in an order, of which some are on the screen.
type table struct {
	rows    []*Row // in the order in which they are shown
	sort    int    // by which column
	upward  bool   // the lowest first
	recent  bool   // counts are those of the last interval
	chosen  key    // the row under the cursor; none is the first row
	top     int    // the first row on the screen
	most    int    // how many rows there were at most
	full    int    // how wide the widest names are
	short   int    // when they are brief
	colours *palette
	shown   [len(columns)]bool // which columns had something to show
}

// fill takes the rows of a snapshot.
func (t *table) fill(s *Snapshot) {
	t.rows, t.full, t.short = t.rows[:0], 0, 0
	for i := range s.Rows {
		r := &s.Rows[i]
		t.rows = append(t.rows, r)
		t.full = max(t.full, len(r.From)+len(between)+len(r.To))
		t.short = max(t.short, len(brief(r.From))+len(between)+len(brief(r.To)))
		for c := range columns {
			if of := columns[c].count; of != nil && of(&r.Total) > 0 {
				t.shown[c] = true
			}
		}
	}
	t.most = max(t.most, len(t.rows))
	t.order()
}

func (t *table) order() {
	by := &columns[t.sort]
	slices.SortStableFunc(t.rows, func(a, b *Row) int {
		n := by.order(b, a, t.recent)
		if t.upward {
			n = -n
		}
		if n == 0 && a.ID != b.ID {
			return a.ID - b.ID
		}
		if n == 0 {
			return a.End - b.End
		}
		return n
	})
}

// sortBy sorts by a column, or turns the order around when it does already.
func (t *table) sortBy(c int) {
	if t.sort == c {
		t.upward = !t.upward
	} else {
		t.sort, t.upward = c, false
	}
	t.order()
}

// next sorts by the column beside.
func (t *table) next(step int) {
	t.sort = (t.sort + step + len(columns)) % len(columns)
	t.upward = false
	t.order()
}

// cursor is the place of the row under the cursor; -1 when there are none.
func (t *table) cursor() int {
	if len(t.rows) == 0 {
		return -1
	}
	return max(0, slices.IndexFunc(t.rows, func(r *Row) bool { return r.key() == t.chosen }))
}

// find returns a row, nil when it is gone.
func (t *table) find(k key) *Row {
	if i := slices.IndexFunc(t.rows, func(r *Row) bool { return r.key() == k }); i >= 0 {
		return t.rows[i]
	}
	return nil
}

// choose puts the cursor on a row.
func (t *table) choose(place int) {
	if len(t.rows) > 0 {
		t.chosen = t.rows[min(max(0, place), len(t.rows)-1)].key()
	}
}

// move moves the cursor.
func (t *table) move(by int) { t.choose(t.cursor() + by) }

// layout says which columns there is room for, and how wide those are.
type layout struct {
	columns []int
	widths  [len(columns)]int
	names   bool // of full length
	spark   int
}

// What names get at least, and up to what other columns make room for them: two
// IPv4 addresses with queue pairs.
const (
	leastNames = 27
	fairNames  = 37
	leastSpark = 6
)

// layout leaves out the columns of least worth until the others fit.
func (t *table) layout(width int) (l layout) {
	names := min(max(t.short, leastNames), fairNames)
	rest := width - 1 // the mark of the cursor
	for c := range columns {
		l.columns = append(l.columns, c)
		l.widths[c] = columns[c].width
		if c == columnNames {
			l.widths[c] = names
		}
		rest -= l.widths[c] + 1
	}
	for rest < leastSpark && len(l.columns) > 2 {
		least := slices.MinFunc(l.columns, func(a, b int) int { return t.worth(a) - t.worth(b) })
		l.columns = slices.DeleteFunc(l.columns, func(c int) bool { return c == least })
		rest += l.widths[least] + 1
	}
	want := max(names, t.short)
	if t.full <= names+rest-leastSpark {
		want, l.names = max(names, t.full), true
	}
	l.share(rest, want-names)
	return l
}

// share gives the room that is left to the names, which want so much of it, and
// then to the spark lines.
func (l *layout) share(rest, want int) {
	more := rest // the terminal is narrower than anything is made for
	if rest >= leastSpark {
		more = min(want, rest-leastSpark)
	}
	l.widths[columnNames] += more
	l.spark = min(rest-more, maxSpark)
}

// maxSpark is how many intervals a row remembers.
const maxSpark = 60

func (t *table) worth(c int) int {
	worth := columns[c].worth
	if c == t.sort {
		worth += 10 * wanted
	}
	if t.shown[c] {
		worth += wanted
	}
	return worth
}

// between stands for the arrow between two names, when columns are counted; names
// are ASCII.
const between = " > "

// names says between whom a row's packets go.
func (r *Row) names(full bool) string {
	if full {
		return r.From + " → " + r.To
	}
	return brief(r.From) + " → " + brief(r.To)
}

// brief writes a queue pair's number behind an address as short as it goes.
func brief(name string) string {
	addr, qp, ok := strings.Cut(name, " QP 0x")
	if !ok {
		return name
	}
	return addr + " 0x" + strings.TrimLeft(qp[:len(qp)-1], "0") + qp[len(qp)-1:]
}

// fitNames shortens the addresses of a row's names, and leaves the queue pairs.
func (r *Row) fitNames(full bool, width int) string {
	text := r.names(full)
	if ansi.StringWidth(text) <= width {
		return text
	}
	half := (width - 3) / 2
	return fitName(brief(r.From), half) + " → " + fitName(brief(r.To), width-3-half)
}

func fitName(name string, width int) string {
	addr, qp, ok := strings.Cut(name, " ")
	if room := width - 1 - len(qp); ok && room >= 3 {
		return cutMiddle(addr, room) + " " + qp
	}
	return cutMiddle(name, width)
}

// head is the line above the rows.
func (t *table) head(l layout) string {
	b := &strings.Builder{}
	b.WriteByte(' ')
	for _, c := range l.columns {
		name := columns[c].name
		style := t.colours.faint
		if c == t.sort {
			style = t.colours.bar
			name = mark(t.upward) + name
		}
		text := right(name, l.widths[c])
		if c == columnNames || c == columnService {
			text = left(name, l.widths[c])
		}
		b.WriteString(style.Render(text) + " ")
	}
	if l.spark > 0 {
		b.WriteString(t.colours.faint.Render(right("trend", l.spark)))
	}
	return b.String()
}

func mark(upward bool) string {
	if upward {
		return "▲"
	}
	return "▼"
}

// line is a row.
func (t *table) line(r *Row, l layout, chosen bool) string {
	b := &strings.Builder{}
	mark := " "
	if chosen {
		mark = ">"
	}
	b.WriteString(mark)
	for _, c := range l.columns {
		b.WriteString(t.cell(r, c, l, chosen) + " ")
	}
	bars := spark(r.Rates, l.spark)
	if !chosen {
		return b.String() + t.colours.accent.Render(bars)
	}
	return t.colours.chosen.Render(b.String() + bars)
}

// cell is a row's part in a column. That of the row under the cursor has the
// colours of the cursor.
func (t *table) cell(r *Row, c int, l layout, chosen bool) string {
	width, of := l.widths[c], &columns[c]
	switch {
	case c == columnNames:
		return left(r.fitNames(l.names, width), width)
	case c == columnService:
		return left(of.number(r), width)
	case of.number != nil:
		return right(of.number(r), width)
	}
	text := right(counted(of.count(r.counts(t.recent))), width)
	if chosen {
		return text
	}
	return t.colours.count(of, r).Render(text)
}

// count is the colour of a count: that of a finding when it has just grown.
func (p *palette) count(c *column, r *Row) interface{ Render(...string) string } {
	switch {
	case c.count(&r.New) > 0:
		return p.grades[c.grade]
	case c.count(&r.Total) > 0:
		return p.grades[analysis.Note]
	}
	return p.faint
}

// view draws the head and so many rows.
func (t *table) view(width, height int, focus bool) []string {
	l := t.layout(width)
	lines := []string{t.head(l)}
	at := t.cursor()
	t.top = scroll(t.top, at, len(t.rows), height)
	for i := t.top; i < min(len(t.rows), t.top+height); i++ {
		lines = append(lines, t.line(t.rows[i], l, focus && i == at))
	}
	return lines
}

// scroll keeps the cursor among the lines that are shown.
func scroll(top, cursor, n, height int) int {
	if cursor >= 0 {
		top = min(max(top, cursor-height+1), cursor)
	}
	return max(0, min(top, n-height))
}
