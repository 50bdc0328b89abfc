package roceinject

import (
	"bytes"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// mergedFrame is a TCP frame with more in it than any MTU here allows.
func mergedFrame(t *testing.T, ip wire.HeaderID) (frame []byte, parsed *wire.Frame) {
	t.Helper()
	frame, _ = kernelFrame(t, ip, wire.HdrTCP, 4000)
	parsed = new(wire.Frame)
	parsed.Parse(wire.LinkEthernet, frame, len(frame))
	for i := range 4000 {
		frame[parsed.Payload+i] = byte(i >> 4)
	}
	tcp := wire.TCP(frame[parsed.L4:])
	tcp.SetSeq(0xFFFFFF00) // wraps
	tcp.SetFlags(wire.TCPAck | wire.TCPPush | wire.TCPFin | wire.TCPCWR)
	if ip == wire.HdrIPv4 {
		wire.IPv4Header(frame[parsed.Net:]).SetID(0xFFFF) // wraps
	}
	return frame, parsed
}

func TestAMergedFrameIsPartedIntoSegments(t *testing.T) {
	const mtu = 1500
	flags := []uint16{wire.TCPAck | wire.TCPCWR, wire.TCPAck, wire.TCPAck | wire.TCPPush | wire.TCPFin}
	for _, ip := range []wire.HeaderID{wire.HdrIPv4, wire.HdrIPv6} {
		whole, f := mergedFrame(t, ip)
		parts := new(parter).part(whole, mtu)
		if len(parts) != len(flags) {
			t.Fatalf("%v: %d parts", ip, len(parts))
		}
		var payload []byte
		for i, part := range parts {
			var p wire.Frame
			p.Parse(wire.LinkEthernet, part, len(part))
			tcp := wire.TCP(part[p.L4:])
			if p.Problems != 0 || p.End != len(part) || (i < len(parts)-1 && p.End-p.Net != mtu) {
				t.Errorf("%v, part %d: problems %v, %d bytes of %d", ip, i, p.Problems, p.End-p.Net, len(part))
			}
			if tcp.Seq() != 0xFFFFFF00+uint32(len(payload)) || tcp.Flags() != flags[i] {
				t.Errorf("%v, part %d: sequence number %#x, flags %#x", ip, i, tcp.Seq(), tcp.Flags())
			}
			src, dst := addresses(part[p.Net:])
			if sum := wire.TCPChecksum(src, dst, tcp); tcp.Checksum() != sum {
				t.Errorf("%v, part %d: TCP checksum %#x, want %#x", ip, i, tcp.Checksum(), sum)
			}
			if h := wire.IPv4Header(part[p.Net:]); ip == wire.HdrIPv4 {
				if sum := wire.IPv4Checksum(h[:wire.IPv4MinLen]); h.ID() != uint16(0xFFFF+i) || h.Checksum() != sum {
					t.Errorf("part %d: ID %#x, IP checksum %#x, want %#x", i, h.ID(), h.Checksum(), sum)
				}
			}
			payload = append(payload, p.PayloadBytes()...)
		}
		if !bytes.Equal(payload, whole[f.Payload:]) {
			t.Errorf("%v: the parts have other bytes", ip)
		}
	}
}

func TestWhatIsNoMergedFrameIsNotParted(t *testing.T) {
	whole, f := mergedFrame(t, wire.HdrIPv4)
	for n := range len(whole) {
		if parts := new(parter).part(whole[:n], 1500); parts != nil {
			t.Fatalf("cut at %d: %d parts", n, len(parts))
		}
	}
	datagram, _ := kernelFrame(t, wire.HdrIPv4, wire.HdrUDP, 4000)
	for name, test := range map[string]struct {
		frame []byte
		mtu   int
	}{
		"it fits": {whole, len(whole) - f.Net}, "no room for a header": {whole, 40}, "a datagram": {datagram, 1500},
	} {
		if parts := new(parter).part(test.frame, test.mtu); parts != nil {
			t.Errorf("%s: %d parts", name, len(parts))
		}
	}
}

// TestNoHeaderBreaksTheParter gives each byte of the headers each value.
func TestNoHeaderBreaksTheParter(t *testing.T) {
	const mtu = 1500
	for _, ip := range []wire.HeaderID{wire.HdrIPv4, wire.HdrIPv6} {
		whole, f := mergedFrame(t, ip)
		for at := range f.Payload {
			for value := range 256 {
				frame := bytes.Clone(whole)
				frame[at] = byte(value)
				for _, part := range new(parter).part(frame, mtu) {
					if len(part) > f.Net+mtu {
						t.Fatalf("%v, byte %d is %#x: a part of %d bytes", ip, at, value, len(part))
					}
				}
			}
		}
	}
}
