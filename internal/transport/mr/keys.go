package mr

import "math/rand/v2"

// A key is, from the top, one bit that tells windows from regions, 23 bits of
// index and the low byte that changes with each use of the index, which verbs
// leave to the consumer for windows of type 2 and fast registration.
const (
	windowBit = 1 << 31
	indexBits = 23
	indexMask = 1<<indexBits - 1
	lowBits   = 8
	lowMask   = 1<<lowBits - 1
)

// keys gives out the keys of one kind of object and finds the objects again.
// The index of a key is the place in slots times an odd factor plus an offset,
// both from the seed, so that neighbours in the table have far keys and a peer
// cannot count on. It is no secret that withstands an attacker.
type keys[T any] struct {
	top                     uint32
	factor, inverse, offset uint32
	rng                     *rand.Rand
	slots                   []slot[T]
	free                    []uint32 // oldest first, so that a key comes back late
}

type slot[T any] struct {
	item *T // nil when free
	key  uint32
}

func newKeys[T any](top uint32, rng *rand.Rand) keys[T] {
	factor := rng.Uint32() | 1
	inverse := factor // right in 3 bits; each step of Newton's doubles that
	for range 4 {
		inverse *= 2 - factor*inverse
	}
	return keys[T]{top: top, factor: factor, inverse: inverse, offset: rng.Uint32(), rng: rng}
}

// add gives the item a key, or reports that there is none left.
func (k *keys[T]) add(item *T) (key uint32, ok bool) {
	if len(k.free) > 0 {
		s := &k.slots[k.free[0]]
		k.free = k.free[1:]
		s.item, s.key = item, withLow(s.key, s.key+1)
		return s.key, true
	}
	for len(k.slots) <= indexMask {
		index := (uint32(len(k.slots))*k.factor + k.offset) & indexMask
		if index == 0 || index == indexMask {
			// 0 and 0xffffffff are what uninitialised programs send: no key
			// looks like them.
			k.slots = append(k.slots, slot[T]{})
			continue
		}
		key = k.top | index<<lowBits | k.rng.Uint32()&lowMask
		k.slots = append(k.slots, slot[T]{item, key})
		return key, true
	}
	return 0, false
}

func (k *keys[T]) remove(key uint32) {
	at := k.place(key)
	k.slots[at].item = nil
	k.free = append(k.free, at)
}

// change gives the item of a key another low byte, and returns the new key.
func (k *keys[T]) change(key, low uint32) uint32 {
	s := &k.slots[k.place(key)]
	s.key = withLow(s.key, low)
	return s.key
}

// place is where the key's object is, if the table is that long.
func (k *keys[T]) place(key uint32) uint32 {
	return (key>>lowBits - k.offset) * k.inverse & indexMask
}

// find returns the object with that key, and how the key fails if there is none.
func (k *keys[T]) find(key uint32) (*T, Kind) {
	at := k.place(key)
	if uint64(at) >= uint64(len(k.slots)) {
		return nil, NoKey
	}
	s := &k.slots[at]
	switch {
	case s.item == nil:
		return nil, NoKey
	case s.key != key:
		return nil, StaleKey
	}
	return s.item, 0
}

// holds reports whether the item has that key, and not merely had it once.
func (k *keys[T]) holds(key uint32, item *T) bool {
	found, _ := k.find(key)
	return found != nil && found == item
}

func withLow(key, low uint32) uint32 { return key&^lowMask | low&lowMask }
