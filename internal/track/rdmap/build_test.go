package rdmap

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// talk builds the segments of one connection, one FPDU each.
type talk struct {
	all   []Segment
	seq   [2]uint32 // of the next byte
	ports [2]netip.AddrPort
	now   int64
}

func newTalk() *talk {
	x := &talk{ports: [2]netip.AddrPort{netip.MustParseAddrPort("192.0.2.1:40000"), netip.MustParseAddrPort("192.0.2.2:7777")}}
	x.seq = [2]uint32{0xFFFFFF00, 5000} // the first wraps
	return x
}

// connected is a talk whose connection is set up, see connect.
func connected(enhanced ...[]byte) *talk {
	x := newTalk()
	x.connect(enhanced...)
	return x
}

// segment adds a segment from an end, one millisecond after the one before, and
// returns its number.
func (x *talk) segment(from int, flags tcpstream.Flags, payload []byte) int {
	x.now += int64(time.Millisecond)
	s := Segment{Time: x.now, Window: 100}
	s.Number = uint64(len(x.all) + 1)
	s.Src, s.Dst = x.ports[from], x.ports[1-from]
	s.Seq, s.Ack, s.Flags = x.seq[from], x.seq[1-from], flags
	s.Payload, s.WireLen, s.Offset = payload, len(payload), 54
	x.seq[from] += uint32(len(payload))
	if flags&(tcpstream.SYN|tcpstream.FIN) != 0 {
		x.seq[from]++
	}
	x.all = append(x.all, s)
	return len(x.all)
}

func (x *talk) ack(from int) int { return x.segment(from, tcpstream.ACK, nil) }

// connect sets the connection up, with enhanced data where enhanced[i] is not
// empty.
func (x *talk) connect(enhanced ...[]byte) {
	x.segment(0, tcpstream.SYN, nil)
	x.segment(1, tcpstream.SYN|tcpstream.ACK, nil)
	enhanced = append(enhanced, nil, nil)
	x.segment(0, tcpstream.ACK, startFrame("MPA ID Req Frame", 0x40, enhanced[0]))
	x.segment(1, tcpstream.ACK, startFrame("MPA ID Rep Frame", 0x40, enhanced[1]))
}

func startFrame(key string, flags byte, enhanced []byte) []byte {
	revision := byte(1)
	if len(enhanced) > 0 {
		flags, revision = flags|0x10, 2
	}
	b := append([]byte(key), flags, revision, 0, byte(len(enhanced)))
	return append(b, enhanced...)
}

// depths are the four bytes that tell IRD and ORD.
func depths(ird, ord uint16) []byte {
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(nil, ird), ord)
}

// say sends FPDUs, and returns the number of the last.
func (x *talk) say(from int, ulpdus ...[]byte) (number int) {
	for _, u := range ulpdus {
		number = x.segment(from, tcpstream.ACK, frame(u))
	}
	return number
}

func frame(ulpdu []byte) []byte {
	b := binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu)))
	b = append(b, ulpdu...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

const (
	more = 0
	last = 0x40
)

// untagged is a segment of a message: op is the RDMAP opcode, stag what it
// invalidates.
func untagged(flag, op byte, stag, qn, msn, mo uint32, body []byte) []byte {
	b := []byte{0x01 | flag, 0x40 | op}
	for _, v := range []uint32{stag, qn, msn, mo} {
		b = binary.BigEndian.AppendUint32(b, v)
	}
	return append(b, body...)
}

func send(flag byte, msn, mo uint32, n int) []byte {
	return untagged(flag, 3, 0, 0, msn, mo, make([]byte, n))
}

func tag(flag, op byte, stag uint32, to uint64, n int) []byte {
	b := []byte{0x81 | flag, 0x40 | op}
	b = binary.BigEndian.AppendUint32(b, stag)
	b = binary.BigEndian.AppendUint64(b, to)
	return append(b, make([]byte, n)...)
}

func write(flag byte, stag uint32, to uint64, n int) []byte { return tag(flag, 0, stag, to, n) }

func answer(flag byte, stag uint32, to uint64, n int) []byte { return tag(flag, 2, stag, to, n) }

func read(msn, sink uint32, to uint64, size, source uint32) []byte {
	b := binary.BigEndian.AppendUint32(nil, sink)
	b = binary.BigEndian.AppendUint64(b, to)
	b = binary.BigEndian.AppendUint32(b, size)
	b = binary.BigEndian.AppendUint32(b, source)
	b = binary.BigEndian.AppendUint64(b, 0)
	return untagged(last, 1, 0, 1, msn, 0, b)
}

func invalidate(stag, msn uint32) []byte { return untagged(last, 4, stag, 0, msn, 0, nil) }

func terminate(quoted []byte) []byte {
	b := []byte{0x01, 0x00, 0xC0, 0, 0, 40} // RDMAP, Remote Protection Error, Invalid STag; M and D
	return untagged(last, 7, 0, 2, 1, 0, append(b, quoted...))
}

// told is what a tracker has told.
type told struct {
	connections []*Connection
	events      []Event
	ends        []int
	tracker     *Tracker
}

func track(segments []Segment) *told {
	got := &told{tracker: NewTracker(iwarp.DefaultLimits())}
	got.tracker.Closed = func(c *Connection) { got.connections = append(got.connections, c) }
	got.tracker.Report = func(_ *Connection, end int, e Event) {
		got.events, got.ends = append(got.events, e), append(got.ends, end)
	}
	follow(got.tracker, segments)
	got.tracker.Finish()
	return got
}

func follow(tr *Tracker, segments []Segment) {
	for i := range segments {
		tr.Segment(&segments[i])
	}
}

// one returns the only connection.
func (got *told) one(t *testing.T) *Connection {
	t.Helper()
	if len(got.connections) != 1 {
		t.Fatalf("%d connections", len(got.connections))
	}
	return got.connections[0]
}

// only allows some kinds of events.
func (got *told) only(t *testing.T, what string, allowed ...Kind) {
	t.Helper()
	for _, e := range got.events {
		if !slices.Contains(allowed, e.Kind) {
			t.Errorf("%s: %v in packet %d", what, e.Kind, e.Packet)
		}
	}
}

// bounded checks that the ends keep and count no more than there can be.
func (got *told) bounded(t *testing.T) {
	t.Helper()
	for _, c := range got.connections {
		for i := range c.Ends {
			e := &c.Ends[i]
			if len(e.Regions) > maxRegions || len(e.Tallies) > int(Kinds) || e.Unfinished < 0 || e.Missing < 0 || e.TCP.ResentBytes < 0 || e.TCP.Closed < 0 {
				t.Fatalf("%+v", e)
			}
		}
	}
}
