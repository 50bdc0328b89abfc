package perftest

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Places in the form that a Destination has with -R: numbers in network order,
// with four bytes of nothing before the address.
const (
	binaryOutReads = 4
	binaryQPN      = 8
	binaryPSN      = 12
	binaryRKey     = 16
	binaryVAddr    = 24
	binaryGID      = 32
	binarySRQN     = 48
	// BinaryLen counts the index of the GID, which is of no use to the other side.
	BinaryLen = 56
)

// AppendBinary appends the form of -R.
func (d Destination) AppendBinary(b []byte) []byte {
	var m [BinaryLen]byte
	put := binary.BigEndian.PutUint32
	put(m[0:], uint32(d.LID))
	put(m[binaryOutReads:], uint32(d.OutReads))
	put(m[binaryQPN:], d.QPN)
	put(m[binaryPSN:], uint32(d.PSN))
	put(m[binaryRKey:], d.RKey)
	binary.BigEndian.PutUint64(m[binaryVAddr:], d.VAddr)
	gid := d.GID.As16()
	copy(m[binaryGID:], gid[:])
	put(m[binarySRQN:], d.SRQN)
	return append(b, m[:]...)
}

// ParseBinary reads the form of -R.
func ParseBinary(m []byte) (d Destination, err error) {
	if len(m) != BinaryLen {
		return d, fmt.Errorf("%d bytes are not the address of a queue pair, which has %d", len(m), BinaryLen)
	}
	get := binary.BigEndian.Uint32
	return Destination{
		LID: uint16(get(m)), OutReads: uint16(get(m[binaryOutReads:])),
		QPN: get(m[binaryQPN:]), PSN: wire.PSN(get(m[binaryPSN:])), RKey: get(m[binaryRKey:]),
		VAddr: binary.BigEndian.Uint64(m[binaryVAddr:]),
		GID:   netip.AddrFrom16([gidBytes]byte(m[binaryGID:])), SRQN: get(m[binarySRQN:]),
	}, nil
}
