package nic

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/wire"
)

// Block is a run of captured frames, in the memory that the kernel wrote them
// to. It, and the frames that Next gave, are valid until Release.
type Block struct {
	reader *CaptureReader
	memory []byte
	at     int // where the next frame's header lies
	left   int // how many frames Next has not given
	held   atomic.Bool
}

// Len is how many frames Next has not given yet.
func (b *Block) Len() int { return b.left }

// Next gives the next frame, or false when there is none. Its data may be
// written to; nobody else reads it.
func (b *Block) Next(f *Frame) bool {
	if b.left == 0 {
		return false
	}
	b.left--
	h := (*unix.Tpacket3Hdr)(unsafe.Pointer(&b.memory[b.at]))
	slot := b.memory[b.at:]
	b.at += int(h.Next_offset)

	start := int(h.Mac)
	end := start + int(h.Snaplen)
	*f = Frame{
		WireLen:         int(h.Len),
		Time:            int64(h.Sec)*int64(time.Second) + int64(h.Nsec),
		Outgoing:        slot[packetTypeAt3] == unix.PACKET_OUTGOING,
		ChecksumPending: h.Status&unix.TP_STATUS_CSUMNOTREADY != 0,
		Merged:          h.Status&unix.TP_STATUS_GSO_TCP != 0,
		HardwareTime:    h.Status&unix.TP_STATUS_TS_RAW_HARDWARE != 0,
	}
	if h.Status&unix.TP_STATUS_VLAN_VALID != 0 && h.Snaplen >= wire.EthernetLen {
		f.WireLen += wire.VLANLen
		start -= wire.VLANLen
		restoreTag(slot[start:end], h.Status, h.Hv1.Vlan_tpid, uint16(h.Hv1.Vlan_tci))
	}
	f.Data = slot[start:end:end]
	if limit := b.reader.snapLen; len(f.Data) > limit {
		f.Data = f.Data[:limit:limit]
	}
	return true
}

// open begins the reading of a block that the kernel has handed over.
func (b *Block) open() {
	h := blockHeader(b.memory)
	b.at, b.left = int(h.Offset_to_first_pkt), int(h.Num_pkts)
	b.held.Store(true)
}

// Release gives the block's memory back to the kernel. Any goroutine may call it,
// once for each block. While the block that came last is held, Next looks for more
// every millisecond instead of being woken.
func (b *Block) Release() { b.reader.release(b) }
