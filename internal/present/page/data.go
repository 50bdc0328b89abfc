package page

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/latency"
	"github.com/rocecap/rocecap/internal/wire"
)

// What page.js reads. Times are in nanoseconds; those of packets since the page's
// beginning.
type (
	data struct {
		File          string             `json:"file"`
		Packets       int                `json:"packets"`
		Notes         []string           `json:"notes"`
		Began         string             `json:"began"`
		Seen          int                `json:"seen"`
		Unlisted      int                `json:"unlisted"` // conversations that the page has no room for
		Worst         []finding          `json:"worst"`
		Codes         map[string]code    `json:"codes"`
		Opcodes       map[uint8]string   `json:"opcodes"`
		Syndromes     map[uint8]string   `json:"syndromes"`
		Pauses        []pause            `json:"pauses"`
		Unpaused      int                `json:"unpaused"` // pauses that are left out
		Conversations []conversationData `json:"conversations"`
	}
	code struct {
		Grade string `json:"grade"`
		Title string `json:"title"`
		Means string `json:"means"`
		Cause string `json:"cause"`
		Next  string `json:"next"`
	}
	finding struct {
		Code         string `json:"code"`
		Count        int    `json:"count"`
		Where        string `json:"where"`
		Directions   int    `json:"directions"`
		Conversation int    `json:"conversation"`
		Packets      []int  `json:"packets"`
	}
	// pause is a time in which a link was told to be silent.
	pause struct {
		From int64  `json:"from"`
		To   int64  `json:"to"`
		What string `json:"what"`
	}
	conversationData struct {
		Number  int         `json:"number"`
		Service string      `json:"service"`
		Joined  string      `json:"joined"`
		First   int         `json:"first"`
		Last    int         `json:"last"`
		Began   int64       `json:"began"`
		Ended   int64       `json:"ended"`
		Grade   string      `json:"grade"` // of the worst finding, "" for none
		Ends    [2]endData  `json:"ends"`
		Tallies []tallyData `json:"tallies"`
		Events  []eventData `json:"events"`
		Untold  int         `json:"untold"` // events that are left out
		Asks    []askData   `json:"messages"`
		Unsaid  int         `json:"unsaid"` // messages that are left out
		Marks   int         `json:"marks"`
		Left    [2]int      `json:"left"` // packets that are left out; and of those that people look for
		Series  string      `json:"packed"`
	}
	endData struct {
		Name       string          `json:"name"`
		Packets    int             `json:"packets"`
		Bytes      int64           `json:"bytes"`
		Facts      []fact          `json:"facts"`
		Operations []operationData `json:"operations"`
		Counters   []fact          `json:"counters"`
	}
	fact struct {
		Name  string `json:"name"`
		Value int64  `json:"value"`
	}
	operationData struct {
		Name     string  `json:"name"`
		Messages int     `json:"messages"`
		Partial  int     `json:"partial"`
		Bytes    int64   `json:"bytes"`
		Curve    []point `json:"curve"`
	}
	// point says that a share of the durations, in thousandths, are not longer.
	point     [2]float64
	tallyData struct {
		Code  string `json:"code"`
		End   int    `json:"end"`
		Count int    `json:"count"`
		First []int  `json:"first"`
	}
	askData struct {
		End    int      `json:"end"`
		Op     string   `json:"op"`
		Bytes  int64    `json:"bytes"`
		First  wire.PSN `json:"first"`
		Last   wire.PSN `json:"last"`
		Packet int      `json:"packet"`
		RKey   string   `json:"rkey"`
		VA     string   `json:"va"`
		By     int      `json:"by"`
		Began  int64    `json:"began"`
		Took   int64    `json:"took"` // -1 when it is not known
		What   string   `json:"what"`
	}
	eventData struct {
		Code   string        `json:"code"`
		End    int           `json:"end"`
		Packet int           `json:"packet"`
		Cause  int           `json:"cause"`
		PSN    wire.PSN      `json:"psn"`
		N      int           `json:"n"`
		Waited time.Duration `json:"waited"`
	}
)

// collect puts together what the page shows.
func (p *Page) collect() *data {
	r := p.Report
	d := &data{
		File: r.File, Packets: r.Counts.Seen, Notes: append([]string{}, r.Notes()...), Seen: r.Seen, Unlisted: r.Unlisted(),
		Worst: []finding{}, Codes: map[string]code{}, Opcodes: map[uint8]string{}, Syndromes: map[uint8]string{},
		Pauses: []pause{}, Conversations: []conversationData{},
	}
	p.Collector.choose()
	list := r.Conversations()
	began := earliest(list)
	if len(list) > 0 {
		d.Began = time.Unix(0, began).UTC().Format("2006-01-02 15:04:05.000000 UTC")
	}
	for i, c := range list {
		s := p.Collector.over[c]
		if s == nil {
			d.Unlisted++
			continue
		}
		d.Conversations = append(d.Conversations, d.conversation(i+1, c, s, began))
	}
	for _, w := range r.Worst() {
		f := &w.Finding
		d.use(f.Code)
		d.Worst = append(d.Worst, finding{f.Code.Name, w.Count, f.Where, w.Directions, f.Conversation, f.Tally.First()})
	}
	d.Unpaused = p.Collector.unpaused
	for _, x := range p.Collector.pauses {
		d.Pauses = append(d.Pauses, pause{x.From - began, x.To - began, x.What})
	}
	slices.SortFunc(d.Pauses, func(a, b pause) int { return cmp.Compare(a.From, b.From) })
	return d
}

func earliest(list []*conversation.Conversation) (began int64) {
	for i, c := range list {
		if i == 0 || c.Began < began {
			began = c.Began
		}
	}
	return began
}

// use makes the page explain a code.
func (d *data) use(c analysis.Code) {
	d.Codes[c.Name] = code{c.Grade.String(), c.Title, c.Means, c.Cause, c.Next}
}

func (d *data) conversation(number int, c *conversation.Conversation, s *series, began int64) conversationData {
	out := conversationData{
		Number: number, Service: c.Service.String(), Joined: analysis.JoinedBy(c), First: c.First, Last: c.Last,
		Began: c.Began - began, Ended: c.Ended - began, Untold: s.untold, Marks: len(s.marks), Left: s.left,
		Tallies: []tallyData{}, Events: []eventData{}, Asks: []askData{}, Unsaid: s.unsaid, Series: encode(s.marks, began),
	}
	for i := range c.Ends {
		out.Ends[i] = endOf(c, i)
	}
	names := make(map[conversation.Kind]string)
	for _, code := range analysis.Codes() {
		kind, ok := code.Kind.(conversation.Kind)
		if !ok {
			continue
		}
		names[kind] = code.Name
		for end := range c.Ends {
			tally := c.Ends[end].Asks.Tallies.Of(kind)
			if tally.Count == 0 {
				continue
			}
			d.use(code)
			out.Tallies = append(out.Tallies, tallyData{code.Name, end, tally.Count, tally.First()})
			out.Grade = analysis.Gravest(c).String()
		}
	}
	for _, e := range s.events {
		out.Events = append(out.Events, eventData{names[e.Kind], e.end, e.Packet, e.Cause, e.PSN, e.N, e.Waited})
	}
	slices.SortStableFunc(s.asks, func(a, b message) int { return cmp.Compare(a.FirstPacket, b.FirstPacket) })
	for i := range s.asks {
		out.Asks = append(out.Asks, askOf(&s.asks[i], began))
	}
	for i := range s.marks {
		d.name(&s.marks[i])
	}
	return out
}

// name makes the page name what a packet's numbers mean.
func (d *data) name(m *mark) {
	if info := m.opcode.Info(); info.Defined() {
		d.Opcodes[uint8(m.opcode)] = info.Name
	}
	switch m.kind {
	case kindNak:
		d.Syndromes[uint8(m.syndrome)] = "NAK " + wire.NakName(m.syndrome.Code())
	case kindRNR:
		d.Syndromes[uint8(m.syndrome)] = "RNR NAK, wait " + m.syndrome.RNRTimer().String()
	}
}

func askOf(m *message, began int64) askData {
	a := askData{
		End: m.end, Op: analysis.OperationName(&m.Message), Bytes: m.Bytes, First: m.First, Last: m.Last, Packet: m.FirstPacket,
		By: m.By, Began: m.Began - began, Took: -1, What: analysis.Remarks(&m.Message),
	}
	if m.Addressed {
		a.RKey, a.VA = fmt.Sprintf("0x%08x", m.RKey), fmt.Sprintf("0x%016x", m.VA)
	}
	if m.Ended > 0 {
		a.Took = m.Ended - m.Began
	}
	return a
}

func endOf(c *conversation.Conversation, i int) endData {
	e := &c.Ends[i]
	a := &e.Asks
	out := endData{Name: analysis.Name(e), Packets: e.Packets, Bytes: e.Bytes, Facts: []fact{}, Operations: []operationData{}, Counters: []fact{}}
	for _, f := range []fact{
		{"packets", int64(e.Packets)},
		{"bytes", e.Bytes},
		{"request packets", int64(a.Requests)},
		{"payload bytes of requests", a.Payload},
		{"packets sent again", int64(a.Again)},
		{"bytes sent for nothing", a.Wasted},
		{"most messages outstanding", int64(a.MostOutstanding)},
		{"messages without a good answer", int64(a.Unfinished)},
		{"packets with a wrong ICRC", int64(e.Corrupt)},
		{"packets marked CE", int64(e.CE)},
		{"packets that nothing captured explains", int64(e.Strange)},
	} {
		if f.Value > 0 {
			out.Facts = append(out.Facts, f)
		}
	}
	for op := range conversation.Ops {
		if o := &a.Operations[op]; o.Messages > 0 {
			out.Operations = append(out.Operations, operationData{op.String(), o.Messages, o.Partial, o.Bytes, curve(o.Latency)})
		}
	}
	for _, n := range analysis.Counters(c, i) {
		out.Counters = append(out.Counters, fact{n.Name, int64(n.Value)})
	}
	return out
}

// curve is how long a share of the messages took at most.
func curve(h *latency.Histogram) []point {
	points := []point{}
	if h == nil {
		return points
	}
	for i := range 101 {
		points = append(points, point{float64(10 * i), float64(h.Quantile(float64(i) / 100))})
	}
	for _, share := range []float64{999, 999.9} {
		if float64(h.Count())*(1000-share) >= 1000 { // there are some beyond
			last := len(points) - 1
			points = append(points[:last], point{share, float64(h.Quantile(share / 1000))}, points[last])
		}
	}
	return points
}
