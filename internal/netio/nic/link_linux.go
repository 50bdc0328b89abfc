package nic

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/rocecap/rocecap/internal/wire"
)

// Link is an open interface.
type Link struct {
	iface  net.Interface
	bypass bool
	closed atomic.Bool
	rx     *receiver // nil when only sending
	tx     *sender
	ring   *ringWriter // nil unless asked for
}

// Open opens an interface for sending, and for receiving unless told not to.
func Open(o Options) (*Link, error) {
	l, err := open(o)
	if err != nil {
		return nil, fmt.Errorf("interface %s: %w", o.Interface, err)
	}
	return l, nil
}

func open(o Options) (*Link, error) {
	if o.SnapLen < 0 || o.RingBytes < 0 || o.SendRingBytes < 0 {
		return nil, errors.New("lengths must not be negative")
	}
	iface, err := net.InterfaceByName(o.Interface)
	if err != nil {
		return nil, ErrUnknownInterface
	}
	l := &Link{iface: *iface, bypass: o.QdiscBypass}
	if err := l.openSides(o); err != nil {
		_ = l.Close()
		if l.ring != nil {
			l.ring.Close()
		}
		return nil, err
	}
	return l, nil
}

func (l *Link) openSides(o Options) (err error) {
	if l.tx, err = newSender(l); err != nil {
		return err
	}
	if o.SendRingBytes > 0 {
		if l.ring, err = newRingWriter(l, o.SendRingBytes); err != nil {
			return err
		}
	}
	if !o.SendOnly {
		l.rx, err = newReceiver(l, o)
	}
	return err
}

// Name is the interface's name.
func (l *Link) Name() string { return l.iface.Name }

// Index is the interface's number.
func (l *Link) Index() int { return l.iface.Index }

// MTU is the longest IP packet that the interface took when it was opened.
func (l *Link) MTU() int { return l.iface.MTU }

// MAC is the interface's own address.
func (l *Link) MAC() net.HardwareAddr { return l.iface.HardwareAddr }

// Close wakes and ends a Receive or Send that waits. Frames that were received
// stay readable until the receiver calls Receive once more.
func (l *Link) Close() error {
	if l.closed.Swap(true) {
		return net.ErrClosed
	}
	var err error
	if l.tx != nil {
		err = l.tx.sock.file.Close()
	}
	if l.ring != nil {
		err = errors.Join(err, l.ring.sock.file.Close())
	}
	if l.rx != nil {
		err = errors.Join(err, l.rx.close())
	}
	return err
}

// Stats returns the counts since Open.
func (l *Link) Stats() (Stats, error) {
	s := Stats{Sent: l.tx.sent.Load()}
	if l.ring != nil {
		s.Sent += l.ring.sent.Load()
	}
	if l.rx == nil {
		return s, nil
	}
	err := l.rx.count()
	s.Received, s.Dropped = l.rx.received.Load(), l.rx.dropped.Load()
	return s, l.waitError(err)
}

// waitError turns what the poller says about a closed file into net.ErrClosed.
func (l *Link) waitError(err error) error {
	if err != nil && l.closed.Load() {
		return net.ErrClosed
	}
	return err
}

// maxLength is the longest frame of a kind that the kernel takes (packet_snd in
// net/packet/af_packet.c): the tag of an 802.1Q frame is on top of the MTU, that
// of any other is not.
func maxLength(frame []byte, mtu int) int {
	if wire.Ethernet(frame).Type() == wire.EtherTypeVLAN {
		return mtu + wire.EthernetLen + wire.VLANLen
	}
	return mtu + wire.EthernetLen
}

func tooLong(length, limit, mtu int) error {
	return fmt.Errorf("%w: %d bytes, and its MTU of %d allows %d", ErrFrameTooLong, length, mtu, limit)
}

func tooShort(length int) error {
	return fmt.Errorf("%w: %d bytes", ErrFrameTooShort, length)
}

// refused explains why the kernel found a frame too long. The MTU may have
// changed since Open.
func (l *Link) refused(frame []byte) error {
	mtu := l.iface.MTU
	if now, err := net.InterfaceByIndex(l.iface.Index); err == nil {
		mtu = now.MTU
	}
	return tooLong(len(frame), maxLength(frame, mtu), mtu)
}

// slotLen is the length of the longest frame.
func (l *Link) slotLen() int { return l.iface.MTU + wire.EthernetLen + wire.VLANLen }

// checkCommit judges a frame of n bytes in its place before it is queued.
func (l *Link) checkCommit(place []byte, n int) error {
	if n < wire.EthernetLen {
		return tooShort(n)
	}
	if limit := maxLength(place, l.iface.MTU); n > limit {
		return tooLong(n, limit, l.iface.MTU)
	}
	return nil
}
