// Package packet holds one captured packet with everything that was found in
// it: what the filter, the field list and every printer work on.
package packet

import (
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// Packet is one captured packet. A Packet is reused for the next one; nothing
// may keep its slices. It belongs to one goroutine.
type Packet struct {
	Number    int   // 1-based place in the capture
	Time      int64 // nanoseconds since the epoch
	HasTime   bool
	Previous  int64 // time of the packet before, Time for the first
	First     int64 // time of the capture's first packet
	Interface int   // index of the capture interface, -1 when unknown
	Comment   string
	FCSLen    int // bytes of frame check sequence that the frame ends with, -1 when unknown

	Frame wire.Frame
	PDUs  []*iwarp.PDU // iWARP units that this packet completed

	hasher icrc.Hasher
	doubts int
	peers  []netip.Addr // addresses of good packets of this part of the capture
	judged bool
	crc    Judgement
}

// Judgement is what the CRCs of a packet say.
type Judgement struct {
	ICRC, VCRC icrc.Verdict
	// Computed and Received are the ICRC's values, when ICRC is Good or Bad.
	Computed, Received uint32
	// Mistake says which known mistake makes a bad ICRC, "" when none does.
	Mistake string
	// Flipped says that it is one bit that was changed on the way.
	Flipped bool
	// Untried says that a bad ICRC was not explained for want of doubts.
	Untried bool
}

// maxDoubts is how many more wrong ICRCs may stay unexplained than were
// explained before looking for mistakes ends. An explanation costs a hundred
// times what the ICRC does, and a sender whose mistake is unknown makes it in
// every packet.
const maxDoubts = 32

// maxPeers is how many addresses are tried as what a rewritten one was.
const maxPeers = 16

// Parse makes the packet hold another frame; the capture's own facts and the
// iWARP units stay as they are.
func (p *Packet) Parse(link wire.LinkType, data []byte, wireLen int) {
	p.judged = false
	p.Frame.Parse(link, data, wireLen)
}

// CRC judges the packet's CRCs, once, when first asked: a reader of two header
// fields does not pay for sums over the payload.
func (p *Packet) CRC() *Judgement {
	if p.judged {
		return &p.crc
	}
	p.judged = true
	p.crc = Judgement{}
	p.crc.ICRC, p.crc.Computed, p.crc.Received = p.hasher.Judge(&p.Frame)
	p.crc.VCRC, _, _ = icrc.JudgeVCRC(&p.Frame)
	switch p.crc.ICRC {
	case icrc.Good:
		p.remember()
	case icrc.Bad:
		p.explain()
	}
	return &p.crc
}

// remember notes the packet's addresses: one of them may be what a later
// packet had before it was rewritten.
func (p *Packet) remember() {
	src, dst := p.Frame.Addresses()
	for _, a := range [...]netip.Addr{src, dst} {
		if len(p.peers) < maxPeers && !slices.Contains(p.peers, a) {
			p.peers = append(p.peers, a)
		}
	}
}

func (p *Packet) explain() {
	if p.doubts >= maxDoubts {
		p.crc.Untried = true
		return
	}
	why := p.hasher.Explain(&p.Frame, p.peers...)
	if why.Cause == icrc.CauseUnknown {
		p.doubts++
		return
	}
	p.doubts--
	p.crc.Mistake = why.Detail
	p.crc.Flipped = why.Cause == icrc.CauseBitFlip
}

// Forgive makes looking for mistakes begin anew, with another part of the
// capture.
func (p *Packet) Forgive() { p.doubts, p.peers = 0, p.peers[:0] }

// Stacks is the number of runs of headers that the packet has.
func (p *Packet) Stacks() int { return 1 + len(p.PDUs) }

// Stack returns the i-th run of headers: 0 is the frame's own, the others are
// the iWARP units'.
func (p *Packet) Stack(i int) *wire.Stack {
	if i == 0 {
		return &p.Frame.Stack
	}
	return &p.PDUs[i-1].Stack
}
