package craft

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// chosen are the fields that the differential test sets at random: those that
// decide nothing of how a packet is read. Wireshark calls some by other names.
func chosen() map[string]string {
	names := make(map[string]string)
	for _, n := range strings.Fields(`
		eth.dst eth.src vlan.priority vlan.id ieee8021ad.priority ieee8021ad.id mpls.label mpls.exp mpls.ttl
		ip.dsfield ip.id ip.ttl ip.src ip.dst ipv6.tclass ipv6.flow ipv6.hlim ipv6.src ipv6.dst
		udp.srcport vxlan.gbp vxlan.vni geneve.vni erspan.spanid erspan.cos erspan.vlan
		infiniband.lrh.vl infiniband.lrh.sl infiniband.lrh.dlid infiniband.lrh.slid
		infiniband.grh.tclass infiniband.grh.flowlabel infiniband.grh.hoplmt infiniband.grh.sgid infiniband.grh.dgid
		infiniband.bth.se infiniband.bth.m infiniband.bth.p_key infiniband.bth.destqp infiniband.bth.a
		infiniband.bth.reserved7 infiniband.bth.psn infiniband.deth.q_key infiniband.deth.srcqp
		infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen infiniband.aeth.syndrome infiniband.aeth.msn
		infiniband.atomiceth.swapdt infiniband.atomiceth.cmpdt infiniband.atomicacketh.origremdt`) {
		names[n] = n
	}
	names["infiniband.immdt.data"] = "infiniband.immdt"
	names["infiniband.ieth.r_key"] = "infiniband.ieth"
	return names
}

// derived are fields that nobody sets and both must see alike.
var derived = [...]string{
	"ip.len", "ip.proto", "ip.checksum", "ipv6.plen", "ipv6.nxt", "udp.length", "udp.dstport",
	"infiniband.bth.opcode", "infiniband.bth.padcnt", "infiniband.bth.tver", "infiniband.invariant.crc",
	"infiniband.lrh.lnh", "infiniband.lrh.pktlen", "infiniband.grh.paylen", "infiniband.grh.nxthdr",
}

// tsharkReads is false of opcodes that tshark 4.0 takes for something else
// (docs/wireshark-differences.md: XRC, RD, CNP, FLUSH, ATOMIC WRITE).
func tsharkReads(op wire.Opcode) bool {
	switch op.Service() {
	case wire.RC, wire.UC, wire.UD:
		return op.Info().Defined() && op.Operation() != wire.OpFlush && op.Operation() != wire.OpAtomicWrite
	}
	return false
}

// stacks are what the packets lie in.
func stacks() []Recipe {
	const eth, udp = wire.HdrEthernet, wire.HdrUDP
	var list []Recipe
	for _, network := range [][]wire.HeaderID{{wire.HdrIPv4, udp}, {wire.HdrIPv6, udp}, {wire.HdrGRH}} {
		for _, outer := range [][]wire.HeaderID{
			{eth},
			{eth, wire.HdrVLAN},
			{eth, wire.HdrServiceVLAN, wire.HdrVLAN},
			{eth, wire.HdrIPv4, udp, wire.HdrVXLAN, eth},
			{eth, wire.HdrIPv6, udp, wire.HdrGeneve, eth, wire.HdrVLAN},
			{eth, wire.HdrIPv4, wire.HdrGRE, wire.HdrERSPAN2, eth},
		} {
			list = append(list, stack(wire.LinkEthernet, outer, network))
		}
	}
	list = append(list,
		stack(wire.LinkEthernet, []wire.HeaderID{eth, wire.HdrMPLS, wire.HdrMPLS}, []wire.HeaderID{wire.HdrIPv4, udp}),
		stack(wire.LinkEthernet, []wire.HeaderID{eth, wire.HdrIPv6}, []wire.HeaderID{wire.HdrIPv4, udp}),
		stack(wire.LinkERF, []wire.HeaderID{wire.HdrERF, wire.HdrLRH}, nil),
		stack(wire.LinkERF, []wire.HeaderID{wire.HdrERF, wire.HdrLRH}, []wire.HeaderID{wire.HdrGRH}),
	)
	return list
}

func stack(link wire.LinkType, lists ...[]wire.HeaderID) Recipe {
	r := Recipe{Link: link, Pad: AutoPad}
	for _, ids := range lists {
		for _, id := range ids {
			r.Layers = append(r.Layers, Layer{ID: id})
		}
	}
	return r
}

// randomPacket is a packet of an opcode in a stack with random values.
func randomPacket(rng *rand.Rand, in *Recipe, op wire.Opcode) *Recipe {
	r := *in
	r.Layers = slices.Clone(in.Layers)
	r.Layers = append(r.Layers, Layer{ID: wire.HdrBTH, Set: []Setting{{Field: FieldOf(wire.HdrBTH, "opcode"), Num: uint64(op)}}})
	for _, id := range op.Info().Extended() {
		r.Layers = append(r.Layers, Layer{ID: id})
	}
	if op.Info().Payload { // long, and like nothing that tshark guesses
		r.Payload = bytes.Repeat([]byte{0x11}, 40+rng.IntN(8))
	}
	names := chosen()
	for i := range r.Layers {
		l := &r.Layers[i]
		spec := wire.SpecOf(l.ID)
		for j := range spec.Fields {
			if f := &spec.Fields[j]; names[f.Name] != "" {
				l.Put(randomSetting(rng, f))
			}
		}
	}
	return &r
}

func randomSetting(rng *rand.Rand, f *wire.Field) Setting {
	s := Setting{Field: f}
	switch {
	case f.Name == "udp.srcport": // a well-known one would be taken for its protocol
		s.Num = 49152 + rng.Uint64N(1<<14)
	case f.Name == "mpls.label": // the first 16 have meanings (RFC 3032, 2.1)
		s.Num = 16 + rng.Uint64N(1<<20-16)
	case f.Name == "infiniband.bth.destqp" || f.Name == "infiniband.deth.srcqp": // not management
		s.Num = 2 + rng.Uint64N(1<<24-2)
	case f.Kind == wire.Uint || f.Kind == wire.Bool:
		if s.Num = rng.Uint64(); f.Bits < 64 {
			s.Num &= 1<<uint(f.Bits) - 1
		}
	default:
		for range f.Bits / 8 {
			s.Raw = append(s.Raw, byte(rng.Uint32()))
		}
		if f.Kind == wire.MAC {
			s.Raw[0] &^= 1 // an address of one station
		}
	}
	return s
}

// written reads a field's value in each header of the packet that has it,
// plainly: a number, or bytes in hexadecimal.
func written(r *Recipe, img *Image, name string) (values []string) {
	for i, l := range r.Layers {
		h := img.Data[img.Layers[i].Off:][:img.Layers[i].Len]
		if f := wire.SpecOf(l.ID).Field(name, h); f != nil {
			values = append(values, plainValue(f, h))
		}
	}
	switch {
	case name == "infiniband.invariant.crc":
		values = append(values, plainValue(&wire.SpecOf(wire.HdrICRC).Fields[0], img.Data[img.ICRC:]))
	case name == "iwarp_mpa.crc_check" && img.CRC >= 0:
		values = append(values, plainValue(&wire.SpecOf(wire.HdrFPDUCRC).Fields[0], img.Data[img.CRC:]))
	}
	return values
}

func plainValue(f *wire.Field, h []byte) string {
	if f.Kind == wire.Uint || f.Kind == wire.Bool {
		return strconv.FormatUint(f.Value(h), 10)
	}
	return fmt.Sprintf("%x", f.Raw(h))
}

// plainText reads a value as tshark prints it.
func plainText(text string) string {
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return strconv.FormatUint(n, 10)
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return fmt.Sprintf("%x", a.AsSlice())
	}
	return strings.ReplaceAll(text, ":", "")
}

// TestTsharkReadsEveryFieldThatWeSet crafts packets of every opcode that tshark
// knows in every stack, and compares all values in all headers.
func TestTsharkReadsEveryFieldThatWeSet(t *testing.T) {
	var names, theirs []string
	for ours, other := range chosen() {
		names, theirs = append(names, ours), append(theirs, other)
	}
	names, theirs = append(names, derived[:]...), append(theirs, derived[:]...)

	const seed = 4791
	rng := rand.New(rand.NewPCG(seed, seed))
	var recipes []*Recipe
	for _, in := range stacks() {
		for code := range 256 {
			if op := wire.Opcode(code); tsharkReads(op) {
				recipes = append(recipes, randomPacket(rng, &in, op))
			}
		}
	}
	path := filepath.Join(t.TempDir(), "crafted.pcapng")
	images := writeAll(t, path, recipes)

	lines := tsharkFields(t, path, theirs)
	if len(lines) != len(recipes) {
		t.Fatalf("tshark prints %d lines for %d packets", len(lines), len(recipes))
	}
	compared := 0
	for i, columns := range lines {
		for j, name := range names {
			want := written(recipes[i], images[i], name)
			compared += len(want)
			if got := readValues(columns[j], name); !slices.Equal(got, want) {
				t.Errorf("packet %d, %v: tshark reads %s as %v, we wrote %v\n%x", i+1, layerIDs(recipes[i]), theirs[j], got, want, images[i].Data)
			}
		}
	}
	t.Logf("%d packets, %d values", len(recipes), compared)
}

// tsharkFields is what tshark reads of each packet of a capture, a column a field.
func tsharkFields(t *testing.T, path string, names []string) (lines [][]string) {
	t.Helper()
	args := []string{"-r", path, "-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;"}
	for _, n := range names {
		args = append(args, "-e", n)
	}
	cmd := exec.CommandContext(t.Context(), testneed.Tool(t, "tshark"), args...)
	cmd.Env = append(os.Environ(), "WIRESHARK_CONFIG_DIR="+t.TempDir(), "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(out)) {
		lines = append(lines, strings.Split(strings.TrimSuffix(line, "\n"), "\t"))
	}
	return lines
}

// readValues splits a column of tshark's.
func readValues(column, name string) (values []string) {
	if column == "" {
		return nil
	}
	list := strings.Split(column, ";")
	switch name { // one name for the header and the bytes in it
	case "infiniband.immdt.data", "infiniband.ieth.r_key":
		list = []string{"0x" + list[len(list)-1]}
	}
	for _, v := range list {
		values = append(values, plainText(v))
	}
	return values
}

func writeAll(t *testing.T, path string, recipes []*Recipe) (images []*Image) {
	t.Helper()
	w, err := capfile.Create(path, capfile.Interface{Link: wire.LinkEthernet, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range recipes {
		img, err := Build(r)
		if err != nil {
			t.Fatal(err)
		}
		images = append(images, img)
		rec := capfile.Record{Data: img.Data, WireLen: img.WireLen, Interface: -1, Link: r.Link, FCSLen: -1}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return images
}
