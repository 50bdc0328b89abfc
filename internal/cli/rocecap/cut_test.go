package rocecap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
)

// faultPlace is how an error names the place of a fault in a file.
var faultPlace = regexp.MustCompile(`: record (\d+) at byte (\d+): `)

// checkFault compares the output of decode for a file that ends early or is
// damaged with that for the whole file: everything before the fault is printed,
// and the error names file, record and byte.
func checkFault(t *testing.T, file, whole string) {
	t.Helper()
	r := run("decode", file)
	if !strings.HasPrefix(whole, r.out) || r.out != "" && !strings.HasSuffix(r.out, "\n") {
		t.Errorf("prints what the whole file does not:\n%s", r.out)
	}
	switch r.code {
	case 0:
		if r.err != "" {
			t.Errorf("exit code 0 and the error %q", r.err)
		}
	case 2:
		place := faultPlace.FindStringSubmatch(r.err)
		if place == nil || !strings.HasPrefix(r.err, "rocecap: "+file+": ") {
			t.Errorf("the error does not name file, record and byte: %s", r.err)
			return
		}
		record, err := strconv.Atoi(place[1])
		if lines := strings.Count(r.out, "\n"); err != nil || lines != record-1 {
			t.Errorf("%d lines before a fault in record %d", lines, record)
		}
	default:
		t.Errorf("exit code %d", r.code)
	}
}

func TestFileCutAnywhereIsPrintedUpToThere(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"cm_reject.pcap", "iw_ucmatose.pcap", "nvme_rdma.pcap.gz", "rc_vlan.pcap", "rping_rxe.pcap",
		"fixtures/t.pcap", "fixtures/t5.pcap", "fixtures/t6.pcap", "fixtures/mk.pcap", "cases/29-fpdu-over-mss.pcap",
	} {
		path := pcaps(t, filepath.FromSlash(name))
		for _, form := range []string{path, convert(t, path, "pcapng"), convert(t, path, "pcap.zst")} {
			data, err := os.ReadFile(form)
			if err != nil {
				t.Fatal(err)
			}
			whole := mustRun(t, "decode", form)
			for n := 0; n < min(len(data), 4096); n += 97 {
				t.Run(fmt.Sprintf("%s/%s/%d", name, filepath.Base(form), n), func(t *testing.T) {
					cut := filepath.Join(dir, "cut")
					if err := os.WriteFile(cut, data[:n], 0o644); err != nil {
						t.Fatal(err)
					}
					checkFault(t, cut, whole)
				})
			}
		}
	}
}

// convert writes a capture in another format, by the ending of its name.
func convert(t *testing.T, path, ending string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "c."+ending)
	mustRun(t, "decode", path, "-w", out)
	return out
}

// A length that makes no sense is a fault in the middle of the file.
func TestDamagedRecordEndsTheOutputThere(t *testing.T) {
	data, err := os.ReadFile(pcaps(t, "rping_rxe.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	const header, recordHeader, capturedLen = 24, 16, 8
	at := header
	for range 6 {
		at += recordHeader + int(binary.LittleEndian.Uint32(data[at+capturedLen:]))
	}
	binary.LittleEndian.PutUint32(data[at+capturedLen:], 0xffffff00)
	file := filepath.Join(t.TempDir(), "damaged.pcap")
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
	r := run("decode", file)
	if want := fmt.Sprintf("%s: record 7 at byte %d: ", file, at); r.code != 2 || !strings.Contains(r.err, want) {
		t.Errorf("exit code %d, error %q; want 2, %q", r.code, r.err, want)
	}
	checkFault(t, file, mustRun(t, "decode", pcaps(t, "rping_rxe.pcap")))
	if r := run("icrc", file); r.code != 2 || !strings.Contains(r.out, "6 packets") {
		t.Errorf("icrc: exit code %d, %q; want 2 and what stands before the fault", r.code, r.out)
	}
}

// Every printer copes with any byte changed, and prints each packet.
func TestDamagedPacketsHaveALineEach(t *testing.T) {
	for _, c := range []struct {
		name   string
		damage byte
	}{
		{"fixtures/t.pcap", 0x01},
		{"fixtures/t.pcap", 0x80},
		{"fixtures/t.pcap", 0xff},
		{"fixtures/t5.pcap", 0x01},
		{"fixtures/mk.pcap", 0x80},
		{"rping_rxe.pcap", 0xff},
	} {
		wantALineEach(t, c.name, func(whole capfile.Record) (variants []capfile.Record) {
			for at := range min(100, len(whole.Data)) {
				changed := whole
				changed.Data = bytes.Clone(whole.Data)
				changed.Data[at] ^= c.damage
				variants = append(variants, changed)
			}
			return variants
		})
	}
}

// Every printer copes with any snapshot length.
func TestPacketsCutAtEveryByteHaveALineEach(t *testing.T) {
	for _, name := range []string{
		"fixtures/t.pcap", "fixtures/t4.pcap", "fixtures/t5.pcap", "fixtures/t6.pcap", "fixtures/mk.pcap",
		"fixtures/iw.pcap", "rping_rxe.pcap", "udaddy.pcap", "rc_vlan.pcap", "cases/23-pause-vs-pfc.pcap",
	} {
		wantALineEach(t, name, func(whole capfile.Record) (variants []capfile.Record) {
			for n := range len(whole.Data) {
				short := whole
				short.Data = whole.Data[:n]
				variants = append(variants, short)
			}
			return variants
		})
	}
}

// wantALineEach prints variants of the first records of a capture in every
// form.
func wantALineEach(t *testing.T, name string, vary func(capfile.Record) []capfile.Record) {
	t.Helper()
	r, err := capfile.Open(pcaps(t, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	batch, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	var records []capfile.Record
	for _, rec := range batch.Records[:min(20, len(batch.Records))] {
		records = append(records, vary(rec)...)
	}
	path := writeRecords(t, batch.Records[0].Link, records)
	batch.Release()
	for _, flags := range [][]string{{}, {"-T", "json"}, {"-T", "fields", "-e", "_ws.expert.message"}} {
		out := mustRun(t, append([]string{"decode", path}, flags...)...)
		if lines := strings.Count(out, "\n"); lines != len(records) {
			t.Errorf("%s, %v: %d lines for %d packets", name, flags, lines, len(records))
		}
	}
	for _, flag := range []string{"-V", "-x"} {
		mustRun(t, "decode", flag, path)
	}
	judge(t, path)
}
