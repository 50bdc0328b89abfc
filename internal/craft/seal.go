package craft

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// lengths sets every length field to what there is behind it.
func (b *builder) lengths() {
	end := b.img.End
	for i := range b.r.Layers {
		h, off := b.bytes(i), b.img.Layers[i].Off
		inside := end - off - len(h)
		switch b.r.Layers[i].ID {
		case wire.HdrIPv4:
			wire.IPv4Header(h).SetTotalLen(end - off)
			b.bound(i, "ip.len", end-off, math.MaxUint16)
		case wire.HdrIPv6:
			wire.IPv6Header(h).SetPayloadLen(inside)
			b.bound(i, "ipv6.plen", inside, math.MaxUint16)
		case wire.HdrUDP:
			wire.UDP(h).SetLength(end - off)
			b.bound(i, "udp.length", end-off, math.MaxUint16)
		case wire.HdrGRH:
			wire.GRH(h).SetPayLen(inside)
			b.bound(i, "infiniband.grh.paylen", inside, math.MaxUint16)
		case wire.HdrLRH:
			wire.LRH(h).SetPktLen((end - off) / 4)
			b.bound(i, "infiniband.lrh.pktlen", (end-off)/4, maxPktLen)
		case wire.HdrERF:
			b.erfLengths(i)
		case wire.HdrMPARequest, wire.HdrMPAReply:
			b.startLength(i, inside)
		case wire.HdrFPDU:
			b.fpduLength(i)
		}
	}
}

const maxPktLen = 1<<11 - 1 // LRH.PktLen has 11 bits (IBTA vol. 1, 7.7.8)

// bound remembers the first length that its field cannot say.
func (b *builder) bound(i int, field string, n, most int) {
	if n > most && b.long == nil && !b.isSet(i, field) {
		b.long = &FieldError{wire.SpecOf(b.r.Layers[i].ID).Name, field, fmt.Sprintf("the packet's length, %d, does not fit", n)}
	}
}

// erfLengths sets the length of the record, and of what it holds.
func (b *builder) erfLengths(i int) {
	h, inside := wire.ERF(b.bytes(i)), 0
	for i, l := range b.r.Layers {
		if l.ID == wire.HdrERF || l.ID == wire.HdrERFExt {
			inside = b.img.Layers[i].Off + b.img.Layers[i].Len
		}
	}
	h.SetRecordLen(len(b.data))
	h.SetWireLen(len(b.data) - inside)
	b.bound(i, "erf.rlen", len(b.data), math.MaxUint16)
}

// seal computes what is over the packet's bytes, from the inside out: an ICRC, or
// the CRC of an FPDU, covers the checksums of the headers that it carries.
func (b *builder) seal() error {
	framed := max(b.r.framed(), 0)
	b.checksums(framed, len(b.r.Layers))
	if err := b.sealICRC(); err != nil {
		return err
	}
	b.checksums(0, framed)
	b.sealVCRC()
	return nil
}

// checksums computes those that the recipe does not give of layers in [from,
// to), innermost first.
func (b *builder) checksums(from, to int) {
	for i := to - 1; i >= from; i-- {
		if b.computed(i) {
			b.checksum(i)
		}
	}
}

// computed reports whether layer i has a checksum that is computed: of IPv4 and
// TCP always, of UDP where the recipe asks for it, because RoCEv2 sends 0.
func (b *builder) computed(i int) bool {
	switch b.r.Layers[i].ID {
	case wire.HdrIPv4:
		return !b.isSet(i, "ip.checksum")
	case wire.HdrTCP:
		return !b.isSet(i, "tcp.checksum")
	case wire.HdrUDP:
		return b.isAuto(i, "udp.checksum")
	}
	return false
}

// checksum computes the one of layer i. Those inside it are there already.
func (b *builder) checksum(i int) {
	h := b.bytes(i)
	if b.r.Layers[i].ID == wire.HdrIPv4 {
		wire.IPv4Header(h).SetChecksum(wire.IPv4Checksum(h))
		return
	}
	src, dst := b.addresses(i)
	switch {
	case src == nil:
	case b.r.Layers[i].ID == wire.HdrTCP:
		wire.TCP(h).SetChecksum(wire.TCPChecksum(src, dst, b.segment(i)))
	default:
		wire.UDP(h).SetChecksum(wire.UDPChecksum(src, dst, b.segment(i)))
	}
}

// segment is what the checksum of layer i covers.
func (b *builder) segment(i int) []byte { return b.data[b.img.Layers[i].Off:b.img.End] }

// addresses are those of the IP header before layer i, nil when there is none.
func (b *builder) addresses(i int) (src, dst []byte) {
	for i--; i >= 0; i-- {
		switch b.r.Layers[i].ID {
		case wire.HdrIPv4:
			a := wire.IPv4Header(b.bytes(i)).Addresses()
			return a[:4], a[4:]
		case wire.HdrIPv6:
			a := wire.IPv6Header(b.bytes(i)).Addresses()
			return a[:16], a[16:]
		}
	}
	return nil, nil
}

// sealVCRC puts the VCRC in its place. It covers everything before it.
func (b *builder) sealVCRC() {
	if b.img.VCRC < 0 {
		return
	}
	lrh := b.img.Layers[b.r.last(wire.HdrLRH)].Off
	var right [icrc.VCRCLen]byte
	binary.LittleEndian.PutUint16(right[:], icrc.VCRC(b.data[lrh:b.img.VCRC]))
	place(b.data[b.img.VCRC:][:icrc.VCRCLen], right[:], b.r.VCRC)
}

// sealICRC puts the ICRC in its place, and before it the CRC of an FPDU. The ICRC
// does not cover IP and UDP checksums of the headers around, but a UDP checksum
// covers the ICRC.
func (b *builder) sealICRC() error {
	b.sealFPDU()
	if b.img.ICRC < 0 {
		return nil
	}
	var right [icrc.Len]byte
	if b.r.ICRC.Mode != CRCValue {
		net, form, ok := b.covered()
		if !ok {
			return &FieldError{Layer: "icrc", Reason: "no rule says what it covers here; give its value, or none"}
		}
		icrc.Store(right[:], b.hasher.Sum(form, b.data[net:b.img.ICRC]))
	}
	place(b.data[b.img.ICRC:][:icrc.Len], right[:], b.r.ICRC)
	return nil
}

// foreignCRC refuses a CRC for which the packet has no place.
func (r *Recipe) foreignCRC() error {
	for _, c := range []struct {
		name   string
		crc    CRC
		header wire.HeaderID
	}{{"crc", r.CRC, wire.HdrFPDU}, {"icrc", r.ICRC, wire.HdrBTH}, {"vcrc", r.VCRC, wire.HdrLRH}} {
		if c.crc.Mode != CRCAuto && c.crc.Mode != CRCNone && !r.has(c.header) {
			return &FieldError{Layer: c.name, Reason: "the packet has none: it has no header " + LayerName(c.header)}
		}
	}
	return nil
}

// place stores a CRC as the recipe wants it.
func place(dst, right []byte, c CRC) {
	copy(dst, right)
	switch c.Mode {
	case CRCWrong:
		for i := range dst {
			dst[i] = ^dst[i]
		}
	case CRCSwapped:
		slices.Reverse(dst)
	case CRCFlip:
		bit := int(c.Value) % (8 * len(dst))
		dst[bit/8] ^= 1 << (bit % 8)
	case CRCValue:
		for i := range dst {
			dst[i] = byte(c.Value >> (8 * (len(dst) - 1 - i)))
		}
	}
}

// sealable reports whether a rule says what the ICRC covers.
func (r *Recipe) sealable() bool {
	b := &builder{r: r}
	b.lay()
	_, _, ok := b.covered()
	return ok
}

// covered says where the ICRC's coverage begins, and by which rule. There is
// none with IP options or extension headers, or for a BTH right behind IP.
func (b *builder) covered() (net int, form icrc.Form, ok bool) {
	i := b.r.last(wire.HdrBTH)
	ids := func(n int) wire.HeaderID {
		if i-n < 0 {
			return wire.HdrNone
		}
		return b.r.Layers[i-n].ID
	}
	at := func(n int) int { return b.img.Layers[i-n].Off }
	switch {
	case ids(1) == wire.HdrUDP && ids(2) == wire.HdrIPv4 && b.img.Layers[i-2].Len == wire.IPv4MinLen:
		return at(2), icrc.RoCEv2IPv4, true
	case ids(1) == wire.HdrUDP && ids(2) == wire.HdrIPv6:
		return at(2), icrc.RoCEv2IPv6, true
	case ids(1) == wire.HdrGRH && ids(2) == wire.HdrLRH:
		return at(2), icrc.IBGlobal, true
	case ids(1) == wire.HdrGRH:
		return at(1), icrc.RoCEv1, true
	case ids(1) == wire.HdrLRH:
		return at(1), icrc.IBLocal, true
	}
	return 0, 0, false
}
