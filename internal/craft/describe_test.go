package craft

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

func TestEveryCapturedFrameIsBuiltAgainFromItsDescription(t *testing.T) {
	var f wire.Frame
	frames, edited := 0, 0
	captest.Each(t, func(file string, number int, rec *capfile.Record) {
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		r, err := Describe(&f)
		if err != nil {
			t.Errorf("%s %d: %v", file, number, err)
			return
		}
		img, err := Build(r)
		if err != nil {
			t.Errorf("%s %d: %v", file, number, err)
			return
		}
		frames++
		if len(r.Edits) > 0 {
			edited++
			t.Logf("%s %d: %d edits, first at %d", file, number, len(r.Edits), r.Edits[0].Off)
		}
		if !bytes.Equal(img.Data, rec.Data) || img.WireLen != rec.WireLen {
			t.Errorf("%s %d: built %d of %d\n%x\nwas %d of %d\n%x", file, number, len(img.Data), img.WireLen, img.Data, len(rec.Data), rec.WireLen, rec.Data)
		}
	})
	t.Logf("%d frames, %d with edits", frames, edited)
}

func TestEveryFrameInHexadecimalIsBuiltAgain(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testneed.Pcaps(t), "cases", "*.hex"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			data, err := hex.DecodeString(strings.TrimSpace(line))
			if err != nil || len(data) == 0 { // a comment
				continue
			}
			var f wire.Frame
			f.Parse(wire.LinkEthernet, data, 0)
			r, err := Describe(&f)
			if err != nil {
				t.Fatal(err)
			}
			if img, err := Build(r); err != nil || !bytes.Equal(img.Data, data) || len(r.Edits) > 0 {
				t.Errorf("%s: %v, %d edits\n%x", filepath.Base(path), err, len(r.Edits), data)
			}
		}
	}
}

func TestWhatWasNotCapturedCannotBeDescribed(t *testing.T) {
	for _, wireLen := range []int{1, 1 << 30} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, nil, wireLen)
		if r, err := Describe(&f); err == nil {
			t.Errorf("%d bytes: %+v", wireLen, r)
		}
	}
}
