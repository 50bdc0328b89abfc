package craft

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// recipe is NewRecipe for a test that gives it what exists.
func recipe(t testing.TB, base, opcode string) *Recipe {
	t.Helper()
	op, err := ParseOpcode(opcode)
	if err != nil {
		t.Fatal(err)
	}
	r, err := NewRecipe(base, op)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// put sets fields, "name=value" each.
func put(t testing.TB, r *Recipe, settings ...string) *Recipe {
	t.Helper()
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := r.Put(name, value); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// built builds a recipe and parses the packet.
func built(t testing.TB, r *Recipe) (*Image, *wire.Frame) {
	t.Helper()
	img, err := Build(r)
	if err != nil {
		t.Fatal(err)
	}
	f := new(wire.Frame)
	f.Parse(r.Link, img.Data, img.WireLen)
	return img, f
}

func verdict(f *wire.Frame) icrc.Verdict {
	var h icrc.Hasher
	v, _, _ := h.Judge(f)
	return v
}

// headers lists the ids of a frame's headers, without the parts behind them.
func headers(f *wire.Frame) (ids []wire.HeaderID) {
	for _, h := range f.Headers() {
		if !isPart(h.ID) {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

func layerIDs(r *Recipe) (ids []wire.HeaderID) {
	for _, l := range r.Layers {
		ids = append(ids, l.ID)
	}
	return ids
}

// eachOpcode calls do for every defined opcode in every base.
func eachOpcode(t *testing.T, do func(t *testing.T, base string, op wire.Opcode)) {
	for _, base := range bases {
		t.Run(base.Name, func(t *testing.T) {
			for code := range 256 {
				if op := wire.Opcode(code); op.Info().Defined() {
					do(t, base.Name, op)
				}
			}
		})
	}
}

func TestEveryOpcodeInEveryBaseIsReadBackWithoutAProblem(t *testing.T) {
	eachOpcode(t, func(t *testing.T, base string, op wire.Opcode) {
		for n := range 6 {
			r := recipe(t, base, op.String())
			if op.Info().Payload {
				r.Payload = bytes.Repeat([]byte{0xA5}, n)
			}
			_, f := built(t, r)
			if got, _ := f.Opcode(); got != op || f.Problems != 0 || f.PayloadLen != len(r.Payload) || f.Pad != -len(r.Payload)&3 {
				t.Errorf("%v: read %v, problems %v, %d bytes and %d pad of %d", op, got, f.Problems, f.PayloadLen, f.Pad, n)
			}
			if diff := cmp.Diff(layerIDs(r), headers(f)); diff != "" {
				t.Errorf("%v: headers (-recipe +read)\n%s", op, diff)
			}
			if v := verdict(f); v != icrc.Good {
				t.Errorf("%v: ICRC %v", op, v)
			}
			if v, _, _ := icrc.JudgeVCRC(f); (v == icrc.Good) != (r.Link == wire.LinkIB) {
				t.Errorf("%v: VCRC %v", op, v)
			}
		}
	})
}

// form is the rule of a base's ICRC, and how many bytes it does not cover.
func form(base string) (f icrc.Form, skip int) {
	switch base {
	case "rocev2":
		return icrc.RoCEv2IPv4, wire.EthernetLen
	case "rocev2-ipv6":
		return icrc.RoCEv2IPv6, wire.EthernetLen
	case "rocev1":
		return icrc.RoCEv1, wire.EthernetLen
	case "ib":
		return icrc.IBLocal, 0
	}
	return icrc.IBGlobal, 0
}

// otherValue is a setting that differs from what a field is in h in every bit.
func otherValue(f *wire.Field, h []byte) Setting {
	s := Setting{Field: f}
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		s.Num = (f.Uint(h) ^ (1<<uint(f.Bits) - 1)) * max(f.Scale, 1)
		if f.Bits == 64 {
			s.Num = ^f.Uint(h)
		}
		return s
	}
	for _, b := range f.Raw(h) {
		s.Raw = append(s.Raw, ^b)
	}
	return s
}

func TestEveryFieldCanBeSetAloneAndTheICRCFollows(t *testing.T) {
	fields := 0
	eachOpcode(t, func(t *testing.T, base string, op wire.Opcode) {
		r := recipe(t, base, op.String())
		plain, _ := built(t, r)
		for i := range r.Layers {
			spec := wire.SpecOf(r.Layers[i].ID)
			for j := range spec.Fields {
				f := &spec.Fields[j]
				if f.Bits == 0 || f.Name == "infiniband.bth.opcode" {
					continue
				}
				fields++
				r := recipe(t, base, op.String())
				r.Layers[i].Put(otherValue(f, plain.Data[plain.Layers[i].Off:]))
				checkOneField(t, base, r, plain, i, f)
			}
		}
	})
	t.Logf("%d fields set", fields)
}

// checkOneField builds a packet in which field f of layer i has all its bits
// turned over, against the packet without.
func checkOneField(t *testing.T, base string, r *Recipe, plain *Image, i int, f *wire.Field) {
	t.Helper()
	img, err := Build(r)
	if err != nil {
		t.Errorf("%s: %v", f.Name, err)
		return
	}
	off := plain.Layers[i].Off
	want := bytes.Clone(plain.Data)
	for bit := f.Bit; bit < f.Bit+f.Bits; bit++ {
		want[off+bit/8] ^= 0x80 >> (bit % 8)
	}
	if ip := r.last(wire.HdrIPv4); ip >= 0 && f.Name != "ip.checksum" { // it follows too
		h := want[plain.Layers[ip].Off:][:wire.IPv4MinLen]
		wire.IPv4Header(h).SetChecksum(wire.IPv4Checksum(h))
	}
	rule, skip := form(base)
	icrc.Put(rule, want[skip:plain.ICRC+icrc.Len])
	if plain.VCRC >= 0 {
		copy(want[plain.VCRC:], img.Data[plain.VCRC:])
		if v, _, _ := icrc.VerifyVCRC(img.Data); v != icrc.Good && !strings.HasPrefix(f.Name, "infiniband.lrh.") {
			t.Errorf("%s: VCRC %v", f.Name, v)
		}
	}
	if !bytes.Equal(img.Data, want) {
		t.Errorf("%s of %s:\ngot  %x\nwant %x", f.Name, base, img.Data, want)
	}
}

func TestICRCIsMadeAsAsked(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.Payload = []byte("payload")
	plain, _ := built(t, r)
	right := plain.Data[plain.ICRC:]
	for text, want := range map[string][4]byte{
		"auto":       {right[0], right[1], right[2], right[3]},
		"wrong":      {^right[0], ^right[1], ^right[2], ^right[3]},
		"swapped":    {right[3], right[2], right[1], right[0]},
		"flip:0":     {right[0] ^ 1, right[1], right[2], right[3]},
		"flip:31":    {right[0], right[1], right[2], right[3] ^ 0x80},
		"0x01020304": {1, 2, 3, 4},
		"0":          {},
	} {
		crc, err := ParseCRC(text)
		if err != nil {
			t.Fatal(err)
		}
		r.ICRC = crc
		img, _ := built(t, r)
		if got := img.Data[img.ICRC:]; !bytes.Equal(got, want[:]) || !bytes.Equal(img.Data[:img.ICRC], plain.Data[:img.ICRC]) {
			t.Errorf("%s: % x, want % x", text, got, want)
		}
		if again, err := ParseCRC(crc.Text()); err != nil || again != crc {
			t.Errorf("%s is written %q, which is %v, %v", text, crc.Text(), again, err)
		}
	}
	for _, text := range []string{"flip:32", "flip:", "flip:-1", "0x100000000", "good", "-1"} {
		if _, err := ParseCRC(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
}

func TestAPacketWithoutICRCHasLengthsWithoutIt(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.ICRC.Mode = CRCNone
	img, _ := built(t, r)
	ip, udp := wire.IPv4Header(img.Data[14:]), wire.UDP(img.Data[34:])
	if img.ICRC != -1 || len(img.Data) != 54 || ip.TotalLen() != 40 || udp.Length() != 20 {
		t.Errorf("%d bytes, ICRC at %d, IP length %d, UDP length %d", len(img.Data), img.ICRC, ip.TotalLen(), udp.Length())
	}
}

func TestASetICRCStaysWhateverTheFieldsAre(t *testing.T) {
	r := put(t, recipe(t, "rocev2", "rc send-only"), "infiniband.bth.psn=7")
	r.ICRC = CRC{CRCValue, 0xDEADBEEF}
	img, f := built(t, r)
	if got := fmt.Sprintf("%x", img.Data[img.ICRC:]); got != "deadbeef" || verdict(f) != icrc.Bad {
		t.Errorf("ICRC %s, %v", got, verdict(f))
	}
}

func TestPadIsAsAskedWhateverPadCntSays(t *testing.T) {
	for _, c := range []struct {
		payload, pad int
		padcnt       string
		behind       int // bytes between headers and ICRC
		problems     wire.Problem
	}{
		{1, AutoPad, "", 4, 0},
		{3, AutoPad, "0", 4, 0},
		{3, 0, "", 3, 0},
		{0, AutoPad, "3", 0, wire.ProblemPad},
		{4, 7, "", 11, 0},
	} {
		r := recipe(t, "rocev2", "rc send-only")
		r.Payload, r.Pad = make([]byte, c.payload), c.pad
		if c.padcnt != "" {
			put(t, r, "infiniband.bth.padcnt="+c.padcnt)
		}
		img, f := built(t, r)
		if got := img.ICRC - img.Payload.Off; got != c.behind || f.Problems != c.problems || verdict(f) != icrc.Good {
			t.Errorf("%+v: %d bytes, problems %v, ICRC %v", c, got, f.Problems, verdict(f))
		}
	}
}

func TestLengthsAreAsAsked(t *testing.T) {
	for field, base := range map[string]string{
		"ip.len": "rocev2", "udp.length": "rocev2", "ipv6.plen": "rocev2-ipv6",
		"infiniband.grh.paylen": "rocev1", "infiniband.lrh.pktlen": "ib", "infiniband.reth.dmalen": "rocev2",
	} {
		r := put(t, recipe(t, base, "rc write-only"), field+"=9")
		img, _ := built(t, r)
		for i, l := range r.Layers {
			if f := FullField(l.ID, field); f != nil && f.Value(img.Data[img.Layers[i].Off:]) != 9 {
				t.Errorf("%s is %d", field, f.Value(img.Data[img.Layers[i].Off:]))
			}
		}
	}
}

func TestRawBytesAreCoveredByTheICRCAndEditsAreNot(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.Payload = []byte("abcd")
	at := 14 + 20 + 8 + 12
	r.Raw = []Edit{{at, []byte("AB")}, {at + 1, []byte("x")}}
	if img, f := built(t, r); string(img.Data[at:at+4]) != "Axcd" || verdict(f) != icrc.Good {
		t.Errorf("raw: %q, ICRC %v", img.Data[at:at+4], verdict(f))
	}
	r.Raw, r.Edits = nil, r.Raw
	if img, f := built(t, r); string(img.Data[at:at+4]) != "Axcd" || verdict(f) != icrc.Bad {
		t.Errorf("edits: %q, ICRC %v", img.Data[at:at+4], verdict(f))
	}
	for _, e := range []Edit{{-1, []byte{0}}, {62, []byte{0}}, {60, []byte{0, 0, 0}}, {1 << 62, []byte{0}}} {
		r.Raw, r.Edits = nil, []Edit{e}
		wantFieldError(t, r, "edits")
		r.Raw, r.Edits = []Edit{e}, nil
		wantFieldError(t, r, "raw")
	}
}

func TestTrailerIsBehindThePacketAndSnapCuts(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.Trailer = []byte{1, 2}
	img, f := built(t, r)
	if h, ok := f.Last(wire.HdrTrailer); !ok || h.Len != 2 || verdict(f) != icrc.Good || f.Problems != 0 {
		t.Errorf("trailer %+v, ICRC %v, problems %v", h, verdict(f), f.Problems)
	}
	r.Snap = 40
	cut, f := built(t, r)
	if len(cut.Data) != 40 || cut.WireLen != img.WireLen || !f.Cut() || !bytes.Equal(cut.Data, img.Data[:40]) {
		t.Errorf("%d of %d bytes", len(cut.Data), cut.WireLen)
	}
}

func TestChecksums(t *testing.T) {
	for _, base := range []string{"rocev2", "rocev2-ipv6"} {
		r := put(t, recipe(t, base, "rc send-only"), "udp.checksum=auto")
		r.Payload = []byte("payload")
		img, f := built(t, r)
		segment := img.Data[img.Layers[2].Off:img.End]
		var src, dst []byte
		if base == "rocev2" {
			src, dst = img.Data[26:30], img.Data[30:34]
		} else {
			src, dst = img.Data[22:38], img.Data[38:54]
		}
		got := wire.UDP(segment).Checksum()
		wire.UDP(segment).SetChecksum(0)
		if want := wire.UDPChecksum(src, dst, segment); got != want || got == 0 || verdict(f) != icrc.Good {
			t.Errorf("%s: UDP checksum %#x, want %#x; ICRC %v", base, got, want, verdict(f))
		}
	}
	r := put(t, recipe(t, "rocev2", "rc send-only"), "ip.checksum=0x1234", "udp.checksum=0x5678")
	img, f := built(t, r)
	if ip := wire.IPv4Header(img.Data[14:]); ip.Checksum() != 0x1234 || wire.UDP(img.Data[34:]).Checksum() != 0x5678 || verdict(f) != icrc.Good {
		t.Errorf("checksums %#x and %#x", ip.Checksum(), wire.UDP(img.Data[34:]).Checksum())
	}
}

func wantFieldError(t *testing.T, r *Recipe, layer string) {
	t.Helper()
	_, err := Build(r)
	var fe *FieldError
	if !errors.As(err, &fe) || fe.Layer != layer {
		t.Errorf("error %v, want a FieldError of %s", err, layer)
	}
}

func TestImpossibleValuesAreRefused(t *testing.T) {
	for _, c := range []struct {
		s     Setting
		layer wire.HeaderID
	}{
		{Setting{Field: FieldOf(wire.HdrBTH, "psn"), Num: 1 << 24}, wire.HdrBTH},
		{Setting{Field: FieldOf(wire.HdrBTH, "becn"), Num: 2}, wire.HdrBTH},
		{Setting{Field: FieldOf(wire.HdrIPv4, "hdr_len"), Num: 21}, wire.HdrIPv4}, // counts in fours
		{Setting{Field: FieldOf(wire.HdrIPv4, "src"), Raw: []byte{1, 2, 3}}, wire.HdrIPv4},
		{Setting{Field: FieldOf(wire.HdrEthernet, "dst")}, wire.HdrEthernet},
	} {
		r := recipe(t, "rocev2", "rc send-only")
		r.Layers[r.last(c.layer)].Put(c.s)
		wantFieldError(t, r, wire.SpecOf(c.layer).Name)
	}
	for _, pad := range []int{-2, 1 << 16} {
		r := recipe(t, "rocev2", "rc send-only")
		r.Pad = pad
		wantFieldError(t, r, "pad")
	}
	var gre Recipe
	gre.Layers = []Layer{{ID: wire.HdrGRE, Set: []Setting{{Field: FieldOf(wire.HdrGRE, "key"), Num: 1}}}}
	wantFieldError(t, &gre, "gre") // four bytes have no key
}

func TestAPacketThatItsLengthCannotSayIsRefused(t *testing.T) {
	for base, layer := range map[string]string{"rocev2": "ip", "rocev2-ipv6": "ipv6", "rocev1": "infiniband.grh", "ib": "infiniband.lrh"} {
		r := recipe(t, base, "rc send-only")
		r.Payload = make([]byte, 1<<16)
		wantFieldError(t, r, layer)
	}
	r := put(t, recipe(t, "rocev2", "rc send-only"), "ip.len=100", "udp.length=80")
	r.Payload = make([]byte, 1<<16)
	if _, err := Build(r); err != nil {
		t.Errorf("lengths that are set: %v", err)
	}
}

func TestAnICRCThatNoRuleCoversIsRefused(t *testing.T) {
	r := recipe(t, "rocev2", "rc send-only")
	r.Layers[1].Tail = []byte{1, 1, 1, 1} // IP options
	wantFieldError(t, r, "icrc")
	r.ICRC = CRC{CRCValue, 1}
	if _, f := built(t, r); f.Problems != wire.ProblemOptions {
		t.Errorf("problems %v", f.Problems)
	}
}

func TestEncapsulationsAreReadBack(t *testing.T) {
	const (
		eth, vlan, svlan, mpls = wire.HdrEthernet, wire.HdrVLAN, wire.HdrServiceVLAN, wire.HdrMPLS
		ip4, ip6, udp          = wire.HdrIPv4, wire.HdrIPv6, wire.HdrUDP
	)
	for _, outer := range [][]wire.HeaderID{
		{eth, vlan},
		{eth, svlan, vlan},
		{eth, vlan, vlan},
		{eth, mpls},
		{eth, mpls, mpls, mpls},
		{eth, ip4},
		{eth, ip6},
		{eth, ip4, mpls},
		{eth, ip4, wire.HdrGRE},
		{eth, ip6, wire.HdrGRE, mpls},
		{eth, ip4, udp, wire.HdrVXLAN, eth},
		{eth, ip6, udp, wire.HdrVXLAN, eth, vlan},
		{eth, ip4, udp, wire.HdrGeneve, eth},
		{eth, ip4, udp, wire.HdrGeneve},
		{eth, ip4, wire.HdrGRE, eth},
		{eth, ip4, wire.HdrGRE, wire.HdrERSPAN2, eth},
		{eth, ip6, wire.HdrGRE, wire.HdrERSPAN3, eth, svlan, vlan},
		{eth, vlan, ip4, udp, wire.HdrVXLAN, eth, vlan, ip6, udp, wire.HdrGeneve, eth},
	} {
		for _, inner := range []wire.HeaderID{ip4, ip6} {
			r := &Recipe{Link: wire.LinkEthernet, Pad: AutoPad, Payload: []byte("hello")}
			for _, id := range append(append([]wire.HeaderID{}, outer...), inner, udp, wire.HdrBTH, wire.HdrRETH) {
				r.Layers = append(r.Layers, Layer{ID: id})
			}
			_, f := built(t, r)
			if diff := cmp.Diff(layerIDs(r), headers(f)); diff != "" {
				t.Errorf("(-recipe +read)\n%s", diff)
			}
			if f.Problems != 0 || verdict(f) != icrc.Good || f.Proto != wire.ProtoRoCEv2 {
				t.Errorf("%v: problems %v, ICRC %v, protocol %v", outer, f.Problems, verdict(f), f.Proto)
			}
			if op, _ := f.Opcode(); op != wire.OpWriteOnly {
				t.Errorf("the opcode that has a RETH and payload: %v", op)
			}
		}
	}
}

func TestOtherLinksAreReadBack(t *testing.T) {
	for _, c := range []struct {
		link   wire.LinkType
		layers []wire.HeaderID
	}{
		{wire.LinkSLL, []wire.HeaderID{wire.HdrSLL, wire.HdrIPv4}},
		{wire.LinkSLL2, []wire.HeaderID{wire.HdrSLL2, wire.HdrIPv6}},
		{wire.LinkRawIP, []wire.HeaderID{wire.HdrIPv4}},
		{wire.LinkIPv4, []wire.HeaderID{wire.HdrIPv4}},
		{wire.LinkIPv6, []wire.HeaderID{wire.HdrIPv6}},
		{wire.LinkERF, []wire.HeaderID{wire.HdrERF, wire.HdrEthernet, wire.HdrIPv4}},
	} {
		r := &Recipe{Link: c.link, Pad: AutoPad}
		for _, id := range append(c.layers, wire.HdrUDP, wire.HdrBTH, wire.HdrAETH) {
			r.Layers = append(r.Layers, Layer{ID: id})
		}
		_, f := built(t, r)
		if diff := cmp.Diff(layerIDs(r), headers(f)); diff != "" {
			t.Errorf("link %d (-recipe +read)\n%s", c.link, diff)
		}
		if f.Problems != 0 || verdict(f) != icrc.Good {
			t.Errorf("link %d: problems %v, ICRC %v", c.link, f.Problems, verdict(f))
		}
	}
}

func TestAFieldThatReachesToTheEndMakesItsHeaderLonger(t *testing.T) {
	options := Setting{Field: FieldOf(wire.HdrGeneve, "options"), Raw: []byte{0, 1, 2, 1, 5, 6, 7, 8}}
	r := stack(wire.LinkEthernet,
		[]wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrUDP, wire.HdrGeneve, wire.HdrEthernet},
		[]wire.HeaderID{wire.HdrIPv4, wire.HdrUDP, wire.HdrBTH})
	r.Layers[3].Put(options)
	_, f := built(t, &r)
	if g := wire.Geneve(f.View(wire.HdrGeneve)); !bytes.Equal(g.Options(), options.Raw) || f.Problems != 0 || verdict(f) != icrc.Good {
		t.Errorf("options %x, problems %v, ICRC %v", g.Options(), f.Problems, verdict(f))
	}
	r = stack(wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrTCP})
	r.Layers[2].Put(Setting{Field: FieldOf(wire.HdrTCP, "options"), Raw: []byte{2, 4, 5, 0xB4}})
	img, f := built(t, &r)
	tcp := wire.TCP(f.View(wire.HdrTCP))
	if tcp.HeaderLen() != 24 || len(tcp) != 24 || f.Problems != 0 {
		t.Errorf("TCP header of %d bytes, problems %v", tcp.HeaderLen(), f.Problems)
	}
	got := tcp.Checksum()
	tcp.SetChecksum(0)
	if want := wire.TCPChecksum(img.Data[26:30], img.Data[30:34], img.Data[34:]); got != want {
		t.Errorf("TCP checksum %#x, want %#x", got, want)
	}
}

func TestFlagsOfTheBTHFollowTheOpcode(t *testing.T) {
	for opcode, want := range map[string][3]bool{ // AckReq, MigReq, BECN
		"rc send-only":           {true, true, false},
		"rc send-first":          {false, true, false},
		"rc write-last":          {true, true, false},
		"rc read-request":        {true, true, false},
		"rc read-response-only":  {false, true, false},
		"rc ack":                 {false, true, false},
		"rc compare-swap":        {true, true, false},
		"rc flush":               {true, true, false},
		"uc send-only":           {false, true, false},
		"ud send-only":           {false, true, false},
		"xrc write-only":         {true, true, false},
		"rd send-only":           {true, true, false},
		"cnp":                    {false, false, true},
		"CNP (InfiniBand)":       {false, false, true},
		"rc atomic-ack":          {false, true, false},
		"rc send-only-immediate": {true, true, false},
	} {
		_, f := built(t, recipe(t, "rocev2", opcode))
		bth := wire.BTH(f.View(wire.HdrBTH))
		if got := [3]bool{bth.AckReq(), bth.MigReq(), bth.BECN()}; got != want {
			t.Errorf("%s: AckReq, MigReq, BECN %v, want %v", opcode, got, want)
		}
	}
}

func TestADatagramOfManagementGoesToItsQueuePair(t *testing.T) {
	r := recipe(t, "rocev2", "ud send-only")
	r.Layers = append(r.Layers, Layer{ID: wire.HdrMAD, Tail: make([]byte, 232-3)})
	_, f := built(t, r)
	bth, deth := wire.BTH(f.View(wire.HdrBTH)), wire.DETH(f.View(wire.HdrDETH))
	if bth.DestQP() != 1 || deth.SrcQP() != 1 || deth.QKey() != wire.QKeyQP1 || f.View(wire.HdrMAD) == nil {
		t.Errorf("QP %d from %d, Q_Key %#x", bth.DestQP(), deth.SrcQP(), deth.QKey())
	}
	if f.Pad != 3 || verdict(f) != icrc.Good {
		t.Errorf("%d pad bytes behind a header of an odd length, ICRC %v", f.Pad, verdict(f))
	}
}
