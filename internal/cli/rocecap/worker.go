package rocecap

import (
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/service"
	"github.com/rocecap/rocecap/internal/wire"
)

// worker handles jobs, one at a time.
type worker struct {
	scan     *scan
	handler  handler
	p        packet.Packet
	stateful []int // places in the job of packets that the state is made of
	units    map[int][]*iwarp.PDU
}

func newWorker(s *scan) *worker {
	w := &worker{scan: s, handler: s.newHandler(), units: make(map[int][]*iwarp.PDU)}
	w.p.Frame.RoCEPort = s.overrule.port
	return w
}

// work handles a job as if earlier packets said nothing about it, waits for its
// turn to learn what they do say, and hands the state on before it does the job
// again where that matters.
func (w *worker) work(j *job) {
	w.stateful = w.stateful[:0]
	clear(w.units)
	nothing := &service.Table{}
	w.pass(j, nothing, true)
	st := <-j.turn
	w.observe(j, st)
	table := st.services.Table()
	j.next <- st
	if len(w.stateful) > 0 || !table.Empty() {
		j.reset()
		w.pass(j, table, false)
	}
}

// pass handles every packet of the job. In the first pass the state is not
// known yet: from the first packet on that makes state, packets are only
// looked through for more of them, because all will be handled again.
func (w *worker) pass(j *job, table *service.Table, first bool) {
	previous := j.previousTime
	w.p.Forgive()
	for i := range j.records {
		rec := &j.records[i]
		w.load(j, i, previous)
		previous = rec.Time
		if first && !w.scan.stateless && makesState(&w.p.Frame) {
			w.stateful = append(w.stateful, i)
		}
		if first && len(w.stateful) > 0 {
			continue
		}
		w.interpret(table)
		w.p.PDUs = w.units[i]
		w.handler.handle(j, &w.p, rec)
	}
}

func (w *worker) load(j *job, i int, previous int64) {
	rec := &j.records[i]
	w.p.Number = j.first + i
	w.p.Time, w.p.HasTime = rec.Time, rec.HasTime
	w.p.Previous, w.p.First = previous, j.firstTime
	w.p.Interface, w.p.Comment, w.p.FCSLen = int(rec.Interface), rec.Comment, int(rec.FCSLen)
	w.p.PDUs = nil
	w.p.Parse(rec.Link, rec.Data, rec.WireLen)
}

// interpret continues the parse into a payload that something has named.
func (w *worker) interpret(table *service.Table) {
	if len(w.scan.overrule.upper) == 0 && table.Empty() {
		return
	}
	bth := wire.BTH(w.p.Frame.View(wire.HdrBTH))
	if len(bth) < wire.BTHLen {
		return
	}
	upper := w.scan.overrule.upper[bth.DestQP()]
	if upper == wire.UpperUnknown {
		upper = named(table, &w.p.Frame, w.p.Number)
	}
	if upper != wire.UpperUnknown {
		w.p.Frame.Interpret(upper)
	}
}

// named is what the queue pair that a packet goes to carries, as a CM exchange
// has said.
func named(table *service.Table, f *wire.Frame, number int) wire.Upper {
	bth := wire.BTH(f.View(wire.HdrBTH))
	if table.Empty() || len(bth) < wire.BTHLen {
		return wire.UpperUnknown
	}
	_, dst := f.Addresses()
	return table.Lookup(service.Endpoint{Addr: dst, QPN: bth.DestQP()}, number)
}

func makesState(f *wire.Frame) bool { return f.Proto == wire.ProtoTCP || service.IsCM(f) }

// observe feeds the job's stateful packets to the trackers.
func (w *worker) observe(j *job, st *state) {
	f := &w.p.Frame
	for _, i := range w.stateful {
		rec := &j.records[i]
		w.p.Parse(rec.Link, rec.Data, rec.WireLen)
		for _, pdu := range st.observe(f, j.first+i) {
			w.units[i] = append(w.units[i], pdu.Clone())
		}
	}
}

// observe takes a packet that the state is made of, and returns the iWARP units
// that it completes, which are valid until the next call.
func (st *state) observe(f *wire.Frame, number int) []*iwarp.PDU {
	if f.Proto != wire.ProtoTCP {
		st.services.Observe(f, number)
		return nil
	}
	segment, ok := iwarp.PacketOf(f, uint64(number))
	if !ok {
		return nil
	}
	return st.streams.Segment(segment)
}
