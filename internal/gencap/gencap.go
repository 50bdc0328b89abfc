// Package gencap writes synthetic RoCEv2 captures for benchmarks and tests:
// any number of packets, the same bytes for the same options, every IPv4
// checksum, PSN and ICRC right.
//
// It writes its headers from the specifications and not through internal/wire,
// so that a test which reads such a capture compares two views of the format.
package gencap

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"

	"github.com/rocecap/rocecap/icrc"
)

// Options says what a capture holds.
type Options struct {
	Packets int    // data packets and acknowledgements together
	Payload int    // payload bytes of each data packet
	Message int    // packets of a message: 1 makes SENDs, more make RDMA WRITEs
	QPs     int    // queue pairs whose packets are interleaved
	Life    int    // messages of a queue pair before another takes its place; 0 for no end
	IPv6    bool   // IPv6 instead of IPv4
	Seed    uint64 // decides the order of the queue pairs and the payload bytes
}

// The limits that the headers set.
const (
	maxPayload = 4096 // the largest path MTU (IBTA 9.3.3)
	maxQPs     = 1 << 16
	qpnMask    = 1<<24 - 1
	pcapHeader = 24
	pcapRecord = 16
)

func (o Options) check() error {
	switch {
	case o.Packets < 0:
		return fmt.Errorf("gencap: %d packets", o.Packets)
	case o.Payload < 0 || o.Payload > maxPayload:
		return fmt.Errorf("gencap: a payload of %d bytes is not between 0 and %d", o.Payload, maxPayload)
	case o.Message < 1:
		return fmt.Errorf("gencap: %d packets in a message", o.Message)
	case o.Life < 0:
		return fmt.Errorf("gencap: %d messages of a queue pair", o.Life)
	case o.QPs < 1 || o.QPs > maxQPs:
		return fmt.Errorf("gencap: %d queue pairs are not between 1 and %d", o.QPs, maxQPs)
	}
	if o.Message > 1 {
		switch o.Payload {
		case 256, 512, 1024, 2048, 4096:
		default:
			return fmt.Errorf("gencap: packets of a long message are one path MTU long, not %d bytes", o.Payload)
		}
	}
	return nil
}

// Write writes the capture that o describes as a classic pcap file with
// nanosecond time stamps.
func Write(w io.Writer, o Options) error {
	if err := o.check(); err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, 1<<20)
	if _, err := buffered.Write(fileHeader()); err != nil {
		return err
	}
	g := newGenerator(o)
	for range o.Packets {
		if _, err := buffered.Write(g.record()); err != nil {
			return err
		}
	}
	return buffered.Flush()
}

func fileHeader() []byte {
	h := make([]byte, 0, pcapHeader)
	h = binary.LittleEndian.AppendUint32(h, 0xa1b23c4d) // nanoseconds
	h = binary.LittleEndian.AppendUint16(h, 2)          // version 2.4
	h = binary.LittleEndian.AppendUint16(h, 4)
	h = append(h, make([]byte, 8)...)                // time zone and accuracy, never used
	h = binary.LittleEndian.AppendUint32(h, 1<<18)   // snap length
	return binary.LittleEndian.AppendUint32(h, 0x01) // LINKTYPE_ETHERNET
}

// queuePair is one RC connection that sends in one direction.
type queuePair struct {
	sender, receiver uint32 // QP numbers
	sport            uint16
	psn              uint32 // of the next data packet
	msn              uint32 // messages completed
	sent             int    // packets of the current message
}

// generator makes one record at a time in a buffer that it reuses.
type generator struct {
	o     Options
	rng   *rand.Rand
	qps   []queuePair
	made  uint32 // queue pairs so far
	noise []byte // payloads are runs of it
	now   uint64 // nanoseconds since 1970
	icrc  icrc.Hasher

	// Buffers, reused for each packet.
	buf []byte // the record: pcap header and frame
	ext []byte // extension headers
}

func newGenerator(o Options) *generator {
	g := &generator{
		o:     o,
		rng:   rand.New(rand.NewPCG(o.Seed, 0)),
		qps:   make([]queuePair, o.QPs),
		noise: make([]byte, 16*maxPayload),
		now:   1767225600e9, // 2026-01-01
	}
	for i := range g.noise {
		g.noise[i] = byte(g.rng.Uint32())
	}
	for i := range g.qps {
		g.qps[i] = g.newQueuePair()
	}
	return g
}

func (g *generator) newQueuePair() queuePair {
	n := g.made
	g.made++
	return queuePair{
		sender:   (0x000100 + n) & qpnMask,
		receiver: (0x020100 + n) & qpnMask,
		sport:    uint16(0xc000 + n%0x4000), // IBTA A17.9.2 suggests this range
		psn:      g.rng.Uint32N(1 << 24),
	}
}

// record makes the next packet: the acknowledgement that a finished message
// waits for, or the next data packet of a queue pair drawn by lot.
func (g *generator) record() []byte {
	q := &g.qps[g.rng.IntN(len(g.qps))]
	g.buf = append(g.buf[:0], make([]byte, pcapRecord)...)
	if q.sent == g.o.Message {
		g.buf = g.appendAck(g.buf, q)
		if int(q.msn) == g.o.Life { // never of 0
			*q = g.newQueuePair()
		}
	} else {
		g.buf = g.appendData(g.buf, q)
	}
	frame := uint32(len(g.buf) - pcapRecord)

	// About the time that the frame takes on a link of 100 Gbit/s.
	g.now += uint64(frame)*8/100 + uint64(g.rng.IntN(50))
	binary.LittleEndian.PutUint32(g.buf[0:], uint32(g.now/1e9))
	binary.LittleEndian.PutUint32(g.buf[4:], uint32(g.now%1e9))
	binary.LittleEndian.PutUint32(g.buf[8:], frame)
	binary.LittleEndian.PutUint32(g.buf[12:], frame)
	return g.buf
}
