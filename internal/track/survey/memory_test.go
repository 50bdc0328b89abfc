package survey

import (
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/rocecap/rocecap/internal/gencap"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

const mib = 1 << 20

// heap is how much memory is in use.
func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// follower is a tracker that frames are handed to one by one, or as a pcap file
// that is written to it.
type follower struct {
	track *Tracker
	facts Facts
	frame wire.Frame
	at    Stamp
	// each is called after each packet of a file. May be nil.
	each func(number int)

	begun bool
	rest  []byte // of a file: not a whole record yet
}

func newFollower() *follower { return &follower{track: NewTracker()} }

// take follows one frame.
func (f *follower) take(link wire.LinkType, data []byte, trust conversation.Trust) {
	f.at.Number++
	f.frame.Parse(link, data, len(data))
	f.facts.Reset()
	if p := f.facts.Read(&f.frame, f.at); p != nil {
		p.Trust = trust
	}
	f.track.Take(&f.facts)
}

// Write takes a classic pcap file as gencap writes it.
func (f *follower) Write(b []byte) (int, error) {
	const fileHeader, recordHeader = 24, 16
	f.rest = append(f.rest, b...)
	at := 0
	if !f.begun {
		f.begun, at = true, fileHeader
	}
	for len(f.rest) >= at+recordHeader {
		record := f.rest[at:]
		n := recordHeader + int(binary.LittleEndian.Uint32(record[8:]))
		if len(record) < n {
			break
		}
		f.at.Time = int64(binary.LittleEndian.Uint32(record))*1e9 + int64(binary.LittleEndian.Uint32(record[4:]))
		f.take(wire.LinkEthernet, record[recordHeader:n], conversation.Trusted)
		if f.each != nil {
			f.each(f.at.Number)
		}
		at += n
	}
	f.rest = append(f.rest[:0], f.rest[at:]...)
	return len(b), nil
}

// growth follows a generated capture, and returns the memory in use when packet
// number from was taken, and what came on top of it up to the end.
func growth(t *testing.T, o gencap.Options, from int) (f *follower, first, more int64) {
	t.Helper()
	before := heap()
	f = newFollower()
	f.each = func(number int) {
		if number == from {
			first = heap() - before
		}
	}
	if err := gencap.Write(f, o); err != nil {
		t.Fatal(err)
	}
	more = heap() - before - first
	if f.track.Counts.Seen != o.Packets {
		t.Fatalf("%d packets of %d", f.track.Counts.Seen, o.Packets)
	}
	return f, first, more
}

// TestMemoryDoesNotGrowWithPackets follows a million packets on four queue pairs.
func TestMemoryDoesNotGrowWithPackets(t *testing.T) {
	f, first, more := growth(t, gencap.Options{Packets: 1_000_000, Payload: 16, Message: 1, QPs: 4}, 100_000)
	t.Logf("%d kB, then %+d kB", first>>10, more>>10)
	if first > 4*mib || more > mib {
		t.Errorf("%d bytes after 100,000 packets, and %d more after a million", first, more)
	}
	if seen := f.track.Conversations.Seen(); seen != 4 {
		t.Errorf("%d conversations", seen)
	}
}

// maxHeap is what the trackers have in use at most; docs/analyze.md says how much
// rocecap takes with it.
const maxHeap = 160 * mib

// TestMemoryDoesNotGrowWithQueuePairs follows several times as many conversations
// as are kept open.
func TestMemoryDoesNotGrowWithQueuePairs(t *testing.T) {
	limit := conversation.DefaultLimits().Conversations
	packets := 8 * limit // two each
	f, first, more := growth(t, gencap.Options{Packets: packets, Payload: 16, Message: 1, QPs: 64, Life: 1}, packets/2)
	t.Logf("%d kB, then %+d kB", first>>10, more>>10)
	if first > maxHeap || more > 4*mib {
		t.Errorf("%d bytes with %d conversations open, and %d more with twice as many behind", first, limit, more)
	}
	c := f.track.Conversations
	closed := 0
	c.Closed = func(*conversation.Conversation) { closed++ }
	f.track.Finish()
	if c.Seen() < 3*limit || c.Evicted() != c.Seen()-limit || closed != limit {
		t.Errorf("of %d conversations %d were evicted, and %d open at the end; the limit is %d", c.Seen(), c.Evicted(), closed, limit)
	}
}
