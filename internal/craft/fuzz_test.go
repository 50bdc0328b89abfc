package craft

import (
	"bytes"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/wire"
)

// FuzzDescribe holds the promise that nothing is lost: a frame is built again
// from its description, or it has none and Describe says so.
func FuzzDescribe(f *testing.F) {
	seeds := 0
	captest.Each(f, func(_ string, number int, rec *capfile.Record) {
		const few = 64
		if number%101 == 1 && seeds < few {
			seeds++
			f.Add(uint16(rec.Link), bytes.Clone(rec.Data), rec.WireLen)
		}
	})
	eachUnit(f, func(_ string, r *Recipe) {
		img, _ := built(f, r)
		f.Add(uint16(r.Link), img.Data, img.WireLen)
	})
	f.Fuzz(func(t *testing.T, link uint16, data []byte, wireLen int) {
		var frame wire.Frame
		frame.Parse(wire.LinkType(link), data, wireLen)
		r, err := Describe(&frame)
		if err != nil {
			if frame.WireLen <= maxDescribed && len(data) > 0 {
				t.Fatalf("no description: %v", err)
			}
			return
		}
		img, _, err := build(r)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(img.Data, data) || img.WireLen != frame.WireLen {
			t.Fatalf("built %d of %d\n%x\nwas %d of %d\n%x", len(img.Data), img.WireLen, img.Data, len(data), frame.WireLen, data)
		}
	})
}
