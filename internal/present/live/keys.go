package live

import (
	tea "github.com/charmbracelet/bubbletea"
)

// key does what a key is for.
func (m *Model) key(k tea.KeyMsg) tea.Cmd {
	if m.prompt != nil {
		// What is typed may close the line and then begin to write.
		cmd, closed := m.prompt.key(k)
		if closed {
			m.prompt = nil
		}
		return cmd
	}
	m.note = ""
	switch k.String() {
	case "q", "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	case "ctrl+l":
		return tea.ClearScreen
	case "p", " ":
		m.pause()
	case "?":
		if m.page != pageHelp {
			m.back, m.page, m.helpTop = m.page, pageHelp, 0
		} else {
			m.page = m.back
		}
	case "/":
		m.prompt = newPrompt("filter:", m.filter, m.setFilter)
	case "w":
		question := "write to:"
		if m.filter != "" {
			question = "write what matches to:"
		}
		m.prompt = newPrompt(question, m.fileName(), m.write)
	default:
		m.pageKey(k.String())
	}
	return nil
}

// pageKey is a key that means something on one page.
func (m *Model) pageKey(k string) {
	switch m.page {
	case pageHelp:
		if k == "esc" || k == "backspace" {
			m.page = m.back
			return
		}
		m.helpTop = max(0, m.helpTop+m.steps(k))
	case pageDetail:
		m.detailKey(k)
	default:
		m.tableKey(k)
	}
}

// steps is how many lines a key moves by.
func (m *Model) steps(k string) int {
	const everything = 1 << 30
	screen := max(1, m.height/2)
	switch k {
	case "up", "k":
		return -1
	case "down", "j":
		return 1
	case "pgup", "ctrl+u":
		return -screen
	case "pgdown", "ctrl+d":
		return screen
	case "home", "g":
		return -everything
	case "end", "G":
		return everything
	}
	return 0
}

func (m *Model) tableKey(k string) {
	switch k {
	case "tab", "shift+tab":
		m.logged = !m.logged
	case "enter":
		m.enter()
	case ">", "s", ".":
		m.table.next(1)
	case "<", "S", ",":
		m.table.next(-1)
	case "r":
		m.table.upward = !m.table.upward
		m.table.order()
	case "t":
		m.table.recent = !m.table.recent
		m.table.order()
	default:
		for c := range columns {
			if columns[c].key == k {
				m.table.sortBy(c)
				return
			}
		}
		m.move(m.steps(k))
	}
}

// move moves the cursor of the table or the log.
func (m *Model) move(by int) {
	if by == 0 {
		return
	}
	if m.logged {
		m.log.move(by)
		return
	}
	m.table.move(by)
}

// enter opens the row under the cursor, or the one that a finding is about.
func (m *Model) enter() {
	if m.logged {
		if f := m.log.chosen(); f != nil && f.ID > 0 {
			m.open(key{f.ID, f.End})
		}
		return
	}
	if at := m.table.cursor(); at >= 0 {
		m.open(m.table.rows[at].key())
	}
}

// open shows all that is known of a row.
func (m *Model) open(k key) {
	d := m.hooks.Detail(k.id, k.end)
	row := m.table.find(k)
	if d == nil && row == nil {
		m.tell("that conversation has ended", true)
		return
	}
	m.table.chosen = k
	m.detail.open(k, row, d)
	m.page = pageDetail
}

func (m *Model) detailKey(k string) {
	switch k {
	case "esc", "backspace":
		m.page = pageTable
		m.hooks.Leave()
	case "left", "right":
		step := 1
		if k == "left" {
			step = -1
		}
		m.table.chosen = m.detail.key
		m.table.move(step)
		if at := m.table.cursor(); at >= 0 && m.table.rows[at].key() != m.detail.key {
			part := m.detail.part
			m.open(m.table.rows[at].key())
			m.detail.part = part
		}
	case "tab":
		m.detail.turn(m.detail.part + 1)
	case "shift+tab":
		m.detail.turn(m.detail.part - 1)
	case "1", "2", "3", "4":
		m.detail.turn(part(k[0] - '1'))
	default:
		m.detail.top += m.steps(k)
	}
}

// mouse scrolls, chooses, opens what is chosen already, and sorts.
func (m *Model) mouse(e tea.MouseMsg) {
	if m.prompt != nil || e.Action != tea.MouseActionPress {
		return
	}
	switch e.Button {
	case tea.MouseButtonWheelUp:
		m.wheel(-3, e.Y)
	case tea.MouseButtonWheelDown:
		m.wheel(3, e.Y)
	case tea.MouseButtonLeft:
		if m.page == pageTable {
			m.click(e.X, e.Y)
		}
	}
}

func (m *Model) wheel(by, y int) {
	switch m.page {
	case pageHelp:
		m.helpTop = max(0, m.helpTop+by)
	case pageDetail:
		m.detail.top += by
	default:
		_, line, ok := m.place(y)
		if m.logged = ok && line == inLog; m.logged {
			m.log.move(by)
			return
		}
		m.table.move(by)
	}
}

// part of the table page.
type area int

const (
	inHead area = iota
	inTable
	inLog
)

// place says what a line of the table page belongs to, and the place there.
func (m *Model) place(y int) (place int, in area, ok bool) {
	title, foot := len(m.title()), len(m.foot())
	rows, events := m.shares(m.height - title - foot)
	y -= title
	switch {
	case y < 0 || y >= rows+2+events:
		return 0, 0, false
	case y == 0:
		return 0, inHead, true
	case y <= rows:
		return m.table.top + y - 1, inTable, true
	}
	return m.log.top + y - rows - 2, inLog, y > rows+1
}

func (m *Model) click(x, y int) {
	at, in, ok := m.place(y)
	switch {
	case !ok:
	case in == inHead:
		m.clickHead(x)
	case in == inTable && at < len(m.table.rows):
		again := !m.logged && m.table.rows[at].key() == m.table.chosen
		m.logged = false
		m.table.choose(at)
		if again {
			m.enter()
		}
	case in == inLog && at < len(m.log.list):
		again := m.logged && at == m.log.cursor()
		m.logged, m.log.back = true, len(m.log.list)-1-at
		if again {
			m.enter()
		}
	}
}

func (m *Model) clickHead(x int) {
	l := m.table.layout(m.width)
	end := 1
	for _, c := range l.columns {
		if end += l.widths[c] + 1; x < end {
			m.table.sortBy(c)
			return
		}
	}
}
