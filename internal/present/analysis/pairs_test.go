package analysis

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// between is a conversation of two hosts with messages of 1000 bytes.
func between(service wire.Service, a, b string, messages int) *conversation.Conversation {
	c := &conversation.Conversation{Service: service, First: 1}
	c.Ends[0].Addr, c.Ends[1].Addr = netip.MustParseAddr(a), netip.MustParseAddr(b)
	c.Ends[0].Packets = max(1, 2*messages)
	asks := &c.Ends[0].Asks
	asks.Requests = 2 * messages
	asks.Operations[conversation.Send] = conversation.Operation{Messages: messages, Bytes: int64(1000 * messages)}
	return c
}

func TestTheSummarySaysWhoTalksToWhom(t *testing.T) {
	r := &Report{}
	slow := between(wire.RC, "192.0.2.2", "192.0.2.1", 30)
	slow.Ends[0].Asks.Again = 15
	slow.Ends[0].Asks.Tallies.Add(conversation.Lost, 7, 1)
	failed := between(wire.RC, "192.0.2.1", "192.0.2.2", 20)
	failed.Ends[1].Asks.Tallies.Add(conversation.NakAccess, 9, 1)
	for _, c := range []*conversation.Conversation{
		between(wire.RC, "192.0.2.1", "192.0.2.2", 50), slow, failed, between(wire.UD, "192.0.2.1", "192.0.2.2", 1),
		between(wire.UC, "192.0.2.1", "192.0.2.3", 1234), between(wire.RD, "192.0.2.1", "192.0.2.4", 0),
		between(wire.RC, "192.0.2.5", "192.0.2.6", 2), between(wire.RC, "192.0.2.7", "192.0.2.8", 3),
	} {
		r.Add(c)
	}
	text := Text{Style: NewStyle(false)}
	var b strings.Builder
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	want := `who talks to whom:
  UC     192.0.2.1 and 192.0.2.3: 1234 messages, 1.23 MB
  RC     192.0.2.1 and 192.0.2.2 in 3 conversations: 100 messages, 100 kB; 7.5% of the request packets sent again, errors in 1, warnings in 1
  RC     192.0.2.7 and 192.0.2.8: 3 messages, 3 kB
  RC     192.0.2.5 and 192.0.2.6: 2 messages, 2 kB
  UD     192.0.2.1 and 192.0.2.2: 1 message, 1 kB
  and 1 other pair
`
	if got := b.String(); !strings.Contains(got, want) {
		t.Errorf("got:\n%s\nwant in it:\n%s", got, want)
	}
	var out struct {
		Pairs []jsonPair `json:"pairs"`
	}
	b.Reset()
	if err := r.WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(b.String()), &out); err != nil {
		t.Fatal(err)
	}
	if len(out.Pairs) != 6 || out.Pairs[1].Failed != 1 || out.Pairs[1].Requests != 200 || out.Pairs[5].Packets != 1 {
		t.Errorf("got %+v", out.Pairs)
	}
}

func TestPairsAreBounded(t *testing.T) {
	r := &Report{}
	a := netip.MustParseAddr("192.0.2.1")
	for i := range maxPairs + 7 {
		c := &conversation.Conversation{}
		c.Ends[0].Addr, c.Ends[1].Addr = a, netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
		r.Add(c)
	}
	if len(r.pairs.of) != maxPairs || r.pairs.more != 7 {
		t.Errorf("%d pairs, and %d conversations more", len(r.pairs.of), r.pairs.more)
	}
}

func TestSizesHaveThreeDigits(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1 kB", 491520: "492 kB", 999499: "999 kB", 999500: "1 MB", 12_345_678_901: "12.3 GB"} {
		if got := size(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
