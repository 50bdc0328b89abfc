package conversation

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Limits bound what a Tracker keeps.
type Limits struct {
	Conversations int // open at a time
	Pending       int // CM requests without a reply
	// Bytes is about how much the open conversations may hold together, beside a
	// fixed part of each; 0 for any.
	Bytes int
}

// DefaultLimits keep the tracker below about 160 MB.
func DefaultLimits() Limits {
	return Limits{Conversations: 1 << 14, Pending: 1 << 12, Bytes: 64 << 20}
}

// maxJump is how far, in either direction, the PSN of a request that begins a
// message may be from what was sent before. Beyond, the queue pair number is in
// use for another conversation: no requester has so many packets under way.
const maxJump = 1 << 16

// Tracker takes the packets of a capture and knows its conversations.
type Tracker struct {
	// Closed is called with each conversation that is over: its number is used
	// again, it is evicted, or the capture has ended. May be nil.
	Closed func(*Conversation)
	// Report is called with each event, and with which end's requests it is
	// about. May be nil.
	Report func(c *Conversation, end int, e Event)
	// Message is called with each message that has ended, and with which end
	// asked for it; m is valid until the next call. May be nil.
	Message func(c *Conversation, end int, m *Message)
	// Placed is called with each packet when it was followed, and from which end
	// of which conversation it is. May be nil.
	Placed func(c *Conversation, end int, p Packet)
	// United is called when gone, which was one stream, becomes what an end of
	// another conversation sends. May be nil.
	United func(kept *Conversation, end int, gone *Conversation)

	// Until is how far the capture goes, in nanoseconds since the epoch, where that is
	// known to be behind the last packet that was taken: what then did not come any
	// more was given up.
	Until int64

	limits  Limits
	halves  map[key]*half
	waiting map[pair]*crowd
	pending requests
	silent  order // all that are open
	aside   order // of which those that are answers alone so far
	open    int
	seen    int
	evicted int
	strange int                 // answers that were not followed
	held    int                 // bytes, beside a fixed part of each conversation
	reached map[netip.Addr]bool // where something went; true where a CNP did that belongs to nothing that is known
	recent  recent
	now     int64   // the latest time of a packet
	message Message // what Message is called with
}

// pair is two addresses, in one order.
type pair struct{ src, dst netip.Addr }

// commID is a communication ID of one side.
type commID struct {
	addr netip.Addr
	id   uint32
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker(limits Limits) *Tracker {
	t := &Tracker{
		limits: limits, halves: make(map[key]*half),
		waiting: make(map[pair]*crowd), pending: requests{by: make(map[commID]*request)},
		aside: order{which: 1}, reached: make(map[netip.Addr]bool),
	}
	t.recent.make(minRecent)
	t.pending.ring.newer, t.pending.ring.older = &t.pending.ring, &t.pending.ring
	return t
}

// Evicted is how many conversations had to be given up.
func (t *Tracker) Evicted() int { return t.evicted }

// Seen is how many conversations there were.
func (t *Tracker) Seen() int { return t.seen }

// Packet takes the next packet of the capture.
func (t *Tracker) Packet(p *Packet) {
	if p.CM != nil && !p.Copy {
		t.exchange(p)
	}
	h := t.find(p)
	if h == nil && p.Trust == Corrupt {
		return // who knows whose it is
	}
	if p.Copy {
		h.copied(p)
		return
	}
	if h != nil && (p.restarts(&h.sender().Asks) || p.reuses(h)) {
		t.close(h.conversation)
		h = nil
	}
	if h == nil {
		h = t.attach(p)
	}
	if h == nil {
		if !t.admits(p) {
			t.strange++
			return
		}
		h = t.begin(keyOf(p), p.Opcode.Info().Service, p)
	}
	t.recent.note(h)
	t.count(h, p)
	t.follow(h, p)
	if t.Placed != nil {
		t.Placed(h.conversation, h.end, *p)
	}
}

// follow takes a packet of a stream for what it is.
func (t *Tracker) follow(h *half, p *Packet) {
	if p.Trust == Corrupt {
		t.corrupt(h, p)
		return
	}
	if p.Trust == Mistaken && !p.Opcode.Info().Response {
		h.sender().Asks.mistaken(p.PSN)
	}
	h.passes(p)
	if p.CE {
		h.expectCNP()
	}
	info := p.Opcode.Info()
	switch info.Service {
	case wire.CNP:
		h.sender().CNPs++
		t.notify(h, p)
		h.sender().Asks.tell(Event{Kind: CongestionCNP, Packet: p.Number, N: 1})
	case wire.RC, wire.XRC:
		switch {
		case !info.Defined():
		case info.Response:
			t.response(h, p)
		default:
			t.request(h, p)
		}
	case wire.UC:
		if info.Defined() {
			t.request(h, p)
		}
	case wire.UD:
		t.asks(h.conversation)
		h.sender().Asks.datagram(p)
	case wire.RD:
		if info.Defined() && !info.Response {
			t.asks(h.conversation)
			h.sender().Asks.counted(p)
		}
	}
}

// datagram counts a message that is a packet.
func (d *Direction) datagram(p *Packet) {
	d.Requests++
	d.Payload += int64(p.Payload)
	d.Frames += int64(p.WireLen)
	d.Operations[Send].Messages++
	d.Operations[Send].Bytes += int64(p.Payload)
	d.messages.datagram(p)
	d.window.note(p.Time, &d.messages.volume)
	if d.ended != nil {
		m := datagramOf(p)
		d.record(&m, false)
	}
}

// counted counts a request packet of a reliable datagram. Which of the messages that go
// to an end-to-end context it belongs to, and what became of it, is not followed.
func (d *Direction) counted(p *Packet) {
	info, op := p.Opcode.Info(), opOf(p.Opcode)
	d.Requests++
	d.Payload += int64(p.Payload)
	d.Frames += int64(p.WireLen)
	if ends(info.Place) {
		d.Operations[op].Messages++
	}
	d.Operations[op].Bytes += bytesOf(p, op)
	d.messages.asked.take(p, op, info)
	d.messages.volume.payload += int64(p.Payload)
	d.messages.volume.finished += bytesOf(p, op)
	d.window.note(p.Time, &d.messages.volume)
}

func (t *Tracker) count(h *half, p *Packet) {
	c, from := h.conversation, h.sender()
	c.Last, c.Ended = p.Number, p.Time
	from.Packets++
	from.Bytes += int64(p.WireLen)
	if p.CE {
		from.CE++
		from.Asks.tell(Event{Kind: CongestionCE, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	switch p.Trust {
	case Corrupt:
		from.Corrupt++
		from.Asks.tell(Event{Kind: BadICRC, Packet: p.Number, PSN: p.PSN, N: 1})
	case Mistaken:
		from.Corrupt++
		from.Mistake = p.Mistake
		from.Asks.tell(Event{Kind: IcrcMistake, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	t.now = max(t.now, p.Time)
	if p.Trust != Corrupt {
		from.Asks.header(p)
		from.Asks.remains(p)
	}
	t.renew(c)
	if from.Packets%weighEvery == 0 {
		t.weigh(c)
	}
}

// corrupt remembers a packet that a receiver drops.
func (t *Tracker) corrupt(h *half, p *Packet) {
	if !p.Opcode.Info().Response {
		h.sender().Asks.spoilt(p.PSN, p.Time)
	}
}

func keyOf(p *Packet) key { return key{p.Src, p.Dst, p.DestQP} }

// find returns the stream of a packet. The first packet of a stream may be a
// congestion notification, which does not tell the service.
func (t *Tracker) find(p *Packet) *half {
	h := t.recent.find(p)
	if h == nil {
		if h = t.halves[keyOf(p)]; h == nil {
			return nil
		}
	}
	if s := p.Opcode.Info().Service; h.conversation.Service == wire.CNP && s != wire.CNP {
		h.conversation.serve(s)
	}
	return h
}

// restarts reports whether a request is the first of another conversation.
func (p *Packet) restarts(d *Direction) bool {
	if !d.begun || p.Trust == Corrupt {
		return false
	}
	jump := p.PSN.Diff(d.frontier)
	if -maxJump <= jump && jump <= maxJump || d.messages.covering(p.PSN) != nil {
		return false
	}
	info := p.Opcode.Info()
	return d.follows(info.Service) && !info.Response && (info.Place == wire.PlaceFirst || info.Place == wire.PlaceOnly)
}

// longestTimeout is the longest local ACK timeout in use, setting 20; a device may
// wait up to four times as long (C9-140).
const longestTimeout = 4096 << 20

// reuses reports whether a request is the first of another conversation of the same
// queue pair number: it goes back to what was acknowledged, after such a silence that
// no timer can be the reason.
func (p *Packet) reuses(h *half) bool {
	d := &h.sender().Asks
	if !d.begun || !d.reliable || p.Trust == Corrupt || d.acked != d.frontier || !p.PSN.Less(d.frontier) {
		return false
	}
	info := p.Opcode.Info()
	return info.Defined() && !info.Response && begins(info.Place) && p.Time-h.conversation.Ended > patient*longestTimeout
}

// begin makes a conversation of which one half is known.
func (t *Tracker) begin(k key, service wire.Service, p *Packet) *half {
	t.seen++
	c := &Conversation{First: p.Number, Last: p.Number, Began: p.Time, Ended: p.Time}
	c.Ends[0].Addr = k.src
	c.Ends[1] = End{Addr: k.dst, QPN: k.qpn, Known: true}
	if service == wire.UD || service == wire.RD && p.SrcQP > 0 {
		c.Ends[0].QPN, c.Ends[0].Known = p.SrcQP, true
	}
	c.serve(service)
	t.listen(c)
	c.Ends[0].Asks.window.few, c.Ends[1].Asks.window.few = t.seen > richOnes, t.seen > richOnes
	h := &half{conversation: c, key: k}
	c.halves[0] = h
	t.keep(h)
	t.reach(k.dst, false)
	c.answering = answers(p)
	t.add(c)
	if t.open > t.limits.Conversations {
		t.evict(t.leaver())
	}
	return h
}

// listen has the events and the messages of a conversation reported.
func (t *Tracker) listen(c *Conversation) {
	for i := range c.Ends {
		asks := &c.Ends[i].Asks
		if t.Report != nil {
			asks.report = func(e Event) { t.Report(c, i, e) }
		}
		if t.Message != nil {
			asks.ended = func(m *message) {
				t.message = m.record()
				t.Message(c, i, &t.message)
			}
		}
	}
}

// close takes a conversation out of the tracker.
func (t *Tracker) close(c *Conversation) {
	for _, h := range c.halves {
		if h == nil {
			continue
		}
		t.stopWaiting(h)
		delete(t.halves, h.key)
		t.recent.forget(h)
	}
	t.remove(c)
	t.held -= c.held
	t.silence(c)
	c.close(max(t.now, t.Until))
	if t.Closed != nil {
		t.Closed(c)
	}
}

// Finish ends the capture: every conversation is over.
func (t *Tracker) Finish() {
	for t.silent.oldest != nil {
		t.close(t.silent.oldest)
	}
}

func (t *Tracker) request(h *half, p *Packet) {
	t.asks(h.conversation)
	asks := &h.sender().Asks
	if asks.begun && !asks.near(p.PSN) {
		h.sender().Strange++
		return
	}
	asks.progress(p)
	asks.request(p)
	if h.conversation.Joined == NotJoined && asks.reliable {
		t.wait(h)
	}
}

// response takes an answer to what the other half asks.
func (t *Tracker) response(h *half, p *Packet) {
	if h.conversation.Joined == NotJoined && !t.join(h, p) {
		h.sender().Strange++
		h.receiver().Asks.refusedUnseen(p)
		return
	}
	asks := &h.receiver().Asks
	if !asks.begun || !asks.near(p.PSN) {
		h.sender().Strange++
		if !asks.begun {
			asks.refusedUnseen(p)
		}
		return
	}
	h.conversation.Agreements++
	h.sender().Asks.measure(p)
	if kind, wrong := asks.misplaces(p, h.sender().Asks.rules.size); wrong {
		h.sender().Asks.tell(Event{Kind: kind, Packet: p.Number, PSN: p.PSN, N: 1})
	}
	asks.progress(p)
	asks.response(p)
}

// near reports whether a PSN can have to do with what was asked here.
func (d *Direction) near(psn wire.PSN) bool {
	ahead := psn.Diff(d.frontier)
	return ahead <= maxJump && ahead >= -maxWindow
}
