package rocecap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/wire"
)

// recordsOf are the records of a capture in the project's folder.
func recordsOf(t *testing.T, name string) (records []capfile.Record) {
	t.Helper()
	captest.Each(t, func(file string, _ int, rec *capfile.Record) {
		if filepath.Base(file) == name {
			rec.Data = bytes.Clone(rec.Data)
			records = append(records, *rec)
		}
	})
	if len(records) == 0 {
		t.Fatalf("no packets in %s", name)
	}
	return records
}

func codes(a analysisJSON) (list []string) {
	for _, f := range a.Findings {
		list = append(list, f.Code)
	}
	return list
}

func TestABitThatFlippedOnTheWayIsNoMistakeOfTheSender(t *testing.T) {
	records := recordsOf(t, "rc_pingpong.pcap")
	damaged := &records[2]
	damaged.Data[len(damaged.Data)-20] ^= 0x10 // in the payload
	got := strings.Join(codes(analyzeJSON(t, writeRecords(t, wire.LinkEthernet, records))), " ")
	if !strings.Contains(got, "ICRC-BAD") || strings.Contains(got, "ICRC-MISTAKE") {
		t.Errorf("found %s", got)
	}
}

func TestWhatTheCaptureDroppedIsTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "drops.pcapng")
	w, err := capfile.Create(path, capfile.Interface{
		Name: "eth7", Link: wire.LinkEthernet, FCSLen: -1, Stats: capfile.Statistics{Dropped: capfile.Count(3), OSDropped: capfile.Count(4)},
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range recordsOf(t, "rc_pingpong.pcap") {
		rec.Interface = 0
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	annotated := filepath.Join(t.TempDir(), "annotated.pcapng")
	mustRun(t, "analyze", "-n", "0", "--annotate", annotated, path)
	for _, path := range []string{path, annotated} {
		told(t, path)
	}
}

// told checks what analyze says of a capture that dropped 7 packets.
func told(t *testing.T, path string) {
	t.Helper()
	if out := mustRun(t, "analyze", "-n", "0", path); !strings.Contains(out, "\ndropped by the capture, by its own count: 7 packets of eth7\n") {
		t.Errorf("got:\n%s", out)
	}
}

func TestADamagedCaptureSaysSoInTheReportToo(t *testing.T) {
	data, err := os.ReadFile(pcaps(t, "rc_pingpong.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(path, data[:len(data)-5], 0o644); err != nil {
		t.Fatal(err)
	}
	r := run("analyze", "-n", "0", path)
	if r.code != 2 || !strings.Contains(r.out, "\ndamaged, and followed up to there: record ") {
		t.Errorf("exit code %d, and:\n%s", r.code, r.out)
	}
	if r := run("analyze", "--json", path); r.code != 2 || !strings.Contains(r.out, `"fault":"record `) {
		t.Errorf("exit code %d, and:\n%s", r.code, r.out)
	}
}
