package craft

import (
	"encoding/binary"

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
		case wire.HdrIPv6:
			wire.IPv6Header(h).SetPayloadLen(inside)
		case wire.HdrUDP:
			wire.UDP(h).SetLength(end - off)
		case wire.HdrGRH:
			wire.GRH(h).SetPayLen(inside)
		case wire.HdrLRH:
			wire.LRH(h).SetPktLen((end - off) / 4)
		case wire.HdrERF:
			b.erfLengths(h)
		}
	}
}

// erfLengths sets the length of the record, and of what it holds.
func (b *builder) erfLengths(h wire.ERF) {
	inside := 0
	for i, l := range b.r.Layers {
		if l.ID == wire.HdrERF || l.ID == wire.HdrERFExt {
			inside = b.img.Layers[i].Off + b.img.Layers[i].Len
		}
	}
	h.SetRecordLen(len(b.data))
	h.SetWireLen(len(b.data) - inside)
}

// checksums computes those of IPv4 and TCP headers, and of UDP where the recipe
// asks for it: RoCEv2 sends 0.
func (b *builder) checksums() {
	for i := len(b.r.Layers) - 1; i >= 0; i-- {
		h := b.bytes(i)
		switch b.r.Layers[i].ID {
		case wire.HdrIPv4:
			if !b.isSet(i, "ip.checksum") {
				ip := wire.IPv4Header(h)
				ip.SetChecksum(wire.IPv4Checksum(h))
			}
		case wire.HdrTCP:
			if src, dst := b.addresses(i); src != nil && !b.isSet(i, "tcp.checksum") {
				wire.TCP(h).SetChecksum(wire.TCPChecksum(src, dst, b.segment(i)))
			}
		case wire.HdrUDP:
			if src, dst := b.addresses(i); src != nil && b.isAuto(i, "udp.checksum") {
				wire.UDP(h).SetChecksum(wire.UDPChecksum(src, dst, b.segment(i)))
			}
		}
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

// seal puts the CRCs in their places.
func (b *builder) seal() error {
	if err := b.sealICRC(); err != nil {
		return err
	}
	if b.img.VCRC < 0 {
		return nil
	}
	lrh := b.img.Layers[b.last(wire.HdrLRH)].Off
	var right [icrc.VCRCLen]byte
	binary.LittleEndian.PutUint16(right[:], icrc.VCRC(b.data[lrh:b.img.VCRC]))
	place(b.data[b.img.VCRC:][:icrc.VCRCLen], right[:], b.r.VCRC)
	return nil
}

func (b *builder) sealICRC() error {
	if b.img.ICRC < 0 {
		return nil
	}
	var right [icrc.Len]byte
	if b.r.ICRC.Mode != CRCValue {
		net, form, ok := b.covered()
		if !ok {
			return &FieldError{Layer: "icrc", Reason: "no rule says what it covers here; give its value, or none"}
		}
		icrc.Store(right[:], icrc.Compute(form, b.data[net:b.img.ICRC]))
	}
	place(b.data[b.img.ICRC:][:icrc.Len], right[:], b.r.ICRC)
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
	case CRCFlip:
		bit := int(c.Value) % (8 * len(dst))
		dst[bit/8] ^= 1 << (bit % 8)
	case CRCValue:
		for i := range dst {
			dst[i] = byte(c.Value >> (8 * (len(dst) - 1 - i)))
		}
	}
}

// covered says where the ICRC's coverage begins, and by which rule. There is
// none with IP options or extension headers, or for a BTH right behind IP.
func (b *builder) covered() (net int, form icrc.Form, ok bool) {
	i := b.last(wire.HdrBTH)
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
