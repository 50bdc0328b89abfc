package icrc_test

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// ackFrame is an RC ACK over IPv4 with its right ICRC, 22aa69ef.
const ackFrame = "02000000000b02000000000a0800" +
	"45620030123440004011a408c000020ac0000214" + "c35112b7001c0000" +
	"1140ffff000001230000a1b2" + "1f000007" + "22aa69ef"

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parse(link wire.LinkType, data []byte) *wire.Frame {
	f := new(wire.Frame)
	f.Parse(link, data, 0)
	return f
}

// hexCase returns the frames of a file of pcaps/cases, one a line.
func hexCase(t testing.TB, name string) (frames [][]byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testneed.Pcaps(t), "cases", name))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		if line := lines.Text(); line != "" && !strings.HasPrefix(line, "#") {
			frames = append(frames, unhex(t, line))
		}
	}
	return frames
}

// eachFrame calls do with every frame of a capture, numbered from 1.
func eachFrame(t testing.TB, path string, do func(number int, f *wire.Frame)) {
	t.Helper()
	r, err := capfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	number := 0
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Records {
			rec := &batch.Records[i]
			number++
			var f wire.Frame
			f.Parse(rec.Link, rec.Data, rec.WireLen)
			do(number, &f)
		}
		batch.Release()
	}
}
