package rocecap_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

// liveObject is what the tests look at of an interval.
type liveObject struct {
	Seconds float64
	Streams []struct {
		Conversation      int
		Service, From, To string
		Bits              float64 `json:"bits_per_second"`
		P99               int64   `json:"p99_ns"`
		Total             map[string]int64
	}
	New      map[string]int64
	Findings []struct{ Code string }
	Unlisted int `json:"findings_unlisted"`
}

func liveObjects(t *testing.T, args ...string) (list []liveObject) {
	t.Helper()
	lines := json.NewDecoder(strings.NewReader(mustRun(t, append([]string{"live", "--json", "--speed", "0"}, args...)...)))
	for lines.More() {
		var o liveObject
		if err := lines.Decode(&o); err != nil {
			t.Fatal(err)
		}
		list = append(list, o)
	}
	return list
}

// counted is what analyze and live both count: packets, bytes and the like by name,
// findings that are more than notes by code.
type counted map[string]int64

// countedByAnalyze adds up the conversations and findings of a report.
func countedByAnalyze(t *testing.T, text string) counted {
	t.Helper()
	var report struct {
		Conversations []struct {
			Ends []struct {
				Packets, Bytes int64
				CE             int64 `json:"ce_marked"`
				CNPs           int64 `json:"cnps"`
				BadICRC        int64 `json:"wrong_icrc"`
				Operations     []struct{ Messages int64 }
				Requests       struct {
					Again int64 `json:"packets_sent_again"`
				}
			}
		}
		Streams []struct {
			Ends []struct {
				CRCs       map[string]int64
				Operations []struct{ Messages int64 }
				Terminate  *struct{}
				TCP        struct {
					Segments int64
					Frames   int64 `json:"frame_bytes"`
					Again    int64 `json:"segments_sent_again"`
				}
			}
		}
		Findings []struct {
			Code, Grade  string
			Count        int64
			Conversation int
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	n := counted{}
	for _, c := range report.Conversations {
		for _, e := range c.Ends {
			n["packets"] += e.Packets
			n["bytes"] += e.Bytes
			n["packets_sent_again"] += e.Requests.Again
			n["ce_marked"] += e.CE
			n["cnps"] += e.CNPs
			n["wrong_icrc"] += e.BadICRC
			for _, o := range e.Operations {
				n["messages"] += o.Messages
			}
		}
	}
	for _, c := range report.Streams {
		for _, e := range c.Ends {
			n["packets"] += e.TCP.Segments
			n["bytes"] += e.TCP.Frames
			n["packets_sent_again"] += e.TCP.Again
			n["wrong_icrc"] += e.CRCs["bad"]
			for _, o := range e.Operations {
				n["messages"] += o.Messages
			}
			if e.Terminate != nil {
				n["naks"]++
			}
		}
	}
	for _, f := range report.Findings {
		switch {
		case f.Code == "RNR-NAK":
			n["rnr_naks"] += f.Count
		case strings.HasPrefix(f.Code, "NAK-"):
			n["naks"] += f.Count
		}
		if f.Grade != "note" {
			n[f.Code] += f.Count
		}
	}
	return n
}

// countedByLive adds up the intervals.
func countedByLive(t *testing.T, objects []liveObject) counted {
	t.Helper()
	n := counted{}
	for _, o := range objects {
		for name, count := range o.New {
			n[name] += count
		}
		for _, f := range o.Findings {
			n[f.Code]++
		}
		if o.Unlisted > 0 {
			t.Errorf("%d findings are not listed: the interval is too long for this test", o.Unlisted)
		}
	}
	delete(n, "findings") // notes too
	return n
}

// wantCounted compares counts; none is the same as 0.
func wantCounted(t *testing.T, about string, got, want counted) {
	t.Helper()
	for _, n := range []counted{got, want} {
		maps.DeleteFunc(n, func(_ string, count int64) bool { return count == 0 })
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: what analyze (-) and live (+) count:\n%s", about, diff)
	}
}

// TestLiveCountsWhatAnalyzeCounts plays captures again: the intervals together
// have the packets, bytes, messages and findings that analyze finds.
func TestLiveCountsWhatAnalyzeCounts(t *testing.T) {
	for _, name := range []string{
		"rc_loss_send.pcap.gz", "rc_loss_read.pcap.gz", "py_rnr.pcap", "py_badrkey.pcap", "many_qps.pcap.gz", "ce_marks.pcap.gz",
		"rping_rxe.pcap", "cm_reject.pcap", "ucmatose.pcap", "udaddy.pcap", "uc_pingpong.pcap", "iw_rping.pcap", "iw_read_bw.pcap", "iw_ucmatose.pcap",
	} {
		file := pcaps(t, name)
		objects := liveObjects(t, "-r", file, "--interval", "20ms")
		want := countedByAnalyze(t, mustRun(t, "analyze", "--json", file))
		wantCounted(t, name, countedByLive(t, objects), want)
		seconds := 0.0
		for _, o := range objects {
			seconds += o.Seconds
		}
		if seconds <= 0 || seconds > 1000 {
			t.Errorf("%s: %g seconds", name, seconds)
		}
	}
}

// TestLiveHasARowForEachEndOfAnIWARPConnection plays iw_rping.pcap: in each interval
// there are two rows with one number, and the latencies of what was measured.
func TestLiveHasARowForEachEndOfAnIWARPConnection(t *testing.T) {
	objects := liveObjects(t, "-r", pcaps(t, "iw_rping.pcap"), "--interval", "20ms")
	if len(objects) < 2 {
		t.Fatalf("%d intervals", len(objects))
	}
	for i, o := range objects {
		if len(o.Streams) == 0 && i == 0 {
			continue // it is not known to be iWARP yet
		}
		if len(o.Streams) != 2 {
			t.Fatalf("interval %d: %d rows", i, len(o.Streams))
		}
		a, b := o.Streams[0], o.Streams[1]
		if a.Service != "iWARP" || a.From != "10.77.0.2:53164" || a.To != "10.77.0.3:7174" || b.From != a.To || a.Conversation != 1 || b.Conversation != 1 {
			t.Errorf("interval %d: %+v", i, o.Streams)
		}
	}
	end := objects[len(objects)-1].Streams
	if sum := end[0].Total["messages"] + end[1].Total["messages"]; sum != 18 || end[0].P99 == 0 {
		t.Errorf("%d messages: %+v", sum, end)
	}
}

func TestLivePrintsLinesAndFindings(t *testing.T) {
	text := mustRun(t, "live", "-r", pcaps(t, "py_badrkey.pcap"), "--speed", "0")
	if !strings.Contains(text, "NAK-ACCESS: the responder refused access to its memory") || !strings.Contains(text, "2 streams") {
		t.Errorf("%s", text)
	}
	if text := mustRun(t, "live", "-r", pcaps(t, "py_badrkey.pcap"), "--speed", "0", "-Y", "infiniband.bth.psn == 4097"); strings.Contains(text, "NAK-ACCESS") {
		t.Errorf("what the filter does not match is followed: %s", text)
	}
}

func TestLiveTellsOfPauses(t *testing.T) {
	file := writeFrames(
		t, wire.LinkEthernet, "0180c2000001"+"02000000000b"+"8808"+"0101"+"0008"+"000000000000"+"ffff"+"0000000000000000",
		"0180c2000001"+"02000000000a"+"8808"+"0001"+"0007",
	)
	text := mustRun(t, "live", "-r", file, "--speed", "0")
	for _, want := range []string{"packet 1, 02:00:00:00:00:0b to its peer: PFC-PAUSE: ", "packet 2, 02:00:00:00:00:0a to its peer: PAUSE-PLAIN: "} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing like %q in\n%s", want, text)
		}
	}
}

func TestLiveRefusesWhatItCannotDo(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{nil, "which interface? -i NAME"},
		{[]string{"-i", "none0", "-r", "x"}, "exclude each other"},
		{[]string{"-i", "none0"}, "interface none0: there is no such interface"},
		{[]string{"-r", "none.pcap"}, "none.pcap: no such file"},
		{[]string{"-r", "none.pcap", "--speed", "-1"}, "--speed -1"},
		{[]string{"-r", "none.pcap", "--speed", "NaN"}, "--speed NaN"},
		{[]string{"-r", "none.pcap", "--speed", "Inf"}, "--speed +Inf"},
		{[]string{"-r", "none.pcap", "--memory", "0"}, "--memory 0: want from a MiB"},
		{[]string{"-r", "none.pcap", "--memory", "99999999999999"}, "--memory 99999999999999: want from a MiB"},
		{[]string{"-r", "none.pcap", "--keep", "-1s"}, "--keep -1s"},
		{[]string{"-r", "none.pcap", "-a", "-1s"}, "--duration -1s"},
		{[]string{"-r", "none.pcap", "--bpf", "udp"}, "--bpf is for interfaces"},
		{[]string{"-r", "none.pcap", "-s", "64"}, "--snaplen is for interfaces"},
		{[]string{"-i", "none0", "-i", "none1", "-i", "none0"}, "-i none0: is given twice"},
		{[]string{"-i", "any"}, "interface any: there is no such interface: give -i for each"},
		{[]string{"-i", "none0,none1"}, "give -i for each"},
		{[]string{"-r", "none.pcap", "--interval", "1ms"}, "--interval 1ms"},
		{[]string{"-i", "none0", "--udp-port", "0"}, "--udp-port 0: want a port"},
		{[]string{"-i", "none0", "--bpf", "udp", "--all"}, "exclude each other"},
	} {
		r := run(append([]string{"live"}, test.args...)...)
		if r.code != 2 || !strings.Contains(r.err, test.want) {
			t.Errorf("%v: %+v, want %q", test.args, r, test.want)
		}
	}
}

func TestRecordRefusesWhatItCannotDo(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"-w", "x"}, "which interface? -i NAME"},
		{[]string{"-i", "none0"}, "which file? -w FILE"},
		{[]string{"-i", "none0", "-w", "x", "-c", "-1"}, "not negative"},
		{[]string{"-i", "none0", "-w", "x", "-a", "-1s"}, "not negative"},
		{[]string{"-i", "none0", "-w", "x", "-s", "-1"}, "not negative"},
		{[]string{"-i", "none0", "-w", "x", "--before", "3s"}, "--before is for --trigger"},
		{[]string{"-i", "none0", "-w", "x", "--memory", "3"}, "--memory is for --trigger"},
		{[]string{"-i", "none0", "-w", "x", "--trigger", "nak", "--memory", "99999999999999"}, "--memory 99999999999999"},
		{[]string{"-i", "none0", "-w", "x", "-b", "files:3"}, "-b files:3: at which size"},
		{[]string{"-i", "none0", "-w", "x", "-b", "filesize:0"}, "want a number above 0"},
		{[]string{"-i", "none0", "-w", "x", "-b", "filesize:NaN"}, "want a number above 0"},
		{[]string{"-i", "none0", "-w", "x", "-b", "duration:Inf"}, "want a number above 0"},
		{[]string{"-i", "none0", "-w", "x", "-b", "filesize:1e30"}, "want a number above 0"},
		{[]string{"-i", "none0", "-w", "x", "-b", "packets:0.5"}, "want a whole number"},
		{[]string{"-i", "none0", "-w", "x", "-b", "packets"}, "want a number above 0"},
		{[]string{"-i", "none0", "-w", "x", "-b", "size:3"}, "want filesize:KB"},
		{[]string{"-i", "none0", "-w", "-", "-b", "packets:3"}, "the standard output cannot be several files"},
	} {
		r := run(append([]string{"record"}, test.args...)...)
		if r.code != 2 || !strings.Contains(r.err, test.want) {
			t.Errorf("%v: %+v, want %q", test.args, r, test.want)
		}
	}
}

// TestLiveTellsWhatCameBeforeAFault plays a capture that ends in the middle of a
// packet.
func TestLiveTellsWhatCameBeforeAFault(t *testing.T) {
	whole, err := os.ReadFile(pcaps(t, "py_badrkey.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(file, whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	r := run("live", "-r", file, "--speed", "0")
	if r.code != 2 || !strings.Contains(r.err, "record 3") || !strings.Contains(r.out, "1 stream ") {
		t.Errorf("%+v", r)
	}
}
