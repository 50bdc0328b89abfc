package cli_test

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// frame is what a round trip has to keep of a packet.
type frame struct {
	data    string
	wireLen int
	link    wire.LinkType
}

func readFrames(t *testing.T, path string) (frames []frame) {
	t.Helper()
	r, err := capfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Records {
			rec := &batch.Records[i]
			frames = append(frames, frame{string(rec.Data), rec.WireLen, rec.Link})
		}
		batch.Release()
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return frames
}

// TestCraftMakesAgainWhatDecodePrints takes every capture through
// `rocecap decode -T yaml | roceinject craft -f -`.
func TestCraftMakesAgainWhatDecodePrints(t *testing.T) {
	total := 0
	for _, path := range testneed.Captures(t) {
		if filepath.Ext(path) == ".hex" {
			continue
		}
		again := filepath.Join(t.TempDir(), "again.pcapng")
		var text, errs bytes.Buffer
		rocecap.Main([]string{"decode", "-T", "yaml", path}, cli.Streams{Out: &text, Err: &errs})
		roceinject.Main([]string{"craft", "-f", "-", "-w", again}, cli.Streams{In: &text, Out: &text, Err: &errs})
		if errs.Len() > 0 {
			t.Errorf("%s: %s", path, errs.String())
			continue
		}
		want, got := readFrames(t, path), readFrames(t, again)
		if len(got) != len(want) {
			t.Errorf("%s: %d packets of %d", path, len(got), len(want))
			continue
		}
		total += len(want)
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%s %d: %x, %d bytes on link %d\nwas %x, %d on %d", path, i+1, got[i].data, got[i].wireLen, got[i].link, want[i].data, want[i].wireLen, want[i].link)
			}
		}
	}
	t.Logf("%d packets", total)
}
