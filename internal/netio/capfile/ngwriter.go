package capfile

import (
	"encoding/binary"
	"io"
	"math"

	"github.com/rocecap/rocecap/internal/wire"
)

// PcapNgWriter writes one little-endian pcapng section with times in
// nanoseconds. Times before 1970, which the format cannot hold, become 0.
type PcapNgWriter struct {
	out        output
	interfaces []ngWritten
	block      []byte // the block being built, without the packet's data
}

var _ Writer = (*PcapNgWriter)(nil)

// ngWritten is an interface that has been described.
type ngWritten struct {
	link    wire.LinkType
	snapLen uint32
	stats   Statistics
}

// NewPcapNgWriter begins a pcapng file on w, which Close does not close.
func NewPcapNgWriter(w io.Writer) (*PcapNgWriter, error) {
	return newPcapNgWriter(output{buffer: newBuffer(w)})
}

func newPcapNgWriter(out output) (*PcapNgWriter, error) {
	w := &PcapNgWriter{out: out}
	w.begin(ngBlockSection)
	w.u32(ngByteOrder)
	w.u16(ngMajor)
	w.u16(0)
	w.u64(math.MaxUint64) // length unknown
	w.text(ngOptUserAppl, "rocecap")
	w.endOptions()
	return w, w.finish()
}

// AddInterface describes an interface. Its times will be in nanoseconds,
// whatever i.TSResol says.
func (w *PcapNgWriter) AddInterface(i Interface) (int, error) {
	w.begin(ngBlockInterface)
	w.u16(uint16(i.Link))
	w.u16(0)
	w.u32(i.SnapLen)
	w.text(ngOptComment, i.Comment)
	w.text(ngOptIfName, i.Name)
	w.text(ngOptIfDescription, i.Description)
	if i.Speed != 0 {
		w.option(ngOptIfSpeed, 8)
		w.u64(i.Speed)
	}
	w.option(ngOptIfTSResol, 1)
	w.block = append(w.block, 9, 0, 0, 0)
	if i.Filter != "" {
		w.text(ngOptIfFilter, "\x00"+i.Filter)
	}
	w.text(ngOptIfOS, i.OS)
	if i.FCSLen > 0 {
		w.option(ngOptIfFCSLen, 1)
		w.block = append(w.block, byte(i.FCSLen), 0, 0, 0)
	}
	w.text(ngOptIfHardware, i.Hardware)
	w.endOptions()
	if err := w.finish(); err != nil {
		return 0, err
	}
	w.interfaces = append(w.interfaces, ngWritten{link: i.Link, snapLen: i.SnapLen, stats: i.Stats})
	return len(w.interfaces) - 1, nil
}

// Write writes one record.
func (w *PcapNgWriter) Write(rec *Record) error {
	index, err := w.interfaceOf(rec)
	if err != nil {
		return err
	}
	if index == 0 && w.isSimple(rec) {
		return w.simple(rec)
	}
	if rec.Comment == "" {
		return w.plain(index, rec)
	}
	w.begin(ngBlockEnhanced)
	w.u32(uint32(index))
	w.time(rec.Time)
	w.u32(uint32(len(rec.Data)))
	w.u32(uint32(max(rec.WireLen, len(rec.Data))))
	head := len(w.block)
	w.pad(len(rec.Data))
	w.text(ngOptComment, rec.Comment)
	w.endOptions()
	return w.finishAround(head, rec.Data)
}

// plain writes a record without comment where it is written from: what is recorded
// live has none, and as many as the machine can take.
func (w *PcapNgWriter) plain(index int, rec *Record) error {
	const head = 28 // type and length, interface, time, both lengths
	n := len(rec.Data)
	padded := (n + 3) &^ 3
	b := w.out.buffer.place(head + padded + ngTrailerLen)
	if b == nil {
		return w.out.buffer.err
	}
	t := uint64(max(rec.Time, 0))
	for i, v := range [...]uint32{
		ngBlockEnhanced, uint32(len(b)), uint32(index), uint32(t >> 32), uint32(t), uint32(n), uint32(max(rec.WireLen, n)),
	} {
		binary.LittleEndian.PutUint32(b[4*i:], v)
	}
	copy(b[head:], rec.Data)
	clear(b[head+n : head+padded])
	binary.LittleEndian.PutUint32(b[head+padded:], uint32(len(b)))
	return w.out.buffer.end()
}

// isSimple reports whether a simple packet block, which alone can say that
// there is no time, tells everything else about the record.
func (w *PcapNgWriter) isSimple(rec *Record) bool {
	captured := uint64(max(rec.WireLen, len(rec.Data)))
	if limit := w.interfaces[0].snapLen; limit != 0 {
		captured = min(captured, uint64(limit))
	}
	return !rec.HasTime && rec.Comment == "" && captured == uint64(len(rec.Data))
}

func (w *PcapNgWriter) simple(rec *Record) error {
	w.begin(ngBlockSimple)
	w.u32(uint32(max(rec.WireLen, len(rec.Data))))
	head := len(w.block)
	w.pad(len(rec.Data))
	return w.finishAround(head, rec.Data)
}

// interfaceOf finds the interface of a record, adding one when the record may
// be on any and none of its link type is there.
func (w *PcapNgWriter) interfaceOf(rec *Record) (int, error) {
	if rec.Interface >= 0 {
		index := int(rec.Interface)
		if index >= len(w.interfaces) {
			return 0, &IndexError{Index: index, Count: len(w.interfaces)}
		}
		if want := w.interfaces[index].link; want != rec.Link {
			return 0, &LinkTypeError{Has: rec.Link, Want: want}
		}
		return index, nil
	}
	for i := range w.interfaces {
		if w.interfaces[i].link == rec.Link {
			return i, nil
		}
	}
	return w.AddInterface(Interface{Link: rec.Link, FCSLen: rec.FCSLen})
}

// SetStatistics gives the counters of an interface; the last ones given are
// written by Close.
func (w *PcapNgWriter) SetStatistics(index int, s Statistics) error {
	if index < 0 || index >= len(w.interfaces) {
		return &IndexError{Index: index, Count: len(w.interfaces)}
	}
	w.interfaces[index].stats = s
	return nil
}

// Size is how many bytes the file has, with those that are buffered.
func (w *PcapNgWriter) Size() int64 { return w.out.size() }

// Flush hands on what has been buffered.
func (w *PcapNgWriter) Flush() error { return w.out.flush() }

// Close writes the interface statistics and completes the file.
func (w *PcapNgWriter) Close() error {
	for i := range w.interfaces {
		if s := w.interfaces[i].stats; s != (Statistics{}) {
			w.statistics(i, &s)
		}
	}
	return w.out.close() // reports the first error of writing
}

func (w *PcapNgWriter) statistics(index int, s *Statistics) {
	w.begin(ngBlockStatistics)
	w.u32(uint32(index))
	w.time(s.End)
	for _, o := range []struct {
		code uint16
		at   int64
	}{{ngOptStatStart, s.Start}, {ngOptStatEnd, s.End}} {
		if o.at != 0 {
			w.option(o.code, 8)
			w.time(o.at)
		}
	}
	for _, o := range []struct {
		code uint16
		c    Counter
	}{
		{ngOptStatReceived, s.Received},
		{ngOptStatDropped, s.Dropped},
		{ngOptStatAccepted, s.Accepted},
		{ngOptStatOSDropped, s.OSDropped},
		{ngOptStatDelivered, s.Delivered},
	} {
		if o.c.Known {
			w.option(o.code, 8)
			w.u64(o.c.N)
		}
	}
	w.endOptions()
	_ = w.finish() // the buffer keeps its first error and Close returns it
}

// begin starts a block; its length is filled in by finish.
func (w *PcapNgWriter) begin(kind uint32) {
	w.block = w.block[:0]
	w.u32(kind)
	w.u32(0)
}

// finish writes the block that has been built.
func (w *PcapNgWriter) finish() error { return w.finishAround(len(w.block), nil) }

// finishAround writes the block with data put in at the offset head.
func (w *PcapNgWriter) finishAround(head int, data []byte) error {
	total := uint32(len(w.block) + len(data) + ngTrailerLen)
	w.u32(total)
	binary.LittleEndian.PutUint32(w.block[ngOffLength:], total)
	for _, part := range [][]byte{w.block[:head], data, w.block[head:]} {
		if _, err := w.out.buffer.Write(part); err != nil {
			return err
		}
	}
	return w.out.buffer.end()
}

// text adds an option of characters, cut to what an option can hold; an empty
// one is left out.
func (w *PcapNgWriter) text(code uint16, s string) {
	if s == "" {
		return
	}
	s = s[:min(len(s), math.MaxUint16)]
	w.option(code, len(s))
	w.block = append(w.block, s...)
	w.pad(len(s))
}

func (w *PcapNgWriter) option(code uint16, length int) {
	w.u16(code)
	w.u16(uint16(length))
}

func (w *PcapNgWriter) endOptions() { w.option(ngOptEnd, 0) }

// pad fills up to a multiple of four what is n bytes long.
func (w *PcapNgWriter) pad(n int) {
	for ; n%4 != 0; n++ {
		w.block = append(w.block, 0)
	}
}

// time adds a time in nanoseconds, the upper word first.
func (w *PcapNgWriter) time(nanos int64) {
	t := uint64(max(nanos, 0))
	w.u32(uint32(t >> 32))
	w.u32(uint32(t))
}

func (w *PcapNgWriter) u16(v uint16) { w.block = binary.LittleEndian.AppendUint16(w.block, v) }
func (w *PcapNgWriter) u32(v uint32) { w.block = binary.LittleEndian.AppendUint32(w.block, v) }
func (w *PcapNgWriter) u64(v uint64) { w.block = binary.LittleEndian.AppendUint64(w.block, v) }
