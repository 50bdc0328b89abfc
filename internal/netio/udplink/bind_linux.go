package udplink

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"syscall"

	"golang.org/x/sys/unix"
)

// receiveBuffer is what the kernel is asked to keep for us.
const receiveBuffer = 4 << 20

// bind opens the socket of an address. It is never connected, and sends nothing
// that may be fragmented: see the package comment.
func bind(address netip.Addr) (*net.UDPConn, error) {
	network, level := "udp6", unix.IPPROTO_IPV6
	discover, class := unix.IPV6_MTU_DISCOVER, unix.IPV6_RECVTCLASS
	if address.Is4() {
		network, level = "udp4", unix.IPPROTO_IP
		discover, class = unix.IP_MTU_DISCOVER, unix.IP_RECVTOS
	}
	const do = unix.IP_PMTUDISC_DO // IPv6's has the same value
	config := net.ListenConfig{Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if fault := raw.Control(func(fd uintptr) {
			err = errors.Join(
				unix.SetsockoptInt(int(fd), level, discover, do),
				unix.SetsockoptInt(int(fd), level, class, 1))
			if !address.Is4() {
				// RoCEv2 sends no UDP checksum (IBTA A17.4.5.2), which over IPv6 is
				// an error without this (RFC 6935).
				err = errors.Join(err, unix.SetsockoptInt(int(fd), unix.IPPROTO_UDP, unix.UDP_NO_CHECK6_RX, 1))
			}
		}); fault != nil {
			return fault
		}
		return err
	}}
	conn, err := config.ListenPacket(context.Background(), network, netip.AddrPortFrom(address, Port).String())
	if err != nil {
		return nil, err
	}
	udp := conn.(*net.UDPConn)
	return udp, udp.SetReadBuffer(receiveBuffer)
}

// trafficClass reads the one of a datagram.
func trafficClass(control []byte) uint8 {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, m := range messages {
		switch {
		case m.Header.Level == unix.IPPROTO_IP && m.Header.Type == unix.IP_TOS && len(m.Data) >= 1:
			return m.Data[0]
		case m.Header.Level == unix.IPPROTO_IPV6 && m.Header.Type == unix.IPV6_TCLASS && len(m.Data) >= 4:
			return uint8(binary.NativeEndian.Uint32(m.Data))
		}
	}
	return 0
}
