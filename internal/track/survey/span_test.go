package survey

import (
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// spanOf notes the times of frames in jobs of a size, as a scan does.
func spanOf(size int, times ...int64) (s Span) {
	for from := 0; from < len(times); from += size {
		var job Span
		for i := from; i < min(from+size, len(times)); i++ {
			job.note(Stamp{i + 1, times[i]})
		}
		s.add(job)
	}
	return s
}

func TestStepsOfTheClockBackAreFound(t *testing.T) {
	times := []int64{100, 200, 150, 300, 0, 310, 10, 20, 15}
	for size := 1; size <= len(times); size++ {
		s := spanOf(size, times...)
		if s.First != 100 || s.Last != 15 {
			t.Errorf("jobs of %d: from %d to %d", size, s.First, s.Last)
		}
		if s.Back != 3 || s.Most != 300 || s.MostAt != 7 {
			t.Errorf("jobs of %d: %d steps back, by %d at most, in frame %d", size, s.Back, s.Most, s.MostAt)
		}
		if s.Length() != 0 {
			t.Errorf("jobs of %d: %d long", size, s.Length())
		}
	}
	if s := spanOf(2, 5, 5, 6, 9); s.Back != 0 || s.Length() != 4*time.Nanosecond {
		t.Errorf("without a step: %+v", s)
	}
}

func TestFramesThatAreCutAreCounted(t *testing.T) {
	var f Facts
	read(t, &f, Stamp{1, 1}, pfcOff)
	if f.Counts.Cut != 0 {
		t.Error("a whole frame counts as cut")
	}
	cutFrame(&f, 40, 100)
	cutFrame(&f, 64, 100)
	cutFrame(&f, 50, 100)
	var all Counts
	all.add(f.Counts)
	all.add(f.Counts)
	if all.Cut != 6 || all.CutTo != 64 {
		t.Errorf("%d frames, to %d bytes at most", all.Cut, all.CutTo)
	}
}

// cutFrame reads a frame of which the capture has the first bytes.
func cutFrame(f *Facts, captured, length int) {
	var frame wire.Frame
	frame.Parse(wire.LinkEthernet, make([]byte, captured), length)
	f.Read(&frame, Stamp{Number: 2, Time: 2})
}
