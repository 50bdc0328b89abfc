package craft

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// maxDescribed bounds the length on the wire that a capture may claim: bytes
// that were not captured are part of the recipe, as zeros.
const maxDescribed = 1 << 20

// Describe returns the recipe of a captured frame: building it gives the same
// bytes. Fields that have their default are left out, and so are checksums and
// CRCs that are right. It refuses a frame of which nothing was captured, and
// one that claims to be longer than any packet.
func Describe(f *wire.Frame) (*Recipe, error) {
	switch {
	case f.WireLen > maxDescribed:
		return nil, fmt.Errorf("the frame claims to have %d bytes", f.WireLen)
	case len(f.Data) == 0 && f.WireLen > 0:
		return nil, errors.New("none of its bytes were captured")
	}
	d := &description{f: f, r: &Recipe{Link: f.Link, Pad: AutoPad}}
	d.layers()
	d.segment()
	d.parts()
	// In the order in which Build works: each step sees what those before it
	// have left different.
	for _, step := range []func(*Image){d.fields, d.raw, d.fpduCRC, d.checksums, d.checksums, d.crcs, d.edits} {
		img, _, err := build(d.r)
		if err != nil {
			return nil, err
		}
		step(img)
	}
	return d.r, nil
}

// description is a recipe in the making.
type description struct {
	f    *wire.Frame
	r    *Recipe
	from []wire.Header // the frame's header of each layer
	end  int           // where they end
}

// layers takes over the headers, with what stands behind their fixed parts. A
// header that the capture cut, or the lengths leave no room for, ends them:
// what there is of it is payload.
func (d *description) layers() {
	for _, h := range d.f.Headers() {
		if isPart(h.ID) || int(h.Off) != d.end || d.f.Whole(h) == nil {
			break
		}
		d.layer(h)
		if h.ID == wire.HdrERF && d.next(h) == wire.HdrEthernet {
			d.end += wire.ERFEthernetPad
		}
	}
}

// layer takes over one header.
func (d *description) layer(h wire.Header) {
	spec := wire.SpecOf(h.ID)
	l := Layer{ID: h.ID}
	b := d.f.Bytes(h)
	if extra := int(h.Len) - spec.Len; extra > 0 && h.ID != wire.HdrRDMAP {
		l.Tail = bytes.Clone(b[spec.Len:])
	}
	switch h.ID { // the defaults of others depend on it
	case wire.HdrBTH, wire.HdrRDMAP, wire.HdrRDMAPAtomicRequest:
		opcode := FieldOf(h.ID, opcodeName(h.ID))
		l.Set = []Setting{{Field: opcode, Num: opcode.Value(b)}}
	}
	d.r.Layers = append(d.r.Layers, l)
	d.from = append(d.from, h)
	d.end = max(d.end, int(h.Off+h.Len))
}

func opcodeName(id wire.HeaderID) string {
	if id == wire.HdrRDMAPAtomicRequest {
		return "atomic.opcode"
	}
	return "opcode"
}

// next is the id of the header behind h.
func (d *description) next(h wire.Header) wire.HeaderID {
	for _, other := range d.f.Headers() {
		if other.Off > h.Off {
			return other.ID
		}
	}
	return wire.HdrNone
}

// isPart is true of what is not a header: parts behind them.
func isPart(id wire.HeaderID) bool {
	switch id {
	case wire.HdrPayload, wire.HdrPad, wire.HdrICRC, wire.HdrVCRC, wire.HdrTrailer, wire.HdrTCPPayload,
		wire.HdrMPAPrivate, wire.HdrFPDUPayload, wire.HdrFPDUPad, wire.HdrFPDUCRC:
		return true
	}
	return false
}

// segment goes on into a TCP segment that is just one unit of an iWARP stream.
func (d *description) segment() {
	f := d.f
	payload := f.PayloadBytes()
	last := len(d.from) - 1
	if last < 0 || d.from[last].ID != wire.HdrTCP || f.Payload != d.end || len(payload) < f.PayloadLen {
		return
	}
	var unit wire.Stack
	if !oneUnit(&unit, payload) {
		return
	}
	for _, h := range unit.Headers() {
		if isPart(h.ID) {
			break
		}
		h.Off += int32(f.Payload)
		d.layer(h)
	}
}

// oneUnit reports whether a TCP payload is a start-up frame or an FPDU, no more
// and no less. The stream would say what it is; without it, an FPDU is told by
// its CRC, or where none is in use by its length and headers. A payload that is
// something else all the same is built from them as well.
func oneUnit(unit *wire.Stack, payload []byte) bool {
	if wire.ParseMPAStart(unit, payload) == 0 {
		return true
	}
	if len(payload) < wire.FPDULengthLen || len(payload) != wire.FPDULen(wire.FPDU(payload).ULPDULen()) {
		return false
	}
	crc := len(payload) - wire.FPDUCRCLen
	return wire.ParseFPDU(unit, payload) == 0 || icrc.Load(payload[crc:]) == icrc.CRC32C(payload[:crc])
}

// parts takes over payload, pad, CRC places and trailer. Bytes that were not
// captured are zeros; they are cut off again.
func (d *description) parts() {
	f := d.f
	whole := make([]byte, f.WireLen)
	copy(whole, f.Data)
	at, end := d.end, len(whole)
	if f.End >= at && f.End > 0 && f.End <= len(whole) {
		end = f.End
	}
	d.r.ICRC.Mode, d.r.VCRC.Mode = CRCNone, CRCNone
	body := end
	if d.r.has(wire.HdrBTH) && f.ICRC >= at && f.ICRC+icrc.Len == end {
		d.r.ICRC.Mode, body = CRCAuto, f.ICRC
	}
	behind := end
	if d.r.has(wire.HdrLRH) && f.VCRC == end && f.VCRC+wire.VCRCLen <= len(whole) {
		d.r.VCRC.Mode, behind = CRCAuto, end+wire.VCRCLen
	}
	if d.r.ICRC.Mode == CRCAuto && !d.r.sealable() {
		d.r.ICRC = captured(whole[body:end])
	}
	d.r.Pad = 0
	switch fpdu := d.r.last(wire.HdrFPDU); {
	case fpdu >= 0: // it is whole, and so is its pad
		ulpdu := int(d.from[fpdu].Off) + wire.FPDULengthLen
		body = ulpdu + wire.FPDU(whole[d.from[fpdu].Off:]).ULPDULen()
		d.r.Pad = AutoPad
	case body != end && f.Payload+f.PayloadLen >= at && f.Payload+f.PayloadLen+f.Pad == body:
		body -= f.Pad
		if d.r.Pad = f.Pad; f.Pad == -(body-f.BTH)&3 {
			d.r.Pad = AutoPad
		}
	}
	d.r.Payload = whole[at:body]
	d.r.Trailer = whole[behind:]
	if len(f.Data) < len(whole) {
		d.r.Snap = len(f.Data)
	}
}

// fields adds settings for the fields in which the built packet differs, but
// for checksums.
func (d *description) fields(img *Image) {
	for i := range d.r.Layers {
		l := &d.r.Layers[i]
		spec, want := wire.SpecOf(l.ID), d.f.Bytes(d.from[i])
		got := img.Data[img.Layers[i].Off:][:img.Layers[i].Len]
		for j := range spec.Fields {
			field := &spec.Fields[j]
			if isChecksum(field) || field.Bits == 0 || !field.Present(want) || same(field, want, got) || d.ofRDMAP(i, field) {
				continue
			}
			s, ok := settingOf(spec, field, want)
			// Other fields may be parts of this one: got takes the value over.
			if ok && set(got, &s) == "" {
				l.Put(s)
			}
		}
	}
}

// ofRDMAP is true of a field of DDP's that RDMAP's own fields say.
func (d *description) ofRDMAP(i int, f *wire.Field) bool {
	return f.Name == "iwarp_ddp.rsvdulp" && i+1 < len(d.from) && d.from[i+1].ID == wire.HdrRDMAP
}

// isChecksum is true of the fields that Build computes from others.
func isChecksum(f *wire.Field) bool {
	switch f.Name {
	case "ip.checksum", "tcp.checksum", "udp.checksum":
		return true
	}
	return false
}

func same(f *wire.Field, a, b []byte) bool {
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		return f.Uint(a) == f.Uint(b)
	}
	return bytes.Equal(f.Raw(a), f.Raw(b))
}

// settingOf sets a field to what it is in h. ok is false for a text that is
// none.
func settingOf(spec *wire.Spec, f *wire.Field, h []byte) (s Setting, ok bool) {
	s.Field = plain(spec, f)
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		s.Num = f.Uint(h) * max(f.Scale, 1)
		return s, true
	}
	s.Raw = bytes.Clone(f.Raw(h))
	return s, f.Kind != wire.Text || isText(s.Raw)
}

// plain is the first field of the same name in the same place, where its values
// are written alike: fields that differ in the names of their values only.
func plain(spec *wire.Spec, f *wire.Field) *wire.Field {
	for i := range spec.Fields {
		o := &spec.Fields[i]
		if o.Name == f.Name && o.Bit == f.Bit && o.Bits == f.Bits && o.Kind == f.Kind && o.Scale == f.Scale && f.Bits > maxNamed {
			return o
		}
	}
	return f
}

// raw accounts for bytes that no field says, in headers and pad: what checksums
// and CRCs cover.
func (d *description) raw(img *Image) {
	want := bytes.Clone(d.f.Data)
	for i, l := range d.r.Layers {
		p := img.Layers[i]
		for _, f := range wire.SpecOf(l.ID).Fields {
			if isChecksum(&f) { // comes later
				copy(f.Raw(want[p.Off:]), f.Raw(img.Data[p.Off:]))
			}
		}
	}
	end := img.End
	switch {
	case img.ICRC >= 0:
		end = img.ICRC
	case img.CRC >= 0:
		end = img.CRC
	}
	d.r.Raw = differences(want[:min(end, len(want))], img.Data)
}

// checksums adds settings for those that are not as Build makes them. A UDP
// checksum is at first believed to be right.
func (d *description) checksums(img *Image) {
	for i := range d.r.Layers {
		l := &d.r.Layers[i]
		spec, want := wire.SpecOf(l.ID), d.f.Bytes(d.from[i])
		for j := range spec.Fields {
			f := &spec.Fields[j]
			if !isChecksum(f) || same(f, want, img.Data[img.Layers[i].Off:]) {
				continue
			}
			s := Setting{Field: f, Num: f.Value(want)}
			s.Auto = l.ID == wire.HdrUDP && !l.has(f)
			l.Put(s)
		}
	}
}

// has reports whether the layer sets the field.
func (l *Layer) has(f *wire.Field) bool {
	for i := range l.Set {
		if l.Set[i].Field == f {
			return true
		}
	}
	return false
}

// fpduCRC takes over the CRC of an FPDU, which the TCP checksum covers.
func (d *description) fpduCRC(img *Image) { d.crc(&d.r.CRC, img, img.CRC, wire.FPDUCRCLen) }

// crcs takes over captured CRCs that are not the right ones.
func (d *description) crcs(img *Image) {
	d.crc(&d.r.ICRC, img, img.ICRC, icrc.Len)
	d.crc(&d.r.VCRC, img, img.VCRC, icrc.VCRCLen)
}

func (d *description) crc(c *CRC, img *Image, off, n int) {
	if off >= 0 && off+n <= len(d.f.Data) && !bytes.Equal(d.f.Data[off:off+n], img.Data[off:off+n]) {
		*c = captured(d.f.Data[off : off+n])
	}
}

// captured is a CRC of the given bytes.
func captured(b []byte) CRC {
	c := CRC{Mode: CRCValue}
	for _, v := range b {
		c.Value = c.Value<<8 | uint32(v)
	}
	return c
}

// edits accounts for what is different still: a CRC that the capture cut.
func (d *description) edits(img *Image) { d.r.Edits = differences(d.f.Data, img.Data) }

// differences lists the runs of bytes in which got is not want.
func differences(want, got []byte) []Edit {
	var edits []Edit
	for i := 0; i < min(len(want), len(got)); i++ {
		if want[i] == got[i] {
			continue
		}
		j := i
		for j < min(len(want), len(got)) && want[j] != got[j] {
			j++
		}
		edits = append(edits, Edit{i, bytes.Clone(want[i:j])})
		i = j
	}
	return edits
}
