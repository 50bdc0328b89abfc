package nic

import (
	"encoding/binary"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	maxBatch = 256
	// largeFrame bounds what segmentation offload passes on as one frame.
	largeFrame = 256 << 10
	// frameAt is where a received frame begins in its slot: behind the kernel's
	// header and address, 16 bytes for a link header that ends on a 16-byte
	// boundary, and the place that we reserve for a VLAN tag (tpacket_rcv).
	frameAt = (unix.TPACKET_HDRLEN+16+slotAlign-1)&^(slotAlign-1) - wire.EthernetLen + wire.VLANLen
	// packetTypeAt is where sll_pkttype lies in a slot.
	packetTypeAt = addressAt + 10
)

var errSendOnly = errors.New("the interface was opened for sending only")

// receiver is the receiving side of a Link.
type receiver struct {
	link     *Link
	fd       int
	snapLen  int
	large    []byte // the last frame that was longer than a slot
	received atomic.Uint64
	dropped  atomic.Uint64

	mu   sync.Mutex // guards what is below
	ring *ring
	next int // the slot that the kernel fills next
	held int // how many slots before it the last batch still shows
}

func newReceiver(l *Link, o Options) (*receiver, error) {
	fd, err := newSocket()
	if err != nil {
		return nil, err
	}
	r := &receiver{link: l, fd: fd, snapLen: o.SnapLen}
	if err := r.setUp(o); err != nil {
		_ = unix.Close(fd)
		if r.ring != nil {
			r.ring.free()
		}
		return nil, err
	}
	return r, nil
}

// setUp makes the ring before the socket is bound, so that nothing comes from
// other interfaces and nothing is missed.
func (r *receiver) setUp(o Options) error {
	fd := r.fd
	longest := r.link.iface.MTU + wire.EthernetLen + 2*wire.VLANLen
	if o.SnapLen > 0 && o.SnapLen < longest {
		longest = o.SnapLen
	} else if err := setOption(fd, unix.PACKET_COPY_THRESH, 1, "PACKET_COPY_THRESH"); err != nil {
		return err
	}
	if err := setOption(fd, unix.PACKET_RESERVE, wire.VLANLen, "PACKET_RESERVE"); err != nil {
		return err
	}
	if o.IgnoreOutgoing {
		if err := setOption(fd, unix.PACKET_IGNORE_OUTGOING, 1, "PACKET_IGNORE_OUTGOING"); err != nil {
			return err
		}
	}
	if o.Promiscuous {
		if err := promiscuous(fd, r.link.iface.Index); err != nil {
			return err
		}
	}
	bytes := o.RingBytes
	if bytes == 0 {
		bytes = DefaultRingBytes
	}
	var err error
	if r.ring, err = newRing(fd, unix.PACKET_RX_RING, align(frameAt+longest), bytes); err != nil {
		return err
	}
	return bind(fd, r.link.iface.Index, unix.ETH_P_ALL)
}

// Receive waits for frames and returns those that are there, up to some
// hundreds. The frames of the Receive before are not valid any more.
func (l *Link) Receive(b *Batch, deadline time.Time) error {
	if l.rx == nil {
		return errSendOnly
	}
	return l.rx.receive(b, deadline)
}

func (r *receiver) receive(b *Batch, deadline time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	b.Frames = b.Frames[:0]
	if err := r.link.gate.enter(); err != nil {
		r.held = 0
		r.ring.free()
		return err
	}
	defer r.link.gate.leave()
	r.release()
	for woken := false; !r.collect(b); woken = true {
		if woken { // for an error, or a frame that another batch had
			if err := pendingError(r.fd); err != nil {
				return err
			}
		}
		if err := r.link.gate.wait(r.fd, unix.POLLIN, deadline); err != nil {
			return err
		}
	}
	return nil
}

// collect takes the frames that are in the ring.
func (r *receiver) collect(b *Batch) bool {
	limit := min(maxBatch, (r.ring.slots+1)/2)
	for r.held < limit {
		slot := r.ring.slot(r.next)
		owner := status(slot)
		if owner&unix.TP_STATUS_USER == 0 {
			break
		}
		r.next = r.ring.after(r.next)
		r.held++
		if owner&unix.TP_STATUS_COPY != 0 {
			b.Frames = append(b.Frames, r.largeFrame(slot))
			break // there is one buffer for such frames
		}
		h := header(slot)
		start := int(h.Mac)
		end := min(start+int(h.Snaplen), len(slot))
		b.Frames = append(b.Frames, r.frame(slot, slot[:end], start))
	}
	return r.held > 0
}

// release gives the slots of the last batch back to the kernel.
func (r *receiver) release() {
	i := r.next - r.held
	if i < 0 {
		i += r.ring.slots
	}
	for ; r.held > 0; r.held-- {
		setStatus(r.ring.slot(i), unix.TP_STATUS_KERNEL)
		i = r.ring.after(i)
	}
}

// frame describes the frame that begins at start of buffer; there is room for a
// VLAN tag before it.
func (r *receiver) frame(slot, buffer []byte, start int) Frame {
	h := header(slot)
	f := Frame{
		WireLen:  int(h.Len),
		Time:     int64(h.Sec)*int64(time.Second) + int64(h.Nsec),
		Outgoing: slot[packetTypeAt] == unix.PACKET_OUTGOING,

		ChecksumPending: h.Status&unix.TP_STATUS_CSUMNOTREADY != 0,
		Merged:          h.Status&unix.TP_STATUS_GSO_TCP != 0,
	}
	if h.Status&unix.TP_STATUS_VLAN_VALID != 0 && len(buffer)-start >= wire.EthernetLen {
		f.WireLen += wire.VLANLen
		start -= wire.VLANLen
		restoreTag(buffer[start:], h.Status, h.Vlan_tpid, h.Vlan_tci)
	}
	f.Data = buffer[start:]
	if r.snapLen > 0 && len(f.Data) > r.snapLen {
		f.Data = f.Data[:r.snapLen]
	}
	return f
}

// restoreTag puts the VLAN tag that the kernel took out back between the
// addresses and the type. The frame begins four bytes into b.
func restoreTag(b []byte, status uint32, kind, tag uint16) {
	const addresses = 12
	copy(b, b[wire.VLANLen:wire.VLANLen+addresses])
	if status&unix.TP_STATUS_VLAN_TPID_VALID == 0 {
		kind = wire.EtherTypeVLAN
	}
	binary.BigEndian.PutUint16(b[addresses:], kind)
	binary.BigEndian.PutUint16(b[addresses+2:], tag)
}

// largeFrame reads a frame that did not fit into its slot: the kernel has also
// put it, whole, into the socket's queue.
func (r *receiver) largeFrame(slot []byte) Frame {
	if r.large == nil {
		r.large = make([]byte, wire.VLANLen+largeFrame)
	}
	n, _, err := unix.Recvfrom(r.fd, r.large[wire.VLANLen:], unix.MSG_DONTWAIT)
	if err != nil { // what is in the slot is better than nothing
		h := header(slot)
		return r.frame(slot, slot[:min(int(h.Mac)+int(h.Snaplen), len(slot))], int(h.Mac))
	}
	return r.frame(slot, r.large[:wire.VLANLen+n], wire.VLANLen)
}

// count adds what the kernel counted since the last call: its counters start
// again when they are read, and tp_packets counts the dropped too.
func (r *receiver) count() error {
	stats, err := unix.GetsockoptTpacketStats(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return err
	}
	r.dropped.Add(uint64(stats.Drops))
	r.received.Add(uint64(stats.Packets - stats.Drops))
	return nil
}

// close frees the ring: at once, or when the receiver has let go of its last
// batch.
func (r *receiver) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.held == 0 {
		r.ring.free()
	}
}
