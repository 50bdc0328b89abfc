package tsharkdiff

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/present/field"
	"github.com/rocecap/rocecap/internal/testneed"
)

// difference is one field of one packet that the two programs do not print the
// same.
type difference struct {
	file         string
	number       int
	field        string
	kind         string // tshark's type of the field, "FT_NONE"; "P" for a protocol
	ours, theirs string
	packet       *packet
}

// packet is what both programs say about one packet.
type packet struct {
	names        []string
	ours, theirs []string
	protocols    string // tshark's chain of dissectors, "eth:ethertype:ip"
	malformed    bool   // tshark calls it malformed
}

// own returns our value of another field of the packet.
func (d *difference) own(name string) string { return d.packet.value(d.packet.ours, name) }

// their returns tshark's value of another field of the packet.
func (d *difference) their(name string) string { return d.packet.value(d.packet.theirs, name) }

func (p *packet) value(row []string, name string) string {
	if i := slices.Index(p.names, name); i >= 0 {
		return row[i]
	}
	return ""
}

// opcode returns the BTH opcode, -1 when the packet has none.
func (d *difference) opcode() int {
	n, err := strconv.Atoi(d.own("infiniband.bth.opcode"))
	if err != nil {
		return -1
	}
	return n
}

func (d *difference) missing() bool { return d.theirs == "" } // tshark has no value
func (d *difference) extra() bool   { return d.ours == "" }   // we have no value

// in reports whether tshark's chain of dissectors has the given run.
func (d *difference) in(run string) bool { return strings.Contains(d.packet.protocols, run) }

// contextFields are asked of tshark alone.
var contextFields = []string{"frame.protocols", "_ws.malformed"}

// TestTsharkAgrees prints every field that both programs know of every packet,
// and compares the texts; then the verdicts on CRCs. A difference must be
// covered by an entry of the table of known differences, and every entry must
// be needed.
func TestTsharkAgrees(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: tshark needs half a second a capture")
	}
	c := newComparison(findTshark(t))
	c.kinds = c.tshark.fieldKinds(t)
	c.names = commonFields(c.kinds)
	paths := append(captures(t), damaged(t))
	for _, path := range paths {
		t.Run(filepath.Base(path), func(t *testing.T) { c.capture(t, path) })
	}
	t.Logf("%v: %d packets, %d fields known to both, %d values compared, %d of them different; %d CRC verdicts",
		c.tshark, c.packets, len(c.names), c.values, c.known.count, c.verdicts)
	c.known.report(t)
	if c.captures == len(paths) && c.tshark.major == 4 && c.tshark.minor == 0 {
		c.known.failUnused(t)
	}
}

// comparison is one run over all captures.
type comparison struct {
	tshark *tshark
	kinds  map[string]string // tshark's types of the fields
	names  []string          // of the fields that both know
	known  *known

	captures, packets, values, verdicts int
}

func newComparison(s *tshark) *comparison { return &comparison{tshark: s, known: newKnown(s)} }

func (c *comparison) capture(t *testing.T, path string) {
	c.captures++
	file := readable(t, path)
	theirs := c.tshark.decode(t, file, slices.Concat(c.names, contextFields))
	if len(theirs) == 0 {
		if !isInfiniBand(t, file) {
			t.Fatal("tshark reads nothing of the capture")
		}
		t.Skip("SKIPPED: tshark does not know link type 247")
	}
	own := ours(t, file, c.names)
	if len(own) != len(theirs) {
		t.Fatalf("we print %d packets, tshark %d", len(own), len(theirs))
	}
	c.packets += len(own)
	last := len(c.names)
	for i := range own {
		p := &packet{
			names: c.names, ours: own[i], theirs: theirs[i][:last],
			protocols: theirs[i][last], malformed: theirs[i][last+1] != "",
		}
		c.compare(t, p, filepath.Base(path), i+1)
	}
	c.compareCRCs(t, file)
}

// compareCRCs compares the verdicts on the FPDUs' CRC32c, wherever tshark has
// some. It has none for an FPDU that it does not find.
func (c *comparison) compareCRCs(t *testing.T, file string) {
	t.Helper()
	rows := ours(t, file, []string{"iwarp_mpa.crc.status"})
	if !slices.ContainsFunc(rows, func(row []string) bool { return row[0] != "" }) {
		return
	}
	for number, want := range c.tshark.crcVerdicts(t, file) {
		c.verdicts += len(want)
		if got := rows[number-1][0]; got != strings.Join(want, aggregator) {
			t.Errorf("packet %d: CRC verdicts %q, tshark says %q", number, got, want)
		}
	}
}

// compare compares the fields of one packet.
func (c *comparison) compare(t *testing.T, p *packet, file string, number int) {
	t.Helper()
	for k, name := range c.names {
		our, their := p.ours[k], normal(name, p.theirs[k])
		if our != "" || their != "" {
			c.values++
		}
		if our == their {
			continue
		}
		d := &difference{file: file, number: number, field: name, kind: c.kinds[name], ours: our, theirs: their, packet: p}
		if !c.known.covers(d) {
			t.Errorf("%s packet %d %s:\n\tours    %.200q\n\ttshark  %.200q\n\tin %s, opcode %d", file, number, name, our, their, p.protocols, d.opcode())
		}
	}
}

// normal turns the words that tshark prints for a flag since 4.2 into digits.
func normal(name, value string) string {
	if ref := field.Lookup(name); ref == nil || ref.Kind != field.Bool {
		return value
	}
	return strings.NewReplacer("True", "1", "False", "0").Replace(value)
}

// TestEveryReasonIsExplained compares the reasons of the table with the
// headings of the guide.
func TestEveryReasonIsExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testneed.ModuleRoot(t), "docs", "wireshark-differences.md"))
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(strings.TrimSpace(line), "### "); ok {
			headings[title] = true
		}
	}
	used := map[string]bool{}
	for _, e := range entries {
		used[e.reason] = true
		if !headings[e.reason] {
			t.Errorf("docs/wireshark-differences.md has no heading %q", e.reason)
		}
	}
	for title := range headings {
		if !used[title] {
			t.Errorf("docs/wireshark-differences.md explains %q, which no entry of the table is about", title)
		}
	}
}
