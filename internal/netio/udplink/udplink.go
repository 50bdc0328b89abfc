// Package udplink makes a link of the kernel's UDP sockets on RoCEv2's port, for
// where packet sockets are not permitted. What is sent over it are whole
// Ethernet frames, of which the sockets send the UDP payload; what comes gets
// the headers back.
//
// The ICRC covers fields of the IP header that a socket neither sets nor shows.
// Of what is sent they are known: Linux gives a datagram that must not be
// fragmented, from a socket that is not connected, the identification 0
// (ip_select_ident_segs in include/net/ip.h), and frames must have it. Of IPv4
// packets that come, identification and the flag DF are taken to be those with
// which the ICRC is right. A damaged packet passes for right in one of 32,768
// cases, then; over IPv6 in none that an ICRC would see.
package udplink

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

// ErrNotSupported is what Open returns where it is not known what the kernel
// puts into IP headers.
var ErrNotSupported = errors.New("RoCE over UDP sockets is only supported on Linux")

// Port is the port that frames come from and go to.
const Port = wire.PortRoCEv2

const maxBatch = 256

// Link is one or more sockets, one for each address.
type Link struct {
	mtu   int
	socks []*socket
	ready chan []byte
	free  chan []byte
	done  chan struct{}
	once  sync.Once
	wait  sync.WaitGroup
	held  [][]byte
}

// Open binds the port of addresses of this machine.
func Open(addresses []netip.Addr) (*Link, error) {
	l := &Link{
		mtu: 65535, ready: make(chan []byte, maxBatch), free: make(chan []byte, 2*maxBatch), done: make(chan struct{}),
	}
	for _, address := range addresses {
		mtu, err := mtuOf(address)
		if err == nil {
			var s *socket
			if s, err = newSocket(address); err == nil {
				l.socks = append(l.socks, s)
			}
		}
		if err != nil {
			_ = l.Close()
			return nil, fmt.Errorf("UDP port %d of %v: %w", Port, address, err)
		}
		l.mtu = min(l.mtu, mtu)
	}
	for _, s := range l.socks {
		l.wait.Add(1)
		go l.read(s)
	}
	return l, nil
}

// mtuOf is the MTU of the interface that has an address.
func mtuOf(address netip.Addr) (int, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return 0, err
	}
	for _, i := range interfaces {
		has, err := i.Addrs()
		if err != nil {
			continue // it has just gone
		}
		for _, a := range has {
			if p, err := netip.ParsePrefix(a.String()); err == nil && p.Addr().Unmap() == address {
				return i.MTU, nil
			}
		}
	}
	return 0, errors.New("it is not an address of this machine")
}

// MTU is the longest IP packet that all addresses' interfaces take.
func (l *Link) MTU() int { return l.mtu }

// own and Peer are the addresses that frames have in the place of MAC addresses:
// all come to the one, and go to and come from the other.
func own() [6]byte { return [6]byte{0x02, 'u', 'd', 'p', 0, 1} }

// Peer is the MAC address of everybody else.
func Peer() [6]byte { return [6]byte{0x02, 'u', 'd', 'p', 0, 2} }

// MAC is the address that frames come to.
func (l *Link) MAC() net.HardwareAddr {
	mac := own()
	return mac[:]
}

// Close ends every Receive with net.ErrClosed.
func (l *Link) Close() error {
	err := net.ErrClosed
	l.once.Do(func() {
		err = nil
		close(l.done)
		for _, s := range l.socks {
			err = errors.Join(err, s.conn.Close())
		}
		l.wait.Wait()
	})
	return err
}

// read takes what comes to one socket, until that is closed.
func (l *Link) read(s *socket) {
	defer l.wait.Done()
	for {
		b := l.buffer()
		n, err := s.receive(b)
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // an ICMP error about something sent, or a datagram too long
			l.release(b)
			continue
		}
		select {
		case l.ready <- b[:n]:
		case <-l.done:
			return
		}
	}
}

func (l *Link) buffer() []byte {
	select {
	case b := <-l.free:
		return b[:cap(b)]
	default:
		return make([]byte, wire.EthernetLen+l.mtu)
	}
}

func (l *Link) release(b []byte) {
	select {
	case l.free <- b:
	default:
	}
}

// Receive waits for frames. Those of the Receive before are not valid any more.
func (l *Link) Receive(batch *nic.Batch, deadline time.Time) error {
	batch.Frames = batch.Frames[:0]
	for _, b := range l.held {
		l.release(b)
	}
	l.held = l.held[:0]
	var late <-chan time.Time
	if !deadline.IsZero() {
		timer := time.NewTimer(time.Until(deadline))
		defer timer.Stop()
		late = timer.C
	}
	select {
	case b := <-l.ready:
		l.held = append(l.held, b)
	case <-l.done:
		return net.ErrClosed
	case <-late:
		return os.ErrDeadlineExceeded
	}
	for len(l.held) < maxBatch && len(l.ready) > 0 {
		l.held = append(l.held, <-l.ready)
	}
	now := time.Now().UnixNano()
	for _, b := range l.held {
		batch.Frames = append(batch.Frames, nic.Frame{Data: b, WireLen: len(b), Time: now})
	}
	return nil
}

// Writer returns a writer that sends each frame when it is committed.
func (l *Link) Writer() (nic.Writer, error) {
	return &writer{link: l, place: make([]byte, wire.EthernetLen+l.mtu)}, nil
}

type writer struct {
	link  *Link
	place []byte
	frame wire.Frame
	sent  uint64
}

func (w *writer) Reserve(time.Time) ([]byte, error) { return w.place, nil }

var errNoSocket = errors.New("the frame is not a RoCEv2 packet from an address of the link")

func (w *writer) Commit(n int) error {
	w.frame.Parse(wire.LinkEthernet, w.place[:n], n)
	src, dst := w.frame.Addresses()
	for _, s := range w.link.socks {
		if s.address != src || w.frame.Proto != wire.ProtoRoCEv2 || w.frame.L4+wire.UDPLen > n {
			continue
		}
		payload := w.place[w.frame.L4+wire.UDPLen : n]
		if _, err := s.conn.WriteToUDPAddrPort(payload, netip.AddrPortFrom(dst, Port)); err != nil {
			return err
		}
		w.sent++
		return nil
	}
	return errNoSocket
}

func (w *writer) Flush(time.Time) error { return nil }

// Sent is how many frames have left.
func (w *writer) Sent() uint64 { return w.sent }

func (w *writer) Close() {}
