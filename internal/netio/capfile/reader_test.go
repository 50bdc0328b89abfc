package capfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// pcapOf builds a classic pcap file of n packets of the given length, whose
// bytes tell the number of their packet.
func pcapOf(n, length int) []byte {
	b := pcapHeader()
	for i := range n {
		b = binary.LittleEndian.AppendUint32(b, uint32(i))
		b = binary.LittleEndian.AppendUint32(b, 0)
		b = binary.LittleEndian.AppendUint32(b, uint32(length))
		b = binary.LittleEndian.AppendUint32(b, uint32(length))
		b = append(b, bytes.Repeat([]byte{byte(i)}, length)...)
	}
	return b
}

func pcapHeader() []byte {
	b := binary.LittleEndian.AppendUint32(nil, pcapNanoMagic)
	b = append(b, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0)
	return append(b, 1, 0, 0, 0)
}

func gzipped(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func zstded(t testing.TB, data []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestEveryWayOfReadingGivesTheSameRecords(t *testing.T) {
	for _, file := range captures(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want, err := parse(data)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if len(want) == 0 {
			t.Errorf("%s: no records", file)
		}
		for name, in := range map[string]io.Reader{
			"halves":               iotest.HalfReader(bytes.NewReader(data)),
			"single bytes":         iotest.OneByteReader(bytes.NewReader(data)),
			"end with the data":    iotest.DataErrReader(bytes.NewReader(data)),
			"gzip":                 bytes.NewReader(gzipped(t, data)),
			"zstd":                 bytes.NewReader(zstded(t, data)),
			"gzip in single bytes": iotest.OneByteReader(bytes.NewReader(gzipped(t, data))),
		} {
			if strings.HasSuffix(file, ".gz") && name != "halves" {
				continue // already compressed
			}
			got, err := parseFrom(in, 4096) // small blocks: records straddle and exceed them
			if err != nil {
				t.Errorf("%s, %s: %v", file, name, err)
			}
			if !slices.EqualFunc(want, got, func(a, b Record) bool { return sameRecord(&a, &b) }) {
				t.Errorf("%s, %s: records differ from those read in one piece", file, name)
			}
		}
	}
}

// TestEveryCutGivesAPrefixAndAPlace cuts captures at every byte of their first
// 4 KiB, with -short at every 13th.
func TestEveryCutGivesAPrefixAndAPlace(t *testing.T) {
	step := 1
	if testing.Short() {
		step = 13
	}
	type input struct {
		name string
		data []byte
	}
	_, ng := ngSample(t)
	inputs := []input{
		{"pcapng", ng},
		{"ERF", unhex(t, erfIB+"\n"+erfEth+"\n"+erfPadding+"\n"+erfOther)},
		{"gzip", gzipped(t, pcapOf(40, 50))},
		{"zstd", zstded(t, pcapOf(40, 50))},
	}
	for _, file := range captures(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inputs = append(inputs, input{filepath.Base(file), data})
	}
	for _, in := range inputs {
		full, err := parse(in.data)
		if err != nil {
			t.Fatalf("%s: %v", in.name, err)
		}
		for n := 0; n < min(len(in.data), 4096); n += step {
			got, err := parseFrom(bytes.NewReader(in.data[:n]), 4096)
			if len(got) > len(full) {
				t.Fatalf("%s cut at %d: %d records, more than the whole file's %d", in.name, n, len(got), len(full))
			}
			for i := range got {
				if !sameRecord(&got[i], &full[i]) {
					t.Fatalf("%s cut at %d: record %d is %+v, in the whole file %+v", in.name, n, i+1, got[i], full[i])
				}
			}
			if err == nil { // cut between two records
				continue
			}
			var fault *FormatError
			if !errors.As(err, &fault) {
				t.Fatalf("%s cut at %d: error is %v, want a FormatError", in.name, n, err)
			}
			if fault.Record != int64(len(got))+1 {
				t.Fatalf("%s cut at %d: %v, after %d records", in.name, n, err, len(got))
			}
			if len(got) > 0 && fault.Offset <= got[len(got)-1].Offset {
				t.Fatalf("%s cut at %d: %v, but record %d is at byte %d",
					in.name, n, err, len(got), got[len(got)-1].Offset)
			}
		}
	}
}

// sameRecord compares; cmp is too slow for as many as these tests have.
func sameRecord(a, b *Record) bool {
	return bytes.Equal(a.Data, b.Data) && a.WireLen == b.WireLen && a.Time == b.Time &&
		a.Comment == b.Comment && a.Offset == b.Offset && a.Interface == b.Interface &&
		a.Link == b.Link && a.HasTime == b.HasTime && a.FCSLen == b.FCSLen
}

func TestCutOnARecordBoundaryIsACleanEnd(t *testing.T) {
	file := pcapOf(3, 10)
	for records, n := range []int{24, 50, 76, 102} {
		got, err := parse(file[:n])
		if err != nil || len(got) != records {
			t.Errorf("first %d bytes: %d records, error %v; want %d, none", n, len(got), err, records)
		}
	}
}

func TestTheFaultComesAgain(t *testing.T) {
	r, err := NewReader(bytes.NewReader(pcapOf(2, 10)[:60]), "x.pcap")
	if err != nil {
		t.Fatal(err)
	}
	_, first := readAll(r)
	_, again := r.Next()
	wantFault(t, again, ErrTruncated, "x.pcap: record 2 at byte 50: the record header is cut after 10 of 16 bytes")
	if first != again {
		t.Errorf("Next returned %v, then %v", first, again)
	}
}

func TestTruncatedCompressionDeliversWhatItHeld(t *testing.T) {
	file := pcapOf(20000, 100) // more than one block of either compressor
	for name, packed := range map[string][]byte{
		"gzip": gzipped(t, file), "zstd": zstded(t, file),
	} {
		got, err := parse(packed[:len(packed)*9/10])
		var fault *FormatError
		if !errors.As(err, &fault) || !errors.Is(err, ErrTruncated) || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Fatalf("%s: error is %v, want a truncated FormatError", name, err)
		}
		if fault.Reason != "the "+name+" stream is cut short" {
			t.Errorf("%s: reason is %q", name, fault.Reason)
		}
		if len(got) < 1000 || len(got) >= 20000 {
			t.Errorf("%s: %d records of 20000 from nine tenths of the file", name, len(got))
		}
	}
}

func TestDamagedCompressionIsAFault(t *testing.T) {
	packed := gzipped(t, pcapOf(3, 10))
	packed[len(packed)-5] ^= 1 // in the checksum or the length behind it
	got, err := parse(packed)
	if len(got) != 3 {
		t.Errorf("%d records, want 3", len(got))
	}
	if !errors.Is(err, ErrFormat) || !errors.Is(err, gzip.ErrChecksum) {
		t.Errorf("error is %v, want ErrFormat and the checksum", err)
	}
}

func TestJoinedGzipStreamsAreOneFile(t *testing.T) {
	file := pcapOf(4, 10)
	packed := append(gzipped(t, file[:70]), gzipped(t, file[70:])...)
	if _, got := mustParse(t, packed); len(got) != 4 {
		t.Errorf("%d records, want 4", len(got))
	}
}

func TestZstdWindowIsBounded(t *testing.T) {
	// Flushing keeps the writer from making a single segment, which has no
	// window.
	var out bytes.Buffer
	z, err := zstd.NewWriter(&out, zstd.WithWindowSize(2*maxWindow))
	if err != nil {
		t.Fatal(err)
	}
	file := pcapOf(10, 10)
	for _, part := range [][]byte{file[:50], file[50:]} {
		if _, err := z.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := z.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := parse(out.Bytes()); !errors.Is(err, ErrFormat) {
		t.Errorf("a window of %d bytes: error is %v, want ErrFormat", 2*maxWindow, err)
	}
}

func TestErrorsOfTheSourceAreNotFormatErrors(t *testing.T) {
	broken := errors.New("the disk is on fire")
	in := io.MultiReader(bytes.NewReader(pcapOf(2, 10)), iotest.ErrReader(broken))
	got, err := parseFrom(in, blockSize)
	if len(got) != 2 {
		t.Errorf("%d records, want 2", len(got))
	}
	wantFault(t, err, ErrRead, "test: record 3 at byte 76: the disk is on fire")
	if !errors.Is(err, broken) {
		t.Errorf("%v does not lead to its cause", err)
	}
}

func TestASourceThatGivesNothingEndsTheReader(t *testing.T) {
	_, err := parseFrom(io.MultiReader(bytes.NewReader(pcapOf(1, 10)), idle{}), blockSize)
	if !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("error is %v, want io.ErrNoProgress", err)
	}
}

type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestOpenReportsWhatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	if _, err := Open(filepath.Join(dir, "absent")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
	if _, err := Open(dir); !errors.Is(err, ErrRead) {
		t.Errorf("directory: %v", err)
	}
}

func TestProgressIsInBytesOfTheFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.pcap.gz")
	packed := gzipped(t, pcapOf(1000, 100))
	if err := os.WriteFile(file, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := Open(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readAll(r); err != nil {
		t.Fatal(err)
	}
	if r.Size() != int64(len(packed)) || r.BytesRead() != r.Size() || r.Compression() != "gzip" {
		t.Errorf("read %d of %d bytes, %s; want %d, gzip", r.BytesRead(), r.Size(), r.Compression(), len(packed))
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
}

// TestALiveStreamIsNotHeldUp shows that a record that has arrived is delivered
// though the block has room for more.
func TestALiveStreamIsNotHeldUp(t *testing.T) {
	file := pcapOf(2, 10)
	in, out := io.Pipe()
	go func() {
		_, _ = out.Write(file[:55]) // the second record is incomplete
	}()
	r, err := NewReader(in, "pipe")
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next()
	if err != nil || len(b.Records) != 1 || b.First != 1 {
		t.Fatalf("first batch: %+v, %v", b, err)
	}
	go func() {
		_, _ = out.Write(file[55:])
		_ = out.Close()
	}()
	b, err = r.Next()
	if err != nil || len(b.Records) != 1 || b.First != 2 {
		t.Fatalf("second batch: %+v, %v", b, err)
	}
	if _, err = r.Next(); err != io.EOF {
		t.Errorf("end: %v", err)
	}
}

// TestBatchesStayUntouchedUntilReleased holds many batches, hands them to
// goroutines that read and release them, and keeps reading meanwhile; the race
// detector sees any write to them.
func TestBatchesStayUntouchedUntilReleased(t *testing.T) {
	const packets, length = 30000, 200
	r, err := NewReader(bytes.NewReader(pcapOf(packets, length)), "test")
	if err != nil {
		t.Fatal(err)
	}
	work := make(chan *Batch, 8)
	var workers sync.WaitGroup
	for range 4 {
		workers.Go(func() {
			for b := range work {
				for i, rec := range b.Records {
					want := byte(int(b.First) + i - 1)
					if rec.Data[0] != want || rec.Data[length-1] != want {
						t.Errorf("record %d has changed", int(b.First)+i)
						break
					}
				}
				b.Release()
			}
		})
	}
	total := 0
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		total += len(b.Records)
		work <- b
	}
	close(work)
	workers.Wait()
	if total != packets {
		t.Errorf("%d records, want %d", total, packets)
	}
}

func TestTinyRecordsDoNotMakeHugeBatches(t *testing.T) {
	const packets = 50000
	r, err := NewReader(bytes.NewReader(pcapOf(packets, 0)), "test")
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(b.Records) > maxBatch || b.First != total+1 {
			t.Fatalf("batch of %d records begins at %d, want at most %d at %d", len(b.Records), b.First, maxBatch, total+1)
		}
		total += int64(len(b.Records))
		b.Release()
	}
	if total != packets {
		t.Errorf("%d records, want %d", total, packets)
	}
}

func TestRecordsLargerThanABlockAreRead(t *testing.T) {
	for _, length := range []int{blockSize - 16, blockSize, 5*blockSize + 1, MaxRecord} {
		_, got := mustParse(t, pcapOf(2, length))
		if len(got) != 2 || len(got[0].Data) != length || got[1].Data[length-1] != 1 {
			t.Errorf("length %d: %d records", length, len(got))
		}
	}
}

func TestABlockGrownForOneRecordIsNotKept(t *testing.T) {
	file := append(pcapOf(1, 4*blockSize), pcapOf(20000, 100)[pcapHeaderLen:]...)
	r, err := NewReader(bytes.NewReader(file), "test")
	if err != nil {
		t.Fatal(err)
	}
	for batches := 0; ; batches++ {
		b, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if batches > 0 && len(b.block) != blockSize {
			t.Fatalf("batch %d has a block of %d bytes, want %d", batches, len(b.block), blockSize)
		}
		b.Release()
	}
}

func TestDecompressedBatchesAreOfAFairSize(t *testing.T) {
	file := pcapOf(10000, 100)
	for name, packed := range map[string][]byte{"gzip": gzipped(t, file), "zstd": zstded(t, file)} {
		r, err := NewReader(bytes.NewReader(packed), "test")
		if err != nil {
			t.Fatal(err)
		}
		batches := 0
		for {
			b, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			batches++
			b.Release()
		}
		if limit := len(file)/decompressed + 2; batches > limit {
			t.Errorf("%s: %d batches for %d bytes, want at most %d", name, batches, len(file), limit)
		}
	}
}

// TestLyingLengthsAllocateNothing measures what hostile files make the reader
// allocate: no more than a few of their own size beside the fixed blocks.
func TestLyingLengthsAllocateNothing(t *testing.T) {
	const fixed = 3 << 20
	big := pcapHeader()
	big = binary.LittleEndian.AppendUint64(big, 0)
	big = binary.LittleEndian.AppendUint32(big, MaxRecord)
	big = binary.LittleEndian.AppendUint32(big, MaxRecord)
	ng := unhex(t, ngSHB+ngIDB)
	for name, data := range map[string][]byte{
		"pcap, the largest length believed": big,
		"pcap, and one block of it there":   append(bytes.Clone(big), make([]byte, blockSize)...),
		"pcap, and half of it there":        append(bytes.Clone(big), make([]byte, MaxRecord/2)...),
		"pcap, 256 MiB":                     append(pcapHeader(), unhex(t, "00000000 00000000 00000010 00000010")...),
		"pcapng, 256 MiB": append(bytes.Clone(ng), unhex(t,
			"06000000 30000010 00000000 00000000 00000000 00000010 00000010")...),
		"pcapng, 16 MiB": append(bytes.Clone(ng), unhex(t,
			"06000000 00000001 00000000 00000000 00000000 00000001 00000001")...),
		"pcapng, 4 GiB passed over": append(bytes.Clone(ng), unhex(t, "ad0b0000 fcffffff 00000000")...),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parse(data)
		runtime.ReadMemStats(&after)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if spent := after.TotalAlloc - before.TotalAlloc; spent > fixed+4*uint64(len(data)) {
			t.Errorf("%s: a file of %d bytes made the reader allocate %d", name, len(data), spent)
		}
	}
}

// TestReadingAllocatesNothingPerRecord counts allocations over a whole file.
func TestReadingAllocatesNothingPerRecord(t *testing.T) {
	const packets = 100_000
	file := pcapOf(packets, 100)
	_, ng := ngFile(t, packets, 100)
	for name, data := range map[string][]byte{"pcap": file, "pcapng": ng} {
		allocs := testing.AllocsPerRun(2, func() {
			r, err := NewReader(bytes.NewReader(data), "test")
			if err != nil {
				t.Fatal(err)
			}
			for {
				b, err := r.Next()
				if err != nil {
					break
				}
				b.Release()
			}
		})
		if allocs > 60 { // reader, decoder, two batches and the growth of their record lists
			t.Errorf("%s: %v allocations for %d records", name, allocs, packets)
		}
	}
}

func TestFormatsHaveNames(t *testing.T) {
	for f, want := range map[Format]string{
		Pcap: "pcap", PcapNano: "pcap (nanoseconds)", PcapModified: "pcap (modified)",
		PcapNG: "pcapng", ERF: "ERF", 0: "unknown",
	} {
		if f.String() != want {
			t.Errorf("Format(%d) is %q, want %q", f, f, want)
		}
	}
}
