package iwarp

import (
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"net/netip"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

var (
	client = netip.MustParseAddrPort("192.0.2.1:40000")
	server = netip.MustParseAddrPort("192.0.2.2:7777")
)

// writer builds one direction of an MPA stream, byte by byte.
type writer struct {
	stream  []byte
	origin  int // where the first FPDU begins, -1 before it
	markers bool
	noCRC   bool
	fpdus   []string // the ULPDUs in order
}

func (w *writer) start(key string, flags, revision byte, private string) {
	w.stream = append(w.stream, key...)
	w.stream = append(w.stream, flags, revision, byte(len(private)>>8), byte(len(private)))
	w.stream = append(w.stream, private...)
	w.origin = len(w.stream)
}

// fpdu appends one FPDU with the markers that fall into it.
func (w *writer) fpdu(ulpdu []byte) {
	w.fpdus = append(w.fpdus, string(ulpdu))
	body := binary.BigEndian.AppendUint16(nil, uint16(len(ulpdu)))
	body = append(body, ulpdu...)
	for len(body)%4 != 0 {
		body = append(body, 0)
	}
	from, start := len(w.stream), -1
	mark := func() {
		if !w.markers || (len(w.stream)-w.origin)%512 != 0 {
			return
		}
		distance := 0
		if start >= 0 {
			distance = len(w.stream) - start
		}
		w.stream = append(w.stream, 0, 0, byte(distance>>8), byte(distance))
	}
	for _, b := range body {
		mark()
		if start < 0 {
			start = len(w.stream)
		}
		w.stream = append(w.stream, b)
	}
	mark()
	sum := crc32.Checksum(w.stream[from:], crc32.MakeTable(crc32.Castagnoli))
	if w.noCRC {
		sum = 0
	}
	w.stream = binary.LittleEndian.AppendUint32(w.stream, sum)
}

func send(msn uint32, data []byte) []byte {
	b := []byte{0x41, 0x43, 0, 0, 0, 0, 0, 0, 0, 0}
	b = binary.BigEndian.AppendUint32(b, msn)
	b = binary.BigEndian.AppendUint32(b, 0)
	return append(b, data...)
}

func write(to uint64, data []byte) []byte {
	b := []byte{0xc1, 0x40, 0, 0, 0x12, 0x34}
	b = binary.BigEndian.AppendUint64(b, to)
	return append(b, data...)
}

// noise returns n random bytes.
func noise(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// fill appends n FPDUs with up to size bytes of random data each.
func (w *writer) fill(r *rand.Rand, n, size int) {
	for i := range n {
		data := noise(r, r.IntN(size))
		if r.IntN(2) == 0 {
			w.fpdu(send(uint32(i+1), data))
		} else {
			w.fpdu(write(r.Uint64(), data))
		}
	}
}

// session is a connection to be captured.
type session struct {
	c, s       writer
	isnC, isnS uint32
}

// newSession sets a connection up: both sides want markers or CRCs, or neither.
func newSession(markers, crc bool) *session {
	flags := byte(0)
	if markers {
		flags |= 0x80
	}
	if crc {
		flags |= 0x40
	}
	x := &session{isnC: 1000, isnS: 5000}
	x.c.markers, x.s.markers = markers, markers
	x.c.noCRC, x.s.noCRC = !crc, !crc
	x.c.start("MPA ID Req Frame", flags, 1, "hello")
	x.s.start("MPA ID Rep Frame", flags, 1, "")
	return x
}

func (x *session) syn() []Packet {
	return []Packet{
		{Src: client, Dst: server, Seq: x.isnC, Flags: tcpstream.SYN},
		{Src: server, Dst: client, Seq: x.isnS, Ack: x.isnC + 1, Flags: tcpstream.SYN | tcpstream.ACK},
	}
}

// segment is the packet with client bytes [lo, hi), or the server's.
func (x *session) segment(fromClient bool, lo, hi int) Packet {
	p := Packet{Src: client, Dst: server, Flags: tcpstream.ACK, Offset: 54}
	w, seq, ack := &x.c, x.isnC, x.isnS
	if !fromClient {
		w, seq, ack = &x.s, x.isnS, x.isnC
		p.Src, p.Dst = server, client
	}
	p.Seq, p.Ack = seq+1+uint32(lo), ack+1
	p.Payload, p.WireLen = w.stream[lo:hi], hi-lo
	return p
}

// ack is a bare acknowledgement of n bytes by the other side.
func (x *session) ack(fromClient bool, n int) Packet {
	p := x.segment(fromClient, 0, 0)
	if fromClient {
		p.Ack = x.isnS + 1 + uint32(n)
	} else {
		p.Ack = x.isnC + 1 + uint32(n)
	}
	p.Seq += uint32(len(x.s.stream))
	return p
}

// cut splits the bytes of one direction from offset lo on into segments of 1 to
// size bytes.
func (x *session) cut(r *rand.Rand, fromClient bool, lo, size int) []Packet {
	n := len(x.c.stream)
	if !fromClient {
		n = len(x.s.stream)
	}
	var packets []Packet
	for lo < n {
		hi := min(n, lo+1+r.IntN(size))
		packets = append(packets, x.segment(fromClient, lo, hi))
		lo = hi
	}
	return packets
}

// handshake is the packets up to the reply.
func (x *session) handshake() []Packet {
	return append(x.syn(), x.segment(true, 0, x.c.origin), x.segment(false, 0, x.s.origin))
}

// numbered gives the packets their numbers.
func numbered(packets []Packet) []Packet {
	for i := range packets {
		packets[i].Number = uint64(i + 1)
	}
	return packets
}

// ulpdus returns the ULPDUs of the FPDUs from src that are whole, in order.
func ulpdus(all []kept, src netip.AddrPort) []string {
	var out []string
	for i := range all {
		p := &all[i]
		if p.Kind == FPDU && p.Src == src && p.Missing == 0 {
			n := binary.BigEndian.Uint16(p.Stack.Data)
			out = append(out, string(p.Stack.Data[2:2+int(n)]))
		}
	}
	return out
}
