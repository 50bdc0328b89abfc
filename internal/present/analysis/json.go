package analysis

import (
	"encoding/json"
	"io"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// jsonVersion counts changes after which a program that reads the output has to
// be changed. Additions do not count.
const jsonVersion = 1

type jsonReport struct {
	Version       int                `json:"version"`
	File          string             `json:"file"`
	Packets       int                `json:"packets"`
	TCP           int                `json:"tcp_packets"`
	Pause         int                `json:"pause_frames"`
	Other         int                `json:"other_packets"`
	Copies        int                `json:"copies"`
	Seen          int                `json:"conversations_seen"`
	Evicted       int                `json:"conversations_evicted"`
	Unlisted      int                `json:"conversations_unlisted"`
	Unplaced      int                `json:"answers_not_followed,omitempty"`
	Requests      int                `json:"cm_requests_evicted,omitempty"`
	Source        jsonSource         `json:"capture"`
	Pairs         []jsonPair         `json:"pairs"`
	Conversations []jsonConversation `json:"conversations"`
	Findings      []jsonFinding      `json:"findings"`
	Rest          map[string]int     `json:"findings_of_unlisted"`
	FlowControl   *jsonFlowControl   `json:"flow_control,omitempty"`
	Events        []jsonSingle       `json:"events,omitzero"`
	Untold        int                `json:"events_dropped,omitempty"`
	Messages      []jsonMessage      `json:"messages,omitzero"`
	Dropped       int                `json:"messages_dropped,omitempty"`
	jsonStreams
	jsonConnections
}

type jsonConversation struct {
	Number      int       `json:"number"`
	Service     string    `json:"service"`
	Joined      string    `json:"joined"`
	Agreements  int       `json:"agreements"`
	FirstPacket int       `json:"first_packet"`
	LastPacket  int       `json:"last_packet"`
	Seconds     float64   `json:"seconds"`
	Evicted     bool      `json:"evicted"`
	Ends        []jsonEnd `json:"ends"`
}

type jsonEnd struct {
	Address    string          `json:"address"`
	QP         *uint32         `json:"qp"`
	Packets    int             `json:"packets"`
	Bytes      int64           `json:"bytes"`
	CE         int             `json:"ce_marked"`
	CNPs       int             `json:"cnps"`
	Corrupt    int             `json:"wrong_icrc"`
	Mistake    string          `json:"icrc_mistake,omitempty"`
	Unmatched  int             `json:"unmatched_answers"`
	Requests   jsonRequests    `json:"requests"`
	Operations []jsonOperation `json:"operations"`
	Counters   map[string]int  `json:"counters"`
	OTG        map[string]int  `json:"otg"`
	Asked      jsonAsked       `json:"asked"`
	Throughput jsonThroughput  `json:"throughput"`
	Reactions  jsonReactions   `json:"reactions"`
	Congestion jsonCongestion  `json:"congestion"`
}

type jsonRequests struct {
	Packets         int        `json:"packets"`
	PayloadBytes    int64      `json:"payload_bytes"`
	SentAgain       int        `json:"packets_sent_again"`
	WastedBytes     int64      `json:"wasted_bytes"`
	Acknowledged    int        `json:"answers"`
	MostOutstanding int        `json:"most_outstanding_messages"`
	Unfinished      int        `json:"unfinished_messages"`
	ShortestTimeout int64      `json:"shortest_timeout_ns"`
	Dead            bool       `json:"failed"`
	Stalls          jsonStalls `json:"stalls"`

	DuplicateAcks int          `json:"duplicate_acks"`
	Asking        jsonAsking   `json:"ack_requests"`
	Credits       *jsonCredits `json:"credits,omitempty"`
}

type jsonOperation struct {
	Operation string       `json:"operation"`
	Messages  int          `json:"messages"`
	Partial   int          `json:"partial"`
	Bytes     int64        `json:"bytes"`
	Latency   *jsonLatency `json:"latency_ns,omitempty"`
}

type jsonLatency struct {
	Count uint64 `json:"count"`
	Min   int64  `json:"min"`
	P50   int64  `json:"p50"`
	P90   int64  `json:"p90"`
	P99   int64  `json:"p99"`
	P999  int64  `json:"p99.9"`
	Max   int64  `json:"max"`
	Mean  int64  `json:"mean"`
}

type jsonFinding struct {
	Code         string `json:"code"`
	Grade        string `json:"grade"`
	Title        string `json:"title"`
	Conversation int    `json:"conversation"`
	End          int    `json:"end"`
	Where        string `json:"where"`
	Count        int    `json:"count"`
	Packets      int    `json:"packets"`
	First        []int  `json:"first_packets"`
	Stream       int    `json:"stream,omitempty"`
}

// WriteJSON writes the report as one object.
func (r *Report) WriteJSON(w io.Writer) error {
	out := jsonReport{
		Version: jsonVersion, File: r.File, Packets: r.Counts.Seen, TCP: r.Counts.TCP, Pause: r.Counts.Pause, Other: r.Counts.Other, Copies: r.Counts.Copies,
		Seen: r.Seen, Evicted: r.Evicted, Unlisted: r.unlisted, Unplaced: r.Unplaced, Requests: r.Requests, Source: r.jsonSource(), Pairs: r.pairs.json(),
		Conversations: []jsonConversation{}, Findings: []jsonFinding{}, Rest: map[string]int{}, FlowControl: r.jsonFlowControl(), jsonStreams: r.streams.json(), jsonConnections: r.jsonConnections(),
	}
	if out.Events = r.jsonSingles(); r.Singles != nil {
		out.Untold = r.Singles.Dropped
	}
	if out.Messages = r.jsonMessages(); r.Messages != nil {
		out.Dropped = r.Messages.Dropped
	}
	for i, c := range r.list() {
		out.Conversations = append(out.Conversations, jsonOf(i+1, c))
	}
	for _, f := range r.Findings() {
		out.Findings = append(out.Findings, jsonFinding{
			f.Code.Name, f.Code.Grade.String(), f.Code.Title, f.Conversation, f.End, f.Where, f.Tally.Count, f.Tally.Packets, f.Tally.First(), f.Stream,
		})
	}
	for _, code := range Codes() {
		if more := r.rest[code.Kind]; more != nil {
			out.Rest[code.Name] = more.Count
		}
	}
	return json.NewEncoder(w).Encode(&out)
}

func joinedName(j conversation.Joined) string {
	return [...]string{conversation.NotJoined: "no", conversation.ByAgreement: "agreement", conversation.ByCM: "cm"}[j]
}

func jsonOf(number int, c *conversation.Conversation) jsonConversation {
	j := jsonConversation{
		Number: number, Service: c.Service.String(), Joined: joinedName(c.Joined), Agreements: c.Agreements,
		FirstPacket: c.First, LastPacket: c.Last, Seconds: time.Duration(c.Ended - c.Began).Seconds(), Evicted: c.Evicted,
	}
	for i := range c.Ends {
		e := &c.Ends[i]
		d := &e.Asks
		end := jsonEnd{
			Address: Address(e.Addr), Packets: e.Packets, Bytes: e.Bytes, CE: e.CE, CNPs: e.CNPs, Corrupt: e.Corrupt, Mistake: e.Mistake, Unmatched: e.Strange,
			Requests: jsonRequests{
				d.Requests, d.Payload, d.Again, d.Wasted, d.Acks, d.MostOutstanding, d.Unfinished, int64(d.ShortestTimeout), d.Dead, jsonStallsOf(&d.Stalls),
				d.DuplicateAcks, jsonAskingOf(&d.Asking), jsonCreditsOf(&d.Credits),
			},
			Operations: []jsonOperation{}, Counters: map[string]int{}, OTG: map[string]int{},
			Asked: jsonAskedOf(d.Asked()), Throughput: jsonThroughputOf(d.Window()), Reactions: jsonReactionsOf(d),
			Congestion: jsonCongestionOf(&e.Congestion),
		}
		if e.Known {
			end.QP = &e.QPN
		}
		for op := range conversation.Ops {
			if o := &d.Operations[op]; o.Messages > 0 {
				end.Operations = append(end.Operations, jsonOperation{op.String(), o.Messages, o.Partial, o.Bytes, jsonHistogram(o.Latency)})
			}
		}
		for _, n := range Counters(c, i) {
			end.Counters[n.Name] = n.Value
		}
		for _, n := range OTG(c, i) {
			end.OTG[n.Name] = n.Value
		}
		j.Ends = append(j.Ends, end)
	}
	return j
}
