package craft

import (
	"bytes"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

// chance makes recipes and counters of a seeded source.
type chance struct{ *rand.Rand }

func (c chance) recipe(t *testing.T) *Recipe {
	t.Helper()
	for {
		op := wire.Opcode(c.IntN(256))
		if !op.Info().Defined() {
			continue
		}
		r, err := NewRecipe(bases[c.IntN(len(bases))].Name, op)
		if err != nil {
			t.Fatal(err)
		}
		r.Payload = make([]byte, c.IntN(200))
		for i := range r.Payload {
			r.Payload[i] = byte(c.Uint32())
		}
		r.ICRC = CRC{CRCMode(c.IntN(5)), c.Uint32N(32)}
		r.VCRC = CRC{CRCMode(c.IntN(5)), c.Uint32N(16)}
		if r.Layers[len(r.Layers)-1].ID == wire.HdrDETH && c.IntN(2) == 0 { // checksums that an ICRC covers
			r.Layers = append(r.Layers, Layer{ID: wire.HdrIPoIB}, Layer{ID: wire.HdrIPv4}, Layer{ID: wire.HdrUDP})
		}
		c.wrap(r)
		c.edits(r)
		return r
	}
}

// wrap puts some recipes into VXLAN, and gives some UDP headers a checksum.
func (c chance) wrap(r *Recipe) {
	if r.Layers[0].ID == wire.HdrEthernet && c.IntN(3) == 0 {
		r.Wrap(0, Layer{ID: wire.HdrEthernet}, Layer{ID: wire.HdrIPv4}, Layer{ID: wire.HdrUDP}, Layer{ID: wire.HdrVXLAN})
	}
	for i := range r.Layers {
		if r.Layers[i].ID == wire.HdrUDP && c.IntN(2) == 0 {
			r.Layers[i].Put(Setting{Field: FieldOf(wire.HdrUDP, "udp.checksum"), Auto: true})
		}
	}
}

func (c chance) edits(r *Recipe) {
	if c.IntN(4) == 0 {
		r.Edits = append(r.Edits, Edit{Off: 12 + c.IntN(30), Bytes: []byte{1, 2, 3}})
	}
	if c.IntN(4) == 0 {
		r.Raw = append(r.Raw, Edit{Off: 12 + c.IntN(30), Bytes: []byte{4, 5}})
	}
	if c.IntN(4) == 0 {
		r.Snap = 1 + c.IntN(100)
	}
}

// counters lets fields count, and sets others, which may share bits with them.
func (c chance) counters(r *Recipe) []Counter {
	var list []Counter
	for range c.IntN(5) {
		i := c.IntN(len(r.Layers))
		fields := wire.SpecOf(r.Layers[i].ID).Fields
		f := &fields[c.IntN(len(fields))]
		if f.Kind != wire.Uint || f.Scale != 0 || (f.Bit+f.Bits+7)/8 > wire.SpecOf(r.Layers[i].ID).Len {
			continue
		}
		list = append(list, Counter{Layer: i, Field: f, Start: c.Uint64(), Step: c.Uint64()})
		if f = &fields[c.IntN(len(fields))]; f.Kind == wire.Uint && f.Bits <= 64 && f.Scale == 0 && (f.Bit+f.Bits+7)/8 <= wire.SpecOf(r.Layers[i].ID).Len {
			r.Layers[i].Put(Setting{Field: f, Num: c.Uint64() >> (64 - uint(f.Bits))})
		}
	}
	return list
}

// TestAProgramMakesWhatBuildMakes compares many random recipes, packet by packet.
func TestAProgramMakesWhatBuildMakes(t *testing.T) {
	c := chance{rand.New(rand.NewPCG(1, 2))}
	counted, rebuilt, tails, inner := 0, 0, 0, 0
	for n := range 3000 {
		r := c.recipe(t)
		counters := c.counters(r)
		p, err := Compile(r, counters)
		if err != nil {
			if _, err := Build(r); err == nil && len(counters) == 0 {
				t.Fatalf("recipe %d: %v", n, err)
			}
			continue
		}
		if len(p.patches) > 0 {
			counted++
		}
		if p.rebuild {
			rebuilt++
		}
		if p.tail != nil {
			tails++
		}
		if len(p.inner) > 0 {
			inner++
		}
		// What an earlier packet has left in the place must not matter.
		place := bytes.Repeat([]byte{0xA5}, p.Size())
		for step := range uint64(5) {
			r.Count(counters, step)
			img, err := Build(r)
			if err != nil {
				t.Fatalf("recipe %d: %v", n, err)
			}
			if err := p.Next(place); err != nil {
				t.Fatalf("recipe %d packet %d: %v", n, step, err)
			}
			if p.Kept() != len(img.Data) || p.Size() != img.WireLen || !bytes.Equal(place[:p.Kept()], img.Data) {
				t.Fatalf("recipe %d packet %d, counters %v: the program makes\n%x\nBuild makes\n%x", n, step, counters, place, img.Data)
			}
		}
	}
	if counted < 1000 || rebuilt < 10 || tails < 100 || inner < 10 {
		t.Errorf("%d recipes counted, %d had to be built anew, %d had an end that stays, %d a checksum under the ICRC: the test is weak",
			counted, rebuilt, tails, inner)
	}
}

func TestCountersWrapAtTheirWidth(t *testing.T) {
	psn := FieldOf(wire.HdrBTH, "psn")
	for _, c := range []struct {
		counter Counter
		want    []uint64
	}{
		{Counter{Field: psn, Start: 0xfffffe, Step: 1}, []uint64{0xfffffe, 0xffffff, 0}},
		{Counter{Field: psn, Start: 1, Step: ^uint64(0)}, []uint64{1, 0, 0xffffff}},
		{Counter{Field: FieldOf(wire.HdrRETH, "va"), Start: ^uint64(0), Step: 2}, []uint64{^uint64(0), 1, 3}},
	} {
		var got []uint64
		for n := range c.want {
			got = append(got, c.counter.At(uint64(n)))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Error(d)
		}
	}
}

// program is a packet as `make bench` sends it: QPN, PSN and ICRC change.
func program(t testing.TB, size int) *Program {
	t.Helper()
	r, err := NewRecipe("rocev2", wire.OpWriteOnly)
	if err != nil {
		t.Fatal(err)
	}
	r.Payload = make([]byte, size)
	bth := len(r.Layers) - 2
	p, err := Compile(r, []Counter{
		{Layer: bth, Field: FieldOf(wire.HdrBTH, "psn"), Step: 1},
		{Layer: bth, Field: FieldOf(wire.HdrBTH, "destqp"), Start: 0x11, Step: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAProgramAllocatesNothing(t *testing.T) {
	p := program(t, 1024)
	place := make([]byte, p.Size())
	if n := testing.AllocsPerRun(100, func() {
		if err := p.Next(place); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations a packet", n)
	}
}

func BenchmarkProgram(b *testing.B) {
	for _, size := range []int{16, 1024} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			p := program(b, size)
			place := make([]byte, p.Size())
			b.ReportAllocs()
			b.SetBytes(int64(p.Size()))
			for b.Loop() {
				if err := p.Next(place); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
