package capfile

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/rocecap/rocecap/internal/wire"
)

// PcapWriter writes classic pcap in little-endian byte order. Times before
// 1970 and after 2106, which the format cannot hold, become the nearest that it
// can; a record without time gets 0.
type PcapWriter struct {
	out     output
	link    wire.LinkType
	perTick int64
	header  [pcapRecordLen]byte
}

var _ Writer = (*PcapWriter)(nil)

// NewPcapWriter begins a pcap file on w, which Close does not close. The times
// are nanoseconds when nano is set, else microseconds.
func NewPcapWriter(w io.Writer, link wire.LinkType, snapLen uint32, nano bool) (*PcapWriter, error) {
	out := output{buffer: newBuffer(w)}
	return newPcapWriter(out, Interface{Link: link, SnapLen: snapLen}, nano)
}

func newPcapWriter(out output, i Interface, nano bool) (*PcapWriter, error) {
	w := &PcapWriter{out: out, link: i.Link, perTick: 1000}
	magic := uint32(pcapMicroMagic)
	if nano {
		magic, w.perTick = pcapNanoMagic, 1
	}
	link := uint32(i.Link)
	if i.FCSLen > 0 {
		link |= pcapFCSPresent | uint32(i.FCSLen)/2<<pcapFCSShift
	}
	snapLen := i.SnapLen
	if snapLen == 0 {
		snapLen = 262144 // tcpdump's limit; some readers refuse 0
	}
	h := make([]byte, 0, pcapHeaderLen)
	h = binary.LittleEndian.AppendUint32(h, magic)
	h = binary.LittleEndian.AppendUint16(h, pcapMajor)
	h = binary.LittleEndian.AppendUint16(h, pcapMinor)
	h = append(h, make([]byte, pcapOffSnapLen-len(h))...)
	h = binary.LittleEndian.AppendUint32(h, snapLen)
	h = binary.LittleEndian.AppendUint32(h, link)
	if _, err := w.out.buffer.Write(h); err != nil {
		return nil, err
	}
	return w, w.out.buffer.end()
}

// AddInterface returns 0 for an interface of the file's link type.
func (w *PcapWriter) AddInterface(i Interface) (int, error) {
	if i.Link != w.link {
		return 0, &LinkTypeError{Has: i.Link, Want: w.link}
	}
	return 0, nil
}

// Write writes one record. Its interface does not matter, its comment is lost.
func (w *PcapWriter) Write(rec *Record) error {
	if rec.Link != w.link {
		return &LinkTypeError{Has: rec.Link, Want: w.link}
	}
	var seconds, fraction int64
	if rec.HasTime && rec.Time > 0 {
		seconds, fraction = rec.Time/nanosPerSecond, rec.Time%nanosPerSecond
		if seconds > math.MaxUint32 {
			seconds, fraction = math.MaxUint32, nanosPerSecond-1
		}
	}
	h := w.header[:]
	binary.LittleEndian.PutUint32(h, uint32(seconds))
	binary.LittleEndian.PutUint32(h[4:], uint32(fraction/w.perTick))
	binary.LittleEndian.PutUint32(h[8:], uint32(len(rec.Data)))
	binary.LittleEndian.PutUint32(h[12:], uint32(max(rec.WireLen, len(rec.Data))))
	if _, err := w.out.buffer.Write(h); err != nil {
		return err
	}
	if _, err := w.out.buffer.Write(rec.Data); err != nil {
		return err
	}
	return w.out.buffer.end()
}

// SetStatistics does nothing: pcap has no place for counters.
func (w *PcapWriter) SetStatistics(int, Statistics) error { return nil }

// Size is how many bytes the file has, with those that are buffered.
func (w *PcapWriter) Size() int64 { return w.out.size() }

// Flush hands on what has been buffered.
func (w *PcapWriter) Flush() error { return w.out.flush() }

// Close completes the file.
func (w *PcapWriter) Close() error { return w.out.close() }
