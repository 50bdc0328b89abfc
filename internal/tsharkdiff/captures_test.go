package tsharkdiff

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// captures returns the captures of the repository and, when it is there, of
// the folder beside it.
func captures(t *testing.T) []string {
	t.Helper()
	root := testneed.ModuleRoot(t)
	var files []string
	for _, pattern := range []string{
		"pcaps/*.pcap*", "pcaps/*.cap", "pcaps/*.erf",
		"../shared/captures/*/*.pcap*", "../shared/captures/*/*.cap", "../shared/captures/*/*.erf",
		"../shared/fixtures/*.pcap", "../shared/cases/*.pcap",
	} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	frames, err := filepath.Glob(filepath.Join(root, "../shared/cases/*.hex"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range frames {
		files = append(files, hexCapture(t, name))
	}
	return files
}

// hexCapture makes a capture of a file that holds an Ethernet frame a line, in
// hexadecimal, and comments.
func hexCapture(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(name)+".pcap")
	w, err := capfile.Create(path, capfile.Interface{Link: wire.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		frame, err := hex.DecodeString(line)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		rec := capfile.Record{Link: wire.LinkEthernet, Data: frame, WireLen: len(frame), HasTime: true}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}
