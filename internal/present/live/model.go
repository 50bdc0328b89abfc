package live

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rocecap/rocecap/internal/present/analysis"
)

// Hooks are what the screen needs of who follows the packets.
type Hooks struct {
	// Filter lets only packets be followed that match from now on; an empty text
	// lets all.
	Filter func(text string) error
	// Write writes the packets of the last while to a file, and returns how many.
	Write func(name string) (packets int, err error)
	// Detail tells what is known of a row, and remembers its packets until it is
	// asked for another or Leave is called; nil when the conversation has ended.
	Detail func(id, end int) *Detail
	Leave  func()
}

// Messages for the screen.
type (
	// SnapshotMsg is the end of an interval.
	SnapshotMsg struct{ *Snapshot }
	// EndMsg is the end of the packets: of the file, or by a fault.
	EndMsg struct{ Err error }
	// NoteMsg is something to tell.
	NoteMsg string

	writtenMsg struct {
		name    string
		packets int
		err     error
	}
)

// page is what fills the screen.
type page int

const (
	pageTable page = iota
	pageDetail
	pageHelp
)

// Model is the full screen: messages in, frames out.
type Model struct {
	hooks         Hooks
	source        string // where the packets are from
	filter        string
	colours       *palette
	width, height int

	latest  *Snapshot // nil until the first
	shown   *Snapshot
	silence []string  // why nothing may be seen
	rates   []float64 // of everything, as far as it is shown
	waiting []float64 // of everything, while the display is paused
	paused  bool
	ended   bool
	failure error

	page    page
	back    page // where help leads back to
	table   table
	log     eventLog
	logged  bool // the keys are for the log
	detail  detailView
	prompt  *prompt
	note    string
	noteBad bool
	helpTop int
}

// NewModel makes the screen of packets from somewhere, of which those are
// followed that match a filter.
func NewModel(source, filter string, coloured bool, hooks Hooks) *Model {
	colours := newPalette(coloured)
	return &Model{
		hooks: hooks, source: printable(source), filter: filter, colours: colours,
		table: table{sort: columnBits, colours: colours}, log: eventLog{colours: colours}, detail: detailView{colours: colours},
	}
}

// Init has nothing to do before the first message.
func (m *Model) Init() tea.Cmd { return nil }

// Update takes a message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case SnapshotMsg:
		m.take(msg.Snapshot)
	case EndMsg:
		m.ended, m.failure = true, msg.Err
	case NoteMsg:
		m.tell(string(msg), true)
	case writtenMsg:
		if msg.err != nil {
			m.tell(msg.err.Error(), true)
			break
		}
		m.tell(fmt.Sprintf("%d packets written to %s", msg.packets, msg.name), false)
	case tea.KeyMsg:
		return m, m.key(msg)
	case tea.MouseMsg:
		m.mouse(msg)
	}
	return m, nil
}

func (m *Model) tell(text string, bad bool) { m.note, m.noteBad = printable(text), bad }

// maxRates is how many intervals of everything are remembered.
const maxRates = 240

// take takes a snapshot, and shows it unless the display is paused.
func (m *Model) take(s *Snapshot) {
	m.latest = s
	m.log.add(s, m.paused)
	m.waiting = append(m.waiting, s.bits())
	for _, i := range s.Interfaces {
		for _, why := range i.Silence {
			m.silence = append(m.silence, printable("nothing on "+i.Name+" yet: "+why))
		}
	}
	if len(s.Rows) > 0 {
		m.silence = nil
	}
	if !m.paused {
		m.show()
	}
}

// show shows what is known now.
func (m *Model) show() {
	m.log.show()
	m.rates = last(append(m.rates, m.waiting...), maxRates)
	m.waiting = m.waiting[:0]
	if m.latest == nil {
		return
	}
	m.shown = m.latest
	m.table.fill(m.shown)
	m.renew()
}

// renew asks for what is known of the row that is looked at.
func (m *Model) renew() {
	if m.page != pageDetail {
		return
	}
	m.detail.keep(m.table.find(m.detail.key))
	if d := m.hooks.Detail(m.detail.key.id, m.detail.key.end); d != nil {
		m.detail.data = d
	}
}

func (m *Model) pause() {
	if m.paused = !m.paused; !m.paused {
		m.show()
	}
}

// setFilter is what the filter line does.
func (m *Model) setFilter(text string) (tea.Cmd, error) {
	text = strings.TrimSpace(text)
	if err := m.hooks.Filter(text); err != nil {
		return nil, err
	}
	m.filter = text
	return nil, nil
}

// write is what the line for a file's name does.
func (m *Model) write(name string) (tea.Cmd, error) {
	if name = strings.TrimSpace(name); name == "" {
		return nil, nil
	}
	m.tell("writing "+name, false)
	write := m.hooks.Write
	return func() tea.Msg {
		n, err := write(name)
		return writtenMsg{name, n, err}
	}, nil
}

// fileName is the name that a file gets unless another is typed.
func (m *Model) fileName() string {
	name := "rocecap"
	if m.shown != nil {
		name += m.shown.Time.Format("-20060102-150405")
	}
	return name + ".pcapng"
}

// View draws the frame: as many lines as the terminal has, none of them wider.
func (m *Model) View() string {
	if m.width <= 0 || m.height <= 0 {
		return ""
	}
	foot := m.foot()
	lines := m.title()
	height := max(0, m.height-len(lines)-len(foot))
	switch m.page {
	case pageHelp:
		lines = append(lines, m.help(height)...)
	case pageDetail:
		lines = append(lines, m.detail.view(m.width, height)...)
	default:
		lines = append(lines, m.overview(height)...)
	}
	lines = append(fill(lines, m.height-len(foot)), foot...)
	lines = fill(lines, m.height)
	for i := range lines {
		lines[i] = cut(lines[i], m.width)
	}
	return strings.Join(lines, "\n")
}

// fill makes it so many lines.
func fill(lines []string, n int) []string {
	n = max(0, n)
	for len(lines) < n {
		lines = append(lines, "")
	}
	return lines[:n]
}

// title says where the packets are from, what time it is there, and how much
// there is.
func (m *Model) title() []string {
	head := m.colours.bar.Render("rocecap live") + "  " + m.colours.strong.Render(m.source)
	if m.shown != nil {
		head += "  " + m.shown.Time.Format("15:04:05")
	}
	if m.shown != nil && m.shown.Dropped() > 0 {
		head += "  " + m.colours.grades[analysis.Error].Render(fmt.Sprintf("dropped %d", m.shown.Dropped()))
	}
	if m.shown != nil && m.shown.Lost() > 0 {
		head += "  " + m.colours.grades[analysis.Error].Render(fmt.Sprintf("interface dropped %d", m.shown.Lost()))
	}
	if m.paused {
		head += "  " + m.colours.grades[analysis.Warning].Render("PAUSED")
	}
	switch {
	case m.failure != nil:
		head += "  " + m.colours.grades[analysis.Error].Render(printable(m.failure.Error()))
	case m.ended:
		head += "  " + m.colours.grades[analysis.Warning].Render("end of file")
	}
	if m.filter != "" {
		head += "  " + m.colours.accent.Render("filter: "+printable(m.filter))
	}
	return []string{head, m.totals()}
}

func (m *Model) totals() string {
	if m.shown == nil {
		return m.colours.faint.Render("no interval has ended yet")
	}
	text, _, _ := strings.Cut(string(m.shown.Append(nil))[len("15:04:05"):], "  dropped") // the title has that
	text = strings.TrimSpace(text)
	room := min(m.width-len(text)-2, len(m.rates), maxSpark)
	if room < leastSpark {
		return text
	}
	return spread(text, m.colours.accent.Render(spark(m.rates, room)), m.width)
}

// overview is the table and, below it, the log.
func (m *Model) overview(height int) []string {
	rows, events := m.shares(height)
	lines := m.table.view(m.width, rows, !m.logged)
	if len(m.table.rows) == 0 {
		lines = append(lines, m.empty()...)
	}
	lines = fill(lines, rows+1)
	if events < 0 {
		return lines
	}
	return append(lines, m.log.view(m.width, events, m.logged)...)
}

// shares divides the lines among rows and events, each of which have a head. Up to
// a third is for the events that there are; what the table does not need, too.
func (m *Model) shares(height int) (rows, events int) {
	rest := height - 2
	if rest < 2 {
		return max(0, height-1), -1
	}
	events = min(max(len(m.log.list), 2), (rest+2)/3)
	rows = min(max(m.table.most, 4), rest-events)
	return rows, rest - rows
}

// empty stands in a table without rows.
func (m *Model) empty() (lines []string) {
	lines = append(lines, "", "  waiting for RDMA packets from "+m.source)
	for _, why := range m.silence {
		for _, line := range wrap(why, m.width-2) {
			lines = append(lines, "  "+m.colours.grades[analysis.Warning].Render(line))
		}
	}
	return lines
}

// foot is the last line: something to type, something to tell, or the keys.
func (m *Model) foot() []string {
	switch {
	case m.prompt != nil:
		return m.prompt.view(m.width, m.colours)
	case m.note != "" && m.noteBad:
		return []string{m.colours.grades[analysis.Error].Render(m.note)}
	case m.note != "":
		return []string{m.colours.accent.Render(m.note)}
	}
	hint := "?:help  /:filter  <>:sort  Enter:detail  Tab:events  p:pause  w:write  q:quit"
	switch {
	case m.page == pageHelp:
		hint = "Esc:back  ↑↓:scroll  q:quit"
	case m.page == pageDetail:
		hint = "Esc:back  Tab 1 2 3 4:page  ←→:other row  ↑↓:scroll  p:pause  w:write  ?:help"
	case m.logged:
		hint = "?:help  Tab:table  ↑↓:scroll  Enter:detail of the row  p:pause  w:write  q:quit"
	}
	return []string{m.colours.faint.Render(hint)}
}
