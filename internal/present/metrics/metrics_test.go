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
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

func scrape(s metrics.Sample) (status int, text string) {
	w := httptest.NewRecorder()
	metrics.Handler(func() metrics.Sample { return s }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Code, w.Body.String()
}

func TestMetricsTellWhatWasCounted(t *testing.T) {
	s := metrics.Sample{Open: 3, Evicted: 2, Interfaces: []metrics.Interface{{Name: "eth0", Received: 100, Dropped: 7}}}
	s.Totals.Services[wire.RC].Conversations, s.Totals.Services[wire.RC].Packets, s.Totals.Services[wire.RC].Bytes = 4, 1000, 64000
	s.Totals.Events[conversation.RetransmitTimeout] = 5
	s.Totals.Events[conversation.NakAccess] = 6
	s.Totals.Events[conversation.RNRNak] = 8
	s.Totals.Again, s.Verdicts[icrc.Bad] = 9, 11
	write := &s.Totals.Operations[conversation.Write]
	write.Messages, write.Bytes = 2, 2048
	write.Latency.Add(150 * time.Microsecond)
	write.Latency.Add(15 * time.Millisecond)
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
	_, text := scrape(full)
	if more := series(text) - series(empty); more != 3*7 {
		t.Errorf("%d more series, want three for each of seven services", more)
	}
	kinds := 0
	for _, c := range analysis.Codes() {
		if _, ok := c.Kind.(conversation.Kind); ok {
			kinds++
		}
	}
	if n := strings.Count(empty, "\nrocecap_findings_total{"); n != kinds {
		t.Errorf("%d codes, want %d", n, kinds)
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
