package analysis

import (
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/track/pause"
)

// jsonCongestion is about what an end sends.
type jsonCongestion struct {
	Marked   int          `json:"marked_packets"`
	CNPs     int          `json:"cnps_received"`
	Early    int          `json:"cnps_before_any_mark"`
	Delay    *jsonLatency `json:"mark_to_cnp_ns,omitempty"`
	Interval *jsonLatency `json:"cnp_interval_ns,omitempty"`
	DSCP     *uint8       `json:"dscp,omitempty"`
	CNPDSCP  *uint8       `json:"cnp_dscp,omitempty"`
	Measured int          `json:"cnps_measured"`
	Slower   int          `json:"cnps_followed_by_less"`
	Windows  int64        `json:"measured_ns"`
	Before   int64        `json:"payload_bytes_before"`
	After    int64        `json:"payload_bytes_after"`
}

func jsonCongestionOf(g *conversation.Congestion) jsonCongestion {
	return jsonCongestion{
		Marked: g.Marked, CNPs: g.Notified, Early: g.Early,
		Delay: jsonHistogram(g.Delay), Interval: jsonHistogram(g.Interval),
		DSCP: jsonClass(&g.Data), CNPDSCP: jsonClass(&g.CNP),
		Measured: g.Reaction.CNPs, Slower: g.Reaction.Slower, Windows: int64(g.Reaction.Windows),
		Before: g.Reaction.Before, After: g.Reaction.After,
	}
}

// jsonClass is a DSCP that all packets have in common.
func jsonClass(c *conversation.Class) *uint8 {
	if !c.Seen || c.Mixed {
		return nil
	}
	return &c.DSCP
}

func jsonHistogram(h *latency.Histogram) *jsonLatency {
	if h == nil {
		return nil
	}
	return &jsonLatency{
		h.Count(), int64(h.Min()), int64(h.Quantile(0.5)), int64(h.Quantile(0.9)), int64(h.Quantile(0.99)),
		int64(h.Quantile(0.999)), int64(h.Max()), int64(h.Mean()),
	}
}

// jsonStalls are the times in which nothing of a direction came.
type jsonStalls struct {
	Count     int   `json:"count"`
	Time      int64 `json:"ns"`
	Longest   int64 `json:"longest_ns"`
	LongestAt int   `json:"longest_packet"`
	Paused    int   `json:"with_pauses"`
	PausedFor int64 `json:"paused_ns"`
}

func jsonStallsOf(s *conversation.Stalls) jsonStalls {
	return jsonStalls{s.Count, int64(s.Time), int64(s.Longest), s.LongestAt, s.Paused, int64(s.PausedTime)}
}

// jsonFlowControl is about the links.
type jsonFlowControl struct {
	Speed     int64      `json:"assumed_bit_s"`
	Links     []jsonLink `json:"links"`
	Unlisted  int        `json:"frames_of_unlisted"`
	Backwards int        `json:"frames_back_in_time"`
}

type jsonLink struct {
	Source   string         `json:"source"`
	Frames   int            `json:"frames"`
	Channels []jsonChannel  `json:"channels"`
	Counters map[string]int `json:"counters"`
}

type jsonChannel struct {
	Priority  *int  `json:"priority"` // none: PAUSE
	XOFF      int   `json:"xoff"`
	XON       int   `json:"xon"`
	Pauses    int   `json:"pauses"`
	Paused    int64 `json:"paused_ns"`
	Longest   int64 `json:"longest_ns"`
	LongestAt int   `json:"longest_packet"`
	Ended     int   `json:"ended_by_xon"`
	Held      int64 `json:"xoff_to_xon_ns"`
}

func (r *Report) jsonFlowControl() *jsonFlowControl {
	if r.pauses == nil {
		return nil
	}
	out := &jsonFlowControl{Speed: r.pauses.Speed, Links: []jsonLink{}, Unlisted: r.pauses.Unlisted, Backwards: r.pauses.Backwards}
	for _, l := range r.links() {
		out.Links = append(out.Links, jsonLinkOf(l))
	}
	return out
}

func jsonLinkOf(l *pause.Link) jsonLink {
	j := jsonLink{Source: l.Src.String(), Frames: l.Frames, Channels: []jsonChannel{}, Counters: map[string]int{}}
	for _, c := range channels(l) {
		j.Channels = append(j.Channels, jsonChannel{
			c.priority(), c.XOFF, c.XON, c.Pauses, int64(c.Paused), int64(c.Longest), c.LongestAt, c.Ended, int64(c.Held),
		})
	}
	for _, way := range []string{"rx", "tx"} {
		for _, n := range PauseCounters(l, way) {
			j.Counters[n.Name] = n.Value
		}
	}
	return j
}
