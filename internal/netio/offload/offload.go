// Package offload asks which of an interface's offloads make what this machine
// captures differ from what is on the wire.
package offload

// Offload is one that an interface can have, by the name that ethtool gives it.
type Offload string

// The offloads.
const (
	GRO        Offload = "gro" // the kernel puts received frames together
	LRO        Offload = "lro" // the device does
	TSO        Offload = "tso" // the device cuts up long frames
	GSO        Offload = "gso" // the kernel does, behind the capture point
	RxChecksum Offload = "rx"  // the device checks checksums
	TxChecksum Offload = "tx"  // the device fills them in, behind the capture point
)

// Merges reports whether an offload makes one frame of several received ones.
func (o Offload) Merges() bool { return o == GRO || o == LRO }
