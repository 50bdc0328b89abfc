package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestTCPAccessors(t *testing.T) {
	checkAccessors(t, &tcpSpec, TCPMinLen, nil, []accessor{
		accNum("tcp.srcport", TCP.SrcPort, TCP.SetSrcPort),
		accNum("tcp.dstport", TCP.DstPort, TCP.SetDstPort),
		accNum("tcp.seq_raw", TCP.Seq, TCP.SetSeq),
		accNum("tcp.ack_raw", TCP.Ack, TCP.SetAck),
		accNum("tcp.hdr_len", TCP.HeaderLen, TCP.SetHeaderLen),
		accNum("tcp.flags", TCP.Flags, TCP.SetFlags),
		accNum("tcp.window_size_value", TCP.Window, TCP.SetWindow),
		accNum("tcp.checksum", TCP.Checksum, TCP.SetChecksum),
		accNum("tcp.urgent_pointer", TCP.Urgent, TCP.SetUrgent),
	}, "tcp.flags.res", "tcp.flags.ae", "tcp.flags.cwr", "tcp.flags.ece", "tcp.flags.urg", "tcp.flags.ack",
		"tcp.flags.push", "tcp.flags.reset", "tcp.flags.syn", "tcp.flags.fin", "tcp.options")
}

func TestTCPFieldsAsTshark(t *testing.T) {
	checkFields(t, &tcpSpec, "c000 1389 01020304 05060708 a9ff 0100 1234 0007 020405b4 01010402 01030307 01010101 01010101", map[string]uint64{
		"tcp.srcport": 49152, "tcp.dstport": 5001, "tcp.seq_raw": 16909060, "tcp.ack_raw": 84281096,
		"tcp.hdr_len": 40, "tcp.flags": 0x9FF, "tcp.flags.res": 1, "tcp.flags.ae": 1, "tcp.flags.syn": 1,
		"tcp.window_size_value": 256, "tcp.checksum": 0x1234, "tcp.urgent_pointer": 7,
	})
	checkFields(t, &tcpSpec, "c000 1389 01020304 05060708 5010 0100 1234 0000", map[string]uint64{
		"tcp.hdr_len": 20, "tcp.flags.ack": 1, "tcp.flags.syn": 0,
	}, "tcp.options")
}

func TestTCPFlagConstantsAreTheFieldsBits(t *testing.T) {
	for name, flag := range map[string]uint16{
		"tcp.flags.fin": TCPFin, "tcp.flags.syn": TCPSyn, "tcp.flags.reset": TCPReset, "tcp.flags.push": TCPPush,
		"tcp.flags.ack": TCPAck, "tcp.flags.urg": TCPUrgent, "tcp.flags.ece": TCPECE, "tcp.flags.cwr": TCPCWR, "tcp.flags.ae": TCPAE,
	} {
		h := TCP(make([]byte, TCPMinLen))
		h.SetFlags(flag)
		f := presentField(&tcpSpec, h, name)
		if f == nil || f.Value(h) != 1 {
			t.Errorf("flags %#x do not set %s", flag, name)
		}
	}
}

const tcpSYN = "eddc 1072 2f4431ed 00000000 a002 16d0 6138 0000 020405b4 0402080a 033f5914 00000000 01030307"

func TestTCPOptionsEndWithTheCapture(t *testing.T) {
	h := TCP(unhex(t, tcpSYN))
	if n := h.HeaderLen(); n != 40 {
		t.Fatalf("length %d, want 40", n)
	}
	for n := 13; n <= len(h); n++ {
		if got, want := h[:n:n].Options(), h[min(n, TCPMinLen):n]; !bytes.Equal(got, want) {
			t.Errorf("options of %d bytes: %x, want %x", n, got, want)
		}
	}
}

// The segment is the first of the public capture iwarp_connect_C00_M00.
func TestTCPChecksumOfACapturedSegment(t *testing.T) {
	src, dst := []byte{10, 0, 0, 19}, []byte{10, 0, 0, 18}
	h := TCP(unhex(t, tcpSYN))
	if got := TCPChecksum(src, dst, h); got != h.Checksum() {
		t.Errorf("checksum %#04x, captured %#04x", got, h.Checksum())
	}
}

func TestTCPChecksumMakesTheSegmentSumToAllOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 1000 {
		size := []int{4, 16}[rng.IntN(2)]
		src, dst := randomHeader(rng, size), randomHeader(rng, size)
		s := TCP(randomHeader(rng, TCPMinLen+rng.IntN(100)))
		s.SetChecksum(TCPChecksum(src, dst, s))
		if got := sumWithCarry(pseudoHeader(src, dst, IPProtoTCP, len(s)), s); got != 0xFFFF {
			t.Fatalf("sum of %x from %x to %x is %#04x", []byte(s), src, dst, got)
		}
	}
}
