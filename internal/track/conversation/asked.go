package conversation

import (
	"math"

	"github.com/rocecap/rocecap/internal/wire"
)

// Asked is what the messages of a direction have in common, each counted once,
// however often it was sent.
type Asked struct {
	Regions []Region // by rkey, in the order in which they were asked for first
	Beyond  int      // messages with an rkey for which there was no room
	// Messages that end with immediate data, that invalidate an rkey, and that
	// ask for an event.
	Immediates, Invalidations, Solicited int

	last int // the region of the last message
}

// Region is what was asked of the memory behind an rkey.
type Region struct {
	RKey uint32
	// Low and End bound what was touched; both are 0 when nothing was.
	Low, End uint64
	Bytes    int64
	Messages [Ops]uint32
}

// maxRegions bounds how many rkeys of a direction are told apart.
const maxRegions = 64

// atomicBytes is how much memory an atomic works on.
const atomicBytes = 8

// take counts a request packet that was not seen before.
func (a *Asked) take(p *Packet, op Op, info *wire.OpcodeInfo) {
	if begins(info.Place) && op != Send && !p.Unsized {
		a.touch(p, op)
	}
	if !ends(info.Place) {
		return
	}
	if p.Solicited {
		a.Solicited++
	}
	switch trailer(info) {
	case wire.HdrImmDt:
		a.Immediates++
	case wire.HdrIETH:
		a.Invalidations++
	}
}

func (a *Asked) touch(p *Packet, op Op) {
	r := a.region(p.RKey)
	if r == nil {
		a.Beyond++
		return
	}
	r.Messages[op]++
	length := uint64(p.DMALen)
	if op == Atomic {
		length = atomicBytes
	}
	if length == 0 {
		return // nothing is touched, and the rkey is not looked at (C9-88)
	}
	end := p.VA + length
	if end < p.VA {
		end = math.MaxUint64
	}
	if r.Bytes == 0 || p.VA < r.Low {
		r.Low = p.VA
	}
	r.End = max(r.End, end)
	r.Bytes += int64(length)
}

func (a *Asked) region(rkey uint32) *Region {
	if a.last < len(a.Regions) && a.Regions[a.last].RKey == rkey {
		return &a.Regions[a.last]
	}
	for i := range a.Regions {
		if a.Regions[i].RKey == rkey {
			a.last = i
			return &a.Regions[i]
		}
	}
	if len(a.Regions) == maxRegions {
		return nil
	}
	a.last = len(a.Regions)
	a.Regions = append(a.Regions, Region{RKey: rkey})
	return &a.Regions[a.last]
}
