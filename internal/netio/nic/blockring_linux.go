package nic

import (
	"fmt"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// blockRing is memory shared with the kernel: blocks that it fills with frames
// of any length, one behind the other, and hands over when they are full or old
// (TPACKET_V3, kernel documentation networking/packet_mmap). A block begins with
// a tpacket_block_desc, a frame with a tpacket3_hdr and a sockaddr_ll.
type blockRing struct {
	memory []byte
	length int // of a block
	blocks int
}

const (
	// A block has more room than the longest frame that segmentation offload passes
	// on. The larger it is the less often readers wake, each time of which costs as
	// much as ten thousand small frames: Go's scheduler looks every 20 us at whoever
	// works, until that was long enough. There are blocksWanted of them, if they can
	// be so small.
	minBlock, maxBlock = 1 << 20, 16 << 20
	blocksWanted       = 8
	// minBlocks lets the kernel fill one block while others are read.
	minBlocks = 2
	// blockHeaderAt is where the block's header lies, behind version and offset.
	blockHeaderAt = 8
	// packetTypeAt3 is where sll_pkttype lies behind a tpacket3_hdr.
	packetTypeAt3 = (unix.SizeofTpacket3Hdr+slotAlign-1)&^(slotAlign-1) + 10
	// slotUnit only has to divide a block: frames are as long as they are.
	slotUnit = 2048
)

func newBlockRing(fd, bytes int, timeout time.Duration) (*blockRing, error) {
	if err := setOption(fd, unix.PACKET_VERSION, unix.TPACKET_V3, "PACKET_VERSION"); err != nil {
		return nil, err
	}
	r := &blockRing{length: minBlock}
	for r.length < maxBlock && bytes/(2*r.length) >= blocksWanted {
		r.length *= 2
	}
	r.blocks = max(minBlocks, bytes/r.length)
	size := r.blocks * r.length
	request := unix.TpacketReq3{
		Block_size:     uint32(r.length),
		Block_nr:       uint32(r.blocks),
		Frame_size:     slotUnit,
		Frame_nr:       uint32(size / slotUnit),
		Retire_blk_tov: uint32(max(1, timeout.Milliseconds())),
	}
	if err := unix.SetsockoptTpacketReq3(fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &request); err != nil {
		return nil, fmt.Errorf("ring of %d bytes: %w", size, openError(err))
	}
	var err error
	r.memory, err = unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping a ring of %d bytes: %w", size, err)
	}
	return r, nil
}

// free unmaps the ring. Blocks must not be touched any more.
func (r *blockRing) free() {
	if r.memory != nil {
		_ = unix.Munmap(r.memory) // fails only for memory that is not mapped
		r.memory = nil
	}
}

func (r *blockRing) block(i int) []byte {
	at := i * r.length
	return r.memory[at : at+r.length : at+r.length]
}

func blockHeader(block []byte) *unix.TpacketHdrV1 {
	return (*unix.TpacketHdrV1)(unsafe.Pointer(&block[blockHeaderAt]))
}

// filled reads whether the kernel has handed block i over; what it wrote before
// is visible after.
func (r *blockRing) filled(i int) bool {
	return atomic.LoadUint32(&blockHeader(r.block(i)).Block_status)&unix.TP_STATUS_USER != 0
}

// filling is how many frames block i has while the kernel still owns it.
func (r *blockRing) filling(i int) uint32 {
	return atomic.LoadUint32(&blockHeader(r.block(i)).Num_pkts)
}

// giveBack hands a block to the kernel.
func giveBack(block []byte) {
	atomic.StoreUint32(&blockHeader(block).Block_status, unix.TP_STATUS_KERNEL)
}
