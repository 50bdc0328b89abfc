package layers

import (
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

func TestEveryLayerTypeOfTheBlockIsRegistered(t *testing.T) {
	seen := map[gopacket.LayerType]bool{}
	for _, r := range registrations() {
		if seen[r.typ] {
			t.Errorf("%v is listed twice", r.typ)
		}
		seen[r.typ] = true
		if got := r.typ.String(); got != r.name {
			t.Errorf("layer type %d is called %s, want %s", int(r.typ), got, r.name)
		}
	}
	for typ := gopacket.LayerType(FirstLayerType); typ <= LastLayerType; typ++ {
		if !seen[typ] {
			t.Errorf("layer type %d is not registered", int(typ))
		}
	}
}

func TestATakenLayerTypeIsRefusedWithBothNames(t *testing.T) {
	defer func() {
		message, _ := recover().(string)
		if !strings.Contains(message, "Newcomer") || !strings.Contains(message, "BTH") {
			t.Errorf("panic %q does not name both sides", message)
		}
	}()
	register(registration{LayerTypeBTH, "Newcomer", decodeBTH})
}

func TestOuterLayersLeadToRDMA(t *testing.T) {
	for _, c := range []struct {
		outer     string
		got, want gopacket.LayerType
	}{
		{"EtherType 0x8915", EthernetTypeRoCE.LayerType(), LayerTypeGRH},
		{"EtherType 0x8808", EthernetTypeMACControl.LayerType(), LayerTypeMACControl},
		{"UDP port 4791", UDPPortRoCE.LayerType(), LayerTypeBTH},
		{"link type 247", LinkTypeInfiniBand.LayerType(), LayerTypeLRH},
		{"link type 197", LinkTypeERF.LayerType(), LayerTypeERF},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, want %v", c.outer, c.got, c.want)
		}
	}
	if got := layers.EthernetType(0x8915).String(); got != "RoCE" {
		t.Errorf("EtherType 0x8915 prints as %s", got)
	}
}
