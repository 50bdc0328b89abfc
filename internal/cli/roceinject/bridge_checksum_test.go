package roceinject

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

// kernelFrame is a TCP or UDP frame over IPv4 or IPv6 with the right checksum,
// and where that is.
func kernelFrame(t *testing.T, ip, transport wire.HeaderID, payload int) (frame []byte, checksum int) {
	t.Helper()
	r := &craft.Recipe{Link: wire.LinkEthernet, Layers: []craft.Layer{{ID: wire.HdrEthernet}, {ID: wire.HdrVLAN}, {ID: ip}, {ID: transport}}}
	r.Payload = bytes.Repeat([]byte{7}, payload)
	name, at := "tcp.checksum", 16
	if transport == wire.HdrUDP {
		name, at = "udp.checksum", 6
		if err := r.Put("udp.dstport", "53"); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Put(name, "auto"); err != nil {
		t.Fatal(err)
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data, img.Layers[3].Off + at
}

// pseudo is the sum that a kernel leaves in place of the checksum (RFC 1071,
// written down plainly).
func pseudo(ip []byte, protocol byte, length int) uint16 {
	sum := int(protocol) + length
	for i := 0; i < len(ip); i += 2 {
		sum += int(ip[i])<<8 | int(ip[i+1])
	}
	for sum > 0xFFFF {
		sum = sum>>16 + sum&0xFFFF
	}
	return uint16(sum)
}

func TestChecksumsThatWereLeftToTheInterfaceAreCompleted(t *testing.T) {
	for _, ip := range []wire.HeaderID{wire.HdrIPv4, wire.HdrIPv6} {
		for _, transport := range []wire.HeaderID{wire.HdrTCP, wire.HdrUDP} {
			for _, payload := range []int{0, 1, 100, 1400} {
				right, at := kernelFrame(t, ip, transport, payload)
				addresses, start := right[30:38], 38 // behind the VLAN tag
				if ip == wire.HdrIPv6 {
					addresses, start = right[26:58], 58
				}
				protocol := byte(wire.IPProtoTCP)
				if transport == wire.HdrUDP {
					protocol = wire.IPProtoUDP
				}
				partial, wrong := bytes.Clone(right), bytes.Clone(right)
				sum := pseudo(addresses, protocol, len(right)-start)
				partial[at], partial[at+1] = byte(sum>>8), byte(sum)
				wrong[at] ^= 0x40
				for name, test := range map[string]struct{ in, want []byte }{
					"right": {right, right}, "partial": {partial, right}, "wrong": {wrong, wrong},
				} {
					got := bytes.Clone(test.in)
					new(completer).complete(got)
					if !bytes.Equal(got, test.want) {
						t.Errorf("%s, %v over %v, %d bytes (-want +got):\n%s", name, transport, ip, payload, cmp.Diff(test.want, got))
					}
				}
			}
		}
	}
}

func TestCompletingLeavesEveryCutFrameAlone(t *testing.T) {
	frame, at := kernelFrame(t, wire.HdrIPv4, wire.HdrTCP, 20)
	frame[at] ^= 1
	for n := range len(frame) {
		got := bytes.Clone(frame[:n])
		new(completer).complete(got)
		if !bytes.Equal(got, frame[:n]) {
			t.Errorf("%d bytes changed", n)
		}
	}
}
