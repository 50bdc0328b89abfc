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

// maxWaiting bounds how many streams between two addresses are compared with an
// answer that belongs to none yet.
const maxWaiting = 64

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

	limits  Limits
	halves  map[key]*half
	waiting map[pair][]*half
	pending map[commID]*Exchange
	newest  *Conversation
	oldest  *Conversation
	open    int
	seen    int
	evicted int
	held    int            // bytes, beside a fixed part of each conversation
	recent  [recents]*half // the last one of each few queue pair numbers
	message Message        // what Message is called with
}

// recents is how many streams are found without the map.
const recents = 256

// slot is where a stream may be found without the map. A multiplication spreads
// the numbers, because the two queue pairs of a conversation are often alike in
// their low bits.
func slot(qpn uint32) uint32 { return qpn * 0x9e3779b1 >> 24 }

// pair is two addresses, in one order.
type pair struct{ src, dst netip.Addr }

// commID is a communication ID of one side.
type commID struct {
	addr netip.Addr
	id   uint32
}

// NewTracker returns a tracker that has seen nothing.
func NewTracker(limits Limits) *Tracker {
	return &Tracker{
		limits: limits, halves: make(map[key]*half),
		waiting: make(map[pair][]*half), pending: make(map[commID]*Exchange),
	}
}

// Evicted is how many conversations had to be given up.
func (t *Tracker) Evicted() int { return t.evicted }

// Seen is how many conversations there were.
func (t *Tracker) Seen() int { return t.seen }

// Packet takes the next packet of the capture.
func (t *Tracker) Packet(p *Packet) {
	if p.CM != nil {
		t.exchange(p)
	}
	h := t.find(p)
	if h == nil && p.Trust == Corrupt {
		return // who knows whose it is
	}
	if h != nil && p.restarts(&h.sender().Asks) {
		t.close(h.conversation)
		h = nil
	}
	if h == nil {
		h = t.attach(p)
	}
	if h == nil {
		h = t.begin(keyOf(p), p.Opcode.Info().Service, p)
	}
	t.recent[slot(p.DestQP)] = h
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
	h.passes(p)
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
		h.sender().Asks.datagram(p)
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
	if p.Trust != Corrupt {
		from.Asks.header(p)
		from.Asks.remains(p)
	}
	if c != t.newest {
		t.unlink(c)
		t.link(c)
	}
	if from.Packets%weighEvery == 0 {
		t.weigh(c)
	}
}

// corrupt remembers a packet that a receiver drops.
func (t *Tracker) corrupt(h *half, p *Packet) {
	if !p.Opcode.Info().Response {
		h.sender().Asks.spoilt(p.PSN)
	}
}

func keyOf(p *Packet) key { return key{p.Src, p.Dst, p.DestQP} }

// find returns the stream of a packet. The first packet of a stream may be a
// congestion notification, which does not tell the service.
func (t *Tracker) find(p *Packet) *half {
	h, k := t.recent[slot(p.DestQP)], keyOf(p)
	if h == nil || h.key != k {
		h = t.halves[k]
	}
	if h == nil {
		return nil
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

// begin makes a conversation of which one half is known.
func (t *Tracker) begin(k key, service wire.Service, p *Packet) *half {
	t.seen++
	c := &Conversation{First: p.Number, Last: p.Number, Began: p.Time, Ended: p.Time}
	c.Ends[0].Addr = k.src
	c.Ends[1] = End{Addr: k.dst, QPN: k.qpn, Known: true}
	if service == wire.UD {
		c.Ends[0].QPN, c.Ends[0].Known = p.SrcQP, true
	}
	c.serve(service)
	t.listen(c)
	c.Ends[0].Asks.window.few, c.Ends[1].Asks.window.few = t.seen > richOnes, t.seen > richOnes
	h := &half{conversation: c, key: k}
	c.halves[0] = h
	t.halves[k] = h
	t.link(c)
	if t.open++; t.open > t.limits.Conversations {
		t.evict()
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
		if last := &t.recent[slot(h.key.qpn)]; *last == h {
			*last = nil
		}
	}
	t.unlink(c)
	t.open--
	t.held -= c.held
	c.close()
	if t.Closed != nil {
		t.Closed(c)
	}
}

// Finish ends the capture: every conversation is over.
func (t *Tracker) Finish() {
	for t.oldest != nil {
		t.close(t.oldest)
	}
}

func (t *Tracker) link(c *Conversation) {
	c.older, c.newer = t.newest, nil
	if t.newest != nil {
		t.newest.newer = c
	}
	t.newest = c
	if t.oldest == nil {
		t.oldest = c
	}
}

func (t *Tracker) unlink(c *Conversation) {
	if c.older != nil {
		c.older.newer = c.newer
	} else {
		t.oldest = c.newer
	}
	if c.newer != nil {
		c.newer.older = c.older
	} else {
		t.newest = c.older
	}
	c.older, c.newer = nil, nil
}

func (t *Tracker) request(h *half, p *Packet) {
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
		return
	}
	asks := &h.receiver().Asks
	if !asks.begun || !asks.near(p.PSN) {
		h.sender().Strange++
		return
	}
	h.conversation.Agreements++
	h.sender().Asks.measure(p)
	asks.progress(p)
	asks.response(p)
}

// near reports whether a PSN can have to do with what was asked here.
func (d *Direction) near(psn wire.PSN) bool {
	ahead := psn.Diff(d.frontier)
	return ahead <= maxJump && ahead >= -maxWindow
}
