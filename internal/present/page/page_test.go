package page

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	pausetrack "github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// write makes the page of a talk.
func write(t *testing.T, file string, talk *talk) string {
	t.Helper()
	report := &analysis.Report{File: file}
	closed := talk.tracker.Closed
	talk.tracker.Closed = func(c *conversation.Conversation) {
		report.Add(c)
		closed(c)
	}
	tracker := survey.NewTracker()
	tracker.Conversations = talk.tracker
	tracker.Finish()
	report.Finish(tracker)
	var b strings.Builder
	page := &Page{Report: report, Collector: talk.collector}
	if err := page.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

var dataScriptOf = regexp.MustCompile(`(?s)<script type="application/json" id="data">(.*?)</script>`)

func TestThePageHoldsWhatItShows(t *testing.T) {
	talk := newTalk(DefaultLimits())
	for i := range 10 {
		talk.send(i)
	}
	talk.ack(3, nakSequence)
	for i := 3; i < 10; i++ {
		talk.send(i)
	}
	talk.ack(9, 0)
	talk.collector.Pause(&pausetrack.Link{}, 3, 2000, 4000)
	talk.collector.Pause(&pausetrack.Link{}, -1, 1000, 4000)
	html := write(t, "x.pcap", talk)

	var d data
	if err := json.Unmarshal([]byte(dataScriptOf.FindStringSubmatch(html)[1]), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Conversations) != 1 || len(d.Pauses) != 2 || d.Pauses[1].From != 1000 || !strings.HasPrefix(d.Pauses[1].What, "priority 3, by 00:00") {
		t.Fatalf("%d conversations, pauses %v", len(d.Conversations), d.Pauses)
	}
	if d.Notes == nil {
		t.Error("the program of the page takes a list of notes, also an empty one")
	}
	c := d.Conversations[0]
	if c.Marks != 19 || len(decode(t, c.Series, c.Marks)[0]) != 19 || c.Grade != "warning" || len(c.Asks) != 10 {
		t.Errorf("%d packets, grade %s, %d messages", c.Marks, c.Grade, len(c.Asks))
	}
	codes := map[string]int{}
	for _, e := range c.Events {
		codes[e.Code] = e.Packet
		if d.Codes[e.Code].Title == "" {
			t.Errorf("%s is not explained", e.Code)
		}
	}
	if codes["NAK-SEQUENCE"] != 11 || codes["RESEND-NAK"] != 12 {
		t.Errorf("findings: %v", codes)
	}
	if len(d.Worst) == 0 || d.Worst[0].Conversation != 1 {
		t.Errorf("the worst findings: %v", d.Worst)
	}
	if !strings.Contains(html, "<pre>x.pcap: 0 packets, 1 conversation") {
		t.Error("there is no text for those without scripts")
	}
}

// Nothing in the page is to be loaded, and no name from outside becomes markup.
func TestThePageIsOneFileWhateverTheNamesAre(t *testing.T) {
	talk := newTalk(DefaultLimits())
	talk.send(1)
	const name = `</script><script>alert("x")</script><img src=x onerror=alert(1)>-->'"&{{.}}`
	html := write(t, name, talk)
	if n := strings.Count(html, "<script"); n != 2 {
		t.Errorf("%d script elements", n)
	}
	var d data
	if err := json.Unmarshal([]byte(dataScriptOf.FindStringSubmatch(html)[1]), &d); err != nil || d.File != name {
		t.Errorf("%v, file %q", err, d.File)
	}
	if strings.Contains(html, "<img") || !strings.Contains(html, "default-src 'none'") {
		t.Error("a name has become markup, or the policy is missing")
	}
	for _, loads := range []string{"http:", "https:", "//cdn", "@import", "url(", "import("} {
		if strings.Contains(html, loads) {
			t.Errorf("the page has %q", loads)
		}
	}
}

func TestACurveDoesNotFall(t *testing.T) {
	talk := newTalk(DefaultLimits())
	for i := range 3000 {
		talk.send(i)
		if i%7 == 0 {
			talk.ack(i, 0)
		}
	}
	c, _ := talk.only(t)
	points := curve(c.Ends[0].Asks.Operations[conversation.Send].Latency)
	if len(points) < 102 || points[len(points)-1][0] != 1000 {
		t.Fatalf("%d points, the last is %v", len(points), points[len(points)-1])
	}
	for i := 1; i < len(points); i++ {
		if points[i][0] <= points[i-1][0] || points[i][1] < points[i-1][1] {
			t.Errorf("after %v comes %v", points[i-1], points[i])
		}
	}
}
