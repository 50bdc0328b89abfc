package wire

import "testing"

func TestATerminateIsWrittenInWords(t *testing.T) {
	for _, test := range []struct {
		layer, kind, code uint8
		want              string
	}{
		{TermLayerRDMAP, TermRDMAPProtection, 1, "RDMA, Remote Protection Error, Base or bounds violation"},
		{TermLayerRDMAP, TermRDMAPOperation, 0xFF, "RDMA, Remote Operation Error, Unspecific Error"},
		{TermLayerDDP, TermDDPTagged, 0, "DDP, Tagged Buffer Error, Invalid STag"},
		{TermLayerDDP, TermDDPUntagged, 2, "DDP, Untagged Buffer Error, Invalid MSN - no buffer available"},
		{TermLayerDDP, TermDDPCatastrophic, 0, "DDP, Local Catastrophic Error, 0x0"},
		{TermLayerLLP, TermLLPMPA, 2, "LLP, MPA Error, MPA CRC Error"},
		{TermLayerRDMAP, 9, 0x77, "RDMA, 0x9, 0x77"},
		{7, 3, 4, "0x7, 0x3, 0x4"},
	} {
		h := RDMAPTerminateHeader(make([]byte, 2))
		h.SetLayer(test.layer)
		h.SetType(test.kind)
		h.SetCode(test.code)
		if got := h.Words(); got != test.want {
			t.Errorf("%d, %d, %d is written %q, want %q", test.layer, test.kind, test.code, got, test.want)
		}
	}
}
