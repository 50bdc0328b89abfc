package gencap

import (
	"encoding/binary"

	"github.com/rocecap/rocecap/icrc"
)

// RC opcodes (IBTA table 38).
const (
	opSendOnly    = 0x04
	opWriteFirst  = 0x06
	opWriteMiddle = 0x07
	opWriteLast   = 0x08
	opAcknowledge = 0x11
)

// ackUnlimited is the AETH syndrome of an ACK without a credit limit (IBTA
// 9.7.5.2.1).
const ackUnlimited = 0x1f

// Sizes of the headers.
const (
	ipv4Len = 20
	ipv6Len = 40
	udpLen  = 8
	bthLen  = 12
	icrcLen = 4
)

// appendData appends the frame of the queue pair's next data packet.
func (g *generator) appendData(b []byte, q *queuePair) []byte {
	opcode := byte(opWriteMiddle)
	last := q.sent == g.o.Message-1
	var ext []byte
	switch {
	case g.o.Message == 1:
		opcode = opSendOnly
	case q.sent == 0:
		opcode = opWriteFirst
		ext = g.reth(q)
	case last:
		opcode = opWriteLast
	}
	start := g.rng.IntN(len(g.noise) - g.o.Payload + 1)
	b = g.appendPacket(b, packet{
		sport:   q.sport,
		opcode:  opcode,
		ackReq:  last,
		qp:      q.receiver,
		psn:     q.psn,
		ext:     ext,
		payload: g.noise[start : start+g.o.Payload],
	})
	q.psn = (q.psn + 1) & 0xffffff
	q.sent++
	return b
}

// appendAck appends the frame that acknowledges the queue pair's message.
func (g *generator) appendAck(b []byte, q *queuePair) []byte {
	q.msn = (q.msn + 1) & 0xffffff
	q.sent = 0
	g.ext = binary.BigEndian.AppendUint32(g.ext[:0], ackUnlimited<<24|q.msn)
	return g.appendPacket(b, packet{
		back:   true,
		sport:  q.sport,
		opcode: opAcknowledge,
		qp:     q.sender,
		psn:    (q.psn - 1) & 0xffffff,
		ext:    g.ext,
	})
}

// reth makes the RETH of a message's first packet: address, key and length of
// the memory that it writes.
func (g *generator) reth(q *queuePair) []byte {
	size := uint32(g.o.Message * g.o.Payload)
	h := binary.BigEndian.AppendUint64(g.ext[:0], 0x7f0000000000+uint64(q.msn)*uint64(size))
	h = binary.BigEndian.AppendUint32(h, 0x1000+q.receiver)
	g.ext = binary.BigEndian.AppendUint32(h, size)
	return g.ext
}

// packet is what differs between the packets of a capture.
type packet struct {
	back    bool // from the receiver to the sender
	sport   uint16
	opcode  byte
	ackReq  bool
	qp      uint32 // destination
	psn     uint32
	ext     []byte // extension headers
	payload []byte
}

// appendPacket appends the whole Ethernet frame of p.
func (g *generator) appendPacket(b []byte, p packet) []byte {
	pad := -len(p.payload) & 3
	udp := udpLen + bthLen + len(p.ext) + len(p.payload) + pad + icrcLen

	b = append(b, 0x02, 0, 0, 0, 0, host(!p.back), 0x02, 0, 0, 0, 0, host(p.back))
	ip := len(b) + 2
	form := icrc.RoCEv2IPv4
	if g.o.IPv6 {
		form = icrc.RoCEv2IPv6
		b = binary.BigEndian.AppendUint16(b, 0x86dd)
		b = appendIPv6(b, p.back, udp)
	} else {
		b = binary.BigEndian.AppendUint16(b, 0x0800)
		b = appendIPv4(b, p.back, udp)
	}

	b = binary.BigEndian.AppendUint16(b, p.sport)
	b = binary.BigEndian.AppendUint16(b, 4791)
	b = binary.BigEndian.AppendUint16(b, uint16(udp))
	b = append(b, 0, 0) // no UDP checksum: the ICRC covers the packet

	b = append(b, p.opcode, 0x40|byte(pad)<<4) // MigReq and PadCnt
	b = binary.BigEndian.AppendUint16(b, 0xffff)
	b = binary.BigEndian.AppendUint32(b, p.qp)
	psn := p.psn
	if p.ackReq {
		psn |= 1 << 31
	}
	b = binary.BigEndian.AppendUint32(b, psn)

	b = append(b, p.ext...)
	b = append(b, p.payload...)
	b = append(b, make([]byte, pad)...)
	return binary.LittleEndian.AppendUint32(b, g.icrc.Sum(form, b[ip:]))
}

// host is the last byte of the MAC and IP address of one of the two hosts.
func host(receiver bool) byte {
	if receiver {
		return 2
	}
	return 1
}

// tos is DSCP 26, which RoCE traffic often has, and ECT(0).
const tos = 26<<2 | 2

// appendIPv4 appends the header of a packet between 192.0.2.1 and 192.0.2.2
// with a right checksum (RFC 791; RFC 1071 gives the sum).
func appendIPv4(b []byte, back bool, udp int) []byte {
	start := len(b)
	b = append(b, 0x45, tos)
	b = binary.BigEndian.AppendUint16(b, uint16(ipv4Len+udp))
	b = append(b, 0, 0, 0x40, 0, 64, 17, 0, 0) // DF, TTL 64, UDP, checksum to come
	b = append(b, 192, 0, 2, host(back), 192, 0, 2, host(!back))

	var sum uint32
	for i := start; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	binary.BigEndian.PutUint16(b[start+10:], ^uint16(sum))
	return b
}

// appendIPv6 appends the header of a packet between 2001:db8::1 and
// 2001:db8::2 (RFC 8200).
func appendIPv6(b []byte, back bool, udp int) []byte {
	b = binary.BigEndian.AppendUint32(b, 6<<28|tos<<20)
	b = binary.BigEndian.AppendUint16(b, uint16(udp))
	b = append(b, 17, 64)
	for _, last := range [2]byte{host(back), host(!back)} {
		b = append(b, 0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last)
	}
	return b
}
