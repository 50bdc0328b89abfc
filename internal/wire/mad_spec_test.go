package wire

import (
	"regexp"
	"testing"
)

func TestEveryMADHeaderIsDescribed(t *testing.T) {
	names := map[string]bool{}
	for i, s := range madSpecs {
		if s == nil || s.ID != firstMAD+HeaderID(i) || SpecOf(s.ID) != s {
			t.Fatalf("header %d is described by %+v", int(firstMAD)+i, s)
		}
		if names[s.Name] {
			t.Errorf("%s names two headers", s.Name)
		}
		names[s.Name] = true
		if s.Title == "" || len(s.Fields) == 0 {
			t.Errorf("%s has no title or no fields", s.Name)
		}
	}
}

func TestMADFieldsLieInsideTheirHeader(t *testing.T) {
	for _, s := range madSpecs {
		for _, f := range s.Fields {
			if f.Bit+f.Bits > s.Len*8 && f.When == nil {
				t.Errorf("%s ends at bit %d of a header of %d bytes", f.Name, f.Bit+f.Bits, s.Len)
			}
			if f.Bits == 0 && (f.Kind != Bytes || f.Bit != s.Len*8) {
				t.Errorf("%s is open-ended and does not follow the fixed header", f.Name)
			}
			if f.Kind == Uint && f.Bits > 64 || f.Kind == IPv6 && f.Bits != 128 || f.Kind == IPv4 && f.Bits != 32 || f.Kind == Bytes && f.Bit%8 != 0 {
				t.Errorf("%s: %d bits at %d do not fit kind %d", f.Name, f.Bits, f.Bit, f.Kind)
			}
			if f.Width != 0 && f.Width < f.Bits {
				t.Errorf("%s: %d bits in a type of %d", f.Name, f.Bits, f.Width)
			}
		}
	}
}

func TestOneMADFieldNameHasOneMeaning(t *testing.T) {
	number := regexp.MustCompile(` \d+$`)
	first := map[string]Field{}
	for _, s := range madSpecs {
		for _, f := range s.Fields {
			o, seen := first[f.Name]
			if seen && (number.ReplaceAllString(o.Title, "") != number.ReplaceAllString(f.Title, "") || o.Kind != f.Kind || o.Base != f.Base) {
				t.Errorf("%s means %q (kind %d, base %d) and %q (kind %d, base %d)", f.Name, o.Title, o.Kind, o.Base, f.Title, f.Kind, f.Base)
			}
			first[f.Name] = f
		}
	}
}

// The common header lists the attribute once a class; of any header exactly
// one of them must be there.
func TestEveryClassHasOneAttributeID(t *testing.T) {
	for class := range 256 {
		h := newMAD(uint8(class), 1, 0)[:MADHeaderLen]
		n := 0
		for i := range madSpec.Fields {
			if f := &madSpec.Fields[i]; f.Name == "infiniband.mad.attributeid" && f.Present(h) {
				n++
			}
		}
		if n != 1 {
			t.Errorf("class %#x: %d attribute IDs", class, n)
		}
	}
}

func TestDescribedAttributesHaveNames(t *testing.T) {
	for class, described := range map[uint8]func(uint16) HeaderID{
		ClassSMPLID: smpAttribute, ClassPerf: perfAttribute, ClassDevMgt: devMgtAttribute, ClassCM: cmAttribute, ClassCC: ccAttribute,
		ClassSA: func(a uint16) HeaderID { return saRecordOf(a).parts[0] },
	} {
		for attr := range uint16(0x100) {
			if described(attr) != HdrNone && MADAttributeName(class, attr) == "" {
				t.Errorf("class %#x attribute %#x has a header and no name", class, attr)
			}
		}
	}
}

func TestSARecordsHaveTheLengthOfTheSpecification(t *testing.T) {
	for attr, want := range map[uint16]int{
		0x0011: 108, 0x0012: 68, 0x0013: 16, 0x0014: 24, 0x0015: 72, 0x0016: 72, 0x0017: 72, 0x0018: 28, 0x0020: 8,
		0x0030: 72, 0x0031: 176, 0x0033: 72, 0x0035: 64, 0x0036: 72, 0x0038: 52, 0x0039: 48, 0x003B: 80, 0x00F3: 80,
	} {
		if got := saRecordOf(attr).length(); got != want {
			t.Errorf("%s has %d bytes, want %d", saAttributeName(attr), got, want)
		}
	}
}

func TestNamesOfManagementValues(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{MADClassName(ClassSA), "Subnet Administration"},
		{MADClassName(0x0A), "Vendor"},
		{MADClassName(0x40), "Vendor (OUI)"},
		{MADClassName(0x22), "Application"},
		{MADClassName(0x70), ""},
		{MADMethodName(ClassSA, 0x92), "GetTableResp"},
		{MADMethodName(ClassPerf, 0x92), ""},
		{MADAttributeName(ClassPerf, 0x1D), "PortCountersExtended"},
		{MADAttributeName(ClassBM, 0x2C), "IB2IBML"},
		{MADAttributeName(0x32, 0x02), "Notice"},
		{CMRejReason(28), "consumer reject"},
		{CMRejReason(34), ""},
		{CMRejReason(0), ""},
		{CMRejReason(35), "vendor option not supported"},
		{CMRejReason(65535), ""},
		{mtuName(5), "4096"},
		{transportName(3), "Extended"},
		{linkWidthName(3), "1x, 4x"},
		{linkSpeedName(4), "10 Gbps"},
		{portStateName(4), "Active"},
		{portPhysicalStateName(5), "Link Up"},
		{rmppFlagsName(7), "Active, First, Last"},
		{rmppStatusName(118), "Total Time Too Long"},
		{statusCodeName(3), "Method and Attribute Combination Not Supported"},
		{rateName(16), "100 Gbps"},
		{failoverName(1), "Not Supported"},
		{rejMessageName(1), "REP"},
	} {
		if c.got != c.want {
			t.Errorf("name %q, want %q", c.got, c.want)
		}
	}
}

func TestManagementHeaderAccessors(t *testing.T) {
	checkAccessors(t, &smpDirectedSpec, SMPLen, nil, []accessor{
		accNum("infiniband.smplid.mkey", SMP.MKey, SMP.SetMKey),
		accNum("infiniband.smpdirected.drslid", SMP.DrSLID, SMP.SetDrSLID),
		accNum("infiniband.smpdirected.drdlid", SMP.DrDLID, SMP.SetDrDLID),
	})
	checkAccessors(t, &saSpec, SALen, nil, []accessor{
		accNum("infiniband.sa.smkey", SA.SMKey, SA.SetSMKey),
		accNum("infiniband.sa.attributeoffset", SA.AttributeOffset, SA.SetAttributeOffset),
		accNum("infiniband.sa.componentmask", SA.ComponentMask, SA.SetComponentMask),
	})
	checkAccessors(t, &ccSpec, CCLen, nil, []accessor{accNum("infiniband.cc.cc_key", CC.Key, CC.SetKey)})
}
