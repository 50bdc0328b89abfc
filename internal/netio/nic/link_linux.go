package nic

import (
	"errors"
	"fmt"
	"net"

	"github.com/rocecap/rocecap/internal/wire"
)

// Link is an open interface.
type Link struct {
	iface   net.Interface
	bypass  bool
	gate    *gate
	rx      *receiver // nil when only sending
	tx      *sender
	writers []sharedWriter
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
	if o.SnapLen < 0 || o.RingBytes < 0 || o.SendRingBytes < 0 || o.Writers < 0 {
		return nil, errors.New("lengths and counts must not be negative")
	}
	iface, err := net.InterfaceByName(o.Interface)
	if err != nil {
		return nil, ErrUnknownInterface
	}
	l := &Link{iface: *iface, bypass: o.QdiscBypass}
	if l.gate, err = newGate(); err != nil {
		return nil, err
	}
	if err := l.openSides(o); err != nil {
		_ = l.Close()
		for _, w := range l.writers {
			w.Close()
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
		if l.writers, err = newSharedWriters(l, o); err != nil {
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
	if err := l.gate.enter(); err != nil {
		return err
	}
	err := l.count() // for the last time
	l.gate.leave()

	var fds []int
	if l.tx != nil {
		fds = append(fds, l.tx.fd)
	}
	if l.rx != nil {
		fds = append(fds, l.rx.fd)
	}
	for _, w := range l.writers {
		fds = append(fds, w.descriptor())
	}
	if fault := l.gate.close(fds); fault != nil {
		return fault
	}
	if l.rx != nil {
		l.rx.close()
	}
	return err
}

// count asks the kernel what it has received.
func (l *Link) count() error {
	if l.rx == nil {
		return nil
	}
	return l.rx.count()
}

// Stats returns the counts since Open.
func (l *Link) Stats() (Stats, error) {
	s := Stats{Sent: l.tx.sent.Load()}
	for _, w := range l.writers {
		s.Sent += w.Sent()
	}
	if l.rx == nil {
		return s, nil
	}
	err := l.gate.enter()
	if err == nil {
		err = l.count()
		l.gate.leave()
	}
	s.Received, s.Dropped = l.rx.received.Load(), l.rx.dropped.Load()
	return s, err
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
