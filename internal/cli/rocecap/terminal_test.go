package rocecap_test

import (
	"bytes"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/netio/capfile"
)

func TestColourGoesToTerminalsThatWantIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		streams rocecap.Streams
		flags   []string
		want    bool
	}{
		{"file", rocecap.Streams{}, nil, false},
		{"terminal", rocecap.Streams{OutTTY: true}, nil, true},
		{"terminal and NO_COLOR", rocecap.Streams{OutTTY: true, NoColour: true}, nil, false},
		{"terminal and never", rocecap.Streams{OutTTY: true}, []string{"--color", "never"}, false},
		{"file and always", rocecap.Streams{NoColour: true}, []string{"--color", "always"}, true},
		{"file and CLICOLOR_FORCE", rocecap.Streams{ForceColour: true}, nil, true},
		{"JSON on a terminal", rocecap.Streams{OutTTY: true}, []string{"-T", "json"}, false},
	} {
		var out bytes.Buffer
		c.streams.Out, c.streams.Err = &out, io.Discard
		rocecap.Main(append([]string{"decode", pcaps(t, "py_badrkey.pcap")}, c.flags...), c.streams)
		if got := strings.Contains(out.String(), "\x1b["); got != c.want || !strings.Contains(out.String(), "NAK") {
			t.Errorf("%s: coloured %t, want %t:\n%q", c.name, got, c.want, out.String())
		}
	}
}

// A comment of a pcapng file is the only text that others choose.
func TestCommentsAreEscaped(t *testing.T) {
	const comment = "say \"no\" to \\ and\n\ttabs, ä, \x1b[31m red"
	path := filepath.Join(t.TempDir(), "comment.pcapng")
	w, err := capfile.Create(path, capfile.Interface{Link: 1, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	frame := make([]byte, 60)
	if err := w.Write(&capfile.Record{Link: 1, Data: frame, WireLen: len(frame), Comment: comment}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if got := packets(t, path)[0].Comment; got != comment {
		t.Errorf("comment %q from JSON, want %q", got, comment)
	}
	const want = `say "no" to \ and\n\ttabs, ä, .[31m red`
	if got := columns(t, path, "frame.comment")[0][0]; got != want {
		t.Errorf("comment %q from -T fields, want %q", got, want)
	}
	if out := mustRun(t, "decode", "-V", path); !strings.Contains(out, "Comment: "+want+"\n") {
		t.Errorf("no comment %q in the tree:\n%s", want, out)
	}
	for _, flags := range [][]string{{}, {"-V"}, {"-x"}, {"-T", "fields", "-e", "frame.comment"}} {
		if out := mustRun(t, append([]string{"decode", path}, flags...)...); strings.Contains(out, "\x1b") {
			t.Errorf("%v: a terminal code of the file comes through: %q", flags, out)
		}
	}
}
