package capfile

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

// ngSample writes a pcapng file that uses everything the writer has.
func ngSample(t testing.TB) ([]Record, []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewPcapNgWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range ngSampleInterfaces() {
		if _, err := w.AddInterface(i); err != nil {
			t.Fatal(err)
		}
	}
	recs := []Record{
		{Data: []byte{1, 2, 3, 4, 5}, WireLen: 64, Time: 1_700_000_000_123_456_789, HasTime: true, Link: 1, FCSLen: 4},
		{Data: []byte{6}, WireLen: 1, HasTime: true, Interface: 1, Link: 247, FCSLen: -1, Comment: "größer"},
		{Data: []byte{7, 8}, WireLen: 2, Link: 1, FCSLen: 4},
		{Data: []byte{}, WireLen: 9, Time: math.MaxInt64, HasTime: true, Interface: 1, Link: 247, FCSLen: -1, Comment: "four"},
	}
	for i := range recs {
		if err := w.Write(&recs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetStatistics(1, ngSampleStatistics()); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return recs, out.Bytes()
}

func ngSampleInterfaces() []Interface {
	return []Interface{
		{
			Name: "eth0", Description: "first port", Filter: "udp port 4791", Hardware: "ConnectX",
			OS: "Linux", Comment: "left", Link: 1, SnapLen: 65535, Speed: 100_000_000_000, FCSLen: 4,
		},
		{Name: "ib0", Link: 247, FCSLen: -1},
	}
}

func ngSampleStatistics() Statistics {
	return Statistics{
		Received: Count(10), Dropped: Count(0), Accepted: Count(9), OSDropped: Count(1),
		Delivered: Count(8), Start: 1_700_000_000_000_000_001, End: 1_700_000_001_000_000_002,
	}
}

func TestPcapNGRoundTrip(t *testing.T) {
	want, file := ngSample(t)
	r, got := mustParse(t, file)
	for i := range got {
		got[i].Offset = 0
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records differ (-written +read):\n%s", diff)
	}
	interfaces := ngSampleInterfaces()
	for i := range interfaces {
		interfaces[i].TSResol = 9
	}
	interfaces[1].Stats = ngSampleStatistics()
	if diff := cmp.Diff(interfaces, r.Interfaces()); diff != "" {
		t.Errorf("interfaces differ (-written +read):\n%s", diff)
	}
}

func TestPcapRoundTrip(t *testing.T) {
	want := []Record{
		{Data: []byte{1, 2, 3}, WireLen: 64, Time: 1_700_000_000_123_456_000, HasTime: true},
		{Data: []byte{}, WireLen: 0, HasTime: true},
		{Data: []byte{4}, WireLen: 1, Time: math.MaxUint32*nanosPerSecond + 999_999_000, HasTime: true},
	}
	for _, nano := range []bool{false, true} {
		for _, link := range []wire.LinkType{wire.LinkEthernet, wire.LinkSLL2, wire.LinkIB} {
			var out bytes.Buffer
			w, err := NewPcapWriter(&out, link, 1000, nano)
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				want[i].Link, want[i].Interface, want[i].FCSLen = link, -1, -1
				if err := w.Write(&want[i]); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			r, got := mustParse(t, out.Bytes())
			for i := range got {
				got[i].Offset = 0
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("link type %d, nano %v: records differ (-written +read):\n%s", link, nano, diff)
			}
			if i := r.Interfaces()[0]; i.SnapLen != 1000 || (r.Format() == PcapNano) != nano {
				t.Errorf("nano %v: format %v, interface %+v", nano, r.Format(), i)
			}
		}
	}
}

func TestTimesThatPcapCannotHoldSaturate(t *testing.T) {
	for _, c := range []struct{ time, want int64 }{
		{-1, 0},
		{math.MinInt64, 0},
		{math.MaxUint32*nanosPerSecond + 5, math.MaxUint32*nanosPerSecond + 5},
		{math.MaxInt64, math.MaxUint32*nanosPerSecond + nanosPerSecond - 1},
	} {
		var out bytes.Buffer
		w, err := NewPcapWriter(&out, 1, 0, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Write(&Record{Time: c.time, HasTime: true, Link: 1}), w.Close()); err != nil {
			t.Fatal(err)
		}
		if _, got := mustParse(t, out.Bytes()); got[0].Time != c.want {
			t.Errorf("time %d is read as %d, want %d", c.time, got[0].Time, c.want)
		}
	}
}

func TestWritersRefuseAnotherLinkType(t *testing.T) {
	p, err := NewPcapWriter(&bytes.Buffer{}, wire.LinkEthernet, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	ng, err := NewPcapNgWriter(&bytes.Buffer{})
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []Writer{p, ng} {
		if _, err := w.AddInterface(Interface{Link: wire.LinkEthernet}); err != nil {
			t.Fatal(err)
		}
		var mismatch *LinkTypeError
		if err := w.Write(&Record{Link: wire.LinkIB}); !errors.As(err, &mismatch) || mismatch.Has != wire.LinkIB {
			t.Errorf("%T: error is %v, want a LinkTypeError", w, err)
		}
	}
	var mismatch *LinkTypeError
	if _, err := p.AddInterface(Interface{Link: wire.LinkIB}); !errors.As(err, &mismatch) {
		t.Errorf("second interface of a pcap file: error is %v, want a LinkTypeError", err)
	}
	var index *IndexError
	if err := ng.Write(&Record{Interface: 1, Link: 1}); !errors.As(err, &index) {
		t.Errorf("interface 1 of 1: error is %v, want an IndexError", err)
	}
	if err := ng.SetStatistics(1, Statistics{}); !errors.As(err, &index) {
		t.Errorf("statistics of interface 1 of 1: error is %v, want an IndexError", err)
	}
}

func TestPcapNGWriterAddsInterfacesForRecordsOfAny(t *testing.T) {
	var out bytes.Buffer
	w, err := NewPcapNgWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range []wire.LinkType{1, 197, 1, 197} {
		rec := Record{Data: make([]byte, 16), HasTime: true, Interface: -1, Link: link, FCSLen: -1}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, got := mustParse(t, out.Bytes())
	if n := len(r.Interfaces()); n != 2 {
		t.Errorf("%d interfaces, want 2", n)
	}
	for i, want := range []int32{0, 1, 0, 1} {
		if got[i].Interface != want {
			t.Errorf("record %d is on interface %d, want %d", i+1, got[i].Interface, want)
		}
	}
}

func TestCreateChoosesTheFormatByName(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, codec string
		format      Format
	}{
		{"a.pcap", "", PcapNano},
		{"a.CAP", "", PcapNano},
		{"a.pcapng", "", PcapNG},
		{"a", "", PcapNG},
		{"a.b", "", PcapNG},
		{"a.pcap.gz", "gzip", PcapNano},
		{"a.pcapng.zst", "zstd", PcapNG},
		{"a.gz", "gzip", PcapNG},
	} {
		name := filepath.Join(dir, c.name)
		w, err := Create(name, Interface{Link: wire.LinkEthernet, FCSLen: 4})
		if err != nil {
			t.Fatal(err)
		}
		rec := Record{Data: []byte{1, 2}, WireLen: 3, Time: 7, HasTime: true, Interface: -1, Link: 1, FCSLen: 4}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		r, err := Open(name)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(r)
		if err != nil || len(got) != 1 || got[0].WireLen != 3 || got[0].Time != 7 || got[0].FCSLen != 4 {
			t.Errorf("%s: read %+v, %v", c.name, got, err)
		}
		if r.Format() != c.format || r.Compression() != c.codec {
			t.Errorf("%s is %v, %q; want %v, %q", c.name, r.Format(), r.Compression(), c.format, c.codec)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStandardStreams(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	stdin, stdout := os.Stdin, os.Stdout
	t.Cleanup(func() { os.Stdin, os.Stdout = stdin, stdout })
	os.Stdout = file
	w, err := Create("-", Interface{Link: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(&Record{Data: []byte{1}, HasTime: true, Link: 1}), w.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Seek(0, 0); err != nil {
		t.Fatalf("Close has closed the standard output: %v", err)
	}
	os.Stdin = file
	r, err := Open("-")
	if err != nil {
		t.Fatal(err)
	}
	got, err := readAll(r)
	if err != nil || len(got) != 1 || r.Format() != PcapNG || r.Size() != -1 {
		t.Errorf("read %d records, %v, format %v, size %d", len(got), err, r.Format(), r.Size())
	}
	if err := errors.Join(r.Close(), file.Close()); err != nil {
		t.Errorf("Close has closed the standard input: %v", err)
	}
}

func TestFlushHandsOnWholeRecords(t *testing.T) {
	for _, ext := range []string{".pcapng", ".pcap", ".pcap.gz", ".pcap.zst"} {
		name := filepath.Join(t.TempDir(), "x"+ext)
		w, err := Create(name, Interface{Link: 1})
		if err != nil {
			t.Fatal(err)
		}
		rec := Record{Data: []byte{1}, HasTime: true, Link: 1}
		if err := errors.Join(w.Write(&rec), w.Flush()); err != nil {
			t.Fatal(err)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := parse(data); len(got) != 1 {
			t.Errorf("%s: %d records after Flush, want 1", ext, len(got))
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestErrorsOfWritingAreReported(t *testing.T) {
	broken := errors.New("the disk is full")
	w, err := NewPcapNgWriter(failing{broken})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.AddInterface(Interface{Link: 1, Stats: Statistics{Received: Count(1)}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); !errors.Is(err, broken) {
		t.Errorf("error is %v, want %v", err, broken)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestWritingAllocatesNothingPerRecord(t *testing.T) {
	p, err := NewPcapWriter(discard{}, 1, 0, true)
	if err != nil {
		t.Fatal(err)
	}
	ng, err := NewPcapNgWriter(discard{})
	if err != nil {
		t.Fatal(err)
	}
	rec := Record{Data: make([]byte, 1001), HasTime: true, Interface: -1, Link: 1, Comment: "seen"}
	for _, w := range []Writer{p, ng} {
		if n := testing.AllocsPerRun(1000, func() {
			if err := w.Write(&rec); err != nil {
				t.Fatal(err)
			}
		}); n != 0 {
			t.Errorf("%T: %v allocations a record", w, n)
		}
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// ngFile writes a pcapng file of n packets of the given length.
func ngFile(t testing.TB, n, length int) ([]Record, []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewPcapNgWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	recs := make([]Record, n)
	data := make([]byte, length)
	for i := range recs {
		recs[i] = Record{Data: data, WireLen: length, Time: int64(i), HasTime: true, Interface: -1, Link: 1}
		if err := w.Write(&recs[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return recs, out.Bytes()
}
