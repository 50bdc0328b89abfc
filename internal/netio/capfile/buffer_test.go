package capfile

import (
	"bytes"
	"errors"
	"testing"
)

// disk is a file on a disk that has room for so many bytes.
type disk struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("no space left on device")

func (d *disk) Write(p []byte) (int, error) {
	n := min(len(p), d.room-d.Len())
	d.Buffer.Write(p[:n])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func (d *disk) cut(size int64) error {
	d.Truncate(int(size))
	return nil
}

// TestAFullDiskLeavesAWholeFile fills disks of many sizes: whatever there was
// room for is read back, to the last whole packet, without an error.
func TestAFullDiskLeavesAWholeFile(t *testing.T) {
	for _, format := range []string{"pcap", "pcapng"} {
		for room := 300; room < 3000; room += 7 {
			d := &disk{room: room}
			var w Writer
			var out *output
			if format == "pcap" {
				p, err := NewPcapWriter(d, 1, 0, true)
				if err != nil {
					t.Fatal(err)
				}
				w, out = p, &p.out
			} else {
				p, err := NewPcapNgWriter(d)
				if err != nil {
					t.Fatal(err)
				}
				w, out = p, &p.out
			}
			out.buffer.cut = d.cut
			if _, err := w.AddInterface(Interface{Link: 1}); err != nil {
				t.Fatal(err)
			}
			for i := range 100 {
				rec := Record{Data: make([]byte, 20+i), WireLen: 20 + i, Time: int64(i + 1), HasTime: true, Link: 1}
				_ = w.Write(&rec)
				if i%10 == 0 {
					_ = w.Flush()
				}
			}
			if err := w.Close(); !errors.Is(err, errFull) {
				t.Fatalf("%s, %d bytes: %v, want %v", format, room, err, errFull)
			}
			recs, err := parse(d.Bytes())
			if err != nil || len(recs) == 0 {
				t.Errorf("%s, %d bytes: %d packets, %v", format, room, len(recs), err)
			}
			if used := d.Len(); room-used > 20+100+40 {
				t.Errorf("%s: only %d of %d bytes are used", format, used, room)
			}
		}
	}
}

func TestSizeCountsWhatIsBuffered(t *testing.T) {
	var out bytes.Buffer
	w, err := NewPcapNgWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddInterface(Interface{Link: 1}); err != nil {
		t.Fatal(err)
	}
	before := w.Size()
	if err := w.Write(&Record{Data: make([]byte, 64), WireLen: 64, Time: 1, HasTime: true, Link: 1}); err != nil {
		t.Fatal(err)
	}
	if grown := w.Size() - before; grown != 64+32 || out.Len() != 0 {
		t.Errorf("the file grows by %d, %d bytes are handed on", grown, out.Len())
	}
	if err := w.Flush(); err != nil || int64(out.Len()) != w.Size() {
		t.Errorf("%d bytes of %d are handed on, %v", out.Len(), w.Size(), err)
	}
}
