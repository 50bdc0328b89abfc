package craft

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// iwarpFields are what the differential test sets at random in iWARP headers,
// and what both must see alike though nobody sets it. tshark 4.0 has no name for
// immediate data (docs/wireshark-differences.md).
const iwarpFields = `
	ip.id ip.ttl ipv6.flow tcp.window_size_value vlan.id
	iwarp_ddp.stag iwarp_ddp.tagged_offset iwarp_ddp.qn iwarp_ddp.msn iwarp_ddp.mo
	iwarp_rdma.inval_stag iwarp_rdma.sinkstag iwarp_rdma.sinkto iwarp_rdma.rdmardsz iwarp_rdma.srcstag iwarp_rdma.srcto
	iwarp_rdma.atomic.request_identifier iwarp_rdma.atomic.remote_stag iwarp_rdma.atomic.remote_tagged_offset
	iwarp_rdma.atomic.add_data iwarp_rdma.atomic.add_mask iwarp_rdma.atomic.swap_data iwarp_rdma.atomic.swap_mask
	iwarp_rdma.atomic.compare_data iwarp_rdma.atomic.compare_mask
	iwarp_rdma.atomic.original_request_identifier iwarp_rdma.atomic.original_remote_data_value`

const iwarpDerived = `
	tcp.srcport tcp.dstport tcp.flags tcp.checksum iwarp_mpa.ulpdulength iwarp_mpa.rev iwarp_mpa.crc_flag iwarp_mpa.pdlength
	iwarp_ddp.tagged_flag iwarp_ddp.last_flag iwarp_ddp.dv iwarp_rdma.version iwarp_rdma.opcode iwarp_rdma.atomic.opcode iwarp_mpa.crc_check`

// stream makes the packets of a connection: both start-up frames, and an FPDU of
// each operation. Wireshark takes no FPDU for one without them.
func stream(t *testing.T, rng *rand.Rand, base string, port int) (recipes []*Recipe) {
	t.Helper()
	seq := [2]uint64{uint64(rng.Uint32()), uint64(rng.Uint32())}
	add := func(r *Recipe, dir int) {
		src, dst := port, defaultTCPPort
		if dir == 1 {
			src, dst = dst, src
			ip := iwarpAddress(base)
			put(t, r, ip+".src="+swapped[ip][0], ip+".dst="+swapped[ip][1])
		}
		put(t, r, fmt.Sprintf("tcp.srcport=%d", src), fmt.Sprintf("tcp.dstport=%d", dst),
			fmt.Sprintf("tcp.seq_raw=%d", uint32(seq[dir])), fmt.Sprintf("tcp.ack_raw=%d", uint32(seq[1-dir])))
		plain, _ := built(t, r)
		for i := range r.Layers {
			l, at := &r.Layers[i], plain.Layers[i]
			spec := wire.SpecOf(l.ID)
			for j := range spec.Fields {
				if f := &spec.Fields[j]; slices.Contains(strings.Fields(iwarpFields), f.Name) && f.Present(plain.Data[at.Off:][:at.Len]) {
					l.Put(randomSetting(rng, f))
				}
			}
		}
		_, f := built(t, r)
		seq[dir] += uint64(f.PayloadLen)
		recipes = append(recipes, r)
	}
	add(iwarpRecipe(t, base, "mpa-request"), 0)
	add(iwarpRecipe(t, base, "mpa-reply"), 1)
	for dir := range 2 {
		for _, op := range iwarpOps {
			r := iwarpRecipe(t, base, op.name)
			if op.payload {
				r.Payload = bytes.Repeat([]byte{0x11}, 40+rng.IntN(8))
			}
			if rng.IntN(2) == 0 {
				r.Wrap(1, Layer{ID: wire.HdrVLAN})
			}
			add(r, dir)
		}
	}
	return recipes
}

func iwarpAddress(base string) string {
	if base == "iwarp" {
		return "ip"
	}
	return "ipv6"
}

// swapped are the addresses of the side that answers.
var swapped = map[string][2]string{"ip": {"192.0.2.2", "192.0.2.1"}, "ipv6": {"2001:db8::2", "2001:db8::1"}}

func TestTsharkReadsEveryFieldOfIWARPThatWeSet(t *testing.T) {
	const seed = 5044
	rng := rand.New(rand.NewPCG(seed, seed))
	var recipes []*Recipe
	for i, base := range iwarpBases {
		recipes = append(recipes, stream(t, rng, base.Name, 50000+i)...)
	}
	path := filepath.Join(t.TempDir(), "iwarp.pcapng")
	images := writeAll(t, path, recipes)
	names := strings.Fields(iwarpFields + iwarpDerived)
	lines := tsharkFields(t, path, names)
	if len(lines) != len(recipes) {
		t.Fatalf("tshark prints %d lines for %d packets", len(lines), len(recipes))
	}
	compared := 0
	for i, columns := range lines {
		for j, name := range names {
			want := written(recipes[i], images[i], name)
			if strings.HasPrefix(name, "iwarp_rdma.atomic.compare_") && want == nil {
				continue // tshark shows them in a Fetch Add, which does not compare
			}
			compared += len(want)
			if got := readValues(columns[j], name); !slices.Equal(got, want) {
				t.Errorf("packet %d, %v: tshark reads %s as %v, we wrote %v\n%x", i+1, layerIDs(recipes[i]), name, got, want, images[i].Data)
			}
		}
	}
	t.Logf("%d packets, %d values", len(recipes), compared)
}
