package wire

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

func TestIPv4Accessors(t *testing.T) {
	checkAccessors(t, &ipv4Spec, IPv4MinLen, nil, []accessor{
		accNum("ip.version", IPv4Header.Version, IPv4Header.SetVersion),
		accNum("ip.hdr_len", IPv4Header.HeaderLen, IPv4Header.SetHeaderLen),
		accNum("ip.dsfield", IPv4Header.TOS, IPv4Header.SetTOS),
		accNum("ip.dsfield.dscp", IPv4Header.DSCP, IPv4Header.SetDSCP),
		accNum("ip.dsfield.ecn", IPv4Header.ECN, IPv4Header.SetECN),
		accNum("ip.len", IPv4Header.TotalLen, IPv4Header.SetTotalLen),
		accNum("ip.id", IPv4Header.ID, IPv4Header.SetID),
		accFlag("ip.flags.rb", IPv4Header.Reserved, IPv4Header.SetReserved),
		accFlag("ip.flags.df", IPv4Header.DontFragment, IPv4Header.SetDontFragment),
		accFlag("ip.flags.mf", IPv4Header.MoreFragments, IPv4Header.SetMoreFragments),
		accNum("ip.frag_offset", IPv4Header.FragmentOffset, IPv4Header.SetFragmentOffset),
		accNum("ip.ttl", IPv4Header.TTL, IPv4Header.SetTTL),
		accNum("ip.proto", IPv4Header.Protocol, IPv4Header.SetProtocol),
		accNum("ip.checksum", IPv4Header.Checksum, IPv4Header.SetChecksum),
		accIPv4("ip.src", IPv4Header.Src, IPv4Header.SetSrc),
		accIPv4("ip.dst", IPv4Header.Dst, IPv4Header.SetDst),
	}, "ip.flags")
}

func TestIPv4FieldsAsTshark(t *testing.T) {
	checkFields(t, &ipv4Spec, "46fe 0028 1234 a005 4011 0000 0a000001 0a000002 94040000", map[string]uint64{
		"ip.version": 4, "ip.hdr_len": 24, "ip.dsfield": 0xFE, "ip.dsfield.dscp": 63, "ip.dsfield.ecn": 2,
		"ip.len": 40, "ip.id": 0x1234, "ip.flags": 5, "ip.flags.rb": 1, "ip.flags.df": 0, "ip.flags.mf": 1,
		"ip.frag_offset": 5, "ip.ttl": 64, "ip.proto": 17, "ip.checksum": 0, "ip.src": 0x0A000001, "ip.dst": 0x0A000002,
	})
}

func TestIPv4HeaderLengthIsWhatTheIHLClaims(t *testing.T) {
	h := IPv4Header(make([]byte, IPv4MinLen))
	for ihl := range 16 {
		h[0] = 0x40 | byte(ihl)
		if n := h.HeaderLen(); n != 4*ihl {
			t.Errorf("IHL %d: %d bytes", ihl, n)
		}
		if len(h.Options()) != 0 {
			t.Errorf("IHL %d: options %x were not captured", ihl, h.Options())
		}
	}
}

func TestIPv4OptionsEndWithTheCapture(t *testing.T) {
	h := IPv4Header(unhex(t, "46fe 0028 1234 0005 4011 0000 0a000001 0a000002 94040000 c000"))
	if want := unhex(t, "94040000"); !bytes.Equal(h.Options(), want) {
		t.Errorf("options %x, want %x", h.Options(), want)
	}
	if want := unhex(t, "9404"); !bytes.Equal(h[:22].Options(), want) {
		t.Errorf("options of a cut header %x, want %x", h[:22].Options(), want)
	}
	for n := 1; n <= IPv4MinLen; n++ {
		if o := h[:n].Options(); len(o) != 0 {
			t.Errorf("options of %d bytes: %x", n, o)
		}
	}
}

func TestIPv4FragmentsAreToldFromWholePackets(t *testing.T) {
	h := IPv4Header(make([]byte, IPv4MinLen))
	for _, tc := range []struct {
		flags uint16
		want  bool
	}{{0x0000, false}, {0x4000, false}, {0x8000, false}, {0x2000, true}, {0x0001, true}, {0x1FFF, true}} {
		be.PutUint16(h[6:], tc.flags)
		if got := h.IsFragment(); got != tc.want {
			t.Errorf("%#04x is a fragment: %v", tc.flags, got)
		}
	}
}

func TestIPv4ChecksumOfCapturedHeaders(t *testing.T) {
	for _, tc := range []struct {
		header string
		want   uint16
	}{
		{"4502 007c 0001 4000 4011 266c 0a000001 0a000002", 0x266C},
		{"4500 0073 0000 4000 4011 ffff c0a80001 c0a800c7", 0xB861},
	} {
		if got := IPv4Checksum(unhex(t, tc.header)); got != tc.want {
			t.Errorf("checksum of %s = %#04x, want %#04x", tc.header, got, tc.want)
		}
	}
}

// sumWithCarry is the reference: the carry is added back after every word.
func sumWithCarry(words ...[]byte) uint16 {
	var sum uint32
	for _, b := range words {
		for i := 0; i < len(b); i += 2 {
			w := uint32(b[i]) << 8
			if i+1 < len(b) {
				w |= uint32(b[i+1])
			}
			sum += w
			sum = sum&0xFFFF + sum>>16
		}
	}
	return uint16(sum)
}

func TestIPv4ChecksumMakesTheHeaderSumToAllOnes(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for range 1000 {
		h := IPv4Header(randomHeader(rng, IPv4MinLen+4*rng.IntN(11)))
		h.SetChecksum(IPv4Checksum(h))
		if got := sumWithCarry(h); got != 0xFFFF {
			t.Fatalf("sum of %x is %#04x", []byte(h), got)
		}
	}
}

func TestIPv4ChecksumOfACutHeaderReadsInsideIt(t *testing.T) {
	whole := unhex(t, "4502 007c 0001 4000 4011 266c 0a000001 0a000002")
	for n := range len(whole) + 1 {
		IPv4Checksum(whole[:n:n])
	}
}
