package craft

import (
	"slices"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Program makes the packets of one recipe whose fields count. They are those
// that Build makes of it, at a fraction of the cost: everything that does not
// change is laid out once, and a packet is a copy with the counted fields, the
// checksums over them and the CRCs written anew. It is for one goroutine.
type Program struct {
	b        builder
	counters []Counter
	made     uint64 // packets so far
	// template is the packet before its checksums and CRCs, or the whole of it
	// when nothing counts.
	template []byte
	patches  []patch
	// Layers whose checksum is computed per packet, innermost first: those that
	// the ICRC covers, and those around it.
	inner, sums []int
	kept        int // how much of the packet a capture keeps
	invariant
	// rebuild says that what counts decides defaults of other fields, so that
	// each packet has to be built.
	rebuild bool
}

// invariant is how the ICRC of a packet is computed whose long end stays.
type invariant struct {
	tail     *icrc.Tail // nil when the ICRC is computed over the whole packet
	form     icrc.Form
	net, end int // what is computed over for each packet
}

// patch writes one field of the template: one that counts, or one that is set
// after it and shares bits with what was written.
type patch struct {
	layer   int
	setting Setting
	counter int // -1 when the value stays
}

// Compile prepares the packets of a recipe. The recipe can be changed or
// thrown away after that; its payload must stay.
func Compile(r *Recipe, counters []Counter) (*Program, error) {
	own := *r
	own.Layers = slices.Clone(r.Layers)
	for i := range own.Layers {
		own.Layers[i].Set = slices.Clone(own.Layers[i].Set)
	}
	p := &Program{counters: slices.Clone(counters)}
	own.Count(p.counters, 0)
	img, err := Build(&own)
	if err != nil {
		return nil, err
	}
	p.kept = len(img.Data)
	p.b = builder{r: &own}
	if err := p.b.layOut(); err != nil {
		return nil, err
	}
	p.template = p.b.data
	if len(p.counters) == 0 {
		p.template = img.Data[:img.WireLen:img.WireLen]
	}
	for i := range own.Layers {
		p.plan(i)
	}
	slices.Reverse(p.inner)
	slices.Reverse(p.sums)
	p.invariant = p.findTail()
	return p, nil
}

// findTail finds the end of the packet that no counter, checksum or mask of the
// ICRC reaches into.
func (p *Program) findTail() (found invariant) {
	b := &p.b
	if len(p.counters) == 0 || p.rebuild || b.img.ICRC < 0 || b.img.CRC >= 0 || len(b.r.Raw) > 0 || b.r.ICRC.Mode == CRCValue {
		return found
	}
	net, form, ok := b.covered()
	if !ok {
		return found
	}
	last := b.r.last(wire.HdrBTH)
	for _, c := range p.patches {
		last = max(last, c.layer)
	}
	for _, i := range slices.Concat(p.inner, p.sums) {
		last = max(last, i)
	}
	end := b.img.Layers[last].Off + b.img.Layers[last].Len
	const worthwhile = 64 // less is summed as fast
	if b.img.ICRC-end < worthwhile {
		return found
	}
	return invariant{icrc.NewTail(p.template[end:b.img.ICRC]), form, net, end}
}

// sealICRC is the builder's, and quicker if it can be.
func (p *Program) sealICRC() error {
	if p.tail == nil {
		return p.b.sealICRC()
	}
	var right [icrc.Len]byte
	icrc.Store(right[:], p.tail.After(p.b.hasher.Sum(p.form, p.b.data[p.net:p.end])))
	place(p.b.data[p.b.img.ICRC:][:icrc.Len], right[:], p.b.r.ICRC)
	return nil
}

// plan finds out what of layer i changes from packet to packet.
func (p *Program) plan(i int) {
	layer := &p.b.r.Layers[i]
	var written []*wire.Field
	for _, s := range layer.Set {
		counter := p.counterOf(i, s.Field)
		shared := slices.ContainsFunc(written, func(f *wire.Field) bool { return overlap(f, s.Field) })
		if counter < 0 && (s.Auto || !shared) {
			continue
		}
		written = append(written, s.Field)
		p.patches = append(p.patches, patch{i, s, counter})
		if s.Field.Name == "infiniband.bth.opcode" {
			p.rebuild = true
		}
	}
	switch {
	case len(p.counters) == 0 || !p.b.computed(i):
	case layer.ID == wire.HdrIPv4 && i < p.b.r.last(wire.HdrBTH) && written == nil && len(p.b.r.Raw) == 0:
		p.b.checksum(i) // stays: it is over this header alone, and no ICRC covers it
	case i >= p.b.r.framed():
		p.inner = append(p.inner, i)
	default:
		p.sums = append(p.sums, i)
	}
}

// counterOf is the last counter of a field, -1 when it does not count.
func (p *Program) counterOf(layer int, f *wire.Field) int {
	for i := len(p.counters) - 1; i >= 0; i-- {
		if p.counters[i].Layer == layer && p.counters[i].Field == f {
			return i
		}
	}
	return -1
}

// overlap reports whether two fields of a header have a bit in common.
func overlap(a, b *wire.Field) bool {
	return (b.Bits == 0 || a.Bit < b.Bit+b.Bits) && (a.Bits == 0 || b.Bit < a.Bit+a.Bits)
}

// Link is the link type of the packets.
func (p *Program) Link() wire.LinkType { return p.b.r.Link }

// Size is the length of each packet on the wire.
func (p *Program) Size() int { return len(p.template) }

// Kept is how many bytes of each packet a capture would keep: all, unless the
// recipe says otherwise.
func (p *Program) Kept() int { return p.kept }

// Next writes the next packet to dst, which has room for Size bytes.
func (p *Program) Next(dst []byte) error {
	n := p.made
	p.made++
	if p.rebuild {
		return p.buildAnew(dst, n)
	}
	data := dst[:len(p.template)]
	copy(data, p.template)
	if len(p.counters) == 0 {
		return nil
	}
	p.b.data = data
	for i := range p.patches {
		c := &p.patches[i]
		p.write(c, n)
	}
	if err := p.b.edit("raw", p.b.r.Raw); err != nil {
		return err
	}
	for _, i := range p.inner {
		p.b.checksum(i)
	}
	if err := p.sealICRC(); err != nil {
		return err
	}
	for _, i := range p.sums {
		p.b.checksum(i)
	}
	p.b.sealVCRC()
	return p.b.edit("edits", p.b.r.Edits)
}

// write puts the value of a field in packet n into its place.
func (p *Program) write(c *patch, n uint64) {
	h, f := p.b.bytes(c.layer), c.setting.Field
	switch {
	case c.counter < 0:
		set(h, &c.setting)
	case f.Bit%8 != 0 || f.Bits%8 != 0 || f.Little:
		f.SetUint(h, p.counters[c.counter].At(n))
	default: // most fields that count are whole bytes
		v := p.counters[c.counter].At(n)
		for i := (f.Bit+f.Bits)/8 - 1; i >= f.Bit/8; i-- {
			h[i] = byte(v)
			v >>= 8
		}
	}
}

func (p *Program) buildAnew(dst []byte, n uint64) error {
	p.b.r.Count(p.counters, n)
	img, err := Build(p.b.r)
	if err != nil {
		return err
	}
	copy(dst[:len(p.template)], img.Data[:img.WireLen])
	return nil
}
