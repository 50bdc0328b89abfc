// Package metrics gives what a live capture has counted to Prometheus. Labels
// name kinds, never queue pairs or addresses, so that their number is bounded
// whatever is captured.
package metrics

import (
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/track/rates"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

// Sample is what was counted since the capture began.
type Sample struct {
	Totals  rates.Totals // of conversations
	Streams rdmap.Totals // of iWARP connections
	// Findings are those that are about no conversation, by the kind of their code.
	Findings   map[any]int
	Open       int // conversations and iWARP connections
	Evicted    int // of these, that were given up because too many were open
	Verdicts   [icrc.NotCheckable + 1]int
	Interfaces []Interface
}

// Interface is what the kernel says of a capture on an interface.
type Interface struct {
	Name     string
	Received uint64
	Dropped  uint64
	Lost     uint64 // by the interface itself
}

// Handler serves samples as Prometheus reads them.
func Handler(sample func() Sample) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collector{sample})
	return promhttp.HandlerFor(registry, promhttp.HandlerOpts{})
}

// collector takes a sample whenever it is asked.
type collector struct{ sample func() Sample }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rocecap_"+name, help, labels, nil)
}

var (
	packets       = desc("packets_total", "Packets to queue pairs, by transport service, and TCP segments of iWARP.", "service")
	bytes         = desc("bytes_total", "Bytes of their frames, by transport service.", "service")
	conversations = desc("conversations_total", "Conversations seen, by transport service, and iWARP connections.", "service")
	open          = desc("conversations_open", "Conversations and iWARP connections that are followed now.")
	evicted       = desc("conversations_evicted_total", "Conversations and iWARP connections given up because too many were open.")
	messages      = desc("messages_total", "Complete messages, by operation.", "operation")
	messageBytes  = desc("message_bytes_total", "Bytes of complete messages, by operation.", "operation")
	latencies     = desc("message_latency_seconds", "From a message's first packet to the last of its answer, by operation.", "operation")
	resends       = desc("retransmissions_total", "Times that a requester went back, by cause.", "cause")
	again         = desc("retransmitted_packets_total", "Request packets that were sent again.")
	wasted        = desc("retransmitted_bytes_total", "Payload bytes that were sent again although they had been seen.")
	naks          = desc("naks_total", "NAKs, by code.", "code")
	rnrs          = desc("rnr_naks_total", "RNR NAKs.")
	cnps          = desc("cnps_total", "Congestion notification packets.")
	marks         = desc("ce_marked_packets_total", "Packets marked as having met congestion.")
	verdicts      = desc("icrc_total", "Packets by the verdict on their ICRC.", "verdict")
	findings      = desc("findings_total", "Findings by their code, which rocecap explain explains.", "code")

	streamMessages  = desc("iwarp_messages_total", "Complete messages of iWARP, by operation.", "operation")
	streamBytes     = desc("iwarp_message_bytes_total", "Bytes of complete messages of iWARP, by operation.", "operation")
	streamLatencies = desc("iwarp_message_latency_seconds", "From a message's first segment to the last of its response, or to the TCP acknowledgement, by operation.", "operation")
	resent          = desc("iwarp_resent_segments_total", "TCP segments with bytes that had been seen.")
	resentBytes     = desc("iwarp_resent_bytes_total", "Bytes that were sent again although they had been seen.")
	crcs            = desc("iwarp_fpdus_total", "FPDUs by the verdict on their CRC32c.", "crc")
	terminates      = desc("iwarp_terminates_total", "iWARP connections that an end gave up with a Terminate message.")

	received = desc("capture_received_total", "Frames that passed the capture's filter, as the kernel counts.", "interface")
	dropped  = desc("capture_dropped_total", "Of those, frames that were lost for want of room.", "interface")
	lost     = desc("interface_dropped_total", "Frames that the interface dropped or missed itself (rx_dropped, rx_missed_errors), since the capture began.", "interface")
)

// Describe leaves the descriptions to Collect: there are as many as are needed.
func (collector) Describe(chan<- *prometheus.Desc) {}

// Collect takes a sample and tells it.
func (c collector) Collect(out chan<- prometheus.Metric) {
	s := c.sample()
	count := func(d *prometheus.Desc, n float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, n, labels...)
	}
	for i, t := range s.Totals.Services {
		name := wire.Service(i).String()
		if t.Conversations == 0 || name == "" {
			continue
		}
		count(packets, float64(t.Packets), name)
		count(bytes, float64(t.Bytes), name)
		count(conversations, float64(t.Conversations), name)
	}
	out <- prometheus.MustNewConstMetric(open, prometheus.GaugeValue, float64(s.Open))
	count(evicted, float64(s.Evicted))
	for op := range s.Totals.Operations {
		o, name := &s.Totals.Operations[op], conversation.Op(op).String()
		count(messages, float64(o.Messages), name)
		count(messageBytes, float64(o.Bytes), name)
		out <- histogram(latencies, &o.Latency, name)
	}
	events(&s, count)
	count(again, float64(s.Totals.Again))
	count(wasted, float64(s.Totals.Wasted))
	for v, n := range s.Verdicts {
		if name := icrc.Verdict(v).String(); name != "" {
			count(verdicts, float64(n), name)
		}
	}
	streams(&s.Streams, out, count)
	for _, i := range s.Interfaces {
		count(received, float64(i.Received), i.Name)
		count(dropped, float64(i.Dropped), i.Name)
		count(lost, float64(i.Lost), i.Name)
	}
}

// causes and codes are the events that have metrics of their own.
var (
	causes = map[conversation.Kind]string{
		conversation.RetransmitNak: "nak", conversation.RetransmitImplied: "implied_nak", conversation.RetransmitRNR: "rnr",
		conversation.RetransmitTimeout: "timeout", conversation.RetransmitUnseen: "unseen",
	}
	codes = map[conversation.Kind]string{
		conversation.NakSequence: "psn_sequence", conversation.NakInvalid: "invalid_request", conversation.NakAccess: "remote_access",
		conversation.NakOperation: "remote_operation", conversation.NakOther: "other",
	}
)

// events tells how often each thing happened: those that have a metric of their
// own there, and all by their code.
func events(s *Sample, count func(d *prometheus.Desc, n float64, labels ...string)) {
	n := &s.Totals.Events
	for kind, cause := range causes {
		count(resends, float64(n[kind]), cause)
	}
	for kind, code := range codes {
		count(naks, float64(n[kind]), code)
	}
	count(rnrs, float64(n[conversation.RNRNak]))
	count(cnps, float64(n[conversation.CongestionCNP]))
	count(marks, float64(n[conversation.CongestionCE]))
	for _, code := range analysis.Codes() {
		times := s.Findings[code.Kind]
		if kind, ok := code.Kind.(conversation.Kind); ok {
			times = n[kind]
		}
		count(findings, float64(times), code.Name)
	}
}

// streams tells what iWARP connections had.
func streams(t *rdmap.Totals, out chan<- prometheus.Metric, count func(d *prometheus.Desc, n float64, labels ...string)) {
	if t.Connections > 0 {
		count(packets, float64(t.TCP.Segments), "iWARP")
		count(bytes, float64(t.TCP.Frames), "iWARP")
		count(conversations, float64(t.Connections), "iWARP")
	}
	for op := range rdmap.Ops {
		o := &t.Operations[op]
		count(streamMessages, float64(o.Messages), op.String())
		count(streamBytes, float64(o.Bytes), op.String())
		h := o.Latency
		if h == nil {
			h = &latency.Histogram{}
		}
		out <- histogram(streamLatencies, h, op.String())
	}
	for v, n := range t.CRCs {
		count(crcs, float64(n), iwarp.CRC(v).String())
	}
	count(resent, float64(t.TCP.ResentSegments))
	count(resentBytes, float64(t.TCP.ResentBytes))
	count(terminates, float64(t.Terminates))
}

// limits are the upper ends of the buckets that Prometheus gets: three a decade,
// from a microsecond to ten seconds.
var limits = func() (list []time.Duration) {
	for decade := time.Microsecond; decade < 10*time.Second; decade *= 10 {
		list = append(list, decade, 2*decade, 5*decade)
	}
	return append(list, 10*time.Second)
}()

func histogram(d *prometheus.Desc, h *latency.Histogram, operation string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(limits))
	for _, limit := range limits {
		buckets[limit.Seconds()] = h.Within(limit)
	}
	return prometheus.MustNewConstHistogram(d, h.Count(), h.Mean().Seconds()*float64(h.Count()), buckets, operation)
}
