package capfile

import "github.com/rocecap/rocecap/internal/wire"

// pcapng (draft-ietf-opsawg-pcapng). A file is a run of blocks:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+---------------------------------------------------------------+
//	|                          block type                           |
//	|                      block total length                       |
//	|               body, padded to a multiple of 4                 |
//	|                      block total length                       |
//	+---------------------------------------------------------------+
//
// Body of an enhanced packet block, and, with a 16-bit interface and a drop
// count in the first word, of the obsolete packet block:
//
//	|                         interface id                          |
//	|                   timestamp, upper 32 bits                    |
//	|                   timestamp, lower 32 bits                    |
//	|                     captured packet length                    |
//	|                     original packet length                    |
//	|                packet data, padded; then options              |
//
// A section header block gives its byte order by the magic number at the start
// of its body, and its type reads the same in both orders.
const (
	ngBlockSection    = 0x0a0d0d0a
	ngBlockInterface  = 1
	ngBlockPacket     = 2 // obsolete
	ngBlockSimple     = 3
	ngBlockStatistics = 5
	ngBlockEnhanced   = 6

	ngByteOrder = 0x1a2b3c4d
	ngMajor     = 1

	ngHeaderLen  = 8 // type and length
	ngTrailerLen = 4
	ngFrameLen   = ngHeaderLen + ngTrailerLen

	// Offsets from the start of the block.
	ngOffLength      = 4
	ngOffByteOrder   = 8
	ngOffMajor       = 12
	ngOffLink        = 8
	ngOffSnapLen     = 12
	ngOffIfOptions   = 16
	ngOffInterface   = 8
	ngOffTime        = 12
	ngOffCapLen      = 20
	ngOffWireLen     = 24
	ngOffData        = 28
	ngOffSimpleLen   = 8
	ngOffSimpleData  = 12
	ngOffStatOptions = 20

	// ngMaxBlock bounds the blocks that have to be seen whole: a packet and as
	// much again of options as anyone has written.
	ngMaxBlock = MaxRecord + 1<<20
)

// ngMagic recognises a pcapng file. The byte order is in the block itself, so
// the type alone decides.
func ngMagic(head []byte) bool { return u32(head, false) == ngBlockSection }

// ngInterface is what a packet block needs to know of its interface.
type ngInterface struct {
	scale   scale
	snapLen uint32
	index   int32 // in described.interfaces
	link    wire.LinkType
	fcs     int8
}

// ngDecoder finds the records of a pcapng file.
type ngDecoder struct {
	described  *described
	big        bool
	interfaces []ngInterface // of the current section
	comment    []byte        // scratch

	// A block that holds nothing of interest is passed over as it arrives,
	// whatever its size.
	skip    int64  // bytes to pass over, up to the trailing length
	trailer uint32 // the trailing length that has to follow, 0 for none
	start   int64  // offset of the block
}

func newNGDecoder(described *described) *ngDecoder { return &ngDecoder{described: described} }

func (d *ngDecoder) decode(recs []Record, buf []byte, off int64) ([]Record, progress, *fault) {
	pos := 0
	for len(recs) < maxBatch {
		if d.trailer != 0 {
			n, need, f := d.pass(buf[pos:])
			pos += n
			if need > 0 || f != nil {
				return recs, progress{pos, need}, f
			}
			continue
		}
		block, need, f := d.block(buf[pos:], off+int64(pos))
		if need > 0 || f != nil {
			return recs, progress{pos, need}, f
		}
		if block == nil {
			continue // to be passed over
		}
		if recs, f = d.interpret(recs, block, off+int64(pos)); f != nil {
			return recs, progress{pos, 0}, f
		}
		pos += len(block)
	}
	return recs, progress{used: pos}, nil
}

// block finds the whole block at the start of b. It asks for need bytes when
// they are not there yet, and returns no block when it has prepared to pass
// over one.
func (d *ngDecoder) block(b []byte, off int64) (block []byte, need int, f *fault) {
	if len(b) < ngFrameLen {
		return nil, ngFrameLen, nil
	}
	kind := u32(b, d.big)
	if kind == ngBlockSection {
		if f := d.setByteOrder(b, off); f != nil {
			return nil, 0, f
		}
	}
	total := u32(b[ngOffLength:], d.big)
	if total < ngMinLen(kind) || total%4 != 0 {
		return nil, 0, damaged(off, "block of type %#x has the impossible length %d", kind, total)
	}
	if !ngInteresting(kind) {
		d.skip, d.trailer, d.start = int64(total)-ngTrailerLen, total, off
		return nil, 0, nil
	}
	if total > ngMaxBlock {
		return nil, 0, damaged(off, "block length %d exceeds the limit of %d", total, ngMaxBlock)
	}
	if len(b) < int(total) {
		return nil, int(total), nil
	}
	block = b[:total:total]
	return block, 0, d.checkTrailer(block[total-ngTrailerLen:], total, off)
}

// setByteOrder takes the byte order of a new section from its header.
func (d *ngDecoder) setByteOrder(b []byte, off int64) *fault {
	switch {
	case u32(b[ngOffByteOrder:], false) == ngByteOrder:
		d.big = false
	case u32(b[ngOffByteOrder:], true) == ngByteOrder:
		d.big = true
	default:
		return damaged(off, "section header without the byte-order magic, but % x", b[ngOffByteOrder:ngOffByteOrder+4])
	}
	return nil
}

func (d *ngDecoder) checkTrailer(b []byte, total uint32, off int64) *fault {
	if again := u32(b, d.big); again != total {
		return damaged(off, "block length is %d at its start and %d at its end", total, again)
	}
	return nil
}

// pass passes over the bytes of a block without interest, and then checks its
// trailing length.
func (d *ngDecoder) pass(b []byte) (used, need int, f *fault) {
	used = int(min(d.skip, int64(len(b))))
	d.skip -= int64(used)
	if d.skip > 0 {
		return used, 1, nil
	}
	b = b[used:]
	if len(b) < ngTrailerLen {
		return used, ngTrailerLen, nil
	}
	f = d.checkTrailer(b, d.trailer, d.start)
	d.trailer = 0
	return used + ngTrailerLen, 0, f
}

func (d *ngDecoder) end(rest []byte, off int64) *fault {
	switch {
	case d.trailer != 0:
		return truncated(d.start, "block length %d exceeds the %d bytes left",
			d.trailer, off+int64(len(rest))-d.start)
	case len(rest) == 0:
		return nil
	case len(rest) < ngFrameLen:
		return truncated(off, "the block header is cut after %d of %d bytes", len(rest), ngFrameLen)
	}
	kind := u32(rest, d.big)
	if (kind == ngBlockEnhanced || kind == ngBlockPacket) && len(rest) >= ngOffData {
		caplen := int64(u32(rest[ngOffCapLen:], d.big))
		if left := len(rest) - ngOffData; caplen > int64(left) {
			return exceeds(off, caplen, left)
		}
	}
	return truncated(off, "block length %d exceeds the %d bytes left", u32(rest[ngOffLength:], d.big), len(rest))
}

// ngInteresting reports whether the decoder looks into blocks of a type. Name
// resolution, decryption secrets, custom and unknown blocks are passed over.
func ngInteresting(kind uint32) bool {
	switch kind {
	case ngBlockSection, ngBlockInterface, ngBlockPacket, ngBlockSimple, ngBlockStatistics, ngBlockEnhanced:
		return true
	}
	return false
}

// ngMinLen is the least length of a block: its fixed fields and frame.
func ngMinLen(kind uint32) uint32 {
	switch kind {
	case ngBlockSection:
		return 28
	case ngBlockInterface:
		return ngOffIfOptions + ngTrailerLen
	case ngBlockPacket, ngBlockEnhanced:
		return ngOffData + ngTrailerLen
	case ngBlockSimple:
		return ngOffSimpleData + ngTrailerLen
	case ngBlockStatistics:
		return ngOffStatOptions + ngTrailerLen
	}
	return ngFrameLen
}

// interpret takes in one whole block.
func (d *ngDecoder) interpret(recs []Record, b []byte, off int64) ([]Record, *fault) {
	var f *fault
	switch u32(b, d.big) {
	case ngBlockEnhanced:
		return d.packet(recs, b, u32(b[ngOffInterface:], d.big), off)
	case ngBlockPacket:
		return d.packet(recs, b, uint32(u16(b[ngOffInterface:], d.big)), off)
	case ngBlockSimple:
		return d.simple(recs, b, off)
	case ngBlockSection:
		f = d.section(b, off)
	case ngBlockInterface:
		f = d.addInterface(b, off)
	case ngBlockStatistics:
		f = d.statistics(b, off)
	}
	return recs, f
}

// packet takes in an enhanced or an obsolete packet block.
func (d *ngDecoder) packet(recs []Record, b []byte, id uint32, off int64) ([]Record, *fault) {
	iface, f := d.interfaceOf(id, off)
	if f != nil {
		return recs, f
	}
	caplen := int64(u32(b[ngOffCapLen:], d.big))
	body := b[ngOffData : len(b)-ngTrailerLen]
	if caplen > MaxRecord {
		return recs, tooLong(off, caplen)
	}
	if caplen > int64(len(body)) {
		return recs, damaged(off, "captured length %d exceeds the %d bytes left in its block", caplen, len(body))
	}
	recs = append(recs, Record{
		Data:      body[:caplen:caplen],
		WireLen:   max(int(u32(b[ngOffWireLen:], d.big)), int(caplen)),
		Time:      iface.scale.nanos(d.wordTime(b[ngOffTime:])),
		HasTime:   true,
		Offset:    off,
		Interface: iface.index,
		Link:      iface.link,
		FCSLen:    iface.fcs,
	})
	if padded := (int(caplen) + 3) &^ 3; len(body)-padded >= ngOptionLen {
		d.packetOptions(&recs[len(recs)-1], body[padded:])
	}
	return recs, nil
}

// simple takes in a simple packet block, which belongs to the first interface
// of its section and says only how long the packet was: the snapshot length
// tells how much of it was captured.
func (d *ngDecoder) simple(recs []Record, b []byte, off int64) ([]Record, *fault) {
	iface, f := d.interfaceOf(0, off)
	if f != nil {
		return recs, f
	}
	wireLen := u32(b[ngOffSimpleLen:], d.big)
	caplen := wireLen
	if iface.snapLen != 0 {
		caplen = min(caplen, iface.snapLen)
	}
	body := b[ngOffSimpleData : len(b)-ngTrailerLen]
	if int64(caplen) > int64(len(body)) {
		return recs, damaged(off, "captured length %d exceeds the %d bytes left in its block", caplen, len(body))
	}
	return append(recs, Record{
		Data:      body[:caplen:caplen],
		WireLen:   int(wireLen),
		Offset:    off,
		Interface: iface.index,
		Link:      iface.link,
		FCSLen:    iface.fcs,
	}), nil
}

func (d *ngDecoder) interfaceOf(id uint32, off int64) (*ngInterface, *fault) {
	if int64(id) >= int64(len(d.interfaces)) {
		return nil, damaged(off, "interface %d is not described, the section has %d so far", id, len(d.interfaces))
	}
	return &d.interfaces[id], nil
}

// section begins a new section: interfaces are numbered from 0 again. The
// section's length is not used, as it may be unknown and says nothing new.
func (d *ngDecoder) section(b []byte, off int64) *fault {
	if major := u16(b[ngOffMajor:], d.big); major != ngMajor {
		return damaged(off, "pcapng version %d.%d is not supported, only 1 is", major, u16(b[ngOffMajor+2:], d.big))
	}
	d.interfaces = d.interfaces[:0]
	d.described.addSection()
	return nil
}
