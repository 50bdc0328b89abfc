package pause_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/wire"
)

// follow reads the flow control frames of a capture.
func follow(t *testing.T, name string) *pause.Tracker {
	t.Helper()
	track := pause.NewTracker()
	last := int64(0)
	captest.Each(t, func(file string, number int, rec *capfile.Record) {
		if file != name {
			return
		}
		var frame wire.Frame
		frame.Parse(rec.Link, rec.Data, rec.WireLen)
		f := pause.Frame{Number: number, Time: rec.Time}
		if f.Read(&frame) {
			track.Frame(&f)
		}
		last = rec.Time
	})
	track.Finish(last)
	return track
}

func TestPauseAndPFCOfOneCapture(t *testing.T) {
	links := follow(t, "23-pause-vs-pfc.pcap").Links()
	if len(links) != 2 {
		t.Fatalf("%d links", len(links))
	}
	plain, pfc := links[0], links[1]
	if plain.Src.String() != "02:00:00:00:00:0a" || pfc.Src.String() != "02:00:00:00:00:0b" {
		t.Errorf("links of %v and %v", plain.Src, pfc.Src)
	}
	if c := plain.Plain; c.XOFF != 1 || c.XON != 1 || c.Paused != 20*time.Microsecond || c.Held != c.Paused {
		t.Errorf("PAUSE: %+v", c)
	}
	if c := pfc.Classes[3]; c.XOFF != 1 || c.XON != 1 || c.Paused != 20*time.Microsecond || c.Held != c.Paused {
		t.Errorf("priority 3: %+v", c)
	}
	if c := pfc.Classes[4]; c.XOFF != 1 || c.XON != 0 || c.Pauses != 1 || c.Paused != 0 {
		t.Errorf("priority 4, which the last packet pauses: %+v", c)
	}
}

func TestAPublicCaptureOfPause(t *testing.T) {
	const name = "ethernet_pause.cap"
	if dir := testneed.Public(t); dir == "" || len(glob(t, filepath.Join(dir, name))) == 0 {
		testneed.Missing(t, "public", "public sample captures NOT TESTED: there is no "+name)
	}
	links := follow(t, name).Links()
	if len(links) != 1 || links[0].Frames != 2 || links[0].Plain.XOFF != 1 || links[0].Plain.XON != 1 || links[0].Plain.Held != 0 {
		t.Errorf("%d links; %+v", len(links), links[0])
	}
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}
