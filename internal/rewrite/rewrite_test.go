package rewrite_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

func rules(t testing.TB, texts ...string) *rewrite.Rules {
	t.Helper()
	r := &rewrite.Rules{}
	for _, text := range texts {
		if err := r.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// packet builds a packet of an opcode; settings are FIELD, VALUE, FIELD, ...
func packet(t testing.TB, base, opcode string, settings ...string) []byte {
	t.Helper()
	op, err := craft.ParseOpcode(opcode)
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe(base, op)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(settings); i += 2 {
		if err := r.Put(settings[i], settings[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data
}

func linkOf(base string) wire.LinkType {
	if base == "ib" || base == "ib-grh" {
		return wire.LinkIB
	}
	return wire.LinkEthernet
}

const noFCS = -1

// apply rewrites a copy of a frame.
func apply(e *rewrite.Engine, link wire.LinkType, data []byte, wireLen int) ([]byte, rewrite.Result) {
	out := bytes.Clone(data)
	var f wire.Frame
	f.Parse(link, out, wireLen)
	return out, e.Apply(&f, noFCS)
}

func TestEachKindOfRuleChangesItsFieldsAndKeepsTheCRCsRight(t *testing.T) {
	for _, c := range []struct {
		base, opcode, rule string
		from, to           []string
	}{
		{"rocev2", "rc send-only", "mac:02:00:00:00:00:09=02:00:00:00:00:0a", []string{"eth.src", "02:00:00:00:00:09"}, []string{"eth.src", "02:00:00:00:00:0a"}},
		{"rocev2", "rc send-only", "mac:02:00:00:00:00:09=02:00:00:00:00:0a", []string{"eth.dst", "02:00:00:00:00:09"}, []string{"eth.dst", "02:00:00:00:00:0a"}},
		{"rocev2", "rc send-only", "ip:10.9.0.1=10.9.0.2", []string{"ip.src", "10.9.0.1"}, []string{"ip.src", "10.9.0.2"}},
		{"rocev2", "rc send-only", "ip:10.9.0.1=10.9.0.2", []string{"ip.dst", "10.9.0.1"}, []string{"ip.dst", "10.9.0.2"}},
		{"rocev2", "rc send-only", "ip:10.9.0.1=10.9.0.2", []string{"ip.dst", "10.9.0.1", "udp.checksum", "auto"}, []string{"ip.dst", "10.9.0.2", "udp.checksum", "auto"}},
		{"rocev2-ipv6", "rc send-only", "ip:2001:db8::9=2001:db8::a", []string{"ipv6.src", "2001:db8::9"}, []string{"ipv6.src", "2001:db8::a"}},
		{"rocev1", "rc send-only", "ip:10.9.0.1=10.9.0.2", []string{"infiniband.grh.sgid", "10.9.0.1"}, []string{"infiniband.grh.sgid", "10.9.0.2"}},
		{"rocev1", "rc send-only", "ip:2001:db8::9=2001:db8::a", []string{"infiniband.grh.dgid", "2001:db8::9"}, []string{"infiniband.grh.dgid", "2001:db8::a"}},
		{"rocev2", "rc send-only", "qp:0x11=0x2a", []string{"infiniband.bth.destqp", "0x11"}, []string{"infiniband.bth.destqp", "0x2a"}},
		{"rocev2", "rc send-only", "qp:0x11@10.9.0.1=0x2a", []string{"ip.dst", "10.9.0.1", "infiniband.bth.destqp", "0x11"}, []string{"ip.dst", "10.9.0.1", "infiniband.bth.destqp", "0x2a"}},
		{"rocev2", "ud send-only", "qp:0x99=0x2a", []string{"infiniband.deth.srcqp", "0x99"}, []string{"infiniband.deth.srcqp", "0x2a"}},
		{"rocev2", "rc write-only", "rkey:0x1234=0x5678", []string{"infiniband.reth.r_key", "0x1234"}, []string{"infiniband.reth.r_key", "0x5678"}},
		{"rocev2", "rc fetch-add", "rkey:0x1234=0x5678", []string{"infiniband.reth.r_key", "0x1234"}, []string{"infiniband.reth.r_key", "0x5678"}},
		{"rocev2", "rc send-only-invalidate", "rkey:0x1234=0x5678", []string{"infiniband.ieth.r_key", "0x1234"}, []string{"infiniband.ieth.r_key", "0x5678"}},
		{"rocev2", "rc read-request", "va:0x1000=0x7f0000000000", []string{"infiniband.reth.va", "0x1234"}, []string{"infiniband.reth.va", "0x7f0000000234"}},
		{"rocev2", "rc fetch-add", "va:0x1000+0x235=0x2000", []string{"infiniband.reth.va", "0x1234"}, []string{"infiniband.reth.va", "0x2234"}},
		{"rocev2", "rc send-only", "port:50001=50002", []string{"udp.srcport", "50001"}, []string{"udp.srcport", "50002"}},
		{"ib", "rc send-only", "lid:5=6", []string{"infiniband.lrh.dlid", "5"}, []string{"infiniband.lrh.dlid", "6"}},
		{"ib", "rc send-only", "lid:5=6", []string{"infiniband.lrh.slid", "5"}, []string{"infiniband.lrh.slid", "6"}},
	} {
		name := fmt.Sprintf("%s %s %s %v", c.base, c.opcode, c.rule, c.from)
		got, result := apply(rewrite.New(rules(t, c.rule), nil, false), linkOf(c.base), packet(t, c.base, c.opcode, c.from...), 0)
		if want := packet(t, c.base, c.opcode, c.to...); !bytes.Equal(got, want) {
			t.Errorf("%s:\n%s", name, cmp.Diff(want, got))
		}
		if want := (rewrite.Result{Changed: true}); result != want {
			t.Errorf("%s: %+v", name, result)
		}
	}
}

func TestARuleLeavesAloneWhatItDoesNotName(t *testing.T) {
	for _, c := range []struct{ rule, field, value string }{
		{"qp:0x11@10.9.0.1=0x2a", "infiniband.bth.destqp", "0x11"}, // another host's
		{"va:0x1000+0x234=0x2000", "infiniband.reth.va", "0x1234"}, // one beyond
		{"va:0x1235=0x2000", "infiniband.reth.va", "0x1234"},       // one before
		{"rkey:0x1235=0x2000", "infiniband.reth.r_key", "0x1234"},
		{"psn:0x12=+1", "infiniband.bth.destqp", "0x11"},
	} {
		before := packet(t, "rocev2", "rc write-only", c.field, c.value)
		var facts rewrite.Facts
		learn(&facts, before)
		e := rewrite.New(rules(t, c.rule), &facts, false)
		got, result := apply(e, wire.LinkEthernet, before, 0)
		if !bytes.Equal(got, before) || result.Changed {
			t.Errorf("%s changes %s = %s: %+v", c.rule, c.field, c.value, result)
		}
		if diff := cmp.Diff([]string{c.rule}, e.Unused()); diff != "" {
			t.Errorf("unused rules (-want +got):\n%s", diff)
		}
	}
}

func learn(facts *rewrite.Facts, frames ...[]byte) {
	var f wire.Frame
	for _, data := range frames {
		f.Parse(wire.LinkEthernet, data, 0)
		facts.Learn(&f)
	}
}

func TestPSNRulesMoveRequestsAndTheirAnswersTogether(t *testing.T) {
	request := func(psn string) []byte {
		return packet(t, "rocev2", "rc send-only", "ip.src", "10.0.0.1", "ip.dst", "10.0.0.2", "infiniband.bth.destqp", "0x11", "infiniband.bth.psn", psn)
	}
	answer := func(psn string) []byte {
		return packet(t, "rocev2", "rc acknowledge", "ip.src", "10.0.0.2", "ip.dst", "10.0.0.1", "infiniband.bth.destqp", "0x22", "infiniband.bth.psn", psn)
	}
	for _, c := range []struct {
		rule     string
		from, to []string
	}{
		{"psn:0x11=+1000", []string{"5", "6"}, []string{"1005", "1006"}},
		{"psn:0x11=-6", []string{"5", "6"}, []string{"0xffffff", "0"}},
		{"psn:0x11=0xfffffe", []string{"5", "7"}, []string{"0xfffffe", "0"}},
		{"psn:0x11@10.0.0.2=+1", []string{"5", "6"}, []string{"6", "7"}},
	} {
		var facts rewrite.Facts
		for _, psn := range c.from {
			learn(&facts, request(psn), answer(psn))
		}
		e := rewrite.New(rules(t, c.rule), &facts, false)
		for i, psn := range c.from {
			if got, _ := apply(e, wire.LinkEthernet, request(psn), 0); !bytes.Equal(got, request(c.to[i])) {
				t.Errorf("%s: request %s does not become %s", c.rule, psn, c.to[i])
			}
			if got, _ := apply(e, wire.LinkEthernet, answer(psn), 0); !bytes.Equal(got, answer(c.to[i])) {
				t.Errorf("%s: answer %s does not become %s", c.rule, psn, c.to[i])
			}
		}
	}
}

func TestWrongChecksumsStayWrongUnlessFixed(t *testing.T) {
	good := packet(t, "rocev2", "rc write-only", "infiniband.reth.r_key", "1", "udp.checksum", "auto")
	want := packet(t, "rocev2", "rc write-only", "infiniband.reth.r_key", "2", "udp.checksum", "auto")
	bad := bytes.Clone(good)
	var f wire.Frame
	f.Parse(wire.LinkEthernet, bad, 0)
	ip, _ := f.Last(wire.HdrIPv4)
	udp, _ := f.Last(wire.HdrUDP)
	bad[f.ICRC] ^= 0x10
	bad[ip.Off+10] ^= 0x10
	bad[udp.Off+6] ^= 0x10

	kept, _ := apply(rewrite.New(rules(t, "rkey:1=2"), nil, false), wire.LinkEthernet, bad, 0)
	f.Parse(wire.LinkEthernet, kept, 0)
	if v, computed, received := new(icrc.Hasher).Judge(&f); v != icrc.Bad || binary.LittleEndian.Uint32(kept[f.ICRC:])^icrc.Load(want[f.ICRC:]) != 0x10 {
		t.Errorf("a flipped bit of the ICRC became %v, %08x for %08x", v, received, computed)
	}
	if h := kept[ip.Off : ip.Off+20]; wire.IPv4Header(h).Checksum() == wire.IPv4Checksum(h) {
		t.Error("the wrong IPv4 checksum became right")
	}
	back, _ := apply(rewrite.New(rules(t, "rkey:2=1"), nil, false), wire.LinkEthernet, kept, 0)
	if !bytes.Equal(back, bad) {
		t.Errorf("the way back gives other bytes:\n%s", cmp.Diff(bad, back))
	}
	fixed, _ := apply(rewrite.New(rules(t, "rkey:1=2"), nil, true), wire.LinkEthernet, bad, 0)
	if !bytes.Equal(fixed, want) {
		t.Errorf("fixed (-want +got):\n%s", cmp.Diff(want, fixed))
	}
}

func TestTheFrameCheckSequenceFollows(t *testing.T) {
	seal := func(data []byte) []byte {
		return binary.LittleEndian.AppendUint32(data, crc32.ChecksumIEEE(data))
	}
	got := seal(packet(t, "rocev2", "rc send-only", "infiniband.bth.destqp", "1234"))
	var f wire.Frame
	f.Parse(wire.LinkEthernet, got, 0)
	rewrite.New(rules(t, "qp:1234=4321"), nil, false).Apply(&f, 4)
	if want := seal(packet(t, "rocev2", "rc send-only", "infiniband.bth.destqp", "4321")); !bytes.Equal(got, want) {
		t.Error(cmp.Diff(want, got))
	}
}

func TestCutFramesSayThatTheyCouldNotBeSealed(t *testing.T) {
	whole := packet(t, "rocev2", "rc write-only", "infiniband.reth.r_key", "1", "udp.checksum", "auto")
	e := rewrite.New(rules(t, "rkey:1=2"), nil, false)
	_, result := apply(e, wire.LinkEthernet, whole[:len(whole)-4], len(whole))
	if want := (rewrite.Result{Changed: true, Unsealed: true}); result != want {
		t.Errorf("%+v", result)
	}
	for n := range whole {
		apply(rewrite.New(rules(t, "rkey:1=2"), nil, true), wire.LinkEthernet, whole[:n], len(whole))
		apply(e, wire.LinkEthernet, whole[:n], 0)
	}
}

func TestRulesThatCannotBeAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "qp", "qp:1", "sky:1=2", "qp:x=1", "qp:1=x", "qp:0x1000000=1", "qp:1@x=2", "qp:1=2@10.0.0.1",
		"mac:1=2", "mac:02:00:00:00:00:0=02:00:00:00:00:01", "mac:02:00:00:00:00:01=x", "ip:10.0.0.1=::1", "ip:x=10.0.0.1", "ip:fe80::1%eth0=::1",
		"psn:1=", "psn:1=++1", "psn:1=x", "rkey:0x100000000=1", "port:65536=1", "lid:1=65536",
		"va:1+0=2", "va:2+0xffffffffffffffff=2", "va:x=1", "va:1=x", "va:1+x=3",
	} {
		if err := new(rewrite.Rules).Add(text); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	for _, text := range []string{"qp:1=2", "va:1=2", "ip:10.0.0.1=10.0.0.2"} {
		if err := rules(t, text).Add(text); err == nil {
			t.Errorf("%q is accepted twice", text)
		}
	}
}

func TestIdentityLeavesEveryCaptureAsItIs(t *testing.T) {
	names := map[string]bool{}
	captest.Each(t, func(name string, _ int, rec *capfile.Record) {
		names[name] = true
		e := rewrite.New(collect(t, rec, func(v uint64) uint64 { return v }), nil, false)
		if got, _ := apply(e, rec.Link, rec.Data, rec.WireLen); !bytes.Equal(got, rec.Data) {
			t.Errorf("%s, record at %d changed", name, rec.Offset)
		}
	})
	if len(names) < 30 {
		t.Errorf("only %d captures were read", len(names))
	}
}

// collect makes rules for all values of a frame; mirror is its own inverse.
func collect(t *testing.T, rec *capfile.Record, mirror func(uint64) uint64) *rewrite.Rules {
	var f wire.Frame
	f.Parse(rec.Link, bytes.Clone(rec.Data), rec.WireLen)
	r := &rewrite.Rules{}
	add := func(kind string, old, mask uint64) {
		for _, v := range []uint64{old, mirror(old) & mask} { // a rule that is there already is the same
			_ = r.Add(fmt.Sprintf("%s:%d=%d", kind, v, mirror(v)&mask))
		}
	}
	flip := func(a netip.Addr) {
		b := a.AsSlice()
		b[len(b)-1] = byte(mirror(uint64(b[len(b)-1])))
		to, _ := netip.AddrFromSlice(b)
		_ = r.Add("ip:" + a.String() + "=" + to.String())
		_ = r.Add("ip:" + to.String() + "=" + a.String())
	}
	for _, h := range f.Headers() {
		b := f.Whole(h)
		if b == nil {
			continue
		}
		switch h.ID {
		case wire.HdrBTH:
			if wire.BTH(b).DestQP() > 1 && mirror(uint64(wire.BTH(b).DestQP())) > 1 {
				add("qp", uint64(wire.BTH(b).DestQP()), 1<<24-1)
			}
		case wire.HdrRETH:
			add("rkey", uint64(wire.RETH(b).RKey()), 1<<32-1)
			va := wire.RETH(b).VA()
			_ = r.Add(fmt.Sprintf("va:%d+1=%d", va, mirror(va)))
			_ = r.Add(fmt.Sprintf("va:%d+1=%d", mirror(va), va))
		case wire.HdrLRH:
			add("lid", uint64(wire.LRH(b).SLID()), 1<<16-1)
			add("lid", uint64(wire.LRH(b).DLID()), 1<<16-1)
		case wire.HdrUDP:
			if p := uint64(wire.UDP(b).SrcPort()); p > 0xC000 {
				add("port", p, 1<<16-1)
			}
		case wire.HdrIPv4:
			flip(wire.IPv4Header(b).Src())
			flip(wire.IPv4Header(b).Dst())
		case wire.HdrIPv6:
			flip(wire.IPv6Header(b).Src().Unmap())
		}
	}
	return r
}

func TestFullRemapKeepsGoodICRCsGoodAndHasAnInverse(t *testing.T) {
	var judged, good int
	var h icrc.Hasher
	captest.Each(t, func(name string, _ int, rec *capfile.Record) {
		r := collect(t, rec, func(v uint64) uint64 { return v ^ 0x5A })
		var f wire.Frame
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		was, _, _ := h.Judge(&f)
		e := rewrite.New(r, nil, false)
		got, _ := apply(e, rec.Link, rec.Data, rec.WireLen)
		f.Parse(rec.Link, got, rec.WireLen)
		is, _, _ := h.Judge(&f)
		if was != is {
			t.Errorf("%s, record at %d: the ICRC was %v and is %v", name, rec.Offset, was, is)
		}
		judged++
		if is == icrc.Good && !bytes.Equal(got, rec.Data) {
			good++
		}
		if back, _ := apply(e, rec.Link, got, rec.WireLen); !bytes.Equal(back, rec.Data) {
			t.Errorf("%s, record at %d: the way back gives other bytes", name, rec.Offset)
		}
	})
	if good < 1000 {
		t.Errorf("of %d frames only %d were changed and have a good ICRC", judged, good)
	}
}

func TestApplyingTwiceIsApplyingOnce(t *testing.T) {
	e := rewrite.New(rules(t, "qp:0x11=0x2a", "ip:10.0.0.1=10.0.0.9", "rkey:1=2", "va:0x1000+0x1000=0x8000", "port:50001=50002"), nil, false)
	once, _ := apply(e, wire.LinkEthernet, packet(t, "rocev2", "rc write-only", "ip.src", "10.0.0.1", "infiniband.bth.destqp", "0x11",
		"infiniband.reth.r_key", "1", "infiniband.reth.va", "0x1234", "udp.srcport", "50001"), 0)
	twice, result := apply(e, wire.LinkEthernet, once, 0)
	if !bytes.Equal(once, twice) || result.Changed {
		t.Errorf("%+v\n%s", result, cmp.Diff(once, twice))
	}
	if unused := e.Unused(); unused != nil {
		t.Errorf("unused: %v", unused)
	}
}

func TestRewritingAllocatesNothing(t *testing.T) {
	data := packet(t, "rocev2", "rc write-only", "ip.src", "10.0.0.1", "infiniband.bth.destqp", "0x11", "udp.checksum", "auto",
		"infiniband.reth.r_key", "1", "infiniband.reth.va", "0x1234", "udp.srcport", "50001")
	r := rules(t, "qp:0x11=0x2a", "qp:0x2a=0x11", "ip:10.0.0.1=10.0.0.9", "ip:10.0.0.9=10.0.0.1", "rkey:1=2", "rkey:2=1",
		"va:0x1000+0x1000=0x8000", "va:0x8000+0x1000=0x1000", "port:50001=50002", "port:50002=50001", "psn:0x11=+1", "psn:0x2a=-1")
	var facts rewrite.Facts
	learn(&facts, data)
	e := rewrite.New(r, &facts, false)
	var f wire.Frame
	if n := testing.AllocsPerRun(100, func() {
		f.Parse(wire.LinkEthernet, data, 0)
		if !e.Apply(&f, noFCS).Changed {
			t.Fatal("nothing was changed")
		}
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

func BenchmarkApply(b *testing.B) {
	data := packet(b, "rocev2", "rc write-only", "infiniband.bth.destqp", "0x11", "infiniband.reth.r_key", "1")
	e := rewrite.New(rules(b, "qp:0x11=0x2a", "qp:0x2a=0x11", "rkey:1=2", "rkey:2=1"), nil, false)
	var f wire.Frame
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		f.Parse(wire.LinkEthernet, data, 0)
		e.Apply(&f, noFCS)
	}
}

func FuzzApply(f *testing.F) {
	for _, base := range []string{"rocev2", "rocev2-ipv6", "rocev1", "ib"} {
		f.Add(packet(f, base, "rc write-only"), uint16(linkOf(base)), uint8(0))
		f.Add(packet(f, base, "ud send-only", "infiniband.bth.destqp", "1"), uint16(linkOf(base)), uint8(9))
	}
	r := rules(f, "mac:02:00:00:00:00:01=02:00:00:00:00:09", "ip:10.0.0.1=10.0.0.9", "ip:::=::9", "qp:1=2", "qp:0x11=0x2a",
		"psn:0x11=+5", "rkey:0=1", "va:0=9", "port:4791=4790", "lid:1=2", "lid:0=3")
	f.Fuzz(func(t *testing.T, data []byte, link uint16, cut uint8) {
		before := bytes.Clone(data)
		var frame wire.Frame
		frame.Parse(wire.LinkType(link), data, len(data)+int(cut))
		var facts rewrite.Facts
		facts.Learn(&frame)
		if !rewrite.New(r, &facts, false).Apply(&frame, int(cut%5)).Changed && !bytes.Equal(before, data) {
			t.Error("bytes changed, and the result denies it")
		}
		rewrite.New(r, &facts, true).Apply(&frame, int(cut%5))
	})
}
