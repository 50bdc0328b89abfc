package wire

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestUDPAccessors(t *testing.T) {
	checkAccessors(t, &udpSpec, UDPLen, nil, []accessor{
		accNum("udp.srcport", UDP.SrcPort, UDP.SetSrcPort),
		accNum("udp.dstport", UDP.DstPort, UDP.SetDstPort),
		accNum("udp.length", UDP.Length, UDP.SetLength),
		accNum("udp.checksum", UDP.Checksum, UDP.SetChecksum),
	})
}

func TestUDPFieldsAsTshark(t *testing.T) {
	checkFields(t, &udpSpec, "c000 12b7 0068 0000", map[string]uint64{
		"udp.srcport": 49152, "udp.dstport": PortRoCEv2, "udp.length": 104, "udp.checksum": 0,
	})
}

// pseudoHeader builds the pseudo header as RFC 768 and RFC 8200, 8.1 draw it.
func pseudoHeader(src, dst []byte, protocol byte, length int) []byte {
	p := slices.Concat(src, dst)
	if len(src) == 4 {
		return append(p, 0, protocol, byte(length>>8), byte(length))
	}
	return append(p, byte(length>>24), byte(length>>16), byte(length>>8), byte(length), 0, 0, 0, protocol)
}

func TestUDPChecksumMakesTheDatagramSumToAllOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 1000 {
		size := []int{4, 16}[rng.IntN(2)]
		src, dst := randomHeader(rng, size), randomHeader(rng, size)
		d := UDP(randomHeader(rng, UDPLen+rng.IntN(100)))
		d.SetChecksum(UDPChecksum(src, dst, d))
		if got := sumWithCarry(pseudoHeader(src, dst, IPProtoUDP, len(d)), d); got != 0xFFFF {
			t.Fatalf("sum of %x from %x to %x is %#04x", []byte(d), src, dst, got)
		}
	}
}

func TestUDPChecksumIsNeverZero(t *testing.T) {
	src, dst := make([]byte, 4), make([]byte, 4)
	d := UDP(make([]byte, UDPLen+2))
	// Protocol 17 and length 10 make 27; this payload makes it 0xFFFF.
	be.PutUint16(d[UDPLen:], 0xFFFF-27)
	if got := UDPChecksum(src, dst, d); got != 0xFFFF {
		t.Errorf("checksum %#04x, want 0xffff", got)
	}
}

func TestUDPChecksumOfACutDatagramReadsInsideIt(t *testing.T) {
	whole := unhex(t, "c000 12b7 000c 0000 0102")
	for n := range len(whole) + 1 {
		UDPChecksum(whole[:4], whole[4:8], whole[:n:n])
	}
}
