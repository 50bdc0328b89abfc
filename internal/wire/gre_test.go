package wire

import "testing"

func TestGREAccessors(t *testing.T) {
	flags := []accessor{
		accFlag("gre.flags.checksum", GRE.HasChecksum, GRE.SetHasChecksum),
		accFlag("gre.flags.routing", GRE.HasRouting, GRE.SetHasRouting),
		accFlag("gre.flags.key", GRE.HasKey, GRE.SetHasKey),
		accFlag("gre.flags.sequence_number", GRE.HasSequence, GRE.SetHasSequence),
		accNum("gre.flags.version", GRE.Version, GRE.SetVersion),
		accNum("gre.proto", GRE.Protocol, GRE.SetProtocol),
	}
	words := []accessor{
		accNum("gre.checksum", GRE.Checksum, GRE.SetChecksum),
		accNum("gre.key", GRE.Key, GRE.SetKey),
		accNum("gre.sequence_number", GRE.Sequence, GRE.SetSequence),
	}
	checkAccessors(t, &greSpec, 16, func(h []byte) { h[0] |= 0xB0 }, append(flags, words...),
		"gre.flags_and_version", "gre.flags.strict_source_route", "gre.flags.recursion_control",
		"gre.flags.reserved", "gre.offset")
}

func TestGRELengthFollowsTheFlags(t *testing.T) {
	for _, tc := range []struct {
		flags byte
		want  int
	}{
		{0x00, 4},
		{0x80, 8},
		{0x40, 8}, // routing brings checksum and offset too
		{0xC0, 8},
		{0x20, 8},
		{0x10, 8},
		{0x30, 12},
		{0x90, 12},
		{0xA0, 12},
		{0xB0, 16},
		{0x0F, 4},
	} {
		if n := GRE([]byte{tc.flags, 0, 8, 0}).HeaderLen(); n != tc.want {
			t.Errorf("flags %#02x: %d bytes, want %d", tc.flags, n, tc.want)
		}
	}
}

func TestGREFieldsAsTshark(t *testing.T) {
	checkFields(t, &greSpec, "b0ff 0800 abcd0000 11223344 00000005", map[string]uint64{
		"gre.flags_and_version": 0xB0FF, "gre.flags.checksum": 1, "gre.flags.routing": 0, "gre.flags.key": 1,
		"gre.flags.sequence_number": 1, "gre.flags.recursion_control": 0, "gre.flags.reserved": 31, "gre.flags.version": 7,
		"gre.proto": 0x0800, "gre.checksum": 0xABCD, "gre.offset": 0, "gre.key": 0x11223344, "gre.sequence_number": 5,
	})
	checkFields(t, &greSpec, "1000 88be 00000001", map[string]uint64{
		"gre.proto": EtherTypeERSPAN2, "gre.sequence_number": 1,
	}, "gre.checksum", "gre.offset", "gre.key")
	checkFields(t, &greSpec, "3000 0800 11223344 00000005", map[string]uint64{"gre.key": 0x11223344, "gre.sequence_number": 5})
	checkFields(t, &greSpec, "0000 0800", nil, "gre.checksum", "gre.offset", "gre.key", "gre.sequence_number")
}
