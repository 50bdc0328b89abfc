package wire

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/testneed"
)

// publicFile reads a sample file that may not be committed.
func publicFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testneed.Shared(t), "captures", "public", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Native InfiniBand datagrams, among them the only SA and SMP ones at hand; the
// lines agree with what tshark 4.0.17 says of them.
func TestDatagramsOfThePublicERFCapture(t *testing.T) {
	const fileHeader, recordHeader = 24, 16
	file := publicFile(t, "wireshark_infiniband_erf.pcap")
	got := map[int]string{}
	sa := map[string]string{}
	for n, b := 1, file[fileHeader:]; len(b) >= recordHeader; n++ {
		captured := int(binary.LittleEndian.Uint32(b[8:]))
		var f Frame
		f.Parse(LinkERF, b[recordHeader:recordHeader+captured], int(binary.LittleEndian.Uint32(b[12:])))
		b = b[recordHeader+captured:]
		h, ok := f.Last(HdrMAD)
		if !ok {
			continue
		}
		if f.Problems != 0 {
			t.Errorf("frame %d: problems %#x", n, f.Problems)
		}
		got[n] = string(MADSummary(nil, f.Data[h.Off:f.ICRC]))
		if n == 33 {
			sa = shownFields(f.Data[h.Off:f.ICRC])
		}
	}
	want := map[int]string{
		1:  "SubnGet(SMInfo)",
		2:  "SubnGetResp(SMInfo)",
		7:  "CM ConnectRequest service 0x1000000000000404 QP 0x870408 PSN 0",
		8:  "CM ConnectReply QP 0xfc0407 PSN 13896277",
		9:  "CM ReadyToUse",
		12: "SubnGet(SMInfo)",
		13: "SubnGetResp(SMInfo)",
		27: "CM ConnectRequest service 0x1000000000000405 QP 0x6c004a PSN 0",
		28: "CM ConnectReply QP 0x890407 PSN 12391883",
		29: "CM ReadyToUse",
		32: "SubnAdmGet(PathRecord)",
		33: "SubnAdmGetResp(PathRecord)",
		34: "CM ConnectRequest service 0x1000000000000048 QP 0x890408 PSN 0",
		35: "CM ConnectReply QP 0x6c004b PSN 7545640",
		37: "CM ReadyToUse",
		41: "SubnGet(SMInfo)",
		42: "SubnGetResp(SMInfo)",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("summaries (-want +got):\n%s", d)
	}
	for name, v := range map[string]string{
		"infiniband.sa.attributeoffset":                "0x0008",
		"infiniband.sa.componentmask":                  "0x000000000000340c",
		"infiniband.pathrecord.dgid":                   "fe80::2:c903:0:1895",
		"infiniband.pathrecord.sgid":                   "fe80::2:c902:24:f636",
		"infiniband.pathrecord.dlid":                   "0x0002",
		"infiniband.pathrecord.reversible":             "0x01",
		"infiniband.pathrecord.p_key":                  "0xffff",
		"infiniband.pathrecord.sl":                     "0x0000",
		"infiniband.pathrecord.mtuselector":            "0x02",
		"infiniband.pathrecord.mtu":                    "0x04",
		"infiniband.pathrecord.rate":                   "0x03",
		"infiniband.pathrecord.packetlifetime":         "0x12",
		"infiniband.pathrecord.packetlifetimeselector": "0x02",
		"infiniband.rmpp.rmpptype":                     "0x00",
	} {
		if sa[name] != v {
			t.Errorf("frame 33: %s = %q, tshark shows %q", name, sa[name], v)
		}
	}
}
