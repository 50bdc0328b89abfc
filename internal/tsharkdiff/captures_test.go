package tsharkdiff

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// captures returns the captures of the repository and, when it is there, of
// the folder beside it, each content once.
func captures(t *testing.T) []string {
	t.Helper()
	root := testneed.ModuleRoot(t)
	seen := map[[sha256.Size]byte]bool{}
	var files []string
	for _, dir := range []string{
		filepath.Join(root, "pcaps"), filepath.Join(root, "../shared/captures"),
		filepath.Join(root, "../shared/fixtures"), filepath.Join(root, "../shared/cases"),
	} {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) || err == nil && (entry.IsDir() || !isCapture(path)) {
				return nil
			}
			if err != nil {
				return err
			}
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if sum := sha256.Sum256(content); !seen[sum] {
				seen[sum] = true
				files = append(files, path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Skip("SKIPPED: there are no captures, neither in pcaps nor in a folder shared beside the repository")
	}
	return files
}

func isCapture(path string) bool {
	name := strings.TrimSuffix(filepath.Base(path), ".gz")
	switch filepath.Ext(name) {
	case ".pcap", ".pcapng", ".cap", ".erf", ".hex":
		return true
	}
	return false
}

// readable returns the capture as a file that both programs can read.
func readable(t *testing.T, path string) string {
	t.Helper()
	if filepath.Ext(path) == ".hex" {
		return hexCapture(t, path)
	}
	return path
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
