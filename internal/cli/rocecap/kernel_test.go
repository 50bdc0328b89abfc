package rocecap_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const kernelFolder = "testdata/kernel" // its README.md tells what is there

// TestRetransmissionsAreThoseThatTheKernelCounted: of real captures, with losses,
// copies and late packets before and behind the capture point, analyze tells each
// time that a requester began to send again, and each NAK of a responder.
func TestRetransmissionsAreThoseThatTheKernelCounted(t *testing.T) {
	f, err := os.Open(filepath.Join(kernelFolder, "counters.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comma = '\t'
	rows, err := table.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		name, netem := row[0], row[4]
		t.Run(name, func(t *testing.T) {
			found := map[string]int{}
			a := analyzeJSON(t, filepath.Join(kernelFolder, name+".pcap.gz"))
			for _, f := range a.Findings {
				kind, _, _ := strings.Cut(f.Code, "-")
				if kind == "RESEND" {
					found[kind] += f.Count
				}
				found[f.Code] += f.Count
			}
			if want := number(t, row[1]); found["RESEND"] != want {
				t.Errorf("began to send again %d times, the kernel counted %d: %v", found["RESEND"], want, found)
			}
			if want := number(t, row[2]); found["NAK-SEQUENCE"] != want {
				t.Errorf("%d NAKs, the kernel counted %d", found["NAK-SEQUENCE"], want)
			}
			if before := found["PSN-GAP"] + found["PSN-LOST"]; before > 0 && !strings.Contains(netem, "client sends:") {
				t.Errorf("%d requests lost before the capture point, where all passed it: %v", before, found)
			}
		})
	}
}
