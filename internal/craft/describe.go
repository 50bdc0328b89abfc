package craft

import (
	"bytes"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// Describe returns the recipe of a captured frame: building it gives the same
// bytes. Fields that have their default are left out.
func Describe(f *wire.Frame) (*Recipe, error) {
	r := &Recipe{Link: f.Link, Pad: AutoPad}
	d := &description{f: f, r: r}
	d.layers()
	d.parts()
	// Fields that follow from others are looked at again once the others are
	// set, so that they are listed only where they are wrong.
	for range 3 {
		img, err := Build(r)
		if err != nil {
			return nil, err
		}
		if !d.compare(img) {
			break
		}
	}
	img, err := Build(r)
	if err != nil {
		return nil, err
	}
	d.rest(img)
	return r, nil
}

// description is a recipe in the making.
type description struct {
	f    *wire.Frame
	r    *Recipe
	from []wire.Header // the frame's header of each layer
}

// layers takes over the headers, with what stands behind their fixed parts. A
// header that the capture cut, or the lengths leave no room for, ends them:
// what there is of it is payload.
func (d *description) layers() {
	end := 0
	for _, h := range d.f.Headers() {
		if isPart(h.ID) || int(h.Off) != end || d.f.Whole(h) == nil {
			break
		}
		spec := wire.SpecOf(h.ID)
		l := Layer{ID: h.ID}
		if extra := int(h.Len) - spec.Len; extra > 0 {
			l.Tail = bytes.Clone(d.f.Bytes(h)[spec.Len:])
		}
		d.r.Layers = append(d.r.Layers, l)
		d.from = append(d.from, h)
		end = int(h.Off + h.Len)
		if h.ID == wire.HdrERF && d.next(h) == wire.HdrEthernet {
			end += wire.ERFEthernetPad
		}
	}
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
	case wire.HdrPayload, wire.HdrPad, wire.HdrICRC, wire.HdrVCRC, wire.HdrTrailer, wire.HdrTCPPayload:
		return true
	}
	return false
}

// parts takes over payload, pad, CRC places and trailer. Bytes that were not
// captured are zeros; they are cut off again.
func (d *description) parts() {
	f := d.f
	whole := make([]byte, f.WireLen)
	copy(whole, f.Data)
	at := 0
	if n := len(d.from); n > 0 {
		at = int(d.from[n-1].Off + d.from[n-1].Len)
	}
	end := len(whole)
	if f.End >= at && f.End > 0 && f.End <= len(whole) {
		end = f.End
	}
	d.r.ICRC.Mode, d.r.VCRC.Mode = CRCNone, CRCNone
	body := end
	if f.ICRC >= at && f.ICRC+4 == end {
		d.r.ICRC.Mode, body = CRCAuto, f.ICRC
	}
	behind := end
	if f.VCRC == end && f.VCRC+wire.VCRCLen <= len(whole) {
		d.r.VCRC.Mode, behind = CRCAuto, end+wire.VCRCLen
	}
	d.r.Pad = 0
	if d.r.ICRC.Mode == CRCAuto && f.Payload == at && f.Payload+f.PayloadLen+f.Pad == body {
		if d.r.Pad = f.Pad; f.Pad == -f.PayloadLen&3 {
			d.r.Pad = AutoPad
		}
		body -= f.Pad
	}
	d.r.Payload = whole[at:body]
	d.r.Trailer = whole[behind:]
	if len(f.Data) < len(whole) {
		d.r.Snap = len(f.Data)
	}
}

// compare adds settings for the fields in which the built packet differs, and
// reports whether there were any.
func (d *description) compare(img *Image) bool {
	found := false
	for i := range d.r.Layers {
		l := &d.r.Layers[i]
		want := d.f.Bytes(d.from[i])
		got := bytes.Clone(img.Data[img.Layers[i].Off:min(img.Layers[i].Off+img.Layers[i].Len, len(img.Data))])
		if bytes.Equal(want, got) {
			continue
		}
		spec := wire.SpecOf(l.ID)
		for j := range spec.Fields {
			field := &spec.Fields[j]
			if field.Bits == 0 || !field.Present(want) || (field.Bit+field.Bits+7)/8 > len(got) || same(field, want, got) {
				continue
			}
			if l.put(field, want, got) {
				found = true
			}
		}
	}
	return found
}

func same(f *wire.Field, a, b []byte) bool {
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		return f.Uint(a) == f.Uint(b)
	}
	return bytes.Equal(f.Raw(a), f.Raw(b))
}

// put adds or changes the setting of a field to what it is in h; it reports
// false when the field already has that value. got gets the value too, because
// other fields may be parts of this one.
func (l *Layer) put(f *wire.Field, h, got []byte) bool {
	s := Setting{Field: f}
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		if s.Num = f.Value(h); f.Kind == wire.Bool && f.Bits > 1 {
			return false // a setting of one bit cannot say several
		}
	} else {
		s.Raw = bytes.Clone(f.Raw(h))
	}
	set(got, &s)
	for i := range l.Set {
		if l.Set[i].Field == f && l.Set[i].Num == s.Num && bytes.Equal(l.Set[i].Raw, s.Raw) {
			return false
		}
	}
	l.Put(s)
	return true
}

// rest accounts for what no field says: CRCs that are not the right ones, and
// bytes that differ still.
func (d *description) rest(img *Image) {
	d.crc(&d.r.ICRC, img, img.ICRC, icrc.Len)
	d.crc(&d.r.VCRC, img, img.VCRC, icrc.VCRCLen)
	if img, err := Build(d.r); err == nil {
		d.r.Edits = differences(d.f.Data, img.Data)
	}
}

// crc takes over a captured CRC that is not the right one.
func (d *description) crc(c *CRC, img *Image, off, n int) {
	if off < 0 || off+n > len(d.f.Data) || bytes.Equal(d.f.Data[off:off+n], img.Data[off:off+n]) {
		return
	}
	*c = CRC{Mode: CRCValue}
	for _, b := range d.f.Data[off : off+n] {
		c.Value = c.Value<<8 | uint32(b)
	}
}

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
