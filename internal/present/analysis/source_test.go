package analysis

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/survey"
)

func TestTheSummaryTellsWhatTheCaptureLacks(t *testing.T) {
	r := &Report{QPs: []uint32{1}}
	r.Counts = survey.Counts{Seen: 9, Cut: 4, CutTo: 64}
	r.Span = survey.Span{First: 0, Last: 10, Back: 2, Most: 5 * time.Second, MostAt: 7}
	r.Source = Source{Fault: "record 10 at byte 99: odd", Drops: []Drops{{"eth0", 12}, {"eth1", 0}, {"", 1}}}
	want := []string{
		"damaged, and followed up to there: record 10 at byte 99: odd",
		"dropped by the capture, by its own count: 12 packets of eth0, 1 packet",
		"cut, to 64 B at most: 4 packets; nothing is judged that was cut off",
		"the clock goes back 2 times, by 5.00 s at most, in packet 7: times across that are wrong",
	}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	r = &Report{QPs: []uint32{1}, Counts: survey.Counts{Seen: 9}, Span: survey.Span{First: 5, Last: 50_000, Back: 3, Most: 20 * time.Microsecond, MostAt: 4}}
	if got := r.Notes(); len(got) != 1 || got[0] != "not in the order of their times: 3 packets, by 20.0 us at most, in packet 4; reordercap sorts them" {
		t.Errorf("of several queues: %q", got)
	}
	r = &Report{QPs: []uint32{1}, Counts: survey.Counts{Seen: 9}, Span: survey.Span{First: 5, Last: 5}}
	if got := r.Notes(); len(got) != 1 || got[0] != "all packets have the same time: nothing can be judged by it" {
		t.Errorf("without times: %q", got)
	}
	if got := (&Report{}).Notes(); len(got) > 0 {
		t.Errorf("of a whole capture: %q", got)
	}
}

func TestACaptureWithoutRDMASaysHowThatCanBe(t *testing.T) {
	r := &Report{}
	r.Counts.Seen, r.Counts.Other = 9, 9
	r.Span.Last = 5
	want := []string{"not followed: 9 other packets", "no RDMA was found; -d takes another UDP port than 4791 as RoCEv2's"}
	if got := r.Notes(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if r.Add(&conversation.Conversation{}); len(r.Notes()) != 1 {
		t.Errorf("with a conversation: %q", r.Notes())
	}
	if r = (&Report{Counts: r.Counts, Span: r.Span, QPs: []uint32{1}}); len(r.Notes()) != 1 {
		t.Errorf("when nothing is chosen: %q", r.Notes())
	}
}

func TestACaptureThatDroppedNothingSaysSoWhereThatMatters(t *testing.T) {
	r := &Report{Source: Source{Drops: []Drops{{"eth0", 0}}}}
	if got := r.Notes(); len(got) > 0 {
		t.Errorf("without a gap: %q", got)
	}
	c := &conversation.Conversation{}
	c.Ends[1].Asks.Tallies.Add(conversation.Unresolved, 3, 1)
	r.Add(c)
	if got := r.Notes(); len(got) != 1 || got[0] != "dropped by the capture, by its own count: nothing" {
		t.Errorf("with a gap: %q", got)
	}
}

func TestJSONTellsOfTheCaptureItself(t *testing.T) {
	r := &Report{Source: Source{Fault: "record 10 at byte 99: odd", Drops: []Drops{{"eth0", 12}}}}
	r.Counts.Cut, r.Counts.CutTo = 4, 64
	r.Span = survey.Span{First: 1, Last: 1_000_000_001, Back: 1, Most: time.Second, MostAt: 7}
	var b strings.Builder
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Capture map[string]any `json:"capture"`
	}
	if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"seconds": 1.0, "fault": "record 10 at byte 99: odd", "cut_packets": 4.0, "cut_to_bytes": 64.0,
		"clock_steps_back": 1.0, "clock_longest_step_back_ns": 1e9, "clock_longest_step_back_packet": 7.0,
	} {
		if got.Capture[key] != want {
			t.Errorf("%s is %v, want %v", key, got.Capture[key], want)
		}
	}
	if drops, ok := got.Capture["drops"].([]any); !ok || len(drops) != 1 {
		t.Errorf("drops are %v", got.Capture["drops"])
	}
}

func TestTheWorstConversationsAreListed(t *testing.T) {
	r := &Report{}
	for first := 1; first <= 9; first++ {
		c := &conversation.Conversation{First: first, Last: first}
		switch first {
		case 4:
			c.Ends[0].Asks.Tallies.Add(conversation.NakAccess, first, 1)
		case 2, 7:
			c.Ends[0].Asks.Tallies.Add(conversation.Lost, first, 1)
		case 6:
			c.Ends[0].Asks.Tallies.Add(conversation.Lost, first, 1)
			c.Ends[1].Asks.Tallies.Add(conversation.RetransmitNak, first, 1)
		}
		r.Add(c)
	}
	text := Text{Style: NewStyle(false), Conversations: 3}
	var b strings.Builder
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	var listed []string
	for line := range strings.Lines(b.String()) {
		if number, _, ok := strings.Cut(line, "  "); ok && number != "" {
			listed = append(listed, number)
		}
	}
	if want := []string{"2", "4", "6"}; !slices.Equal(listed, want) {
		t.Errorf("listed are %q, want %q:\n%s", listed, want, b.String())
	}
	if !strings.Contains(b.String(), "not listed: 6 conversations") {
		t.Errorf("the others are not counted:\n%s", b.String())
	}
}

func TestWhatOnlyUnlistedConversationsHaveIsInTheSummary(t *testing.T) {
	r := &Report{}
	usual := &conversation.Conversation{}
	usual.Ends[0].Asks.Tallies.Add(conversation.CongestionCE, 5, 1)
	for range maxFindings {
		r.Add(usual)
	}
	late := &conversation.Conversation{}
	late.Ends[0].Asks.Tallies.Add(conversation.NakAccess, 77, 1)
	r.Add(late)
	text := Text{Style: NewStyle(false)}
	var b strings.Builder
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "NAK-ACCESS       once: the responder refused access to its memory (packet 77)") {
		t.Errorf("got:\n%s", b.String())
	}
	if want := "also             CE-MARK 8192 times"; !strings.Contains(b.String(), want) {
		t.Errorf("%q is missing:\n%s", want, b.String())
	}
}

func TestTheSummaryNamesTheCommandThatShowsTheWorstFinding(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"a.pcap", "look closer      rocecap flow --around 7 a.pcap\n"},
		{"it's a.pcap", `look closer      rocecap flow --around 7 'it'\''s a.pcap'` + "\n"},
		{"-", ""},
	} {
		r := &Report{File: test.file}
		c := &conversation.Conversation{}
		c.Ends[0].Asks.Tallies.Add(conversation.Lost, 7, 1)
		r.Add(c)
		text := Text{Style: NewStyle(false)}
		var b strings.Builder
		if err := text.Write(&b, r); err != nil {
			t.Fatal(err)
		}
		if got := b.String(); test.want == "" && strings.Contains(got, "look closer") || !strings.Contains(got, test.want) {
			t.Errorf("%q is missing:\n%s", test.want, got)
		}
	}
}

func TestSharesHaveNoExponent(t *testing.T) {
	for _, c := range []struct {
		part, whole int64
		want        string
	}{{1, 1, "100%"}, {3, 2, "150%"}, {995, 1000, "100%"}, {99, 100, "99%"}, {1, 3, "33%"}, {0, 3, "0%"}, {1, 1000000, "less than 0.01%"}, {1, 1000, "0.1%"}} {
		if got := percent(c.part, c.whole); got != c.want {
			t.Errorf("%d of %d is %s, want %s", c.part, c.whole, got, c.want)
		}
	}
}
