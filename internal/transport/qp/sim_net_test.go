package qp

import (
	"bytes"
	"math/rand/v2"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// impairments are what happens to packets on their way, in chances of a thousand.
type impairments struct {
	drop, corrupt, duplicate, reorder int
	// unnoticed lets a packet with a flipped bit come past the ICRC.
	unnoticed int
	// late is by how much a reordered packet is late at most.
	late time.Duration
}

// simNet carries packets in virtual time, with the impairments that its seed
// leads to. Without them it is a cable of a constant delay.
type simNet struct {
	impairments
	rng     *rand.Rand
	now     time.Time
	parcels []parcel // by the time of their arrival
	free    [][]byte
	carried int // packets that have arrived
}

// parcel is a packet on its way.
type parcel struct {
	at     time.Time
	to     *end
	packet []byte
	ce     bool
}

const simLatency = 2 * time.Microsecond

func (n *simNet) chance(of int) bool { return of > 0 && n.rng.IntN(1000) < of }

// send takes a packet, which stays the caller's.
func (n *simNet) send(to *end, packet []byte) {
	copies := 1
	if n.chance(n.duplicate) {
		copies = 2
	}
	for range copies {
		// What is corrupt does not come past the ICRC.
		if n.chance(n.drop) || n.chance(n.corrupt) {
			continue
		}
		p := parcel{at: n.now.Add(simLatency), to: to, packet: append(n.buffer(), packet...), ce: n.chance(20)}
		if n.chance(n.reorder) {
			p.at = p.at.Add(time.Duration(n.rng.Int64N(int64(n.late))))
		}
		if n.chance(n.unnoticed) {
			n.flip(p.packet)
		}
		n.add(p)
	}
}

// flip turns one to three bits over, mostly in the headers.
func (n *simNet) flip(packet []byte) {
	for range 1 + n.rng.IntN(3) {
		most := len(packet)
		if n.chance(800) {
			most = min(most, wire.BTHLen+wire.RETHLen)
		}
		packet[n.rng.IntN(most)] ^= 1 << n.rng.IntN(8)
	}
}

func (n *simNet) buffer() []byte {
	if len(n.free) == 0 {
		return nil
	}
	b := n.free[len(n.free)-1]
	n.free = n.free[:len(n.free)-1]
	return b[:0]
}

func (n *simNet) add(p parcel) {
	n.parcels = append(n.parcels, p)
	for i := len(n.parcels) - 1; i > 0 && n.parcels[i].at.Before(n.parcels[i-1].at); i-- {
		n.parcels[i], n.parcels[i-1] = n.parcels[i-1], n.parcels[i]
	}
}

// next is when the next packet arrives, zero if none is on its way.
func (n *simNet) next() time.Time {
	if len(n.parcels) == 0 {
		return time.Time{}
	}
	return n.parcels[0].at
}

// deliver gives what has arrived to whom it is for.
func (n *simNet) deliver() {
	due := 0
	for due < len(n.parcels) && !n.parcels[due].at.After(n.now) {
		due++
	}
	arrived := n.parcels[:due]
	for i := range arrived {
		arrived[i].to.q.Receive(n.now, Inbound{Packet: arrived[i].packet, GRH: simGRH[:], CE: arrived[i].ce})
		n.free = append(n.free, arrived[i].packet)
	}
	n.carried += due
	n.parcels = append(n.parcels[:0], n.parcels[due:]...)
}

// simGRH is what stands before datagrams.
var simGRH = [wire.GRHLen]byte(bytes.Repeat([]byte{0x6E}, wire.GRHLen))
