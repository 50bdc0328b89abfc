package rocecap_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
	"github.com/rocecap/rocecap/lab"
)

// peerPatience is for what two guests do on a busy machine.
const peerPatience = 4 * time.Minute

// watched is what three listeners on the lab's bridge have of the same packets:
// tcpdump, record and live.
type watched struct {
	dump, recorded string // capture files
	said           string // by record
	live           []liveObject
}

// watchPeers lets tcpdump, record and live listen to what guests do.
func watchPeers(t *testing.T, l *lab.Lab, filter string, do func(), flags ...string) *watched {
	t.Helper()
	program := func(command, ready string, args ...string) *lab.Proc {
		p := l.Start(t, "env", slices.Concat([]string{asProgram + "=1", os.Args[0], command, "-i", "br0"}, flags, args)...)
		if _, err := p.WaitFor(regexp.MustCompile(ready), time.Minute); err != nil {
			t.Fatal(err)
		}
		return p
	}
	w := &watched{recorded: filepath.Join(t.TempDir(), "record.pcapng")}
	record := program("record", "recording to", "-w", w.recorded)
	live := program("live", `"streams":\[\]`, "--json", "--interval", "200ms")
	dump := l.Capture(t, "br0", filter)
	do()
	w.dump = dump.Stop(t)
	// What tcpdump has seen is in the rings of the others, too.
	record.Stop()
	live.Stop()
	w.said = record.Output()
	for line := range strings.Lines(live.Output()) {
		if line[0] != '{' {
			t.Logf("live says %q", line)
			continue
		}
		var o liveObject
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		w.live = append(w.live, o)
	}
	return w
}

// check compares what the three have.
func (w *watched) check(t *testing.T) {
	t.Helper()
	if !strings.Contains(w.said, " 0 dropped") {
		t.Errorf("record says %q", w.said)
	}
	dumped, recorded := byTime(t, w.dump), byTime(t, w.recorded)
	if len(dumped) != len(recorded) {
		t.Fatalf("record has %d packets, tcpdump %d", len(recorded), len(dumped))
	}
	for i := range dumped {
		if !bytes.Equal(dumped[i].Data, recorded[i].Data) || dumped[i].Time != recorded[i].Time {
			t.Fatalf("packet %d at %d:\n%x\ntcpdump has, at %d:\n%x", i+1, recorded[i].Time, recorded[i].Data, dumped[i].Time, dumped[i].Data)
		}
	}
	of := mustRun(t, "analyze", "--json", writeRecords(t, wire.LinkEthernet, dumped))
	if diff := gocmp.Diff(reported(t, of), reported(t, mustRun(t, "analyze", "--json", writeRecords(t, wire.LinkEthernet, recorded)))); diff != "" {
		t.Errorf("analyze of tcpdump's file (-) and of record's (+):\n%s", diff)
	}
	want := countedByAnalyze(t, of)
	t.Logf("%d packets: %v", len(dumped), want)
	wantCounted(t, "the whole run", countedByLive(t, w.live), want)
	if diff := gocmp.Diff(streamsOfAnalyze(t, of), streamsOfLive(w.live)); diff != "" {
		t.Errorf("streams of analyze (-) and live (+):\n%s", diff)
	}
}

// byTime reads a capture. The kernel stamps a packet once for all who listen, but
// hands packets that it takes from two guests at once to each in an order of its
// own: those of the file are therefore put in the order of their times.
func byTime(t *testing.T, name string) (records []capfile.Record) {
	t.Helper()
	defer func() {
		slices.SortFunc(records, func(a, b capfile.Record) int {
			return cmp.Or(cmp.Compare(a.Time, b.Time), bytes.Compare(a.Data, b.Data))
		})
	}()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		b, err := r.Next()
		if err != nil {
			return records // the number of packets tells whether that was the end
		}
		for _, rec := range b.Records {
			rec.Data = bytes.Clone(rec.Data)
			records = append(records, rec)
		}
		b.Release()
	}
}

// reported is a report without the name of its file.
func reported(t *testing.T, text string) map[string]any {
	t.Helper()
	var report map[string]any
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	delete(report, "file")
	return report
}

// stream is what one end of a conversation has sent.
type stream struct {
	Service, From                   string
	Packets, Bytes, Messages, Again int64
}

func sorted(list []stream) []stream {
	slices.SortFunc(list, func(a, b stream) int { return cmp.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return list
}

func streamsOfAnalyze(t *testing.T, text string) (list []stream) {
	t.Helper()
	var report struct {
		Conversations []struct {
			Service string
			Ends    []struct {
				Address        string
				QP             *uint32
				Packets, Bytes int64
				Operations     []struct{ Messages int64 }
				Requests       struct {
					Again int64 `json:"packets_sent_again"`
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Conversations {
		for _, e := range c.Ends {
			if e.QP == nil || e.Packets == 0 {
				continue
			}
			from := fmt.Sprintf("%s QP 0x%06x", e.Address, *e.QP)
			s := stream{Service: c.Service, From: from, Packets: e.Packets, Bytes: e.Bytes, Again: e.Requests.Again}
			for _, o := range e.Operations {
				s.Messages += o.Messages
			}
			list = append(list, s)
		}
	}
	return sorted(list)
}

// streamsOfLive takes each conversation as it was shown last. A stream whose queue
// pair is not known is not one that has ended, but half of a conversation by now.
func streamsOfLive(objects []liveObject) (list []stream) {
	last := make(map[int][]stream)
	for _, o := range objects {
		now := make(map[int][]stream)
		for _, s := range o.Streams {
			if strings.Contains(s.From, " QP ") {
				now[s.Conversation] = append(now[s.Conversation], stream{
					s.Service, s.From, s.Total["packets"], s.Total["bytes"], s.Total["messages"], s.Total["packets_sent_again"],
				})
			}
		}
		maps.Copy(last, now)
	}
	return sorted(slices.Concat(slices.Collect(maps.Values(last))...))
}

// between runs a server in guest 2 and, when it listens, its client in guest 1.
func between(t *testing.T, l *lab.Lab, server, listens, client string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	s := l.Peer(2).Start(t, server)
	defer s.Stop()
	l.Peer(2).MustRun(ctx, t, "until "+listens+"; do sleep 0.1; done")
	out, err := l.Peer(1).Run(ctx, client)
	// perftest says so at its end, when it cannot measure the clock.
	if err != nil && !strings.Contains(out, "Correlation coefficient") {
		t.Errorf("%s: %v\n%s\nand the server:\n%s", client, err, out, s.Output())
	}
}

// rping is the command of one end, which is tried until it succeeds.
func rping(end, server string) string {
	return fmt.Sprintf("for i in $(seq 20); do timeout 8 rping %s -a %s -C 5 && exit 0; sleep 0.5; done; exit 1", end, server)
}

const rpingListens = "rdma resource show cm_id | grep -q 'state LISTEN.*:7174 '"

// TestLabLiveAndRecordSeeWhatAnalyzeSees lets two guests speak over RoCE: rping,
// which connects by CM, one that is refused, perftest, and a ping-pong of which
// packets are lost.
func TestLabLiveAndRecordSeeWhatAnalyzeSees(t *testing.T) {
	l := lab.Up(t, 2)
	server := l.Peer(2).IP4.String()
	w := watchPeers(t, l, "udp port 4791", func() {
		between(t, l, rping("-s", server), rpingListens, rping("-c", server))
		if out, err := l.Peer(1).Run(t.Context(), "rping -c -C 1 -p 7999 -a "+server); err == nil {
			t.Errorf("nobody listens, and yet the client connects:\n%s", out)
		}
		for _, verb := range []string{"write", "send"} {
			perftest := "ib_" + verb + "_bw -d rxe0 -x 1 -m 1024 -s 8192 -n 30 "
			between(t, l, perftest, "ss -Hltn | grep -q ':18515 '", perftest+server)
		}
		// TCP, by which the two find each other, is spared.
		l.Peer(1).MustRun(t.Context(), t, "tc qdisc add dev eth0 root handle 1: prio && "+
			"tc qdisc add dev eth0 parent 1:3 handle 30: netem loss 4% delay 2ms && "+
			"tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 4791 0xffff flowid 1:3")
		defer l.Peer(1).MustRun(context.Background(), t, "tc qdisc del dev eth0 root")
		const pings = "ibv_rc_pingpong -d rxe0 -g 1 -m 1024 -s 8192 -n 60 "
		between(t, l, pings, "ss -Hltn | grep -q ':18515 '", pings+server)
	})
	w.check(t)
	if n := countedByLive(t, w.live); n["packets_sent_again"] == 0 || n["messages"] < 200 || n["CM-REJECTED"] == 0 {
		t.Errorf("%v: nothing was lost, or something did not happen", n)
	}
}

// TestLabLiveAndRecordSeeIWARP does so with rping over iWARP.
func TestLabLiveAndRecordSeeIWARP(t *testing.T) {
	l := lab.Up(t, 2)
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	for i := 1; i <= 2; i++ {
		l.Peer(i).WithoutRxe(ctx, t)
	}
	server := l.Peer(2).IP4.String()
	w := watchPeers(t, l, "tcp port 7174", func() {
		between(t, l, rping("-s", server), rpingListens, rping("-c", server))
	}, "--iwarp-port", "7174")
	w.check(t)
}
