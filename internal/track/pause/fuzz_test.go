package pause_test

import (
	"encoding/hex"
	"math"
	"testing"

	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// FuzzFrames takes bytes for frames of one length, and the first bytes of each
// for its time as well.
func FuzzFrames(f *testing.F) {
	for _, text := range []string{
		"0180c200000102000000000b8808010100080000000000000fff0000000000000000",
		"0180c200000102000000000b880800010fff00000000000000000000000000000000",
		"0180c200000102000000000a8100600088080101001800000000000000001000000000000000",
	} {
		data, err := hex.DecodeString(text)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data, len(data))
	}
	f.Fuzz(func(t *testing.T, data []byte, length int) {
		track := pause.NewTracker()
		length = max(1, min(length, 128))
		taken := 0
		for number := 1; len(data) > 0; number++ {
			n := min(length, len(data))
			var frame wire.Frame
			frame.Parse(wire.LinkEthernet, data[:n], n)
			p := pause.Frame{Number: number}
			for _, b := range data[:min(n, 8)] {
				p.Time = p.Time<<8 | int64(b)
			}
			if p.Read(&frame) {
				track.Frame(&p)
				taken++
			}
			data = data[n:]
		}
		track.Finish(math.MaxInt64)
		frames := track.Unlisted
		for _, l := range track.Links() {
			frames += l.Frames
			for class := pause.All; class < wire.PFCClasses; class++ {
				c := l.Channel(class)
				if c.Paused < 0 || c.Longest > c.Paused || c.Pauses > c.XOFF || c.Ended > c.XON || c.Frames() > l.Frames {
					t.Errorf("%v, class %d: %+v", l.Src, class, *c)
				}
				if track.Clock(math.MaxInt64) < c.Paused {
					t.Errorf("class %d was paused for longer than anything", class)
				}
			}
		}
		if frames != taken {
			t.Errorf("%d frames were taken, %d are counted", taken, frames)
		}
	})
}
