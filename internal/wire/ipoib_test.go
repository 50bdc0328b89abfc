package wire

import "testing"

func TestIPoIBPseudoAccessors(t *testing.T) {
	checkAccessors(t, &ipoibPseudoSpec, IPoIBPseudoLen, nil, []accessor{
		accNum("ipoib.daddr.qpn", IPoIBPseudo.QPN, IPoIBPseudo.SetQPN),
		{
			field:  "ipoib.dgid",
			getRaw: func(h []byte) []byte { g := IPoIBPseudo(h).GID(); return g[:] },
			setRaw: func(h, v []byte) { IPoIBPseudo(h).SetGID([16]byte(v)) },
		},
	})
}

func TestIPoIBPseudoFieldsAsTshark(t *testing.T) {
	checkFields(t, &ipoibPseudoSpec, "80000048 fe800000000000000000000000000002", map[string]uint64{
		"ipoib.daddr.qpn": 0x48,
	})
}

func TestIPoIBAccessors(t *testing.T) {
	checkAccessors(t, &ipoibSpec, IPoIBLen, nil, []accessor{
		accNum("ipoib.type", IPoIB.EtherType, IPoIB.SetEtherType),
		accNum("ipoib.reserved", IPoIB.Reserved, IPoIB.SetReserved),
	})
}
