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

	// Source is what the capture tells of its own making.
	Source Source

	// Span is the time that the capture covers.
	Span survey.Span

	// Singles are the findings that are told one by one, nil for none.
	Singles *Singles

	// Messages are those that are told one by one, nil for none.
	Messages *Messages

	pauses        *pause.Tracker
	conversations []*conversation.Conversation
	unlisted      int
	rest          map[any]*rest // what those had, by kind
	streams       streams
	pairs         pairs
	connections   connections
	mismatches    []survey.Mismatch
}

// pass counts what is not listed.
func (r *Report) pass(kind any, found *tally.Tally) {
	if r.rest == nil {
		r.rest = make(map[any]*rest)
	}
	more := r.rest[kind]
	if more == nil {
		more = &rest{}
		r.rest[kind] = more
	}
	more.Join(found)
	more.where++
}

// rest is what conversations that are not listed had of a kind of event.
type rest struct {
	tally.Tally
	where int
}

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
	r.pairs.add(c)
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
			r.pass(t.Kind, &t.Tally)
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
	all := slices.Concat(r.conversationFindings(), r.connectionFindings(), r.pauseFindings(), r.streamFindings(), r.versionFindings())
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(rankOf(a.Code.Kind), rankOf(b.Code.Kind)), cmp.Compare(b.Tally.Count, a.Tally.Count))
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

// sums adds up the findings of each code of some grades, the worst first.
func (r *Report) sums(grades ...Grade) (list []sum) {
	for _, f := range r.Findings() {
		if !slices.Contains(grades, f.Code.Grade) {
			continue
		}
		if len(list) == 0 || list[len(list)-1].worst.Code.Kind != f.Code.Kind {
			list = append(list, sum{worst: f})
		}
		last := &list[len(list)-1]
		last.count += f.Tally.Count
		last.where++
	}
	list = r.addRest(list, grades)
	slices.SortStableFunc(list, func(a, b sum) int { return cmp.Compare(b.worst.Code.Grade, a.worst.Code.Grade) })
	return list
}

// addRest counts what those have that are not listed.
func (r *Report) addRest(list []sum, grades []Grade) []sum {
	for i, code := range Codes() {
		more := r.rest[code.Kind]
		if more == nil || !slices.Contains(grades, code.Grade) {
			continue
		}
		at := slices.IndexFunc(list, func(s sum) bool { return rankOf(s.worst.Code.Kind) >= i })
		if at < 0 {
			at = len(list)
		}
		if at == len(list) || list[at].worst.Code.Kind != code.Kind {
			list = slices.Insert(list, at, sum{worst: Finding{Code: code, Tally: more.Tally, Where: "not listed"}})
		}
		list[at].count += more.Count
		list[at].where += more.where
	}
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
		{"req_transport_retries_exceeded", count(conversation.RetriesSpent)},
		{"req_rnr_retries_exceeded", count(conversation.RNRSpent)},
		{"req_remote_access_errors", count(conversation.NakAccess)},
		{"req_remote_invalid_request", count(conversation.NakInvalid)},
		{"np_ecn_marked_roce_packets", c.Ends[end].CE},
		{"np_cnp_sent", c.Ends[1-end].CNPs},
		{"rp_cnp_handled", c.Ends[1-end].CNPs},
	}
}
