package conversation

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// Packet is what the tracker needs to know of one packet.
type Packet struct {
	Number   int   // 1-based place in the capture
	Time     int64 // nanoseconds since the epoch
	Src, Dst netip.Addr

	DestQP   uint32
	SrcQP    uint32 // of UD
	PSN      wire.PSN
	Opcode   wire.Opcode
	Syndrome wire.Syndrome // of packets with an AETH
	Trust    Trust
	CE       bool // marked by congestion in the IP header or GRH
	DSCP     uint8
	Paused   time.Duration // for how long flow control had paused anything before, on whichever link

	DMALen    uint32 // of a packet with a RETH
	RKey      uint32 // of a RETH or AtomicETH, or what an IETH invalidates
	VA        uint64 // of a RETH or AtomicETH
	Immediate uint32 // of an ImmDt
	MSN       uint32 // of an AETH
	Solicited bool   // the bit of the BTH

	Payload  int // bytes, without pad
	PKey     uint16
	MigReq   bool
	Reserved bool  // reserved bits of the BTH are set
	TVer     uint8 // the transport header version
	AckReq   bool
	PadWrong bool   // the pad count is not what the payload needs
	PadSet   bool   // pad bytes are not 0
	QKey     uint32 // of a DETH
	Mistake  string // Mistaken: which
	WireLen  int    // of the whole frame

	// What tells a packet that is in the capture twice from one that was sent again.
	IPID uint16 // the identification of an IPv4 header
	Hops uint8  // the time to live, or hop limit
	ICRC uint32 // as it is in the packet, 0 when that is cut before it
	// Copy says that the packet is in the capture once more: it was sent once.
	Copy bool

	// Untold says that the capture was cut before the end of the AETH: an
	// acknowledgement may be an ACK, a NAK or an RNR NAK.
	Untold bool

	// Unsized says that the capture was cut before the end of the RETH, so that the
	// DMA length is not known.
	Unsized bool

	CM *Exchange // what a CM message says, nil in other packets
}

// Trust is what the ICRC says about a packet.
type Trust uint8

// The degrees of trust.
const (
	Trusted Trust = iota // the ICRC is right, or not there to be judged
	// Mistaken: it is wrong in the way of a sender that computes it wrongly; the
	// packet is what the sender meant.
	Mistaken
	Corrupt // it is wrong, and nothing explains it: any bit may be
)

// Exchange is the part of a CM REQ or REP that names a connection.
type Exchange struct {
	Reply      bool
	ID         uint32       // the sender's communication ID
	RemoteID   uint32       // of a REP: the ID of the REQ
	QPN        uint32       // the sender's queue pair
	Service    wire.Service // of a REQ
	PathMTU    int          // of a REQ, in bytes; 0 for a code that is not defined
	AckTimeout uint8        // of a REQ: the setting, 4.096 us times two to this power
	offer      offer
}

// Read takes the packet's facts out of a frame; ok is false when the frame has
// no whole BTH and addresses. The number, the time and the trust are the
// caller's.
func (p *Packet) Read(f *wire.Frame) (ok bool) {
	var headers reader
	for _, h := range f.Headers() {
		headers.look(f, h)
	}
	if headers.bth == nil || !headers.src.IsValid() {
		return false
	}
	bth := headers.bth
	*p = Packet{
		Number: p.Number, Time: p.Time, Trust: p.Trust,
		Src: headers.src, Dst: headers.dst,
		DestQP: bth.DestQP(), PSN: bth.PSN(), Opcode: bth.Opcode(), CE: headers.ce, DSCP: headers.dscp,
		Payload: f.PayloadLen, WireLen: f.WireLen,
		Solicited: bth.Solicited(), PKey: bth.PKey(), MigReq: bth.MigReq(), TVer: bth.TVer(), Reserved: bth.ReservedSet(),
	}
	if h := headers.deth; h != nil {
		p.SrcQP, p.QKey = h.SrcQP(), h.QKey()
	}
	if h := headers.aeth; h != nil {
		p.Syndrome, p.MSN = h.Syndrome(), h.MSN()
	}
	if h := headers.reth; h != nil {
		p.DMALen, p.RKey, p.VA = h.DMALen(), h.RKey(), h.VA()
	}
	if h := headers.atomic; h != nil {
		p.RKey, p.VA = h.RKey(), h.VA()
	}
	if h := headers.ieth; h != nil {
		p.RKey = h.RKey()
	}
	if h := headers.immdt; h != nil {
		p.Immediate = h.Data()
	}
	p.IPID, p.Hops, p.ICRC = headers.id, headers.hops, headers.icrc
	p.Unsized, p.Untold = headers.unsized, headers.untold
	p.AckReq = bth.AckReq()
	p.PadWrong, p.PadSet = padOf(f, p.Opcode.Info().Place), headers.padSet
	p.CM = headers.exchange
	return true
}

// reader collects the headers of a frame, the innermost of each kind.
type reader struct {
	src, dst netip.Addr
	ce       bool
	dscp     uint8
	bth      wire.BTH
	deth     wire.DETH
	aeth     wire.AETH
	reth     wire.RETH
	atomic   wire.AtomicETH
	ieth     wire.IETH
	immdt    wire.ImmDt
	exchange *Exchange
	icrc     uint32
	id       uint16
	hops     uint8
	padSet   bool
	unsized  bool
	untold   bool
}

func (r *reader) look(f *wire.Frame, h wire.Header) {
	switch h.ID {
	case wire.HdrEthernet, wire.HdrUDP, wire.HdrPayload, wire.HdrTrailer:
		return // nearly every frame has these, and they tell nothing here
	}
	b := f.Whole(h)
	if b == nil {
		r.unsized, r.untold = r.unsized || h.ID == wire.HdrRETH, r.untold || h.ID == wire.HdrAETH
		return
	}
	switch h.ID {
	case wire.HdrIPv4:
		ip := wire.IPv4Header(b)
		r.dscp = ip.DSCP()
		r.src, r.dst = ip.Src(), ip.Dst()
		r.mark(ip.ECN())
		r.id, r.hops = ip.ID(), ip.TTL()
	case wire.HdrIPv6:
		ip := wire.IPv6Header(b)
		r.dscp = ip.DSCP()
		r.src, r.dst = ip.Src(), ip.Dst()
		r.mark(ip.ECN())
		r.id, r.hops = 0, ip.HopLimit()
	case wire.HdrGRH:
		grh := wire.GRH(b)
		r.dscp = grh.TClass() >> 2
		r.src, r.dst, r.ce = grh.SGID().Unmap(), grh.DGID().Unmap(), grh.ECN() == wire.ECNCE
		r.id, r.hops = 0, grh.HopLimit()
	case wire.HdrERSPAN2, wire.HdrERSPAN3:
		r.ce = false // it was the mirror's copy that was marked
	case wire.HdrLRH:
		// A GRH behind it has the better address.
		r.src, r.dst = f.Addresses()
	case wire.HdrBTH:
		r.bth = b
	case wire.HdrDETH:
		r.deth = b
	case wire.HdrAETH:
		r.aeth = b
	case wire.HdrRETH:
		r.reth = b
	case wire.HdrAtomicETH:
		r.atomic = b
	case wire.HdrIETH:
		r.ieth = b
	case wire.HdrImmDt:
		r.immdt = b
	case wire.HdrICRC:
		r.icrc = binary.BigEndian.Uint32(b)
	case wire.HdrPad:
		r.padSet = len(bytes.Trim(b, "\x00")) > 0
	case wire.HdrCMReq, wire.HdrCMRep:
		r.exchange = exchange(h.ID, b)
	}
}

// mark takes the ECN field of an IP header, the outermost first. At the end of a
// tunnel a mark is copied to the inner header if that one can be marked (RFC 6040,
// 4.2).
func (r *reader) mark(ecn uint8) {
	r.ce = ecn == wire.ECNCE || r.ce && ecn != wire.ECNNotECT
}

func exchange(id wire.HeaderID, b []byte) *Exchange {
	if id == wire.HdrCMRep {
		rep := wire.CMRep(b)
		return &Exchange{Reply: true, ID: rep.LocalCommID(), RemoteID: rep.RemoteCommID(), QPN: rep.LocalQPN(), offer: offerOfReply(rep)}
	}
	req := wire.CMReq(b)
	e := &Exchange{offer: offerOfRequest(req), ID: req.LocalCommID(), QPN: req.LocalQPN(), Service: serviceOf(req), AckTimeout: req.PrimaryPath().LocalACKTimeout()}
	// Code 1 is 256 bytes, 5 is 4096 (IBTA vol. 1, 12.7.15).
	if code := req.PathMTU(); code >= 1 && code <= 5 {
		e.PathMTU = 128 << code
	}
	return e
}

// hasAETH reports whether a packet has a syndrome and an MSN.
func (p *Packet) hasAETH() bool {
	info := p.Opcode.Info()
	return info.Response && info.Place != wire.PlaceMiddle && !p.Untold
}

// padOf reports whether a packet's pad count is wrong: payload and pad are a
// multiple of four together, and FIRST and MIDDLE, which have one path MTU, need
// none (IBTA vol. 1, 9.2.3 and C9-10).
func padOf(f *wire.Frame, place wire.Place) bool {
	full := place == wire.PlaceFirst || place == wire.PlaceMiddle
	return f.Problems&wire.ProblemPad != 0 || (f.PayloadLen+f.Pad)%4 != 0 || f.Pad > 0 && full
}

// span is how many PSNs a request takes: a READ as many as its response has
// packets, at least one (IBTA vol. 1, 9.7.2 and 9.7.5.1.3). Without a known
// path MTU, 0, that of a READ is known only if it fits into the smallest.
func (p *Packet) span(mtu int) (n int, known bool) {
	switch {
	case p.Opcode.Operation() != wire.OpReadRequest:
		return 1, true
	case p.Unsized:
		return 1, false
	case p.DMALen <= minMTU:
		return 1, true
	case mtu == 0:
		return 1, false
	}
	return packets(p.DMALen, mtu), true
}

// maxSpan bounds what a READ takes, so that PSNs stay comparable: 2 GiB, the
// longest (C9-94), in packets of 1024 bytes.
const maxSpan = 1 << 21

// The path MTUs are the powers of two from 256 to 4096 (IBTA vol. 1, 9.3.3).
const (
	minMTU = 256
	maxMTU = 4096
)

func packets(length uint32, mtu int) int {
	return min(max(1, (int(length)+mtu-1)/mtu), maxSpan)
}

// isMTU reports whether n bytes are a path MTU.
func isMTU(n int) bool { return n >= minMTU && n <= maxMTU && n&(n-1) == 0 }

func serviceOf(req wire.CMReq) wire.Service {
	switch req.TransportType() {
	case wire.TransportUC:
		return wire.UC
	case wire.TransportRD:
		return wire.RD
	case wire.TransportExtended:
		if req.ExtendedTransport() == wire.ExtendedTransportXRC {
			return wire.XRC
		}
	}
	return wire.RC
}
