package rocecap_test

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/rocecap/rocecap/icrc"
)

// crowd makes the packets of many conversations that come and go: each is a
// recording of ours, played between hosts of its own, now and then with a packet
// that is lost, comes twice, or is damaged. Some are broken off. All go at a time,
// and between them switches pause their peers.
type crowd struct {
	rng    *rand.Rand
	tapes  [][][]byte
	actors []actor
	played int // conversations so far
	frames int
	icrc   icrc.Hasher
	buf    []byte
}

// actor is a conversation that goes on.
type actor struct {
	tape   [][]byte
	number int // of the conversation
	at     int // the next frame
}

// tapes are the recordings, with the number of packets that are played of each:
// RC, UC and UD, with CM and without, with errors and losses, and iWARP.
var tapes = map[string]int{
	"rping_rxe.pcap": 41, "ucmatose.pcap": 34, "udaddy.pcap": 10, "cm_reject.pcap": 2, "py_rnr.pcap": 12, "py_badrkey.pcap": 3,
	"py_mixed.pcap": 60, "uc_pingpong.pcap": 40, "rc_loss_send.pcap.gz": 150, "ce_marks.pcap.gz": 60,
	"iw_rping.pcap": 34, "iw_ucmatose.pcap": 40,
}

func newCrowd(t *testing.T, together int) *crowd {
	t.Helper()
	c := &crowd{rng: rand.New(rand.NewPCG(24, 1)), actors: make([]actor, together)}
	for name, n := range tapes {
		c.tapes = append(c.tapes, frames(t, name)[:n])
	}
	for i := range c.actors {
		c.begin(&c.actors[i])
		c.actors[i].at = c.rng.IntN(len(c.actors[i].tape))
	}
	return c
}

func (c *crowd) begin(a *actor) {
	*a = actor{tape: c.tapes[c.rng.IntN(len(c.tapes))], number: c.played}
	c.played++
}

// next is the next frame, valid until the one after it.
func (c *crowd) next() []byte {
	if c.frames++; c.frames%1000 == 0 {
		return c.pause()
	}
	a := &c.actors[c.rng.IntN(len(c.actors))]
	chance := c.rng.IntN(1000)
	if chance < 5 {
		a.at++ // lost
	}
	if a.at >= len(a.tape) || chance == 5 { // over, or broken off
		c.begin(a)
	}
	c.buf = append(c.buf[:0], a.tape[a.at]...)
	c.settle(a.number)
	if chance == 6 {
		c.buf[len(c.buf)-1] ^= 1 // of the ICRC
	}
	if chance != 7 { // else it comes twice
		a.at++
	}
	return c.buf
}

// settle gives a frame the hosts of a conversation: 10.77.0.2 becomes a 10 or
// more, three bytes of the number, and the 2.
func (c *crowd) settle(number int) {
	const ethernet, udp = 14, 17
	if binary.BigEndian.Uint16(c.buf[12:]) != 0x0800 {
		return
	}
	ip := c.buf[ethernet:]
	ip = ip[:binary.BigEndian.Uint16(ip[2:])]
	for _, address := range [][]byte{ip[12:16], ip[16:20]} {
		address[0], address[1], address[2] = byte(10+number>>16), byte(number>>8), byte(number)
	}
	if ip[9] == udp && binary.BigEndian.Uint16(ip[22:]) == 4791 {
		c.icrc.Put(icrc.RoCEv2IPv4, ip)
	}
}

// pause is a PFC frame of one of 300 ports, more than are followed: in turn the
// begin and the end of a pause.
func (c *crowd) pause() []byte {
	n := c.frames / 1000
	c.buf = append(c.buf[:0], 1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0)
	c.buf = binary.BigEndian.AppendUint16(c.buf, uint16(n/2%300))
	c.buf = append(c.buf, 0x88, 8, 1, 1, 0, 8)
	c.buf = append(c.buf, bytes.Repeat([]byte{byte(n%2) * 0xff}, 16)...)
	return append(c.buf, make([]byte, 26)...)
}
