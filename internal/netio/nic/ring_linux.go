package nic

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ring is memory shared with the kernel: slots of equal length, each with a
// tpacket2_hdr in front, whose status says who owns it (kernel documentation
// networking/packet_mmap). Version 2 of the layout, not 3: in version 3 the
// kernel keeps frames back until a block is full or a millisecond has passed,
// which no protocol endpoint can wait for.
type ring struct {
	memory   []byte
	block    int // bytes
	slotLen  int
	perBlock int
	slots    int
}

const (
	blockLen = 64 << 10
	// slotAlign is TPACKET_ALIGNMENT.
	slotAlign = unix.TPACKET_ALIGNMENT
	// addressAt is where the sockaddr_ll of a received frame lies in its slot.
	addressAt = 32
	// transmitAt is where a frame to be sent begins in its slot (tpacket_snd).
	transmitAt = 32
)

func align(n int) int { return (n + slotAlign - 1) &^ (slotAlign - 1) }

// newRing asks for a ring of about so many bytes and maps it. option is
// PACKET_RX_RING or PACKET_TX_RING.
func newRing(fd, option, slotLen, bytes int) (*ring, error) {
	if err := setOption(fd, unix.PACKET_VERSION, unix.TPACKET_V2, "PACKET_VERSION"); err != nil {
		return nil, err
	}
	block := blockLen // a power of two, and so a multiple of the page
	for block < slotLen {
		block *= 2
	}
	blocks := max(1, bytes/block)
	r := &ring{block: block, slotLen: slotLen, perBlock: block / slotLen}
	r.slots = blocks * r.perBlock
	request := unix.TpacketReq{
		Block_size: uint32(block),
		Block_nr:   uint32(blocks),
		Frame_size: uint32(slotLen),
		Frame_nr:   uint32(r.slots),
	}
	if err := unix.SetsockoptTpacketReq(fd, unix.SOL_PACKET, option, &request); err != nil {
		return nil, fmt.Errorf("ring of %d bytes: %w", blocks*block, openError(err))
	}
	var err error
	r.memory, err = unix.Mmap(fd, 0, blocks*block, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping a ring of %d bytes: %w", blocks*block, err)
	}
	return r, nil
}

// free unmaps the ring. Slots must not be touched any more.
func (r *ring) free() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // fails only for memory that is not mapped
		r.memory = nil
	}
}

// slot returns slot number i. Slots do not cross blocks.
func (r *ring) slot(i int) []byte {
	at := i/r.perBlock*r.block + i%r.perBlock*r.slotLen
	return r.memory[at : at+r.slotLen : at+r.slotLen]
}

// after is the slot that follows slot i.
func (r *ring) after(i int) int {
	if i++; i < r.slots {
		return i
	}
	return 0
}

// header is the kernel's header of a slot.
func header(slot []byte) *unix.Tpacket2Hdr {
	return (*unix.Tpacket2Hdr)(unsafe.Pointer(unsafe.SliceData(slot)))
}

// status reads who owns a slot; what the kernel wrote before is visible after.
func status(slot []byte) uint32 { return atomic.LoadUint32(&header(slot).Status) }

// setStatus hands a slot over; what was written before is visible to the kernel.
func setStatus(slot []byte, v uint32) { atomic.StoreUint32(&header(slot).Status, v) }
