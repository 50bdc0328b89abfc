package survey

import (
	"slices"

	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/tally"
	"github.com/rocecap/rocecap/internal/wire"
)

// VersionMismatch is the kind of a Mismatch.
type VersionMismatch struct{}

// Mismatch is two stations of which one sends RoCEv1 alone and the other RoCEv2
// alone: neither takes what it gets (IBTA vol. 1, annexes A16 and A17).
type Mismatch struct {
	V1, V2 pause.MAC // who sends which
	tally.Tally
}

// versions knows which versions of RoCE stations send to each other.
type versions struct{ ways []versionWay }

// versionWay is from a station to another.
type versionWay struct {
	src, dst pause.MAC
	first    [2]int // the first packet of RoCEv1, and of RoCEv2; 0 for none
}

// maxVersionWays bounds how many are known. A capture point sees few stations.
const maxVersionWays = 64

// note takes a frame.
func (v *versions) note(f *wire.Frame, number int) {
	version := 0
	switch f.Proto {
	case wire.ProtoRoCEv1:
	case wire.ProtoRoCEv2:
		version = 1
	default:
		return
	}
	eth := wire.Ethernet(f.View(wire.HdrEthernet))
	if eth == nil {
		return
	}
	var first [2]int
	first[version] = number
	v.add(versionWay{eth.Src(), eth.Dst(), first})
}

func (v *versions) add(w versionWay) {
	for i := range v.ways {
		if known := &v.ways[i]; known.src == w.src && known.dst == w.dst {
			for version, number := range w.first {
				if known.first[version] == 0 {
					known.first[version] = number
				}
			}
			return
		}
	}
	if len(v.ways) < maxVersionWays {
		v.ways = append(v.ways, w)
	}
}

// alone returns the version that is the only one of a way.
func (w *versionWay) alone() (version, first int, ok bool) {
	switch {
	case w.first[0] > 0 && w.first[1] == 0:
		return 0, w.first[0], true
	case w.first[1] > 0 && w.first[0] == 0:
		return 1, w.first[1], true
	}
	return 0, 0, false
}

// Mismatches lists the stations that do not hear each other.
func (t *Tracker) Mismatches() (list []Mismatch) {
	ways := t.versions.ways
	for i := range ways {
		there, from, ok := ways[i].alone()
		if !ok || there != 0 {
			continue
		}
		back := slices.IndexFunc(ways, func(w versionWay) bool { return w.src == ways[i].dst && w.dst == ways[i].src })
		if back < 0 {
			continue
		}
		if version, first, ok := ways[back].alone(); ok && version != there {
			m := Mismatch{V1: ways[i].src, V2: ways[back].src}
			m.Add(max(from, first), 1)
			list = append(list, m)
		}
	}
	return list
}
