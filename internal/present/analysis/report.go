package analysis

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Report is what is known of one capture.
type Report struct {
	File    string
	Packets int // that were looked at
	TCP     int // of which TCP segments, whose iWARP is not followed
	Pause   int // PAUSE and PFC frames
	Other   int // without RDMA headers
	Seen    int // conversations
	Evicted int // of which had to be given up before their end

	// QPs and Hosts choose conversations; all when empty.
	QPs   []uint32
	Hosts []netip.Addr

	conversations []*conversation.Conversation
	unlisted      int
	rest          [conversation.Kinds]rest // what those had
}

// rest is what conversations that are not listed had of a kind of event.
type rest struct{ count, where int }

// So many conversations are remembered for their own parts; of what the others
// had only the number is. Those with findings have more room.
const (
	maxListed   = 1 << 12
	maxFindings = 1 << 13
)

// Add takes a conversation that is over.
func (r *Report) Add(c *conversation.Conversation) {
	if !r.chosen(c) {
		return
	}
	room := maxListed
	if len(c.Ends[0].Asks.Tallies)+len(c.Ends[1].Asks.Tallies) > 0 {
		room = maxFindings
	}
	if len(r.conversations) < room {
		r.conversations = append(r.conversations, c)
		return
	}
	r.unlisted++
	for i := range c.Ends {
		for _, t := range c.Ends[i].Asks.Tallies {
			r.rest[t.Kind].count += t.Count
			r.rest[t.Kind].where++
		}
	}
}

func (r *Report) chosen(c *conversation.Conversation) bool {
	qp := len(r.QPs) == 0 || slices.ContainsFunc(c.Ends[:], func(e conversation.End) bool {
		return e.Known && slices.Contains(r.QPs, e.QPN)
	})
	host := len(r.Hosts) == 0 || slices.ContainsFunc(c.Ends[:], func(e conversation.End) bool {
		return slices.Contains(r.Hosts, e.Addr)
	})
	return qp && host
}

// list returns the conversations in the order of their first packets.
func (r *Report) list() []*conversation.Conversation {
	slices.SortStableFunc(r.conversations, func(a, b *conversation.Conversation) int { return cmp.Compare(a.First, b.First) })
	return r.conversations
}

// Finding is one kind of thing that happened to the requests of one end.
type Finding struct {
	Code         Code
	Tally        conversation.Tally
	Conversation int // its place in the list, from 1
	End          int // whose requests

	of *conversation.Conversation
}

// Findings lists what was found, in the order of the codes, and of each code the
// most frequent first.
func (r *Report) Findings() []Finding {
	var all []Finding
	for _, code := range Codes() {
		begin := len(all)
		for i, c := range r.list() {
			for end := range c.Ends {
				if t := c.Ends[end].Asks.Tallies.Of(code.Kind); t.Count > 0 {
					all = append(all, Finding{code, t, i + 1, end, c})
				}
			}
		}
		slices.SortStableFunc(all[begin:], func(a, b Finding) int { return cmp.Compare(b.Tally.Count, a.Tally.Count) })
	}
	return all
}

// sum is what was found under one code, in whichever conversation.
type sum struct {
	worst Finding // the most frequent
	count int
	where int // directions of conversations
}

// sums adds up the findings of each code that are more than notes, the worst
// first.
func (r *Report) sums() (list []sum) {
	for _, f := range r.Findings() {
		if f.Code.Grade == Note {
			continue
		}
		if len(list) == 0 || list[len(list)-1].worst.Code.Kind != f.Code.Kind {
			list = append(list, sum{worst: f})
		}
		last := &list[len(list)-1]
		last.count += f.Tally.Count
		last.where++
	}
	for i := range list {
		more := r.rest[list[i].worst.Code.Kind]
		list[i].count += more.count
		list[i].where += more.where
	}
	slices.SortStableFunc(list, func(a, b sum) int { return cmp.Compare(b.worst.Code.Grade, a.worst.Code.Grade) })
	return list
}

// Counter is a number under the name that NICs and testers give it.
type Counter struct {
	Name  string
	Value int
}

// Counters are those of the requests of one end: what a NIC at that end, or at
// the other, would have counted.
func Counters(c *conversation.Conversation, end int) []Counter {
	d := &c.Ends[end].Asks
	count := func(k conversation.Kind) int { return d.Tallies.Of(k).Count }
	return []Counter{
		{"out_of_sequence", d.OutOfSequence},
		{"packet_seq_err", count(conversation.NakSequence)},
		{"implied_nak_seq_err", count(conversation.RetransmitImplied)},
		{"rnr_nak_retry_err", count(conversation.RNRNak)},
		{"local_ack_timeout_err", count(conversation.RetransmitTimeout)},
		{"duplicate_request", d.DuplicateReqs},
		{"np_cnp_sent", c.Ends[1-end].CNPs},
	}
}
