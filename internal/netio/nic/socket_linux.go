package nic

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// newSocket makes a socket that is bound to nothing and receives nothing yet.
func newSocket() (int, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, openError(err)
	}
	return fd, nil
}

// bind binds fd to an interface. Protocol 0 receives nothing.
func bind(fd, index int, protocol uint16) error {
	err := unix.Bind(fd, &unix.SockaddrLinklayer{Ifindex: index, Protocol: networkOrder(protocol)})
	if err != nil {
		return openError(err)
	}
	return ethernet(fd)
}

// ethernet refuses interfaces whose frames begin with something else.
func ethernet(fd int) error {
	address, err := unix.Getsockname(fd)
	if err != nil {
		return err
	}
	ll, ok := address.(*unix.SockaddrLinklayer)
	if !ok || (ll.Hatype != unix.ARPHRD_ETHER && ll.Hatype != unix.ARPHRD_LOOPBACK) {
		return ErrNotEthernet
	}
	return nil
}

// networkOrder gives the number whose bytes in memory are v's in network
// order, on machines of either order.
func networkOrder(v uint16) uint16 {
	return binary.NativeEndian.Uint16([]byte{byte(v >> 8), byte(v)})
}

// setOption sets one of the options of a packet socket that are a number.
func setOption(fd, option, value int, name string) error {
	if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, option, value); err != nil {
		return fmt.Errorf("packet socket option %s: %w", name, openError(err))
	}
	return nil
}

// pendingError takes the error that waits at a socket, nil when there is none.
func pendingError(fd int) error {
	number, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err != nil {
		return err
	}
	if number != 0 {
		return ioError(unix.Errno(number))
	}
	return nil
}

// openError says what is missing when a socket cannot be made or set up.
func openError(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w (%w)", ErrPermission, err)
	}
	return ioError(err)
}

// ioError names the faults of an interface, which the kernel reports by number
// (packet(7), "ERRORS").
func ioError(err error) error {
	switch {
	case errors.Is(err, unix.ENETDOWN):
		return ErrDown
	case errors.Is(err, unix.ENXIO), errors.Is(err, unix.ENODEV):
		return ErrGone
	}
	return err
}

// promiscuous lets the interface accept frames to any address while fd is open.
func promiscuous(fd, index int) error {
	request := unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC}
	return openError(unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &request))
}

// gone reports whether the interface of a socket was removed: the kernel then
// unbinds the socket (NETDEV_UNREGISTER in packet_notifier).
func gone(fd int) bool {
	address, err := unix.Getsockname(fd)
	ll, ok := address.(*unix.SockaddrLinklayer)
	return err == nil && ok && ll.Ifindex <= 0
}
