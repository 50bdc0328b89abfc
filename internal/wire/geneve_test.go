package wire

import (
	"bytes"
	"testing"
)

func TestGeneveAccessors(t *testing.T) {
	checkAccessors(t, &geneveSpec, GeneveMinLen, nil, []accessor{
		accNum("geneve.version", Geneve.Version, Geneve.SetVersion),
		accNum("geneve.option.length", Geneve.OptionsLen, Geneve.SetOptionsLen),
		accFlag("geneve.flags.oam", Geneve.OAM, Geneve.SetOAM),
		accFlag("geneve.flags.critical", Geneve.Critical, Geneve.SetCritical),
		accNum("geneve.proto_type", Geneve.Protocol, Geneve.SetProtocol),
		accNum("geneve.vni", Geneve.VNI, Geneve.SetVNI),
	}, "geneve.flags", "geneve.flags.reserved", "geneve.reserved", "geneve.options")
}

func TestGeneveFieldsAsTshark(t *testing.T) {
	checkFields(t, &geneveSpec, "02ff 6558 abcdef 05 01028381 deadbeef", map[string]uint64{
		"geneve.version": 0, "geneve.option.length": 8, "geneve.flags": 0xFF, "geneve.flags.oam": 1, "geneve.flags.critical": 1,
		"geneve.flags.reserved": 1, "geneve.proto_type": EtherTypeTransparent, "geneve.vni": 0xABCDEF, "geneve.reserved": 5,
	})
	checkFields(t, &geneveSpec, "0000 6558 000007 00", map[string]uint64{
		"geneve.option.length": 0, "geneve.flags.reserved": 0, "geneve.vni": 7,
	}, "geneve.options")
}

func TestGeneveLengthIsWhatTheHeaderClaims(t *testing.T) {
	h := Geneve(make([]byte, GeneveMinLen))
	for _, first := range []byte{0x00, 0x02, 0x3F, 0xFF} {
		h[0] = first
		if n, want := h.HeaderLen(), 8+4*int(first&0x3F); n != want {
			t.Errorf("first byte %#02x: %d bytes, want %d", first, n, want)
		}
	}
}

func TestGeneveOptionsEndWithTheCapture(t *testing.T) {
	h := Geneve(unhex(t, "0200 6558 000007 00 01028381 deadbeef 0200"))
	if want := unhex(t, "01028381deadbeef"); !bytes.Equal(h.Options(), want) {
		t.Errorf("options %x, want %x", h.Options(), want)
	}
	for n := 1; n <= 16; n++ {
		if got, want := h[:n:n].Options(), h[min(n, GeneveMinLen):n]; !bytes.Equal(got, want) {
			t.Errorf("options of %d bytes: %x, want %x", n, got, want)
		}
	}
}
