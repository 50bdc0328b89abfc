package live

import (
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/wire"
)

var update = flag.Bool("update", false, "write the golden texts anew")

// desk is a screen, and what it asked for.
type desk struct {
	t       *testing.T
	m       *Model
	filters []string
	files   []string
	refuse  error // to write
	looked  []string
	left    int
	detail  *Detail
	quit    bool
}

func newDesk(t *testing.T, width, height int) *desk {
	t.Helper()
	d := &desk{t: t, detail: sampleDetail()}
	d.m = NewModel("eth0, eth1", "", false, Hooks{
		Filter: func(text string) error {
			if _, err := filter.Compile(text); text != "" && err != nil {
				return err
			}
			d.filters = append(d.filters, text)
			return nil
		},
		Write: func(name string) (int, error) {
			d.files = append(d.files, name)
			return 1234, d.refuse
		},
		Detail: func(id, end int) *Detail {
			d.looked = append(d.looked, fmt.Sprintf("%d/%d", id, end))
			return d.detail
		},
		Leave: func() { d.left++ },
	})
	d.resize(width, height)
	return d
}

func (d *desk) send(msg tea.Msg) {
	d.t.Helper()
	_, cmd := d.m.Update(msg)
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case tea.QuitMsg:
		d.quit = true
	default:
		d.send(msg)
	}
}

func (d *desk) resize(width, height int) {
	d.t.Helper()
	d.send(tea.WindowSizeMsg{Width: width, Height: height})
}

// keys presses keys: names of keys, or text that is typed.
func (d *desk) keys(list ...string) {
	d.t.Helper()
	named := map[string]tea.KeyType{
		"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown, "pgup": tea.KeyPgUp,
		"pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd, "left": tea.KeyLeft, "right": tea.KeyRight,
		"backspace": tea.KeyBackspace, "delete": tea.KeyDelete, "ctrl+c": tea.KeyCtrlC, "ctrl+u": tea.KeyCtrlU, "ctrl+k": tea.KeyCtrlK,
		"space": tea.KeySpace,
	}
	for _, k := range list {
		if kind, ok := named[k]; ok {
			msg := tea.KeyMsg{Type: kind}
			if kind == tea.KeySpace {
				msg.Runes = []rune{' '}
			}
			d.send(msg)
			continue
		}
		for _, r := range k {
			d.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}})
		}
	}
}

// frame is what is on the screen, which it has to fill.
func (d *desk) frame() string {
	d.t.Helper()
	frame := d.m.View()
	lines := strings.Split(frame, "\n")
	if len(lines) != d.m.height {
		d.t.Errorf("%d x %d: %d lines", d.m.width, d.m.height, len(lines))
	}
	for i, line := range lines {
		if n := ansi.StringWidth(line); n > d.m.width {
			d.t.Errorf("%d x %d: line %d has %d columns: %q", d.m.width, d.m.height, i, n, line)
		}
		lines[i] = strings.TrimRight(ansi.Strip(line), " ")
	}
	return strings.Join(lines, "\n")
}

func (d *desk) has(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, text := range texts {
		if !strings.Contains(frame, text) {
			d.t.Errorf("no %q in\n%s", text, frame)
		}
	}
}

func (d *desk) hasNot(texts ...string) {
	d.t.Helper()
	frame := d.frame()
	for _, text := range texts {
		if strings.Contains(frame, text) {
			d.t.Errorf("%q in\n%s", text, frame)
		}
	}
}

// golden compares the frame with a file.
func (d *desk) golden(name string) {
	d.t.Helper()
	got := d.frame() + "\n"
	path := filepath.Join("testdata", fmt.Sprintf("%s_%dx%d.txt", name, d.m.width, d.m.height))
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			d.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		d.t.Fatal(err)
	}
	if got != string(want) {
		d.t.Errorf("%s differs:\n%s\nwant\n%s", path, got, want)
	}
}

var began = time.Date(2026, 11, 30, 10, 20, 30, 0, time.UTC)

// snapshot is interval n, with so many conversations.
func snapshot(n, conversations int) *Snapshot {
	s := &Snapshot{Time: began.Add(time.Duration(n) * time.Second), Seconds: 1}
	for id := 1; id <= conversations; id++ {
		ends := [2]string{fmt.Sprintf("192.0.2.%d QP 0x%06x", id, 0x100+id), fmt.Sprintf("198.51.100.%d QP 0x%06x", id, 0x200+id)}
		if id%3 == 0 {
			ends = [2]string{fmt.Sprintf("2001:db8:aaaa:bbbb::%d QP 0xabcdef", id), fmt.Sprintf("2001:db8:cccc:dddd:1:2:3:%d QP 0xfedcba", id)}
		}
		for end := range ends {
			packets := 100 * id / (1 + 9*end)
			r := Row{
				ID: id, End: end, Service: "RC", From: ends[end], To: ends[1-end], Bits: float64(packets) * 8192 * (1 + float64(n%4)), Packets: float64(packets),
				New:   rates.Counts{Packets: packets, Bytes: int64(packets) * 1024, Messages: packets / 4},
				Total: rates.Counts{Packets: n * packets, Bytes: int64(n*packets) * 1024, Messages: n * packets / 4},
			}
			if end == 0 {
				r.Messages = float64(packets / 4)
				r.P50, r.P99 = time.Duration(11-id)*11*time.Microsecond, time.Duration(id)*100*time.Microsecond
			}
			if id == 2 && end == 0 {
				r.New.Again, r.Total.Again, r.Total.NAKs = 7, 7*n, n
			}
			for i := range n {
				r.Rates = append(r.Rates, float64(packets)*8192*(1+float64(i%4)))
			}
			s.New.Add(r.New)
			s.Total.Add(r.Total)
			s.Rows = append(s.Rows, r)
		}
	}
	for i := range min(conversations, 2) {
		s.Findings = append(s.Findings, Finding{
			Time: s.Time.Add(time.Duration(i) * time.Millisecond), Packet: 100*n + i, Code: "NAK-SEQUENCE", Grade: 1 + i, ID: 2, Where: "192.0.2.2 QP 0x000102 to 198.51.100.2 QP 0x000202",
			Text: fmt.Sprintf("NAK-SEQUENCE: the responder missed a PSN and said so (PSN %d, because of packet %d)", 1000*n+i, 100*n),
		})
	}
	s.Interfaces = []Interface{{Name: "eth0", Received: 100, Dropped: 3}}
	return s
}

// sampleDetail is a conversation in which a packet is sent again after a NAK.
func sampleDetail() *Detail {
	a, b := netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("198.51.100.2")
	c := &conversation.Conversation{Service: wire.RC, First: 1, Last: 900}
	c.Ends = [2]conversation.End{{Addr: a, QPN: 0x102, Known: true}, {Addr: b, QPN: 0x202, Known: true}}
	d := &Detail{Conversation: c, Remarks: map[int][]analysis.Remark{}, Analysis: "2  RC  192.0.2.2 and 198.51.100.2\n   192.0.2.2 QP 0x000102 asks\n" + strings.Repeat("     a line that is longer than a narrow terminal has columns, and so has to be broken into two\n", 40)}
	d.Connections = []*connect.Connection{{Outcome: connect.Established, Ends: [2]connect.End{{Addr: a}, {Addr: b}}}}
	add := func(src, dst netip.Addr, qp uint32, psn int, op wire.Opcode, syndrome wire.Syndrome) {
		n := len(d.Packets) + 1
		d.Packets = append(d.Packets, conversation.Packet{
			Number: n, Time: int64(n) * int64(50*time.Microsecond), Src: src, Dst: dst, DestQP: qp, PSN: wire.PSN(psn & 0xffffff), Opcode: op, Syndrome: syndrome, Payload: 1024,
		})
	}
	const first = 0xfffff0 // the PSNs begin anew
	for psn := range 20 {
		add(a, b, 0x202, first+psn, wire.Opcode(0x04), 0)
	}
	add(b, a, 0x102, first+9, wire.Opcode(0x11), 0x60) // NAK PSN sequence error
	d.Remarks[21] = []analysis.Remark{{Grade: analysis.Warning, Text: "NAK-SEQUENCE: the responder missed a PSN and said so"}}
	for psn := 9; psn < 24; psn++ {
		add(a, b, 0x202, first+psn, wire.Opcode(0x04), 0)
	}
	add(b, a, 0x102, first+23, wire.Opcode(0x11), 0)
	return d
}

// run sends snapshots from one to another.
func (d *desk) run(from, to, conversations int) {
	d.t.Helper()
	for n := from; n <= to; n++ {
		d.send(SnapshotMsg{snapshot(n, conversations)})
	}
}

// sizes are the terminals that the frames are compared at.
var sizes = [][2]int{{80, 24}, {200, 60}}

func TestFrames(t *testing.T) {
	for _, size := range sizes {
		d := newDesk(t, size[0], size[1])
		d.golden("empty")
		d.run(1, 9, 8)
		d.golden("table")
		d.keys("down", "down", "enter")
		d.golden("overview")
		d.keys("2")
		d.golden("packets")
		d.keys("tab")
		d.golden("analysis")
		d.keys("tab")
		d.golden("cm")
		d.keys("?")
		d.golden("help")
		d.keys("esc", "esc", "tab", "up")
		d.golden("events")
		d.keys("/", "infiniband.bth.psn == red", "enter")
		d.golden("fault")
	}
}

// TestNoLineIsWiderThanTheTerminal draws every page at every size, coloured.
func TestNoLineIsWiderThanTheTerminal(t *testing.T) {
	pages := []func(d *desk){
		func(*desk) {},
		func(d *desk) { d.keys("tab", "up") },
		func(d *desk) { d.keys("tab", "tab", "enter") },
		func(d *desk) { d.keys("2") },
		func(d *desk) { d.keys("3", "down") },
		func(d *desk) { d.keys("4") },
		func(d *desk) { d.keys("?") },
		func(d *desk) {
			d.keys("?", "esc", "/", `frame contains "日本語 日本語 日本語 日本語 日本語 日本語" && 12`, "enter")
		},
		func(d *desk) { d.keys("esc", "w", strings.Repeat("long", 60)) },
	}
	for _, conversations := range []int{0, 40} {
		d := newDesk(t, 80, 24)
		d.m.colours = newPalette(true)
		d.m.table.colours, d.m.log.colours, d.m.detail.colours = d.m.colours, d.m.colours, d.m.colours
		d.run(1, 70, conversations)
		pages := pages
		if conversations == 0 {
			pages = pages[:1] // there is no row to look at
		}
		for i, page := range pages {
			page(d)
			for width := 40; width <= 200; width++ {
				// Every height at some widths, some heights at every width.
				step := 1
				if width%32 != i {
					step = 50
				}
				for height := 10; height <= 60; height += step {
					d.resize(width, height)
					d.frame()
					if t.Failed() {
						t.Fatalf("page %d", i)
					}
				}
			}
		}
	}
}

func TestNothingBreaksOnATinyTerminal(t *testing.T) {
	d := newDesk(t, 0, 0)
	if got := d.m.View(); got != "" {
		t.Errorf("%q on no terminal", got)
	}
	d.run(1, 3, 3)
	for _, keys := range [][]string{{}, {"tab"}, {"enter"}, {"2"}, {"3"}, {"4"}, {"?"}, {"/", "x ==", "enter"}} {
		d.keys(keys...)
		for width := 1; width < 40; width++ {
			for height := 1; height < 10; height++ {
				d.resize(width, height)
				d.frame()
			}
		}
	}
}

// order lists the numbers of the rows, as they are shown.
func (d *desk) order() (text string) {
	for _, r := range d.m.table.rows {
		text += fmt.Sprintf(" %d/%d", r.ID, r.End)
	}
	return strings.TrimSpace(text)
}

func TestRowsAreSortedByAnyColumn(t *testing.T) {
	d := newDesk(t, 200, 60)
	d.run(1, 2, 3)
	for _, test := range []struct{ keys, head, want string }{
		{"", "▼bit/s", "3/0 2/0 1/0 3/1 2/1 1/1"},
		{"r", "▲bit/s", "1/1 2/1 3/1 1/0 2/0 3/0"},
		{"#", "▼#", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"#", "▲#", "3/0 3/1 2/0 2/1 1/0 1/1"},
		{"P", "▼pkt/s", "3/0 2/0 1/0 3/1 2/1 1/1"},
		{"M", "▼msg/s", "3/0 2/0 1/0 1/1 2/1 3/1"},
		{"5", "▼p50", "1/0 2/0 3/0 1/1 2/1 3/1"},
		{"9", "▼p99", "3/0 2/0 1/0 1/1 2/1 3/1"},
		{"A", "▼again", "2/0 1/0 1/1 2/1 3/0 3/1"},
		{"N", "▼NAK", "2/0 1/0 1/1 2/1 3/0 3/1"},
		{"t", "▼NAK", "1/0 1/1 2/0 2/1 3/0 3/1"}, // none in the last interval
		{"t", "▼NAK", "2/0 1/0 1/1 2/1 3/0 3/1"},
		{"R", "▼RNR", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"<", "▼NAK", "2/0 1/0 1/1 2/1 3/0 3/1"},
		{">>", "▼CNP", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"E", "▼CE", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"I", "▼ICRC", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"s", "▼#", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"V", "▼svc", "1/0 1/1 2/0 2/1 3/0 3/1"},
		{"F", "▼from → to", "1/0 2/0 1/1 2/1 3/0 3/1"},
	} {
		d.keys(test.keys)
		if got := d.order(); got != test.want {
			t.Errorf("%q: %s, want %s", test.keys, got, test.want)
		}
		d.has(test.head)
	}
}

func TestColumnsWithoutAnythingGoFirst(t *testing.T) {
	d := newDesk(t, 80, 24)
	s := snapshot(1, 4)
	s.Rows[0].Total.CE = 5
	d.send(SnapshotMsg{s})
	d.has(" CE", "again", "NAK")
	d.hasNot("CNP", "ICRC")
	d.keys("I")
	d.has("▼ICRC") // what rows are sorted by is always shown
}

func TestTheCursorStaysOnItsRow(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 1, 20)
	d.keys("end")
	d.has("> ") // the last row is on the screen
	if at := d.m.table.cursor(); at != 39 {
		t.Errorf("the cursor is at row %d", at)
	}
	chosen := d.m.table.chosen
	d.keys("r") // now it is the first
	if at := d.m.table.cursor(); at != 0 || d.m.table.chosen != chosen {
		t.Errorf("the cursor is at row %d, %v", at, d.m.table.chosen)
	}
	d.keys("pgdown", "pgdown", "down", "up", "k", "j")
	d.frame()
	if at := d.m.table.cursor(); at != 24 || d.m.table.top > 24 || d.m.table.top == 0 {
		t.Errorf("row %d, the first that is shown is %d", at, d.m.table.top)
	}
	d.keys("home")
	if d.frame(); d.m.table.top != 0 {
		t.Errorf("the first that is shown is %d", d.m.table.top)
	}
}

func TestPauseHoldsTheDisplay(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 3, 2)
	d.keys("p")
	before := d.frame()
	d.run(4, 6, 4)
	if got := d.frame(); got != before {
		t.Errorf("paused, it changes to\n%s\nfrom\n%s", got, before)
	}
	d.has("PAUSED", "10:20:33", "6 events")
	d.keys("space")
	d.has("10:20:36", "12 events", "8 streams")
	d.hasNot("PAUSED")
	if len(d.m.rates) != 6 {
		t.Errorf("%d intervals are remembered", len(d.m.rates))
	}
}

func TestTheFilterLine(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 1, 2)
	d.keys("/", "infiniband.bth.psn == red", "enter")
	d.has("filter: infiniband.bth.psn == red", "\n                              ^~~\n", `"red"`)
	if len(d.filters) > 0 {
		t.Errorf("%q are set", d.filters)
	}
	d.keys("backspace", "backspace", "backspace", "5", "enter")
	d.has("filter: infiniband.bth.psn == 5")
	d.hasNot("▏")
	d.keys("/", "ctrl+u", "enter") // nothing matches everything
	d.hasNot("filter: ")
	if got := strings.Join(d.filters, "|"); got != "infiniband.bth.psn == 5|" {
		t.Errorf("the filters were %q", got)
	}
	d.keys("/", "qqq", "esc")
	if d.quit || len(d.filters) != 2 {
		t.Error("what is typed into the line is a key, or set although it was left")
	}
}

func TestTypingMovesAndRemoves(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.keys("/", "acd", "left", "left", "b", "home", "delete", "right", "right", "ctrl+k", "end", "é\x1b")
	if got := string(d.m.prompt.text); got != "bcé" {
		t.Errorf("%q", got)
	}
	d.keys("ctrl+c")
	if d.m.prompt != nil || d.quit {
		t.Error("Ctrl-C leaves more than the line")
	}
	d.keys("ctrl+c")
	if !d.quit {
		t.Error("Ctrl-C does not end it")
	}
}

func TestADetailIsOpenedAndLeft(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 4, 8)
	d.keys("down", "enter") // 7/0: sorted by bit/s
	d.has("#7 RC", "192.0.2.7 0x107", "in all", "PSNs of its requests", "last packets")
	d.run(5, 5, 8)
	d.keys("right", "4")
	d.has("#6 RC", "connected")
	d.keys("left")
	d.has("#7 RC", "connected")
	d.keys("esc")
	if got := strings.Join(d.looked, " "); got != "7/0 7/0 6/0 7/0" || d.left != 1 {
		t.Errorf("looked at %s, left %d times", got, d.left)
	}
	d.keys("tab", "enter") // the last finding
	d.has("#2 RC")
}

func TestADetailOutlivesItsConversation(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 2, 8)
	d.keys("enter")
	d.detail = nil
	d.run(3, 3, 2)
	d.has("#8 RC (ended)", "PSNs of its requests")
	d.keys("esc", "tab", "enter")
	d.has("#2 RC")
	d.run(4, 4, 0)
	d.keys("esc", "tab", "enter", "tab", "enter")
	d.has("that conversation has ended")
}

func TestThePacketsCanBeScrolled(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 2, 8)
	d.keys("enter", "2")
	d.has("      37 ")
	d.hasNot("       1 ")
	d.keys("home")
	d.has("       1 ")
	d.keys("down", "down")
	d.hasNot("       1 ", "       2 ")
	d.has("       3 ")
	d.keys("end", "end")
	d.has("      37 ")
	d.keys("up")
	d.hasNot("      37 ")
	d.has("      36 ")
}

func TestFilesAreWritten(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 2, 1)
	d.keys("w")
	d.has("write to: rocecap-20261130-102032.pcapng")
	d.keys("enter")
	d.has("1234 packets written to rocecap-20261130-102032.pcapng")
	d.keys("w", "ctrl+u", "enter") // no name, no file
	d.refuse = errors.New("x: there is such a file already")
	d.keys("w", "ctrl+u", "x", "enter")
	d.has("there is such a file already")
	d.keys("down")
	d.has("q:quit")
	if got := strings.Join(d.files, " "); got != "rocecap-20261130-102032.pcapng x" {
		t.Errorf("%s were written", got)
	}
}

func TestEventsScroll(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 40, 2)
	d.has("80 events", "(PSN 40001, because")
	d.keys("tab", "home")
	d.has("(PSN 1000, because")
	d.run(41, 42, 2)
	d.has("(PSN 1000, because") // it stays there
	d.keys("end")
	d.has("(PSN 42001, because")
	d.run(43, 43, 2)
	d.has("(PSN 43001, because")
	d.run(44, 3000, 2)
	if n := len(d.m.log.list); n != maxLog || d.m.log.lost != 2*3000-maxLog {
		t.Errorf("%d events are remembered, %d were lost", n, d.m.log.lost)
	}
	d.has("not listed")
}

func TestItSaysWhatHappensToThePackets(t *testing.T) {
	d := newDesk(t, 80, 24)
	s := snapshot(1, 0)
	s.Interfaces[0].Silence = []string{"the link is down: switch it on, or connect it, or listen to another interface than this one"}
	d.send(SnapshotMsg{s})
	d.has("waiting for RDMA packets from eth0, eth1", "nothing on eth0 yet: the link is down")
	d.run(2, 2, 1)
	d.hasNot("waiting", "nothing on")
	d.send(NoteMsg("interface eth1 is down"))
	d.has("interface eth1 is down")
	d.send(EndMsg{})
	d.has("end of file")
	d.send(EndMsg{errors.New("x.pcap: record 3: cut")})
	d.has("x.pcap: record 3: cut")
	d.keys("q")
	if !d.quit {
		t.Error("q does not end it")
	}
}

func TestTheMouseChoosesSortsAndScrolls(t *testing.T) {
	d := newDesk(t, 80, 24)
	d.run(1, 20, 8)
	click := func(x, y int, b tea.MouseButton) {
		d.send(tea.MouseMsg{X: x, Y: y, Button: b, Action: tea.MouseActionPress})
	}
	head := []rune(strings.Split(d.frame(), "\n")[2])
	click(strings.Index(string(head), "p99")-len("▼→")+2, 2, tea.MouseButtonLeft)
	d.has("▼p99")
	click(10, 5, tea.MouseButtonLeft) // the third row
	if got := d.m.table.cursor(); got != 2 {
		t.Errorf("row %d is chosen", got)
	}
	click(10, 5, tea.MouseButtonWheelDown)
	if got := d.m.table.cursor(); got != 5 {
		t.Errorf("row %d is chosen", got)
	}
	click(10, 20, tea.MouseButtonWheelUp)
	if !d.m.logged || d.m.log.back != 3 {
		t.Errorf("%d events back", d.m.log.back)
	}
	click(10, 4, tea.MouseButtonLeft)
	click(10, 4, tea.MouseButtonLeft)
	d.has("#7 RC")
}
