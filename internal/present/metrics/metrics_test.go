package metrics_test

import (
	"bufio"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/metrics"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

func scrape(s metrics.Sample) (status int, text string) {
	w := httptest.NewRecorder()
	metrics.Handler(func() metrics.Sample { return s }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Code, w.Body.String()
}

func TestMetricsTellWhatWasCounted(t *testing.T) {
	s := metrics.Sample{Open: 3, Evicted: 2, Interfaces: []metrics.Interface{{Name: "eth0", Received: 100, Dropped: 7, Lost: 13}}}
	s.Totals.Services[wire.RC].Conversations, s.Totals.Services[wire.RC].Packets, s.Totals.Services[wire.RC].Bytes = 4, 1000, 64000
	s.Totals.Events[conversation.RetransmitTimeout] = 5
	s.Totals.Events[conversation.NakAccess] = 6
	s.Totals.Events[conversation.RNRNak] = 8
	s.Totals.Again, s.Verdicts[icrc.Bad] = 9, 11
	write := &s.Totals.Operations[conversation.Write]
	write.Messages, write.Bytes = 2, 2048
	write.Latency.Add(150 * time.Microsecond)
	write.Latency.Add(15 * time.Millisecond)
	s.Streams = rdmap.Totals{Connections: 5, Terminates: 4, TCP: rdmap.TCP{Segments: 300, Frames: 30_000, ResentSegments: 21, ResentBytes: 2100}}
	s.Streams.CRCs[iwarp.CRCBad] = 12
	read := &s.Streams.Operations[rdmap.Read]
	read.Messages, read.Bytes, read.Latency = 6, 6144, &latency.Histogram{}
	read.Latency.Add(150 * time.Microsecond)
	s.Findings = map[any]int{rdmap.Resent: 21}
	status, text := scrape(s)
	if status != 200 {
		t.Fatalf("status %d: %s", status, text)
	}
	for _, want := range []string{
		`rocecap_packets_total{service="RC"} 1000`,
		`rocecap_bytes_total{service="RC"} 64000`,
		`rocecap_conversations_open 3`,
		`rocecap_conversations_evicted_total 2`,
		`rocecap_retransmissions_total{cause="timeout"} 5`,
		`rocecap_retransmitted_packets_total 9`,
		`rocecap_naks_total{code="remote_access"} 6`,
		`rocecap_rnr_naks_total 8`,
		`rocecap_icrc_total{verdict="bad"} 11`,
		`rocecap_findings_total{code="RESEND-TIMEOUT"} 5`,
		`rocecap_messages_total{operation="WRITE"} 2`,
		`rocecap_message_latency_seconds_bucket{operation="WRITE",le="0.0001"} 0`,
		`rocecap_message_latency_seconds_bucket{operation="WRITE",le="0.0002"} 1`,
		`rocecap_message_latency_seconds_bucket{operation="WRITE",le="0.02"} 2`,
		`rocecap_message_latency_seconds_bucket{operation="WRITE",le="+Inf"} 2`,
		`rocecap_message_latency_seconds_count{operation="WRITE"} 2`,
		`rocecap_capture_dropped_total{interface="eth0"} 7`,
		`rocecap_interface_dropped_total{interface="eth0"} 13`,
		`rocecap_packets_total{service="iWARP"} 300`,
		`rocecap_bytes_total{service="iWARP"} 30000`,
		`rocecap_conversations_total{service="iWARP"} 5`,
		`rocecap_iwarp_messages_total{operation="READ"} 6`,
		`rocecap_iwarp_message_bytes_total{operation="READ"} 6144`,
		`rocecap_iwarp_message_latency_seconds_bucket{operation="READ",le="0.0002"} 1`,
		`rocecap_iwarp_message_latency_seconds_count{operation="WRITE"} 0`,
		`rocecap_iwarp_resent_segments_total 21`,
		`rocecap_iwarp_resent_bytes_total 2100`,
		`rocecap_iwarp_fpdus_total{crc="bad"} 12`,
		`rocecap_iwarp_terminates_total 4`,
		`rocecap_findings_total{code="` + analysis.CodeOf(rdmap.Resent).Name + `"} 21`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("%s is not told", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
}

// TestTheNumberOfSeriesIsBounded counts lines: whatever was captured, there are
// no more than a sample with nothing in it has, but for services and interfaces.
func TestTheNumberOfSeriesIsBounded(t *testing.T) {
	_, empty := scrape(metrics.Sample{})
	var full metrics.Sample
	for i := range full.Totals.Services {
		full.Totals.Services[i].Conversations = 1 << 20
	}
	for i := range full.Totals.Events {
		full.Totals.Events[i] = 1 << 20
	}
	full.Streams.Connections, full.Streams.Terminates = 1<<20, 1<<20
	full.Findings = map[any]int{rdmap.Resent: 1 << 20, connect.Rejected: 1 << 20, "of no code": 1}
	_, text := scrape(full)
	if more := series(text) - series(empty); more != 3*8 {
		t.Errorf("%d more series, want three for each of seven services and iWARP", more)
	}
	if n := strings.Count(empty, "\nrocecap_findings_total{"); n != len(analysis.Codes()) {
		t.Errorf("%d codes, want %d", n, len(analysis.Codes()))
	}
}

func series(text string) (n int) {
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), "#") {
			n++
		}
	}
	return n
}

// TestTheDashboardAsksForMetricsThatThereAre looks for the name of each metric
// of the dashboard in what is served.
func TestTheDashboardAsksForMetricsThatThereAre(t *testing.T) {
	file, err := os.ReadFile(filepath.Join(testneed.ModuleRoot(t), "docs", "grafana-dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct{ Targets []struct{ Expr string } }
	}
	if err := json.Unmarshal(file, &dashboard); err != nil {
		t.Fatal(err)
	}
	var s metrics.Sample
	s.Totals.Services[wire.RC].Conversations = 1
	s.Interfaces = []metrics.Interface{{Name: "eth0"}}
	_, text := scrape(s)
	asked := 0
	for _, p := range dashboard.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`rocecap_\w+`).FindAllString(target.Expr, -1) {
				asked++
				if !strings.Contains(text, "\n"+name+"{") && !strings.Contains(text, "\n"+name+" ") {
					t.Errorf("%s is not served", name)
				}
			}
		}
	}
	if asked < 10 {
		t.Errorf("the dashboard asks for %d metrics", asked)
	}
}
