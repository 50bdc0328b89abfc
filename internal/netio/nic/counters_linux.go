package nic

import (
	"encoding/binary"
	"errors"
	"sync"

	"golang.org/x/sys/unix"
)

// counters asks the kernel what an interface itself has counted, by rtnetlink: sysfs
// shows the interfaces of the network namespace in which it was mounted.
type counters struct {
	fd    int
	index uint32

	mu     sync.Mutex // guards what is below, and the socket
	number uint32     // of the last question
	begin  interfaceCounts
	last   interfaceCounts
}

// interfaceCounts are some fields of struct rtnl_link_stats64.
type interfaceCounts struct {
	received uint64 // rx_packets
	dropped  uint64 // rx_dropped and rx_missed_errors
}

// newCounters begins to count.
func newCounters(index int) (*counters, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, unix.NETLINK_ROUTE)
	if err != nil {
		return nil, err
	}
	c := &counters{fd: fd, index: uint32(index)}
	if c.begin, err = c.ask(); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	c.last = c.begin
	return c, nil
}

// look asks for the counts now. Of an interface that is gone, or whose driver began
// to count again, the last counts stay.
func (c *counters) look() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, err := c.ask(); err == nil && now.received >= c.last.received && now.dropped >= c.last.dropped {
		c.last = now
	}
}

// told is what was counted since the begin, up to the last look.
func (c *counters) told() interfaceCounts {
	c.mu.Lock()
	defer c.mu.Unlock()
	return interfaceCounts{c.last.received - c.begin.received, c.last.dropped - c.begin.dropped}
}

// What rtnetlink's messages about statistics begin with (linux/if_link.h): a header
// of struct nlmsghdr and a struct if_stats_msg.
const (
	statsHeaderLen  = unix.SizeofNlMsghdr + 12
	statsIndexAt    = unix.SizeofNlMsghdr + 4
	statsMaskAt     = unix.SizeofNlMsghdr + 8
	statsAnswerLen  = 4096
	attributeHeader = 4
)

// The places of the counters that are read, in struct rtnl_link_stats64.
const (
	rxPacketsAt = 0
	rxDroppedAt = 6 * 8
	rxMissedAt  = 15 * 8
)

var errNoCounters = errors.New("the kernel does not tell the interface's counters")

// ask asks for the counters. The kernel answers before the question is sent.
func (c *counters) ask() (n interfaceCounts, err error) {
	c.number++
	var question [statsHeaderLen]byte
	order := binary.NativeEndian
	order.PutUint32(question[0:], statsHeaderLen)
	order.PutUint16(question[4:], unix.RTM_GETSTATS)
	order.PutUint16(question[6:], unix.NLM_F_REQUEST)
	order.PutUint32(question[8:], c.number)
	order.PutUint32(question[statsIndexAt:], c.index)
	order.PutUint32(question[statsMaskAt:], 1<<(unix.IFLA_STATS_LINK_64-1))
	if err := unix.Sendto(c.fd, question[:], 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return n, err
	}
	answer := make([]byte, statsAnswerLen)
	for {
		got, _, err := unix.Recvfrom(c.fd, answer, 0)
		if err != nil {
			return n, err
		}
		if got < unix.SizeofNlMsghdr || order.Uint32(answer[8:]) != c.number {
			continue // the answer to an earlier question
		}
		return countsIn(answer[:got])
	}
}

// countsIn reads an answer: attributes behind the header, each with its length and
// type.
func countsIn(b []byte) (n interfaceCounts, err error) {
	order := binary.NativeEndian
	if order.Uint16(b[4:]) != unix.RTM_NEWSTATS || len(b) < statsHeaderLen {
		return n, errNoCounters
	}
	for b = b[statsHeaderLen:]; len(b) >= attributeHeader; {
		length, kind := int(order.Uint16(b)), order.Uint16(b[2:])
		if length < attributeHeader || length > len(b) {
			break
		}
		if value := b[attributeHeader:length]; kind == unix.IFLA_STATS_LINK_64 && len(value) >= rxMissedAt+8 {
			n.received = order.Uint64(value[rxPacketsAt:])
			n.dropped = order.Uint64(value[rxDroppedAt:]) + order.Uint64(value[rxMissedAt:])
			return n, nil
		}
		b = b[min((length+3)&^3, len(b)):]
	}
	return n, errNoCounters
}
