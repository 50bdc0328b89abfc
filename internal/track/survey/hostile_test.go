package survey

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// A forger makes frames whose fields are anything, often at their limits.
type forger struct {
	rng  *rand.Rand
	buf  []byte
	wide bool // every frame has addresses and queue pairs of its own
	psns [64]uint32
}

// edge is a number of so many bits: an end of the range, its middle, or any.
func (g *forger) edge(bits uint) uint64 {
	top := uint64(math.MaxUint64) >> (64 - bits)
	switch g.rng.IntN(8) {
	case 0:
		return 0
	case 1:
		return 1
	case 2:
		return top
	case 3:
		return top - 1
	case 4:
		return top/2 + 1
	case 5:
		return top / 2
	}
	return g.rng.Uint64() & top
}

// few is a number below n, or any of so many bits.
func (g *forger) few(n int, bits uint) uint64 {
	if g.wide {
		return g.rng.Uint64() >> (64 - bits)
	}
	return uint64(g.rng.IntN(n))
}

func (g *forger) bytes(n int) {
	for range n {
		g.buf = append(g.buf, byte(g.edge(8)))
	}
}

func (g *forger) u16(v uint64) { g.buf = binary.BigEndian.AppendUint16(g.buf, uint16(v)) }
func (g *forger) u32(v uint64) { g.buf = binary.BigEndian.AppendUint32(g.buf, uint32(v)) }

// ip appends Ethernet and IPv4 headers; the packet's length is set by end.
func (g *forger) ip(proto byte) {
	g.buf = append(g.buf[:0], 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45, byte(g.edge(8)))
	g.u32(0)
	g.buf = append(g.buf, 0x40, 0, 64, proto, 0, 0)
	g.u32(0x0a000000 | g.few(3, 24))
	g.u32(0x0a000000 | g.few(3, 24))
}

// end sets the lengths of IPv4 and UDP; now and then to anything.
func (g *forger) end(udp bool) []byte {
	const ip = 14
	n := uint16(len(g.buf) - ip)
	if g.rng.IntN(64) == 0 {
		n = uint16(g.edge(16))
	}
	binary.BigEndian.PutUint16(g.buf[ip+2:], n)
	if udp {
		binary.BigEndian.PutUint16(g.buf[ip+24:], n-20)
	}
	return g.buf
}

// roce makes a RoCEv2 packet. Its PSN goes on where the queue pair was, or is
// anywhere.
func (g *forger) roce() []byte {
	g.ip(17)
	g.u16(0xc000)
	g.u16(4791)
	g.u32(0)
	opcode := g.rng.Uint64() & 0xff
	if g.rng.IntN(8) > 0 {
		opcode &= 0x1f // RC
	}
	qp := g.few(8, 24)
	if g.rng.IntN(64) == 0 {
		qp = g.edge(24)
	}
	psn := &g.psns[qp%uint64(len(g.psns))]
	switch g.rng.IntN(16) {
	case 0:
		*psn = uint32(g.edge(24))
	case 1:
		*psn -= uint32(g.rng.IntN(64))
	case 2:
		*psn += uint32(g.edge(17))
	default:
		*psn++
	}
	g.buf = append(g.buf, byte(opcode), byte(g.few(1, 8))&0xf0)
	g.u16(0xffff)
	g.u32(qp | g.few(1, 8)<<24)
	g.u32(uint64(*psn&0xffffff) | g.edge(1)<<31)
	g.bytes(4 * g.rng.IntN(12)) // extended headers and payload, as the opcode will have it
	if g.rng.IntN(16) == 0 {
		g.buf = append(g.buf, make([]byte, g.rng.IntN(4097))...)
	}
	g.u32(0)
	return g.end(true)
}

// cm makes a CM message: a MAD to QP1.
func (g *forger) cm() []byte {
	g.ip(17)
	g.u16(0xc000)
	g.u16(4791)
	g.u32(0)
	g.buf = append(g.buf, 0x64, 0, 0xff, 0xff, 0, 0, 0, 1)
	g.u32(g.edge(24))
	g.u32(0x80010000) // Q_Key, and QP1 as the source
	g.u32(1)
	g.buf = append(g.buf, 1, 7, 2, 3, 0, 0, 0, 0)
	g.u32(g.rng.Uint64())
	g.u32(g.few(4, 32))
	g.u16(0x10 + g.rng.Uint64()%12)
	g.u16(0)
	g.u32(0)
	g.u32(g.few(16, 32))
	g.u32(g.few(16, 32))
	g.bytes(232 - 8)
	g.u32(0)
	return g.end(true)
}

// tcp makes a TCP segment, at times with the begin of an MPA connection.
func (g *forger) tcp() []byte {
	g.ip(6)
	g.u16(g.few(4, 16))
	g.u16(g.few(4, 16))
	g.u32(g.few(4096, 32))
	g.u32(g.edge(32))
	g.buf = append(g.buf, 0x50, byte(g.edge(8)))
	g.u16(g.edge(16))
	g.u32(0)
	switch g.rng.IntN(4) {
	case 0:
		g.buf = append(g.buf, wire.MPARequestKey...)
		g.bytes(4)
	case 1:
		g.buf = append(g.buf, wire.MPAReplyKey...)
		g.bytes(4)
	default:
		g.bytes(g.rng.IntN(80))
	}
	return g.end(false)
}

// pause makes a PAUSE or PFC frame.
func (g *forger) pause() []byte {
	g.buf = append(g.buf[:0], 1, 0x80, 0xc2, 0, 0, 1, 2, 0)
	g.u32(g.few(8, 32))
	g.u16(0x8808)
	g.u16(1 + 0x100*g.edge(1))
	g.bytes(46)
	return g.buf
}

func (g *forger) frame() []byte {
	switch g.rng.IntN(32) {
	case 0, 1:
		return g.cm()
	case 2, 3:
		return g.tcp()
	case 4:
		return g.pause()
	}
	return g.roce()
}

// later is when the next frame comes: soon, later, at once, or at any time that
// a clock can say.
func (g *forger) later(now int64) int64 {
	switch g.rng.IntN(1024) {
	case 0:
		return int64(g.edge(64))
	case 1:
		return now + int64(g.edge(40))
	case 2:
		return now - int64(g.edge(30))
	}
	return now + int64(g.rng.IntN(10_000))
}

// TestHostilePacketsKeepTheMemoryBounded follows packets with all fields at their
// limits: with few addresses and numbers, so that much is known of each queue
// pair, and with new ones in each packet, so that there are too many.
func TestHostilePacketsKeepTheMemoryBounded(t *testing.T) {
	for name, wide := range map[string]bool{"few numbers": false, "any numbers": true} {
		t.Run(name, func(t *testing.T) {
			const packets, looks = 240_000, 4
			before := heap()
			f := newFollower()
			g := &forger{rng: rand.New(rand.NewPCG(7, 8)), wide: wide}
			for i := range packets {
				trust := conversation.Trusted
				if g.rng.IntN(16) == 0 {
					trust = conversation.Trust(g.rng.IntN(3))
				}
				f.at.Time = g.later(f.at.Time)
				f.take(wire.LinkEthernet, g.frame(), trust)
				if (i+1)%(packets/looks) == 0 {
					used := heap() - before
					t.Logf("%d packets, %d conversations, %d evicted: %d kB", i+1, f.track.Conversations.Seen(), f.track.Conversations.Evicted(), used>>10)
					if used > maxHeap {
						t.Fatalf("%d bytes", used)
					}
				}
			}
			f.track.Finish()
			if c := f.track.Counts; c.TCP == 0 || c.Pause == 0 || f.track.Conversations.Seen() == 0 {
				t.Errorf("%+v, %d conversations: something was not tried", c, f.track.Conversations.Seen())
			}
		})
	}
}

// FuzzFrames follows frames cut out of the input. Each begins with two bytes: how
// much time has passed and how far it is trusted, and its length. With an odd
// time it is whole; else it is put behind Ethernet, IPv4 and UDP, in one of two
// directions, so that little is needed to make a packet of it.
func FuzzFrames(f *testing.F) {
	for seed := range uint64(4) {
		g := &forger{rng: rand.New(rand.NewPCG(seed, 1))}
		var input []byte
		for range 40 {
			frame := g.frame()
			if len(frame) < 256 {
				input = append(append(input, byte(2*g.rng.IntN(128)+1), byte(len(frame))), frame...)
			}
		}
		f.Add(input)
	}
	f.Add([]byte("" +
		"\x02\x14\x04\x40\xff\xff\x00\x00\x00\x11\x80\x00\x00\x05abcd\x00\x00\x00\x00" + // SEND
		"\x22\x14\x11\x40\xff\xff\x00\x00\x00\x12\x00\x00\x00\x05\x1f\x00\x00\x01\x00\x00\x00\x00")) // its ACK
	f.Fuzz(func(t *testing.T, input []byte) {
		follow := newFollower()
		for len(input) > 2 {
			head, n := input[0], min(int(input[1]), len(input)-2)
			data := input[2 : 2+n]
			input = input[2+n:]
			if head&1 == 0 {
				data = enclose(data, head>>5&1)
			}
			follow.at.Time += 1 << (head >> 1 & 0xf * 2)
			follow.take(wire.LinkEthernet, data, conversation.Trust(head>>6%3))
		}
		follow.track.Finish()
		if c := follow.track.Counts; c.Seen < c.TCP+c.Pause+c.Other {
			t.Errorf("%+v", c)
		}
	})
}

// enclose puts a datagram between two hosts.
func enclose(datagram []byte, back byte) []byte {
	n := uint16(len(datagram) + 8)
	b := []byte{2, 0, 0, 0, 0, 2 - back, 2, 0, 0, 0, 0, 1 + back, 8, 0, 0x45, 0}
	b = binary.BigEndian.AppendUint16(b, n+20)
	b = append(b, 0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1+back, 10, 0, 0, 2-back, 0xc0, 0, 0x12, 0xb7)
	b = binary.BigEndian.AppendUint16(b, n)
	return append(append(b, 0, 0), datagram...)
}
