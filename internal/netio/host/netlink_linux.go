package host

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

var (
	errMalformed   = errors.New("malformed netlink message")
	errInterrupted = errors.New("the table changed while it was read")
)

// message is one netlink message without its header.
type message struct {
	kind uint16
	body []byte
}

const (
	// maxMessage is more than the kernel puts into one datagram.
	maxMessage = 64 << 10
	// dumpTries is how often a table is read that changes meanwhile.
	dumpTries = 5
)

// dump reads a whole table.
func dump(ctx context.Context, kind uint16, body []byte) ([]message, error) {
	var err error
	for range dumpTries {
		var found []message
		found, err = query(ctx, kind, unix.NLM_F_DUMP, body)
		if !errors.Is(err, errInterrupted) {
			return found, err
		}
	}
	return nil, err
}

// query sends one request and returns the answers to it. Each query has a socket
// of its own: it then is about the network namespace of the calling thread.
func query(ctx context.Context, kind, flags uint16, body []byte) ([]message, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("netlink socket: %w", err)
	}
	file := os.NewFile(uintptr(fd), "netlink socket")
	defer file.Close()
	stop := context.AfterFunc(ctx, func() { _ = file.SetDeadline(time.Unix(0, 1)) })
	defer stop()

	found, err := exchange(file, kind, flags, body)
	if cause := ctx.Err(); err != nil && cause != nil {
		return nil, cause
	}
	return found, err
}

func exchange(file *os.File, kind, flags uint16, body []byte) ([]message, error) {
	const sequence = 1
	if _, err := file.Write(request(kind, flags, sequence, body)); err != nil {
		return nil, err
	}
	var found []message
	buffer := make([]byte, maxMessage)
	for {
		n, err := file.Read(buffer)
		if err != nil {
			return nil, err
		}
		var done bool
		if found, done, err = parse(found, buffer[:n], sequence); done || err != nil {
			return found, err
		}
	}
}

// request builds a message (struct nlmsghdr, netlink(7)).
func request(kind, flags uint16, sequence uint32, body []byte) []byte {
	b := make([]byte, unix.NLMSG_HDRLEN, unix.NLMSG_HDRLEN+len(body))
	binary.NativeEndian.PutUint32(b, uint32(unix.NLMSG_HDRLEN+len(body)))
	binary.NativeEndian.PutUint16(b[4:], kind)
	binary.NativeEndian.PutUint16(b[6:], flags|unix.NLM_F_REQUEST)
	binary.NativeEndian.PutUint32(b[8:], sequence)
	return append(b, body...)
}

// parse adds the messages of one datagram to found, and reports whether the
// answer is complete.
func parse(found []message, b []byte, sequence uint32) ([]message, bool, error) {
	for len(b) >= unix.NLMSG_HDRLEN {
		length := binary.NativeEndian.Uint32(b)
		if length < unix.NLMSG_HDRLEN || uint64(length) > uint64(len(b)) {
			return nil, false, errMalformed
		}
		kind, flags := binary.NativeEndian.Uint16(b[4:]), binary.NativeEndian.Uint16(b[6:])
		body := b[unix.NLMSG_HDRLEN:length]
		ours := binary.NativeEndian.Uint32(b[8:]) == sequence
		b = b[min(align(int(length)), len(b)):]
		switch {
		case !ours:
			continue
		case flags&unix.NLM_F_DUMP_INTR != 0:
			return nil, false, errInterrupted
		case kind == unix.NLMSG_DONE:
			return found, true, nil
		case kind == unix.NLMSG_ERROR:
			return found, true, kernelError(body)
		}
		found = append(found, message{kind, append([]byte(nil), body...)})
		if flags&unix.NLM_F_MULTI == 0 {
			return found, true, nil
		}
	}
	return found, false, nil
}

// kernelError is the error of struct nlmsgerr, nil for an acknowledgement.
func kernelError(body []byte) error {
	if len(body) < 4 {
		return errMalformed
	}
	if code := int32(binary.NativeEndian.Uint32(body)); code != 0 {
		return unix.Errno(-code)
	}
	return nil
}

// attributes goes through the attributes behind the fixed part of a message
// (struct rtattr, rtnetlink(7)); it ends at one that does not fit.
func attributes(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(uint16, []byte) bool) {
		for len(b) >= unix.SizeofRtAttr {
			length := int(binary.NativeEndian.Uint16(b))
			if length < unix.SizeofRtAttr || length > len(b) {
				return
			}
			const flags = unix.NLA_F_NESTED | unix.NLA_F_NET_BYTEORDER
			if !yield(binary.NativeEndian.Uint16(b[2:])&^flags, b[unix.SizeofRtAttr:length]) {
				return
			}
			b = b[min(align(length), len(b)):]
		}
	}
}

func appendAttribute(b []byte, kind uint16, value []byte) []byte {
	b = binary.NativeEndian.AppendUint16(b, uint16(unix.SizeofRtAttr+len(value)))
	b = binary.NativeEndian.AppendUint16(b, kind)
	b = append(b, value...)
	return append(b, make([]byte, align(len(value))-len(value))...)
}

// align rounds up to the 4 bytes that messages and attributes are aligned to.
func align(n int) int { return (n + 3) &^ 3 }

// number reads an attribute of 32 bits, 0 from one that is too short.
func number(b []byte) int {
	if len(b) < 4 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(b))
}
