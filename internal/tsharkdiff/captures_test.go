package tsharkdiff

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// captures returns the captures at hand, each content once.
func captures(t *testing.T) []string {
	t.Helper()
	seen := map[[sha256.Size]byte]bool{}
	var files []string
	for _, path := range testneed.Captures(t) {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); !seen[sum] {
			seen[sum] = true
			files = append(files, path)
		}
	}
	return files
}

// haveShared reports whether the folder beside the repository is there.
func haveShared(t *testing.T) bool {
	t.Helper()
	return testneed.Public(t) != ""
}

// readable returns the capture as a file that both programs can read, "" when
// there can be none.
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
	var frames [][]byte
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			frames = append(frames, fromHex(t, line))
		}
	}
	return newCapture(t, filepath.Base(name)+".pcap", frames...)
}

func fromHex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// newCapture makes a capture of Ethernet frames.
func newCapture(t *testing.T, name string, frames ...[]byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := capfile.Create(path, capfile.Interface{Link: wire.LinkEthernet})
	if err != nil {
		t.Fatal(err)
	}
	for _, frame := range frames {
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

// damaged makes a capture of an acknowledgement, and of the same with a wrong
// IP header checksum.
func damaged(t *testing.T) string {
	t.Helper()
	const ack = "02000000000b02000000000a080045020030123440004011a408c000020ac0000214" +
		"c35112b7001c00001140ffff000001230000a1b21f00000722aa69ef"
	right, wrong := fromHex(t, ack), fromHex(t, ack)
	const checksum = wire.EthernetLen + 10
	wrong[checksum] ^= 0x01
	return newCapture(t, "damaged.pcap", right, wrong)
}

// isInfiniBand reports whether a capture has link type 247, which tshark does
// not read.
func isInfiniBand(t *testing.T, path string) bool {
	t.Helper()
	r, err := capfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return r.Interfaces()[0].Link == wire.LinkIB
}
