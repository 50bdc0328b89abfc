package rocecap_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// streamed are the captures of iWARP whose analysis is written down.
var streamed = []string{
	"iw_rping.pcap", "iw_read_bw.pcap", "iw_send_bw.pcap", "iw_ucmatose.pcap", "iw_write_bw.pcap.gz", "fixtures/iw.pcap", "fixtures/mk.pcap",
}

func TestAnalyzePrintsTheGoldenTextsOfIWARP(t *testing.T) {
	for _, name := range streamed {
		got := analyzedText(t, name)
		compareGolden(t, filepath.Join("testdata", "analyze", stem(name)+".txt"), got)
	}
}

func TestAnalyzeWritesTheGoldenJSONOfIWARP(t *testing.T) {
	for _, name := range streamed {
		var report struct {
			Streams  []json.RawMessage `json:"streams"`
			Findings []json.RawMessage `json:"findings"`
		}
		if err := json.Unmarshal([]byte(mustRun(t, "analyze", "--json", pcaps(t, name))), &report); err != nil {
			t.Fatal(err)
		}
		packed, err := json.Marshal(report)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := json.Indent(&b, packed, "", " "); err != nil {
			t.Fatal(err)
		}
		compareGolden(t, filepath.Join("testdata", "analyze", stem(name)+".json"), b.String()+"\n")
	}
}

func compareGolden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		writeGolden(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// opcodeCount is what an end sends with an RDMAP opcode.
type opcodeCount struct {
	FPDUs    int   `json:"fpdus"`
	Messages int   `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

// opcodeCounts are those of a capture, by "address:port of the sender opcode".
type opcodeCounts map[string]opcodeCount

func (c opcodeCounts) add(key string, more opcodeCount) {
	sum := c[key]
	sum.FPDUs += more.FPDUs
	sum.Messages += more.Messages
	sum.Bytes += more.Bytes
	c[key] = sum
}

// tsharkOpcodes counts FPDUs, last flags and bytes by tshark's fields.
func tsharkOpcodes(t *testing.T, file string) opcodeCounts {
	t.Helper()
	args := []string{"-r", file, "-Y", "iwarp_ddp", "-T", "fields"}
	for _, f := range strings.Fields("ip.src tcp.srcport iwarp_mpa.ulpdulength iwarp_ddp.tagged_flag iwarp_ddp.last_flag iwarp_rdma.opcode") {
		args = append(args, "-e", f)
	}
	out, err := exec.Command(testneed.Tool(t, "tshark"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	counts := opcodeCounts{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		lengths, tagged, last, ops := strings.Split(f[2], ","), strings.Split(f[3], ","), strings.Split(f[4], ","), strings.Split(f[5], ",")
		for i := range lengths {
			header := wire.DDPUntaggedLen
			if isTrue(tagged[i]) {
				header = wire.DDPTaggedLen
			}
			one := opcodeCount{FPDUs: 1, Bytes: int64(number(t, lengths[i]) - header)}
			if isTrue(last[i]) {
				one.Messages = 1
			}
			counts.add(f[0]+":"+f[1]+" "+wire.RDMAPOpcode(number(t, ops[i])).String(), one)
		}
	}
	return counts
}

// isTrue reads a flag, of which tshark versions print either form.
func isTrue(text string) bool { return text == "1" || text == "True" }

func analyzeOpcodes(t *testing.T, file string) opcodeCounts {
	t.Helper()
	var report struct {
		Streams []struct {
			Ends []struct {
				Address string                 `json:"address"`
				Opcodes map[string]opcodeCount `json:"opcodes"`
			} `json:"ends"`
		} `json:"streams"`
	}
	if err := json.Unmarshal([]byte(mustRun(t, "analyze", "--json", file)), &report); err != nil {
		t.Fatal(err)
	}
	counts := opcodeCounts{}
	for _, s := range report.Streams {
		for _, e := range s.Ends {
			for op, n := range e.Opcodes {
				counts.add(e.Address+" "+op, n)
			}
		}
	}
	return counts
}

// TestAnalyzeCountsTheFPDUsThatTsharkSees compares with an independent count:
// our captures, and those of others where they are there.
func TestAnalyzeCountsTheFPDUsThatTsharkSees(t *testing.T) {
	var files []string
	for _, name := range streamed[:5] {
		files = append(files, pcaps(t, name))
	}
	if public := testneed.Public(t); public != "" {
		more, err := filepath.Glob(filepath.Join(public, "iwarp_*.pcap"))
		if err != nil || len(more) == 0 {
			t.Fatalf("%v, %d public captures of iWARP", err, len(more))
		}
		files = append(files, more...)
	}
	for _, file := range files {
		if diff := cmp.Diff(tsharkOpcodes(t, file), analyzeOpcodes(t, file)); diff != "" {
			t.Errorf("%s (-tshark +analyze):\n%s", file, diff)
		}
	}
}

func TestHostChoosesIWARPConnections(t *testing.T) {
	file := pcaps(t, "iw_ucmatose.pcap")
	for host, want := range map[string]string{
		"10.77.0.2": "40 packets, 2 iWARP connections\n", "10.77.0.9": "40 packets, 0 conversations\n",
	} {
		if got := mustRun(t, "analyze", "--host", host, file); !strings.Contains(got, want) {
			t.Errorf("--host %s gives %q", host, got)
		}
	}
	if got := mustRun(t, "analyze", "--qp", "1", file); !strings.Contains(got, "0 conversations\n") {
		t.Errorf("--qp gives %q", got)
	}
}

// A filter keeps what it matches; what the TCP streams lack then is not judged.
func TestAnalyzeFilterChoosesTCPSegments(t *testing.T) {
	got := mustRun(t, "analyze", "-Y", "tcp.srcport == 57905 || tcp.dstport == 57905", pcaps(t, "iw_read_bw.pcap"))
	if !strings.Contains(got, ": 43 packets, 1 iWARP connection\n") || !strings.Contains(got, "READ              5 messages        45000 B") {
		t.Errorf("got %q", got)
	}
}

func TestAnnotateWritesWhatIsFoundInIWARP(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pcapng")
	mustRun(t, "analyze", "--annotate", out, pcaps(t, "fixtures/iw.pcap"))
	got := mustRun(t, "decode", "-T", "fields", "-e", "frame.number", "-e", "frame.comment", "-Y", "frame.comment", out)
	for _, want := range []string{
		"13\tIW-CRC: FPDUs have a wrong CRC32c\n",
		"52\tIW-TERMINATE: an end gave the connection up and said why (DDP, Tagged Buffer Error, Invalid STag)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}
