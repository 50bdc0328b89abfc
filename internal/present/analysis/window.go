package analysis

import (
	"fmt"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
)

// maxRKeys is how many rkeys the text lists.
const maxRKeys = 3

// volume writes how much there was at a time, and how fast it was.
func (t *Text) volume(b *strings.Builder, d *conversation.Direction) {
	w := d.Window()
	if mean := throughput(w.Payload(), active(w)); mean > 0 {
		fmt.Fprintf(b, "     throughput %s in %s", speed(mean), Duration(active(w)))
		if most := peak(w); most > mean {
			fmt.Fprintf(b, ", at most %s in %s", speed(most), Duration(w.Length()))
		}
		b.WriteByte('\n')
	}
	if d.Acks > 0 && w.MostPackets > 0 {
		fmt.Fprintf(b, "     outstanding at most %s, %d B\n", count(w.MostPackets, "packet"), w.MostBytes)
	}
}

// active is how long something was outstanding, or all the time when nothing is
// acknowledged.
func active(w *conversation.Window) time.Duration {
	if w.MostBytes == 0 && w.Busy == 0 {
		return w.Span()
	}
	return w.Busy
}

// throughput is in bit/s, 0 when the time is not known.
func throughput(bytes int64, in time.Duration) int64 {
	if in <= 0 {
		return 0
	}
	return int64(float64(bytes) * 8 / in.Seconds())
}

// peak is the throughput of the interval that has the most.
func peak(w *conversation.Window) int64 {
	var most int64
	for i := range w.Len() {
		most = max(most, w.At(i).Payload)
	}
	return throughput(most, w.Length())
}

// memory writes what was asked of the other end's memory, and what else the
// messages carry.
func (t *Text) memory(b *strings.Builder, d *conversation.Direction) {
	a := d.Asked()
	for i, r := range a.Regions {
		if i == maxRKeys {
			fmt.Fprintf(b, "     and %s; --json has them\n", count(len(a.Regions)-i, "more rkey"))
			break
		}
		messages := 0
		for _, n := range r.Messages {
			messages += int(n)
		}
		fmt.Fprintf(b, "     rkey %s  ", hex(uint64(r.RKey), 8))
		if r.Bytes > 0 {
			fmt.Fprintf(b, "addresses %s to %s, ", hex(r.Low, 16), hex(r.End-1, 16))
		}
		fmt.Fprintf(b, "%s, %d B\n", count(messages, "message"), r.Bytes)
	}
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{a.Immediates, "carry immediate data"}, {a.Invalidations, "invalidate an rkey"}, {a.Solicited, "ask for an event"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(b, "     of the messages %s\n", strings.Join(parts, ", "))
	}
}

// reaction is how long one kind of reaction takes.
type reaction struct {
	name, key string
	times     *latency.Histogram
}

func reactions(x *conversation.Pace) []reaction {
	return []reaction{
		{"from the loss to the NAK", "loss_to_nak", x.GapToNak},
		{"from the NAK to sending again", "nak_to_resend", x.NakToResend},
		{"from the RNR NAK to sending again", "rnr_to_resend", x.RNR},
		{"without progress before a timeout", "timeout", x.Timeout},
	}
}

// pace writes how long losses, and what is done about them, take.
func (t *Text) pace(b *strings.Builder, d *conversation.Direction) {
	for _, r := range reactions(&d.Pace) {
		switch h := r.times; {
		case h == nil:
		case h.Count() == 1:
			fmt.Fprintf(b, "     %s: once, in %s\n", r.name, Duration(h.Max()))
		default:
			fmt.Fprintf(b, "     %s: %d times, 50%% in %s, all in %s\n", r.name, h.Count(), Duration(h.Quantile(0.5)), Duration(h.Max()))
		}
	}
}

// restarts is how often the requester went back.
func restarts(d *conversation.Direction) (n int) {
	for k := conversation.RetransmitNak; k <= conversation.RetransmitUnseen; k++ {
		n += d.Tallies.Of(k).Count
	}
	return n
}

type jsonRKey struct {
	RKey     string            `json:"rkey"`
	Low      string            `json:"first_va,omitempty"`
	High     string            `json:"last_va,omitempty"`
	Bytes    int64             `json:"bytes"`
	Messages map[string]uint32 `json:"messages"`
}

type jsonAsked struct {
	RKeys         []jsonRKey `json:"rkeys"`
	Beyond        int        `json:"messages_with_other_rkeys"`
	Immediates    int        `json:"with_immediate"`
	Invalidations int        `json:"with_invalidate"`
	Solicited     int        `json:"solicited"`
}

func jsonAskedOf(a *conversation.Asked) jsonAsked {
	j := jsonAsked{[]jsonRKey{}, a.Beyond, a.Immediates, a.Invalidations, a.Solicited}
	for _, r := range a.Regions {
		region := jsonRKey{RKey: hex(uint64(r.RKey), 8), Bytes: r.Bytes, Messages: map[string]uint32{}}
		if r.Bytes > 0 {
			region.Low, region.High = hex(r.Low, 16), hex(r.End-1, 16)
		}
		for op, n := range r.Messages {
			if n > 0 {
				region.Messages[conversation.Op(op).String()] = n
			}
		}
		j.RKeys = append(j.RKeys, region)
	}
	return j
}

type jsonThroughput struct {
	Payload  int64          `json:"payload_bytes"`
	Active   int64          `json:"active_ns"`
	Mean     int64          `json:"mean_bps"`
	Peak     int64          `json:"peak_bps"`
	Packets  int            `json:"most_outstanding_packets"`
	Bytes    int64          `json:"most_outstanding_bytes"`
	Interval int64          `json:"interval_ns"`
	Window   []jsonInterval `json:"window"`
}

type jsonInterval struct {
	Start        int64 `json:"start_ns"`
	Messages     int   `json:"messages"`
	Bytes        int64 `json:"bytes"`
	Acknowledged int64 `json:"acknowledged_bytes"`
	Payload      int64 `json:"payload_bytes"`
}

func jsonThroughputOf(w *conversation.Window) jsonThroughput {
	j := jsonThroughput{
		Payload: w.Payload(), Active: int64(active(w)), Mean: throughput(w.Payload(), active(w)), Peak: peak(w),
		Packets: w.MostPackets, Bytes: w.MostBytes, Interval: int64(w.Length()), Window: []jsonInterval{},
	}
	for i := range w.Len() {
		p := w.At(i)
		j.Window = append(j.Window, jsonInterval{int64(p.Start), p.Messages, p.Bytes, p.Acknowledged, p.Payload})
	}
	return j
}

type jsonReactions struct {
	Restarts int                     `json:"restarts"`
	Times    map[string]*jsonLatency `json:"times_ns"`
}

func jsonReactionsOf(d *conversation.Direction) jsonReactions {
	j := jsonReactions{restarts(d), map[string]*jsonLatency{}}
	for _, r := range reactions(&d.Pace) {
		if r.times != nil {
			j.Times[r.key] = jsonHistogram(r.times)
		}
	}
	return j
}
