package analysis

import (
	"cmp"
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/track/tally"
)

// Report is what is known of one capture.
type Report struct {
	File    string
	Counts  survey.Counts
	Seen    int // conversations
	Evicted int // of which had to be given up before their end
	// Unplaced are the answers that were not followed, and Requests the CM requests
	// that had to be given up, for want of room.
	Unplaced, Requests int

	// QPs and Hosts choose conversations; all when empty.
	QPs   []uint32
	Hosts []netip.Addr

	// Span is the time that the capture covers.
	Span survey.Span

	// Messages are those that are told one by one, nil for none.
	Messages *Messages

	pauses        *pause.Tracker
	conversations []*conversation.Conversation
	unlisted      int
	rest          map[any]rest // what those had, by kind
	streams       streams
	connections   connections
	mismatches    []survey.Mismatch
}

// pass counts what is not listed.
func (r *Report) pass(kind any, count int) {
	if r.rest == nil {
		r.rest = make(map[any]rest)
	}
	more := r.rest[kind]
	r.rest[kind] = rest{more.count + count, more.where + 1}
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
	if !r.Chosen(c) {
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
			r.pass(t.Kind, t.Count)
		}
	}
}

// Finish takes what the trackers know when the capture has ended.
func (r *Report) Finish(t *survey.Tracker) {
	r.Counts, r.Span, r.pauses = t.Counts, t.Span, t.Pauses
	r.Seen, r.Evicted = t.Conversations.Seen(), t.Conversations.Evicted()
	r.Unplaced, r.Requests = t.Conversations.Unplaced(), t.Conversations.RequestsEvicted()
	r.mismatches = t.Mismatches()
	r.streams.finish(t.Streams)
	r.connections.finish(t.Connections)
}

// Chosen reports whether a conversation is one of those that the report is about.
func (r *Report) Chosen(c *conversation.Conversation) bool {
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

// Finding is one kind of thing that happened to somebody: to the requests of one
// end of a conversation, for example.
type Finding struct {
	Code         Code
	Tally        tally.Tally
	Where        string // to whom
	Conversation int    // its place in the list, from 1; 0 when it is about none
	End          int    // whose requests
	Stream       int    // the place of an iWARP connection in their list, from 1; 0 when it is about none
}

// Findings lists what was found, in the order of the codes, and of each code the
// most frequent first.
func (r *Report) Findings() []Finding {
	rank := make(map[any]int)
	for i, code := range Codes() {
		rank[code.Kind] = i
	}
	all := slices.Concat(r.conversationFindings(), r.connectionFindings(), r.pauseFindings(), r.streamFindings(), r.versionFindings())
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rank[a.Code.Kind], rank[b.Code.Kind]), cmp.Compare(b.Tally.Count, a.Tally.Count))
	})
	return all
}

func (r *Report) conversationFindings() (all []Finding) {
	for i, c := range r.list() {
		for end := range c.Ends {
			for _, t := range c.Ends[end].Asks.Tallies {
				all = append(all, Finding{Code: CodeOf(t.Kind), Tally: t.Tally, Where: Route(c, end), Conversation: i + 1, End: end})
			}
		}
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
		{"np_ecn_marked_roce_packets", c.Ends[end].CE},
		{"np_cnp_sent", c.Ends[1-end].CNPs},
		{"rp_cnp_handled", c.Ends[1-end].CNPs},
	}
}
