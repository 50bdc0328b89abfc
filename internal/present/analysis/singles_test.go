package analysis

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// listed is a report of one conversation whose findings are told one by one.
func listed(t *testing.T) (*Report, *survey.Tracker, *conversation.Conversation) {
	t.Helper()
	r := &Report{}
	track := survey.NewTracker()
	r.ListFindings(track)
	c := &conversation.Conversation{}
	c.Ends[0].Addr, c.Ends[1].Addr = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	return r, track, c
}

func TestEachFindingIsListedInTheOrderOfThePackets(t *testing.T) {
	r, track, c := listed(t)
	report := track.Conversations.Report
	report(c, 0, conversation.Event{Kind: conversation.Lost, Packet: 9, PSN: 100, N: 3, Cause: 12})
	report(c, 1, conversation.Event{Kind: conversation.RetransmitTimeout, Packet: 7, PSN: 5, N: 1, Waited: 70 * time.Millisecond})
	track.Connections.Report(&connect.Connection{}, connect.Event{Kind: connect.Repeated, Packet: 8, Cause: 2})
	r.Add(c)
	text := Text{Style: NewStyle(false)}
	var b strings.Builder
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	want := `
findings one by one
          7  RESEND-TIMEOUT   1 <-: PSN 5, after 70.0 ms
          8  CM-REPEATED      invalid IP and invalid IP: a connection management message was sent again (of packet 2)
          9  PSN-LOST         1 ->: PSN 100 and 2 behind it, because of packet 12
`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got:\n%s\nwant in it:\n%s", b.String(), want)
	}
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Events []jsonSingle `json:"events"`
	}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Events) != 3 {
		t.Fatalf("%+v", out.Events)
	}
	last := out.Events[2]
	if last.PSN == nil || *last.PSN != 100 || last.Packets != 3 || last.Cause != 12 || last.Code != "PSN-LOST" || last.Conversation != 1 || last.Where != "192.0.2.1 to 192.0.2.2" {
		t.Errorf("got %+v", last)
	}
	if first := out.Events[0]; first.End != 1 || first.Waited != 70_000_000 {
		t.Errorf("got %+v", first)
	}
}

func TestFindingsOfAStreamGoOverToTheConversationThatItIsPartOf(t *testing.T) {
	r, track, kept := listed(t)
	gone := &conversation.Conversation{}
	track.Conversations.Report(gone, 0, conversation.Event{Kind: conversation.Lost, Packet: 3})
	track.Conversations.Report(gone, 1, conversation.Event{Kind: conversation.RNRNak, Packet: 4})
	track.Conversations.United(kept, 1, gone)
	r.Add(kept)
	list := r.singles()
	if len(list) != 2 || list[0].end != 1 || list[1].end != 0 || list[0].conversation != 1 {
		t.Errorf("got %+v", list)
	}
}

func TestMarksLeaveRoomForOtherFindings(t *testing.T) {
	r, track, c := listed(t)
	for i := range maxSingles {
		track.Conversations.Report(c, 0, conversation.Event{Kind: conversation.CongestionCE, Packet: i + 1})
	}
	for i := range maxSingles {
		track.Conversations.Report(c, 0, conversation.Event{Kind: conversation.Lost, Packet: i + 1})
	}
	if r.Singles.count != maxSingles || r.Singles.Dropped != maxSingles {
		t.Errorf("%d listed, %d not", r.Singles.count, r.Singles.Dropped)
	}
}

func TestFindingsOfOtherConnectionsAreNotListed(t *testing.T) {
	r, track, c := listed(t)
	r.QPs = []uint32{17}
	track.Connections.Report(&connect.Connection{}, connect.Event{Kind: connect.Repeated, Packet: 8})
	track.Conversations.Report(c, 0, conversation.Event{Kind: conversation.Lost, Packet: 3})
	r.Add(c)
	if list := r.singles(); len(list) > 0 {
		t.Errorf("got %+v", list)
	}
}
