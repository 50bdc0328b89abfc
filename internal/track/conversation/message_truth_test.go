package conversation_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/transport/qp"
	"github.com/rocecap/rocecap/internal/wire"
)

// requests are what the requester posted, and what the tracker says about it.
type requests struct {
	immediates bool // some SENDs and WRITEs have immediate data
	posted     []request
	records    []conversation.Message
	ends       map[int]bool
	packets    []conversation.Packet // that were captured
	senders    []int
}

// request is one that was posted.
type request struct {
	qp.WorkRequest
	completed time.Time
}

// vary gives a request an address of its own, and other things that make it
// different from others, and keeps it.
func (r *requests) vary(wr *qp.WorkRequest) {
	n := len(r.posted)
	wr.RemoteAddr = truthVA + uint64(n*256)%(truthMemory/2)
	if n%3 == 0 {
		wr.Flags |= qp.Solicited
	}
	switch {
	case !r.immediates || n%2 == 0:
	case wr.Op == qp.Send:
		wr.Op, wr.Immediate = qp.SendImmediate, uint32(1000+n)
	case wr.Op == qp.Write:
		wr.Op, wr.Immediate = qp.WriteImmediate, uint32(1000+n)
	}
	r.posted = append(r.posted, request{WorkRequest: *wr})
}

func (r *requests) told(end int, m *conversation.Message) {
	if r.ends == nil {
		r.ends = map[int]bool{}
	}
	r.ends[end] = true
	r.records = append(r.records, *m)
}

func (r *requests) captured(p *conversation.Packet, from int) {
	r.packets, r.senders = append(r.packets, *p), append(r.senders, from)
}

func (r *requests) completed(id uint64, at time.Time) { r.posted[id].completed = at }

// carried reads what the last headers of a packet say.
func carried(f *conversation.Packet, p wire.Packet) {
	f.Solicited = p.BTH().Solicited()
	if h := wire.AtomicETH(p.View(wire.HdrAtomicETH)); h != nil {
		f.RKey, f.VA = h.RKey(), h.VA()
	}
	if h := wire.ImmDt(p.View(wire.HdrImmDt)); h != nil {
		f.Immediate = h.Data()
	}
}

// wantRecords compares the record of each message with what was posted. In an
// exact run the answers pass unharmed: then also when each ended.
func (x *truth) wantRecords(exact bool) {
	r := &x.requests
	slices.SortFunc(r.records, func(a, b conversation.Message) int { return a.First.Diff(b.First) })
	if len(r.records) != len(r.posted) || len(r.ends) != 1 {
		x.errorf("%d records of %d ends, %d requests", len(r.records), len(r.ends), len(r.posted))
		return
	}
	next := r.records[0].First
	for i := range r.records {
		m, p := &r.records[i], &r.posted[i]
		if m.First != next {
			x.errorf("message %d begins at PSN %v, not at %v", i, m.First, next)
			return
		}
		next = next.Add(psnsOf(p))
		if text := r.differs(m, p, next.Add(-1)); text != "" {
			x.errorf("message %d: %s: %+v of %+v", i, text, *m, p.WorkRequest)
		}
		if text := x.endsWrongly(m, p, exact); text != "" {
			x.errorf("message %d: %s: %+v, completed at %v", i, text, *m, p.completed.Sub(time.Unix(1000, 0)))
		}
		// Of late packets it is not always told that they were sent again meanwhile.
		if text := x.againWrongly(m); text != "" && x.faults[0].late == 0 {
			x.errorf("message %d: %s: %+v", i, text, *m)
		}
	}
}

func bytesOf(p *request) int {
	if p.Op == qp.FetchAdd {
		return 8
	}
	return int(p.SGL[0].Length)
}

func psnsOf(p *request) int { return max(1, (bytesOf(p)+truthMTU-1)/truthMTU) }

// differs compares what does not depend on what the net did.
func (r *requests) differs(m *conversation.Message, p *request, last wire.PSN) string {
	op := map[qp.Op]conversation.Op{
		qp.Send: conversation.Send, qp.SendImmediate: conversation.Send, qp.Write: conversation.Write, qp.WriteImmediate: conversation.Write,
		qp.Read: conversation.Read, qp.FetchAdd: conversation.Atomic,
	}[p.Op]
	addressed := op != conversation.Send
	immediate := p.Op == qp.SendImmediate || p.Op == qp.WriteImmediate
	// Only what wakes a consumer at the other end has the bit.
	solicited := p.Flags&qp.Solicited != 0 && (op == conversation.Send || immediate)
	switch {
	case m.Op != op, m.Bytes != int64(bytesOf(p)), m.Last != last, m.Partial, m.Unfinished, m.Nak != 0:
		return "not what was posted"
	case m.Addressed != addressed, addressed && (m.RKey != p.RKey || m.VA != p.RemoteAddr || int(m.Length) != bytesOf(p)):
		return "another address"
	case m.Carries(wire.HdrImmDt) != immediate, m.Immediate != p.Immediate:
		return "other immediate data"
	case m.Solicited != solicited:
		return "SE"
	}
	first, end := r.packet(m.FirstPacket), r.packet(m.LastPacket)
	if first.PSN != m.First || !end.PSN.InRange(m.First, m.Last.Diff(m.First)+1) || first.Time != m.Began || m.FirstPacket > m.LastPacket {
		return "other packets"
	}
	return ""
}

func (r *requests) packet(number int) *conversation.Packet { return &r.packets[number-1] }

// endsWrongly compares how a message ended. What the requester got has passed the
// capture point a hop before.
func (x *truth) endsWrongly(m *conversation.Message, p *request, exact bool) string {
	if m.By == 0 {
		return "ended by no packet"
	}
	by := x.requests.packet(m.By)
	switch at := time.Unix(0, m.Ended).Add(truthHop); {
	case by.Time != m.Ended || x.requests.senders[m.By-1] != 1 || by.PSN.Less(m.Last):
		return "ended by another packet"
	case exact && !at.Equal(p.completed):
		return fmt.Sprintf("ended %v too late", at.Sub(p.completed))
	case at.After(p.completed):
		return "ended after its completion"
	case !m.AETH || m.MSN != by.MSN:
		return "another MSN"
	}
	return ""
}

// againWrongly compares whether a message was sent again: it was when a packet of
// it was captured twice before its end, and only when the requester went back to
// it or before.
func (x *truth) againWrongly(m *conversation.Message) string {
	seen := map[wire.PSN]bool{}
	twice := false
	for i := range x.requests.packets[:m.By] {
		p := &x.requests.packets[i]
		if x.requests.senders[i] == 0 && p.PSN.InRange(m.First, m.Last.Diff(m.First)+1) {
			twice = twice || seen[p.PSN]
			seen[p.PSN] = true
		}
	}
	before := slices.ContainsFunc(x.agains, func(a again) bool { return a.psn.Diff(m.Last) <= 0 })
	into := slices.ContainsFunc(x.agains, func(a again) bool { return a.psn == m.Restart })
	switch {
	case twice && !m.Again:
		return "not said to be sent again"
	case m.Again && !before:
		return "said to be sent again"
	case m.Restarts > 0 && !into:
		return "said to be sent again from elsewhere"
	}
	return ""
}

// wantTotals compares what the messages have in common.
func (x *truth) wantTotals() {
	var want conversation.Asked
	region := conversation.Region{RKey: x.keys[1]}
	var bytes int64
	for i := range x.requests.posted {
		p, m := &x.requests.posted[i], &x.requests.records[i]
		bytes += m.Bytes
		if m.Solicited {
			want.Solicited++
		}
		if m.Carries(wire.HdrImmDt) {
			want.Immediates++
		}
		if m.Op == conversation.Send {
			continue
		}
		region.Messages[m.Op]++
		if m.Length > 0 {
			if region.Bytes == 0 || p.RemoteAddr < region.Low {
				region.Low = p.RemoteAddr
			}
			region.End = max(region.End, p.RemoteAddr+uint64(m.Length))
			region.Bytes += m.Bytes
		}
	}
	got := x.asks().Asked()
	if len(got.Regions) != 1 || got.Regions[0] != region || got.Immediates != want.Immediates || got.Solicited != want.Solicited || got.Beyond != 0 {
		x.errorf("asked for %+v, in truth %+v and %+v", got, region, want)
	}
	w := x.asks().Window()
	var acknowledged int64
	for i := range w.Len() {
		acknowledged += w.At(i).Acknowledged
	}
	if acknowledged != bytes || w.MostBytes > bytes {
		x.errorf("%d bytes acknowledged, %d outstanding, %d posted", acknowledged, w.MostBytes, bytes)
	}
}

// TestEveryMessageIsRecorded compares the records with what was posted; the seeds
// take turns with what goes wrong.
func TestEveryMessageIsRecorded(t *testing.T) {
	scenarios := []struct {
		requests, answers faults
		receive           int
		exact             bool
	}{
		{faults{}, faults{}, 1000, true},
		{faults{before: 40}, faults{}, 1000, true},
		{faults{behind: 40}, faults{}, 1000, true},
		{faults{late: 40}, faults{}, 1000, true},
		{faults{}, faults{}, 20, true},
		{faults{}, faults{behind: 30}, 1000, false},
	}
	everySeed(t, func(seed uint64) *truth {
		test, ops := scenarios[seed%6], everything
		if seed/6%2 == 0 {
			ops = sendsAndWrites
		}
		x := newTruth(t, seed, test.requests, test.answers)
		x.requests.immediates = seed/6%3 == 0
		x.run(60, ops, test.receive)
		x.wantRecords(test.exact)
		if len(x.wrong) == 0 {
			x.wantTotals()
		}
		return x
	})
}
