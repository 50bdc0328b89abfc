package rocecap_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// analyzed are the captures whose analysis is written down in testdata/analyze
// and counted a second time.
var analyzed = []string{
	"rc_loss_write.pcap.gz", "rc_loss_read.pcap.gz", "rc_loss_send.pcap.gz", "py_rnr.pcap", "py_rnrok.pcap",
	"py_badrkey.pcap", "py_toolong.pcap", "py_psnwrap.pcap", "py_imm.pcap", "py_mixed.pcap", "py_flush.pcap",
	"atomic_fadd.pcap", "nvme_rdma.pcap.gz", "rc_pingpong.pcap", "rping_rxe.pcap", "many_qps.pcap.gz", "uc_pingpong.pcap",
	"ce_marks.pcap.gz",
}

// managed are captures of connection management, whose analysis is written down
// too; what the messages say is compared with tshark by package connect.
var managed = []string{"cm_reject.pcap", "ucmatose.pcap", "udaddy.pcap"}

// analyzedText is what analyze prints for a capture in the project's folder. The
// first line has the path, which is left out elsewhere.
func analyzedText(t *testing.T, name string) string {
	t.Helper()
	path := pcaps(t, name)
	_, text, _ := strings.Cut(mustRun(t, "analyze", path), "\n")
	return strings.ReplaceAll(text, path, name)
}

func TestAnalyzePrintsTheGoldenTexts(t *testing.T) {
	for _, name := range slices.Concat(analyzed, managed) {
		got := analyzedText(t, name)
		path := filepath.Join("testdata", "analyze", stem(name)+".txt")
		if *update {
			writeGolden(t, path, got)
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("analyze %s (-want +got):\n%s", name, diff)
		}
	}
}

// tallies are what analyze and tshark's fields both tell of a capture.
type tallies struct {
	Requests, Old  int // request packets; of which with a PSN that was seen before
	Payload        int64
	Sequence, RNR  int // NAKs
	Invalid        int
	Access         int
	Operation      int
	Messages       int // complete ones of RC and UC
	Bytes          int64
	CE             int
	ReadsAndAtomic int
}

// analysisJSON is what the test reads of analyze --json.
type analysisJSON struct {
	Version       int `json:"version"`
	Conversations []struct {
		Service string `json:"service"`
		Joined  string `json:"joined"`
		Ends    []struct {
			CE       int `json:"ce_marked"`
			Requests struct {
				Packets      int   `json:"packets"`
				PayloadBytes int64 `json:"payload_bytes"`
			} `json:"requests"`
			Counters   map[string]int `json:"counters"`
			Operations []struct {
				Operation string `json:"operation"`
				Messages  int    `json:"messages"`
				Bytes     int64  `json:"bytes"`
			} `json:"operations"`
		} `json:"ends"`
	} `json:"conversations"`
	Findings []struct {
		Code  string `json:"code"`
		Count int    `json:"count"`
	} `json:"findings"`
}

func analyzeJSON(t *testing.T, file string, extra ...string) (a analysisJSON) {
	t.Helper()
	out := mustRun(t, append([]string{"analyze", "--json", file}, extra...)...)
	if err := json.Unmarshal([]byte(out), &a); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	return a
}

func (a *analysisJSON) tallies() (sum tallies) {
	for _, c := range a.Conversations {
		if c.Service != "RC" && c.Service != "UC" {
			continue
		}
		for _, e := range c.Ends {
			sum.CE += e.CE
			sum.Requests += e.Requests.Packets
			sum.Old += e.Counters["duplicate_request"]
			sum.Payload += e.Requests.PayloadBytes
			for _, o := range e.Operations {
				sum.Messages += o.Messages
				sum.Bytes += o.Bytes
				if o.Operation == "READ" || o.Operation == "ATOMIC" {
					sum.ReadsAndAtomic += o.Messages
				}
			}
		}
	}
	for _, f := range a.Findings {
		switch f.Code {
		case "NAK-SEQUENCE":
			sum.Sequence += f.Count
		case "RNR-NAK":
			sum.RNR += f.Count
		case "NAK-INVALID":
			sum.Invalid += f.Count
		case "NAK-ACCESS":
			sum.Access += f.Count
		case "NAK-OPERATION":
			sum.Operation += f.Count
		}
	}
	return sum
}

// tsharkStream is what tshark's fields say about the packets to a queue pair.
type tsharkStream struct {
	mtu  int
	seen map[wire.PSN]bool
}

// tsharkTallies counts a capture by tshark's fields, with other means than the
// tracker: a PSN is old when it was seen, and a message is its last packet. Only
// captures in which every message is complete in the end can be counted so.
func tsharkTallies(t *testing.T, file string, mtu int) (sum tallies) {
	t.Helper()
	args := []string{"-r", file, "-T", "fields", "-E", "occurrence=f"}
	for _, f := range strings.Fields(`ip.src ip.dst infiniband.bth.destqp infiniband.bth.opcode infiniband.bth.psn
		infiniband.bth.padcnt infiniband.aeth.syndrome infiniband.reth.dmalen udp.length ip.dsfield.ecn`) {
		args = append(args, "-e", f)
	}
	out, err := exec.Command(testneed.Tool(t, "tshark"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	streams := map[string]*tsharkStream{}
	for line := range strings.Lines(string(out)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if f[3] == "" {
			continue
		}
		op := number(t, f[3])
		if op >= 0x40 {
			continue // neither RC nor UC
		}
		if number(t, f[9]) == 3 {
			sum.CE++
		}
		if f[6] != "" {
			sum.answer(number(t, f[6]))
			continue
		}
		if op == wire.OpReadResponseMiddle {
			continue
		}
		key := strings.Join(f[:3], " ")
		if streams[key] == nil {
			streams[key] = &tsharkStream{mtu: mtu, seen: map[wire.PSN]bool{}}
		}
		udp, icrc := 8, 4
		payload := number(t, f[8]) - udp - headerBytes(op&0x1F) - number(t, f[5]) - icrc
		sum.request(streams[key], op&0x1F, wire.PSN(number(t, f[4])), payload, number(t, f[7]))
	}
	return sum
}

func number(t *testing.T, text string) int {
	t.Helper()
	if text == "" {
		return 0
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// headerBytes is the length of the BTH and what follows it in a request
// (IBTA vol. 1, table 38).
func headerBytes(operation int) int {
	switch operation {
	case 0x06, 0x0A, 0x0C, 0x1D:
		return 12 + 16
	case 0x0B, 0x1C:
		return 12 + 16 + 4
	case 0x03, 0x05, 0x09, 0x16, 0x17:
		return 12 + 4
	case 0x13, 0x14:
		return 12 + 28
	}
	return 12
}

func (sum *tallies) answer(syndrome int) {
	switch {
	case syndrome == 0x60:
		sum.Sequence++
	case syndrome == 0x61:
		sum.Invalid++
	case syndrome == 0x62:
		sum.Access++
	case syndrome == 0x63:
		sum.Operation++
	case syndrome>>5 == 1:
		sum.RNR++
	}
}

func (sum *tallies) request(s *tsharkStream, operation int, psn wire.PSN, payload, dmalen int) {
	sum.Requests++
	sum.Payload += int64(payload)
	if s.seen[psn] {
		sum.Old++
		return
	}
	s.seen[psn] = true
	switch operation {
	case wire.OpReadRequest:
		for i := range max(1, (dmalen+s.mtu-1)/s.mtu) {
			s.seen[psn.Add(i)] = true
		}
		sum.Messages++
		sum.ReadsAndAtomic++
		sum.Bytes += int64(dmalen)
	case wire.OpCompareSwap, wire.OpFetchAdd:
		sum.Messages++
		sum.ReadsAndAtomic++
		sum.Bytes += 8
	case wire.OpFlush:
		sum.Messages++
	case wire.OpSendLast, wire.OpSendLastImmediate, wire.OpSendOnly, wire.OpSendOnlyImmediate, wire.OpSendLastInvalidate,
		wire.OpSendOnlyInvalidate, wire.OpWriteLast, wire.OpWriteLastImmediate, wire.OpWriteOnly, wire.OpWriteOnlyImmediate:
		sum.Messages++
		sum.Bytes += int64(payload)
	default:
		sum.Bytes += int64(payload)
	}
}

// TestAnalyzeCountsWhatTsharkSees compares with an independent count. Captures
// that end with a failed message are left to the golden texts for messages.
func TestAnalyzeCountsWhatTsharkSees(t *testing.T) {
	unfinished := map[string]bool{"py_rnr.pcap": true, "py_badrkey.pcap": true, "py_toolong.pcap": true}
	for _, name := range analyzed {
		t.Run(name, func(t *testing.T) {
			a := analyzeJSON(t, pcaps(t, name))
			mtu := 1024
			if name == "nvme_rdma.pcap.gz" {
				mtu = 4096
			}
			got, want := a.tallies(), tsharkTallies(t, pcaps(t, name), mtu)
			if unfinished[name] {
				want.Messages, want.Bytes = 0, 0
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tshark and analyze differ (-tshark +analyze):\n%s", diff)
			}
		})
	}
}
