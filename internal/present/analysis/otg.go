package analysis

import (
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// OTG are the numbers of the requests of one end under the names of the Open
// Traffic Generator's RoCEv2 flow metrics (open-traffic-generator/models,
// result/rocev2flow.yaml). The capture is one place: what was sent and what was
// received are what passed there. Metrics that need two places are left out.
func OTG(c *conversation.Conversation, end int) []Counter {
	d := &c.Ends[end].Asks
	naks := 0
	for k := conversation.NakSequence; k <= conversation.RNRNak; k++ {
		naks += d.Tallies.Of(k).Count
	}
	complete := 0
	for _, o := range d.Operations {
		complete += o.Messages
	}
	acks, cnps := d.Acks-d.Responses, c.Ends[1-end].CNPs
	return []Counter{
		{"data_frames_tx", d.Requests},
		{"data_frames_retransmitted", d.Again},
		{"frame_sequence_error", d.OutOfSequence},
		{"tx_bytes", int(d.Frames)},
		{"message_tx", complete + d.Unfinished},
		{"message_complete_rx", complete},
		{"message_fail", d.Unfinished},
		{"flow_completion_time", int(d.Window().Span() / time.Millisecond)},
		{"ecn_ce_rx", c.Ends[end].CE},
		{"cnp_tx", cnps},
		{"cnp_rx", cnps},
		{"ack_tx", acks},
		{"ack_rx", acks},
		{"nak_tx", naks},
		{"nak_rx", naks},
	}
}
