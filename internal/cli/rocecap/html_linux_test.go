package rocecap_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/gencap"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// pageOf writes the page of a capture.
func pageOf(t *testing.T, capture string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.html")
	mustRun(t, "analyze", "-n", "0", "--html", path, capture)
	return path
}

// One browser opens the pages of all tests, because it takes seconds to start.
func TestThePageInABrowser(t *testing.T) {
	b := openBrowser(t)
	for _, test := range []struct {
		name string
		run  func(t *testing.T, b *browser)
	}{
		{"a click on a finding shows its packet", clickOnFinding},
		{"it lists conversations and hides kinds", listsAndKinds},
		{"it fits the window in light and dark", lightAndDark},
		{"every kind of capture has a page", everyKind},
		{"names in a capture stay text", namesStayText},
		{"it shows pauses", showsPauses},
		{"100000 packets are no more to draw than there is room for", manyPackets},
	} {
		t.Run(test.name, func(t *testing.T) {
			b.begin(t)
			test.run(t, b)
		})
	}
}

func clickOnFinding(t *testing.T, b *browser) {
	path := pageOf(t, pcaps(t, "rc_loss_write.pcap.gz"))
	b.load(path, "")
	const link = `#worst .finding a`
	packet := b.text(`document.querySelector("` + link + `").textContent`)
	if b.number(`rocecap.diagram.stats.visible`) != 1389 {
		t.Errorf("at first %v packets are shown", b.number(`rocecap.diagram.stats.visible`))
	}
	b.click(b.middle(link))
	b.settle()
	if got := b.text(`document.querySelector("#selected b").textContent`); got != "packet "+packet {
		t.Errorf("after a click on packet %s: %q", packet, got)
	}
	if n := b.number(`rocecap.diagram.stats.visible`); n < 10 || n > 500 {
		t.Errorf("%v packets are shown around the one that was clicked at", n)
	}
	if x := b.number(`rocecap.diagram.x(rocecap.conversation.series.time[rocecap.diagram.chosen])`); x < 100 || x > 1300 {
		t.Errorf("the packet is at %v", x)
	}
	// Its place in the diagram is where a click finds it again.
	if !strings.Contains(b.text(`document.querySelector("#selected").textContent`), "PSN-LOST") {
		t.Error("the finding is not told")
	}
	b.eval(`rocecap.selected(-1)`, nil)
	at := b.middle("#diagram canvas")
	var place point
	b.eval(`(() => {
		const d = rocecap.diagram, s = rocecap.conversation.series, i = s.find(`+packet+`), r = d.canvas.getBoundingClientRect();
		return { X: r.x + d.x(s.time[i]), Y: r.y + d.y(s.y[i]) };
	})()`, &place)
	b.mouse("mouseMoved", place, nil)
	if tip := b.text(`document.querySelector("#diagram .tip").textContent`); !strings.Contains(tip, "packet "+packet) {
		t.Errorf("at the packet's place %v, of %v, the tip is %q", place, at, tip)
	}
	// The keys go to the next finding.
	b.eval(`rocecap.diagram.canvas.focus()`, nil)
	b.press("n")
	if got := b.text(`document.querySelector("#selected b").textContent`); got == "packet "+packet {
		t.Error("n does not go on")
	}
	b.press("0")
	if b.number(`rocecap.diagram.stats.visible`) != 1389 {
		t.Error("0 does not show all")
	}
	b.quiet(path)
}

func listsAndKinds(t *testing.T, b *browser) {
	path := pageOf(t, pcaps(t, "many_qps.pcap.gz"))
	b.load(path, "")
	if n := b.number(`document.querySelectorAll("#conversations tbody tr").length`); n != 12 {
		t.Errorf("%v conversations on the first leaf", n)
	}
	b.click(b.middle("#conversations .pager button:last-child"))
	b.click(b.middle("#conversations tbody tr:nth-child(2)"))
	b.settle()
	if got := b.text(`document.querySelector("#title").textContent`); !strings.HasPrefix(got, "14  RC") {
		t.Errorf("after a click on the fourteenth: %q", got)
	}
	draws := b.number(`rocecap.diagram.stats.draws`)
	b.click(b.middle("#legend button"))
	if less := b.number(`rocecap.diagram.stats.draws`); draws == 0 || less >= draws {
		t.Errorf("%v marks, and %v without those of the first kind", draws, less)
	}
	b.click(b.middle("#conversations thead th:nth-child(5) button"))
	b.click(b.middle("#conversations thead th:nth-child(5) button"))
	if got := b.text(`document.querySelector("#conversations th[aria-sort]").ariaSort`); got != "descending" {
		t.Errorf("sorted %q", got)
	}
	if n := b.number(`document.querySelectorAll("#asked tbody tr").length`); n == 0 {
		t.Error("no messages are listed")
	}
	b.quiet(path)
}

func lightAndDark(t *testing.T, b *browser) {
	path := pageOf(t, pcaps(t, "rc_loss_read.pcap.gz"))
	backs := map[string]bool{}
	for _, scheme := range []string{"light", "dark"} {
		b.call("Emulation.setEmulatedMedia", map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
		for _, width := range []int{1400, 800} {
			b.resize(width, 1000)
			b.load(path, "")
			if over := b.number(`document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("the page is %v pixels wider than a window of %d", over, width)
			}
			if w := b.number(`document.querySelector("#diagram canvas").clientWidth`); w < float64(width)*3/4 {
				t.Errorf("the diagram is %v pixels wide in a window of %d", w, width)
			}
		}
		backs[b.text(`getComputedStyle(document.body).backgroundColor`)] = true
	}
	if len(backs) != 2 {
		t.Errorf("light and dark have the backgrounds %v", backs)
	}
	b.quiet(path)
}

func everyKind(t *testing.T, b *browser) {
	for _, name := range analyzed {
		path := pageOf(t, pcaps(t, name))
		b.load(path, "")
		n := int(b.number(`rocecap.data.conversations.length`))
		for i := range n {
			b.eval(`rocecap.open(rocecap.data.conversations[`+strconv.Itoa(i)+`])`, nil)
			b.settle()
			if title := b.text(`document.querySelector("#title").textContent`); !strings.HasPrefix(title, b.text(`rocecap.data.conversations[`+strconv.Itoa(i)+`].number`)) {
				t.Errorf("%s: conversation %d has the title %q", name, i+1, title)
			}
			if draws := b.number(`rocecap.diagram.stats.draws`); draws == 0 {
				t.Errorf("%s: nothing is drawn of conversation %d", name, i+1)
			}
		}
		if n == 0 {
			t.Errorf("%s: no conversation", name)
		}
		b.quiet(path)
		b.begin(t)
	}
}

func namesStayText(t *testing.T, b *browser) {
	dir := filepath.Join(t.TempDir(), "<")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	capture := filepath.Join(dir, `script><img src=x onerror="window.broken=1"><script>window.broken=1<`)
	content, err := os.ReadFile(pcaps(t, "py_badrkey.pcap"))
	if err == nil {
		err = os.WriteFile(capture, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	path := pageOf(t, capture)
	b.load(path, "#1/3")
	if got := b.text(`document.querySelector("#file").textContent`); got != capture {
		t.Errorf("the head is %q", got)
	}
	if got := b.text(`typeof window.broken`); got != "undefined" {
		t.Error("a name was run")
	}
	if got := b.text(`document.querySelector("#selected").textContent`); !strings.Contains(got, "NAK-ACCESS") {
		t.Errorf("packet 3 is %q", got)
	}
	b.quiet(path)
}

// again is a capture of so many packets in which, 20 times, the last requests are
// sent again; the generator of captures makes perfect ones.
func again(t *testing.T, packets int) string {
	t.Helper()
	perfect := filepath.Join(t.TempDir(), "perfect.pcap")
	f, err := os.Create(perfect)
	if err != nil {
		t.Fatal(err)
	}
	err = gencap.Write(f, gencap.Options{Packets: packets, Payload: 256, Message: 16, QPs: 1, Seed: 1})
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := capfile.Open(perfect)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var records, requests []capfile.Record
	late := int64(0)
	add := func(rec capfile.Record) {
		rec.Time += late
		records = append(records, rec)
	}
	for len(records) < packets {
		batch, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range batch.Records {
			rec.Data = bytes.Clone(rec.Data)
			add(rec)
			if rec.Data[14+20+8] != 0x11 { // not an acknowledgement
				requests = append(requests, rec)
			}
			if len(records)%(packets/20) == packets/40 {
				for _, old := range requests[len(requests)-40:] {
					late += 500
					old.Time = rec.Time
					add(old)
				}
			}
		}
		batch.Release()
	}
	return writeRecords(t, wire.LinkEthernet, records[:packets])
}

func showsPauses(t *testing.T, b *browser) {
	// A PFC frame for priority 3, for 65535 quanta, behind the first packet.
	const pfc = "0180c2000001020000000001" + "8808" + "0101" + "0008" + "000000000000ffff0000000000000000"
	frame, err := hex.DecodeString(pfc + strings.Repeat("00", 26))
	if err != nil {
		t.Fatal(err)
	}
	r, err := capfile.Open(pcaps(t, "ce_marks.pcap.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	batch, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	defer batch.Release()
	records := []capfile.Record{batch.Records[0], {Time: batch.Records[0].Time + 1000, Data: frame, WireLen: len(frame), Link: wire.LinkEthernet, HasTime: true}}
	records = append(records, batch.Records[1:]...)
	path := pageOf(t, writeRecords(t, wire.LinkEthernet, records))
	b.load(path, "")
	// 65535 quanta of 512 bits are 335 us on a link of 100 Gbit/s.
	if from, to := b.number(`rocecap.data.pauses[0].from`), b.number(`rocecap.data.pauses[0].to`); from != 1000 || to < 336_000 || to > 337_000 {
		t.Errorf("a pause from %v to %v", from, to)
	}
	b.eval(`rocecap.view.set(0, 400000)`, nil)
	b.settle()
	at := b.middle("#diagram canvas")
	b.mouse("mouseMoved", at.add(0, -150), nil)
	if tip := b.text(`document.querySelector("#diagram .tip").textContent`); !strings.Contains(tip, "priority 3") {
		t.Errorf("the tip is %q", tip)
	}
	b.quiet(path)
}

// A reader moves in a diagram of 100,000 packets. What is counted is what is
// drawn: never more than the width has room for, whatever there is to show.
func manyPackets(t *testing.T, b *browser) {
	const packets = 100_000
	path := pageOf(t, again(t, packets))
	b.load(path, "")
	if n := b.number(`rocecap.conversation.series.n`); n != packets {
		t.Fatalf("the page has %v packets", n)
	}
	if n := b.number(`rocecap.conversation.series.counts[3]`); n < 20*40-50 {
		t.Errorf("%v packets are shown as sent again", n)
	}
	at := b.middle("#diagram canvas")
	b.settle()
	var frames, draws int
	var total, slowest float64
	look := func(what string) (visible float64) {
		var s struct {
			Frames, Draws, Layers        int
			Visible, Width, Milliseconds float64
		}
		b.eval(`rocecap.diagram.stats`, &s)
		if s.Draws == 0 || float64(s.Draws) > 2*s.Width*float64(s.Layers) {
			t.Errorf("after %s %d marks are drawn for %v packets in %v pixels", what, s.Draws, s.Visible, s.Width)
		}
		if s.Frames > frames {
			frames = s.Frames
			total += s.Milliseconds
			slowest = max(slowest, s.Milliseconds)
			draws++
		}
		return s.Visible
	}
	if n := look("opening"); n != packets {
		t.Errorf("at first %v packets are shown", n)
	}
	for range 30 {
		b.wheel(at, -120)
		look("zooming in")
	}
	near := look("zooming in")
	if near > packets/100 {
		t.Errorf("%v packets are shown after zooming in", near)
	}
	from := b.number(`rocecap.view.from`)
	for range 10 {
		b.drag(at, at.add(-200, 0), map[string]any{"modifiers": 8}) // Shift
		look("moving")
	}
	if to := b.number(`rocecap.view.from`); to <= from {
		t.Errorf("moving went from %v to %v", from, to)
	}
	for range 30 {
		b.wheel(at, 120)
		look("zooming out")
	}
	b.drag(at.add(-200, 5), at.add(200, 5), nil)
	if n := look("choosing a part"); n < packets/5 || n > packets/2 {
		t.Errorf("a drag over a third of the width shows %v packets", n)
	}
	b.click(at)
	b.drag(at, at, map[string]any{"clickCount": 2})
	if n := look("a double click"); n != packets {
		t.Errorf("a double click shows %v packets", n)
	}
	if draws < 70 {
		t.Errorf("only %d of the steps were drawn", draws)
	}
	t.Logf("%d frames were looked at: %.2f ms a frame, %.2f ms the slowest", draws, total/float64(draws), slowest)
	b.quiet(path)
}

func TestHTMLRefusesWhatItCannotWrite(t *testing.T) {
	capture := filepath.Join(t.TempDir(), "in.pcap")
	content, err := os.ReadFile(pcaps(t, "py_badrkey.pcap"))
	if err == nil {
		err = os.WriteFile(capture, content, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want string }{
		{"--html " + capture + " " + capture, "the file is the input too"},
		{"--html x.html " + capture + " " + capture, "--html: want one capture"},
		{"--html " + t.TempDir() + "/no/x.html " + capture, "no/x.html: "},
		{"--html /dev/null " + capture, "--html /dev/null: not a regular file"},
	} {
		r := run(append([]string{"analyze"}, strings.Fields(c.args)...)...)
		if r.code == 0 || !strings.Contains(r.err, c.want) {
			t.Errorf("%s: exit code %d, %q", c.args, r.code, r.err)
		}
	}
	if after, err := os.ReadFile(capture); err != nil || !bytes.Equal(after, content) {
		t.Errorf("the capture has changed: %v", err)
	}
}

func TestThePageOfADamagedFileHasWhatWasBeforeTheFault(t *testing.T) {
	content, err := os.ReadFile(pcaps(t, "py_badrkey.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	capture, out := filepath.Join(dir, "cut.pcap"), filepath.Join(dir, "page.html")
	if err := os.WriteFile(capture, content[:len(content)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	r := run("analyze", "--json", "--html", out, capture)
	page, err := os.ReadFile(out)
	if r.code != 2 || !strings.HasPrefix(r.out, "{") || err != nil || !bytes.Contains(page, []byte(`"marks":2,`)) {
		t.Errorf("exit code %d, %q; the page: %v, %d bytes", r.code, r.err, err, len(page))
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 2 {
		t.Errorf("there are %v: %v", left, err)
	}
}
