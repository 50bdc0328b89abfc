package wire

import "testing"

func TestIPv6ExtAccessors(t *testing.T) {
	checkAccessors(t, &ipv6HopOptsSpec, IPv6ExtMinLen, nil, []accessor{
		accNum("ipv6.hopopts.nxt", IPv6Ext.NextHeader, IPv6Ext.SetNextHeader),
		accNum("ipv6.hopopts.len", IPv6Ext.Length, IPv6Ext.SetLength),
	})
	checkAccessors(t, &ipv6DestOptsSpec, IPv6ExtMinLen, nil, []accessor{
		accNum("ipv6.dstopts.nxt", IPv6Ext.NextHeader, IPv6Ext.SetNextHeader),
		accNum("ipv6.dstopts.len", IPv6Ext.Length, IPv6Ext.SetLength),
	})
}

func TestIPv6RoutingAccessors(t *testing.T) {
	checkAccessors(t, &ipv6RoutingSpec, IPv6ExtMinLen, nil, []accessor{
		accNum("ipv6.routing.nxt", IPv6Routing.NextHeader, IPv6Routing.SetNextHeader),
		accNum("ipv6.routing.len", IPv6Routing.Length, IPv6Routing.SetLength),
		accNum("ipv6.routing.type", IPv6Routing.Type, IPv6Routing.SetType),
		accNum("ipv6.routing.segleft", IPv6Routing.SegmentsLeft, IPv6Routing.SetSegmentsLeft),
	}, "ipv6.routing.srh.last_entry", "ipv6.routing.srh.flags", "ipv6.routing.srh.tag")
}

func TestIPv6FragmentAccessors(t *testing.T) {
	checkAccessors(t, &ipv6FragmentSpec, IPv6FragmentLen, nil, []accessor{
		accNum("ipv6.fraghdr.nxt", IPv6Fragment.NextHeader, IPv6Fragment.SetNextHeader),
		accNum("ipv6.fraghdr.offset", IPv6Fragment.Offset, IPv6Fragment.SetOffset),
		accFlag("ipv6.fraghdr.more", IPv6Fragment.More, IPv6Fragment.SetMore),
		accNum("ipv6.fraghdr.ident", IPv6Fragment.ID, IPv6Fragment.SetID),
	}, "ipv6.fraghdr.reserved_octet", "ipv6.fraghdr.reserved_bits")
}

func TestIPv6ExtensionFieldsAsTshark(t *testing.T) {
	checkFields(t, &ipv6HopOptsSpec, "2b00 050200000100", map[string]uint64{"ipv6.hopopts.nxt": 43, "ipv6.hopopts.len": 0})
	checkFields(t, &ipv6DestOptsSpec, "1100 010400000000", map[string]uint64{"ipv6.dstopts.nxt": 17, "ipv6.dstopts.len": 0})
	checkFields(t, &ipv6FragmentSpec, "1100 0011 cafe0001", map[string]uint64{
		"ipv6.fraghdr.nxt": 17, "ipv6.fraghdr.reserved_octet": 0, "ipv6.fraghdr.offset": 2,
		"ipv6.fraghdr.reserved_bits": 0, "ipv6.fraghdr.more": 1, "ipv6.fraghdr.ident": 0xCAFE0001,
	})
	checkFields(t, &ipv6RoutingSpec, "1102 0400 00550007", map[string]uint64{
		"ipv6.routing.nxt": 17, "ipv6.routing.len": 2, "ipv6.routing.type": 4, "ipv6.routing.segleft": 0,
		"ipv6.routing.srh.last_entry": 0, "ipv6.routing.srh.flags": 0x55, "ipv6.routing.srh.tag": 7,
	})
	checkFields(t, &ipv6RoutingSpec, "3c02 0001 00000000", map[string]uint64{"ipv6.routing.type": 0, "ipv6.routing.segleft": 1},
		"ipv6.routing.srh.last_entry", "ipv6.routing.srh.flags", "ipv6.routing.srh.tag")
}

func TestIPv6ExtensionLengthIsWhatTheLengthFieldClaims(t *testing.T) {
	h := make([]byte, IPv6ExtMinLen)
	for field, want := range map[byte]int{0: 8, 2: 24, 255: 2048} {
		h[1] = field
		if n := IPv6Ext(h).HeaderLen(); n != want {
			t.Errorf("length field %d: options of %d bytes, want %d", field, n, want)
		}
		if n := IPv6Routing(h).HeaderLen(); n != want {
			t.Errorf("length field %d: routing header of %d bytes, want %d", field, n, want)
		}
	}
}

func TestIPv6AtomicFragmentIsNoFragment(t *testing.T) {
	for header, want := range map[string]bool{
		"1100 0000 cafe0001": false,
		"1100 0006 cafe0001": false, // reserved bits
		"1100 0001 cafe0001": true,
		"1100 0008 cafe0001": true,
	} {
		if got := IPv6Fragment(unhex(t, header)).IsFragment(); got != want {
			t.Errorf("%s is a fragment: %v", header, got)
		}
	}
}
