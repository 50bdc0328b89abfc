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

// TestFieldsAreWhatTsharkPrints prints every field that both programs know of
// every packet, and compares the texts. A difference must be covered by an
// entry of the table of known differences, and every entry must be needed.
func TestFieldsAreWhatTsharkPrints(t *testing.T) {
	s := findTshark(t)
	kinds := s.fieldKinds(t)
	names := commonFields(kinds)
	table := newKnown(s)
	packets, values := 0, 0
	for _, path := range captures(t) {
		if reason, ok := unreadable[filepath.Base(path)]; ok {
			t.Logf("%s is left out: %s", filepath.Base(path), reason)
			continue
		}
		file := readable(t, path)
		theirs := s.decode(t, file, slices.Concat(names, contextFields))
		own := ours(t, file, names)
		if len(own) != len(theirs) {
			t.Errorf("%s: we print %d packets, tshark %d", path, len(own), len(theirs))
			continue
		}
		packets += len(own)
		for i := range own {
			last := len(names)
			p := &packet{
				names: names, ours: own[i], theirs: theirs[i][:last],
				protocols: theirs[i][last], malformed: theirs[i][last+1] != "",
			}
			values += compare(t, table, p, filepath.Base(path), i+1, kinds)
		}
	}
	t.Logf("%v: %d packets, %d fields known to both, %d values compared, %d of them different", s, packets, len(names), values, table.total())
	table.report(t)
}

// compare compares the packet's fields and returns how many there were.
func compare(t *testing.T, table *known, p *packet, file string, number int, kinds map[string]string) int {
	t.Helper()
	values := 0
	for k, name := range p.names {
		our, their := p.ours[k], normal(name, p.theirs[k])
		if our != "" || their != "" {
			values++
		}
		if our == their {
			continue
		}
		d := &difference{file: file, number: number, field: name, kind: kinds[name], ours: our, theirs: their, packet: p}
		if !table.covers(d) {
			t.Errorf("%s packet %d %s:\n\tours    %.200q\n\ttshark  %.200q\n\tin %s, opcode %d", file, number, name, our, their, p.protocols, d.opcode())
		}
	}
	return values
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
