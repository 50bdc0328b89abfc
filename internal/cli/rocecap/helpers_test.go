package rocecap_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// result is what one run of the program gave.
type result struct {
	out, err string
	code     int
}

// run runs the program in this process.
func run(args ...string) result {
	var out, err bytes.Buffer
	code := rocecap.Main(args, rocecap.Streams{Out: &out, Err: &err})
	return result{out.String(), err.String(), code}
}

// mustRun is run for a command line that has to succeed.
func mustRun(t *testing.T, args ...string) string {
	t.Helper()
	r := run(args...)
	if r.code != 0 || r.err != "" {
		t.Fatalf("rocecap %s: exit code %d\n%s", strings.Join(args, " "), r.code, r.err)
	}
	return r.out
}

// pcaps is a path in the project's folder of captures.
func pcaps(t *testing.T, elem ...string) string {
	t.Helper()
	return filepath.Join(append([]string{testneed.ModuleRoot(t), "pcaps"}, elem...)...)
}

// writeFrames makes a capture of frames in hexadecimal.
func writeFrames(t *testing.T, link wire.LinkType, frames ...string) string {
	t.Helper()
	var records []capfile.Record
	for _, frame := range frames {
		data, err := hex.DecodeString(frame)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, capfile.Record{Link: link, Data: data, WireLen: len(data), HasTime: true})
	}
	return writeRecords(t, link, records)
}

func writeRecords(t *testing.T, link wire.LinkType, records []capfile.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "frames.pcap")
	w, err := capfile.Create(path, capfile.Interface{Link: link, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// hexFrames reads a file of Ethernet frames in hexadecimal, one a line, and
// comments.
func hexFrames(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var frames []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			frames = append(frames, line)
		}
	}
	return frames
}

// caseFile returns a capture of a case: the file itself, or one made of its
// frames in hexadecimal.
func caseFile(t *testing.T, name string) string {
	t.Helper()
	path := pcaps(t, "cases", name)
	if filepath.Ext(path) != ".hex" {
		return path
	}
	return writeFrames(t, wire.LinkEthernet, hexFrames(t, path)...)
}

// columns returns the values of fields, a row for each packet. Fields are names
// separated by spaces; extra arguments go to decode.
func columns(t *testing.T, file, fields string, extra ...string) [][]string {
	t.Helper()
	args := append([]string{"decode", "-T", "fields", file}, extra...)
	for name := range strings.FieldsSeq(fields) {
		args = append(args, "-e", name)
	}
	var rows [][]string
	for line := range strings.Lines(mustRun(t, args...)) {
		rows = append(rows, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return rows
}

// table reads the rows that a test wants: columns apart by spaces, "-" being a
// field that is not there.
func table(text string) [][]string {
	var rows [][]string
	for line := range strings.Lines(strings.TrimSpace(text)) {
		row := strings.Fields(line)
		for i := range row {
			if row[i] == "-" {
				row[i] = ""
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// packetJSON is what a test reads of a packet that decode -T json prints.
type packetJSON struct {
	Number   int              `json:"number"`
	Protocol string           `json:"protocol"`
	Info     string           `json:"info"`
	Comment  string           `json:"comment"`
	ICRC     string           `json:"icrc"`
	Layers   []map[string]any `json:"layers"`
	Notes    []string         `json:"notes"`
}

// layers lists the names of the packet's headers.
func (p *packetJSON) layers() string {
	names := make([]string, len(p.Layers))
	for i, layer := range p.Layers {
		names[i], _ = layer["layer"].(string)
	}
	return strings.Join(names, " ")
}

func packets(t *testing.T, file string, extra ...string) []packetJSON {
	t.Helper()
	var list []packetJSON
	args := append([]string{"decode", "-T", "json", file}, extra...)
	for line := range strings.Lines(mustRun(t, args...)) {
		var p packetJSON
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		list = append(list, p)
	}
	return list
}

// verdicts is what icrc --json prints for a file.
type verdicts struct {
	Packets      int `json:"packets"`
	Good         int `json:"good"`
	Bad          int `json:"bad"`
	Cut          int `json:"cut"`
	NotCheckable int `json:"not_checkable"`
	VCRCGood     int `json:"vcrc_good"`
	VCRCBad      int `json:"vcrc_bad"`
	Mistakes     []struct {
		Sender  string `json:"sender"`
		Mistake string `json:"mistake"`
		Count   int    `json:"count"`
		First   []int  `json:"first_packets"`
	} `json:"mistakes"`
}

func judge(t *testing.T, file string, extra ...string) verdicts {
	t.Helper()
	r := run(append([]string{"icrc", "--json", file}, extra...)...)
	var v verdicts
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatalf("%v in %q, stderr %q", err, r.out, r.err)
	}
	want := 0
	if v.Bad+v.VCRCBad > 0 {
		want = 1
	}
	if r.code != want {
		t.Errorf("icrc %s: exit code %d with %d bad ICRCs and %d bad VCRCs", filepath.Base(file), r.code, v.Bad, v.VCRCBad)
	}
	return v
}
