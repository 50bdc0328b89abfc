// Package rping is either end of librdmacm's rping: the client names a buffer by
// a SEND, the server reads it by RDMA READ and says so, the client names another,
// the server writes there what it has read and says so, and the client compares.
// Layout, text and order were observed on the wire, with rdma-core 56.
package rping

import (
	"encoding/binary"
	"fmt"
)

// Port is the port that servers listen on.
const Port = 7174

// Advert is what a SEND says: where a client's buffer is. A server's SENDs, which
// say "done" by coming at all, have the same length and nothing in them.
type Advert struct {
	Addr   uint64
	RKey   uint32
	Length uint32
}

// AdvertLen is the length of an Advert.
const AdvertLen = 8 + 4 + 4

// Append appends the advert.
func (a Advert) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(b, a.Addr)
	b = binary.BigEndian.AppendUint32(b, a.RKey)
	return binary.BigEndian.AppendUint32(b, a.Length)
}

// ParseAdvert reads an advert.
func ParseAdvert(b []byte) (Advert, error) {
	if len(b) != AdvertLen {
		return Advert{}, fmt.Errorf("a message of %d bytes names no buffer: it has to have %d", len(b), AdvertLen)
	}
	return Advert{
		Addr:   binary.BigEndian.Uint64(b),
		RKey:   binary.BigEndian.Uint32(b[8:]),
		Length: binary.BigEndian.Uint32(b[12:]),
	}, nil
}
