package replay

import (
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// link is a connection, or a service ID resolution, by our side's ID; by the
// peer's as long as ours is not known.
type link struct {
	peer   netip.Addr
	id     uint32
	theirs bool
}

// managed is a message of the connection manager in a recording or from the
// network.
type managed struct {
	rewrite.CM
	link link
}

// management is what a Machine knows of connections.
type management struct {
	live    *rewrite.Engine // names and counts as the live peer does
	learned bool            // live changes something
	named   map[link]link   // from the peer's ID to ours
	heard   map[link]link   // from the ID in a request of the live peer to the recording's link
	ends    map[link]rewrite.Endpoint
	broken  map[link]bool // the peer has refused it, or does not answer
	asked   map[int]int64 // until when the peer has asked to wait for an event, once
	repeats map[int]int   // how often our answer to an event was asked for again
	hosts   map[netip.Addr]bool
	changed []byte // the frame that is sent
}

func newManagement(peers map[rewrite.Endpoint]rewrite.Endpoint) management {
	return management{
		live: rewrite.Follow(peers), named: make(map[link]link), heard: make(map[link]link),
		ends: make(map[link]rewrite.Endpoint), broken: make(map[link]bool), asked: make(map[int]int64), repeats: make(map[int]int), hosts: make(map[netip.Addr]bool),
	}
}

// managedOf finds the message in a frame that one side sent.
func managedOf(f *wire.Frame, mine bool) (m managed, ok bool) {
	if m.CM, ok = rewrite.CMOf(f); !ok || f.Cut() {
		return m, false
	}
	src, dst := f.Addresses()
	m.link = link{peer: dst, id: m.Local}
	if !mine {
		m.link = link{peer: src, id: m.Remote}
	}
	switch m.What {
	case wire.HdrCMSidrRep:
		m.link.id, m.link.theirs = m.Local, mine
	case wire.HdrCMReq, wire.HdrCMSidrReq:
		m.link.id, m.link.theirs = m.Local, !mine
	}
	if m.link.id == 0 { // a refusal by a side that has given no ID, or to one
		m.link.id, m.link.theirs = max(m.Local, m.Remote), true
	}
	return m, true
}

// resolve returns the link by our ID, where that is known.
func (g *management) resolve(l link) link {
	if ours, ok := g.named[l]; ok {
		return ours
	}
	return l
}

// name notes what our own message says of a connection.
func (g *management) name(f *wire.Frame, m *managed) {
	src, dst := f.Addresses()
	g.hosts[src] = true
	if m.Remote != 0 && m.Local != 0 {
		g.named[link{dst, m.Remote, true}] = m.link
	}
	for _, h := range f.Headers() {
		switch h.ID {
		case wire.HdrCMReq:
			g.ends[m.link] = rewrite.Endpoint{Addr: src, QPN: wire.CMReq(f.Bytes(h)).LocalQPN()}
		case wire.HdrCMRep:
			g.ends[m.link] = rewrite.Endpoint{Addr: src, QPN: wire.CMRep(f.Bytes(h)).LocalQPN()}
		}
	}
}

// manage finds the messages of the connection manager in the recording, and
// which of them the peer is to send again: its requests, and what it said on
// connections on which we had spoken. An MRA is not waited for, and nothing is
// twice.
func (m *Machine) manage() {
	var f wire.Frame
	for i := range m.events {
		if m.messages[i].kind != manager {
			continue
		}
		f.Parse(wire.LinkEthernet, m.events[i].Frame, 0)
		if m.events[i].Mine {
			m.name(&f, &m.messages[i].cm)
		} else {
			_, dst := f.Addresses()
			m.hosts[dst] = true
		}
	}
	type said struct {
		link link
		what wire.HeaderID
	}
	spoken, seen := make(map[link]bool), make(map[said]bool)
	for i := range m.events {
		c := &m.messages[i].cm
		if m.messages[i].kind != manager {
			continue
		}
		c.link = m.resolve(c.link)
		begins := c.What == wire.HdrCMReq || c.What == wire.HdrCMSidrReq
		switch key := (said{c.link, c.What}); {
		case m.events[i].Mine:
			spoken[c.link] = true
		case c.What != wire.HdrCMMra && !seen[key] && (begins || spoken[c.link]):
			seen[key] = true
			m.states[i] = expected
			m.report.Expected++
		}
	}
}

// receiveManaged takes a message of the live peer.
func (m *Machine) receiveManaged(f *wire.Frame, got *message, now int64) {
	c := &got.cm
	if c.link.theirs {
		c.link = m.hear(c)
	}
	c.link = m.resolve(c.link)
	outstanding := m.outstanding(c.link)
	i := m.find(c.link, c.What, expected)
	switch {
	case m.broken[c.link]:
		m.report.Extra++
	case i >= 0:
		m.learn(i, f)
		m.arrive(i)
		m.deadline = 0
	case c.What == wire.HdrCMMra && outstanding >= 0:
		if _, twice := m.asked[outstanding]; !twice {
			m.asked[outstanding], m.deadline = now+serviceTimeout(f), 0
		}
	case c.What == wire.HdrCMRej && outstanding >= 0:
		m.differ(outstanding, refusal(f))
		m.breakOff(c.link)
	case c.What == wire.HdrCMRep && m.find(c.link, wire.HdrCMRej, expected) >= 0:
		m.differ(outstanding, got.String())
		m.breakOff(c.link)
	default:
		m.report.Extra++
		if j := m.find(c.link, c.What, arrived); j >= 0 {
			m.answerAgain(j)
		}
	}
}

// hear finds the recorded link that a request of the live peer stands for: the
// next one to the same service.
func (m *Machine) hear(c *managed) link {
	if known, ok := m.heard[c.link]; ok {
		return known
	}
	for i := range m.messages {
		if w := &m.messages[i]; m.states[i] == expected && w.kind == manager && w.cm.What == c.What && w.cm.Service == c.Service && w.cm.link.peer == c.link.peer {
			m.heard[c.link] = w.cm.link
			return w.cm.link
		}
	}
	return c.link
}

// find returns the first event of the peer in a state, -1 when there is none.
func (m *Machine) find(l link, what wire.HeaderID, s state) int {
	for i := range m.messages {
		if w := &m.messages[i]; m.states[i] == s && w.kind == manager && w.cm.link == l && w.cm.What == what {
			return i
		}
	}
	return -1
}

// outstanding returns the first message that is expected on a link.
func (m *Machine) outstanding(l link) int {
	for i := range m.messages {
		if w := &m.messages[i]; m.states[i] == expected && w.kind == manager && w.cm.link == l {
			return i
		}
	}
	return -1
}

// learn takes over what the live peer names otherwise, for all that follows: our
// requests, and the answers to them, count from the PSN that it has said.
func (m *Machine) learn(i int, f *wire.Frame) {
	var was wire.Frame
	was.Parse(wire.LinkEthernet, m.events[i].Frame, 0)
	stream, by := m.live.Learn(&was, f)
	m.learned = true
	for j := i + 1; j < len(m.messages) && stream.Addr.IsValid(); j++ {
		w := &m.messages[j]
		to, asks := w.to, w.kind == request
		if !m.events[j].Mine {
			to, asks = m.options.Peers[w.to], !asks
		}
		if asks && to == stream {
			w.psn = w.recorded.Add(by)
		}
	}
}

// frame is what is sent for an event.
func (m *Machine) frame(i int) []byte {
	if !m.learned {
		return m.events[i].Frame
	}
	var f wire.Frame
	m.changed = append(m.changed[:0], m.events[i].Frame...)
	f.Parse(wire.LinkEthernet, m.changed, 0)
	m.live.Apply(&f, -1)
	return m.changed
}

// askAgain queues our last message before event i on its link, if it is what the
// peer should have answered.
func (m *Machine) askAgain(i int) bool {
	m.tries++
	m.deadline = 0
	switch c := &m.messages[i].cm; c.What {
	case wire.HdrCMReq, wire.HdrCMDreq, wire.HdrCMLap, wire.HdrCMSidrReq: // it asks
	default:
		for j := i - 1; j >= 0; j-- {
			if w := &m.messages[j]; m.events[j].Mine && w.kind == manager && w.cm.link == c.link {
				m.again = append(m.again, j)
				return true
			}
		}
	}
	return false
}

// answerAgain queues our answer to event i, which the peer has repeated.
func (m *Machine) answerAgain(i int) {
	for j := i + 1; j < m.next; j++ {
		if w := &m.messages[j]; m.events[j].Mine && w.kind == manager && w.cm.link == m.messages[i].cm.link {
			if m.repeat(j) {
				m.again = append(m.again, j)
			}
			return
		}
	}
}

// repeat reports whether the answer that event i is may be sent once more: a
// peer that repeats itself for ever shall not keep us from ending.
func (m *Machine) repeat(i int) bool {
	m.repeats[i]++
	return m.repeats[i] <= max(m.options.Retries, 1)
}

// patience is until when event i is waited for.
func (m *Machine) patience(i int, now int64) int64 {
	return max(now+m.options.Timeout, m.asked[i])
}

// breakOff ends the waiting on a link and on its queue pair.
func (m *Machine) breakOff(l link) {
	m.broken[l] = true
	if at, ok := m.ends[l]; ok {
		m.lost[at] = true
	}
}

// serviceTimeout is how long an MRA asks to wait (IBTA 12.6.6).
func serviceTimeout(f *wire.Frame) int64 {
	const unit = 4096 // nanoseconds
	return unit << wire.CMMra(f.View(wire.HdrCMMra)).ServiceTimeout()
}

// refusal describes a REJ.
func refusal(f *wire.Frame) string {
	reason := wire.CMRej(f.View(wire.HdrCMRej)).Reason()
	text := fmt.Sprintf("reason %d", reason)
	if name := wire.CMRejReason(reason); name != "" {
		text = name
	}
	return managedName(wire.HdrCMRej) + " (" + text + ")"
}

func managedName(id wire.HeaderID) string { return wire.SpecOf(id).Title }
