package wire

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// mad makes a whole datagram from the hexadecimal bytes that begin it.
func mad(t testing.TB, front string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(front, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return append(b, make([]byte, MADLen-len(b))...)
}

// newMAD makes an empty datagram of a class.
func newMAD(class, method uint8, attr uint16) []byte {
	m := MAD(make([]byte, MADLen))
	m.SetBaseVersion(MADBaseVersion)
	m.SetMgmtClass(class)
	m.SetMethod(method)
	m.SetAttributeID(attr)
	return m
}

// madLayout parses a datagram and names its headers as "name@offset+length".
func madLayout(data []byte, length int) ([]string, Problem) {
	var s Stack
	s.Reset(data)
	p := s.pushMAD(0, length)
	var parts []string
	for _, h := range s.Headers() {
		parts = append(parts, fmt.Sprintf("%s@%d+%d", strings.TrimPrefix(SpecOf(h.ID).Name, "infiniband."), h.Off, h.Len))
	}
	return parts, p
}

// shown is a field's value as tshark's "-T fields" prints it.
func shown(f *Field, h []byte) string {
	switch f.Kind {
	case IPv4, IPv6:
		a, _ := netip.AddrFromSlice(f.Raw(h))
		return a.String()
	case Text:
		text, _, _ := strings.Cut(string(f.Raw(h)), "\x00")
		return text
	case Bytes:
		return hex.EncodeToString(f.Raw(h))
	}
	if f.Base == Hex {
		return fmt.Sprintf("0x%0*x", f.Digits(), f.Uint(h))
	}
	return fmt.Sprint(f.Uint(h))
}

// shownFields lists all values of a datagram by the name of their field, those
// of a name that occurs more than once with commas between them.
func shownFields(data []byte) map[string]string {
	var s Stack
	s.Reset(data)
	s.pushMAD(0, MADLen)
	all := map[string]string{}
	for _, hdr := range s.Headers() {
		spec, h := SpecOf(hdr.ID), s.Bytes(hdr)
		for i := range spec.Fields {
			f := &spec.Fields[i]
			if !f.Present(h) {
				continue
			}
			if v, ok := all[f.Name]; ok {
				all[f.Name] = v + "," + shown(f, h)
			} else {
				all[f.Name] = shown(f, h)
			}
		}
	}
	return all
}

func TestHeadersAndSummaryOfRecordedDatagrams(t *testing.T) {
	for _, c := range []struct {
		front   string
		headers []string
		summary string
	}{
		{recordedReq, []string{"mad@0+24", "cm.req.message@24+140", "cm.req.ip_cm@164+92"}, "CM ConnectRequest service 0x0000000001061c06 QP 0x000019 PSN 14861112"},
		{recordedRep, []string{"mad@0+24", "cm.rep.message@24+232"}, "CM ConnectReply QP 0x000019 PSN 3796821"},
		{recordedRtu, []string{"mad@0+24", "cm.rtu@24+232"}, "CM ReadyToUse"},
		{recordedDreq, []string{"mad@0+24", "cm.dreq@24+232"}, "CM DisconnectRequest QP 0x000019"},
		{recordedDrep, []string{"mad@0+24", "cm.drsp@24+232"}, "CM DisconnectReply"},
		{recordedRej, []string{"mad@0+24", "cm.rej@24+232"}, "CM ConnectReject: invalid service ID"},
		{recordedSidrReq, []string{"mad@0+24", "cm.sidrreq@24+16", "cm.req.ip_cm@40+216"}, "CM ServiceIDResReq service 0x0000000001111c06"},
		{recordedSidrRep, []string{"mad@0+24", "cm.sidrrep@24+232"}, "CM ServiceIDResReqResp QP 0x000020"},
	} {
		b := mad(t, c.front)
		headers, p := madLayout(b, MADLen)
		if p != 0 {
			t.Errorf("%s: problems %#x", c.summary, p)
		}
		if d := cmp.Diff(c.headers, headers); d != "" {
			t.Errorf("%s: headers (-want +got):\n%s", c.summary, d)
		}
		if got := string(MADSummary(nil, b)); got != c.summary {
			t.Errorf("summary %q, want %q", got, c.summary)
		}
	}
}

// The values are what tshark 4.0.17 prints of the recorded frames, but for the
// flow label and the rate of a path, which it reads from three bytes instead of
// four, and for the SIDR messages, which it does not decode.
func TestFieldsOfRecordedDatagrams(t *testing.T) {
	for _, c := range []struct {
		name, front string
		want        map[string]string
	}{
		{"REQ", recordedReq, map[string]string{
			"infiniband.mad.baseversion":            "0x01",
			"infiniband.mad.mgmtclass":              "0x07",
			"infiniband.mad.classversion":           "0x02",
			"infiniband.mad.method":                 "0x03",
			"infiniband.mad.status":                 "0x0000",
			"infiniband.mad.transactionid":          "0x00000002b06e1c14",
			"infiniband.mad.attributeid":            "0x0010",
			"infiniband.mad.attributemodifier":      "0x00000000",
			"infiniband.cm.req":                     "0x141c6eb0",
			"infiniband.cm.req.serviceid":           "0x0000000001061c06",
			"infiniband.cm.req.serviceid.prefix":    "0000000001",
			"infiniband.cm.req.serviceid.protocol":  "0x06",
			"infiniband.cm.req.serviceid.dport":     "0x1c06",
			"infiniband.cm.req.localcaguid":         "0x505400fffe770002",
			"infiniband.cm.req.localqpn":            "0x000019",
			"infiniband.cm.req.responderres":        "0x01",
			"infiniband.cm.req.initdepth":           "0x01",
			"infiniband.cm.req.remoteresptout":      "0x14",
			"infiniband.cm.req.transpsvctype":       "0x00",
			"infiniband.cm.req.startpsn":            "0xe2c338",
			"infiniband.cm.req.localresptout":       "0x14",
			"infiniband.cm.req.retrcount":           "0x07",
			"infiniband.cm.req.pkey":                "0xffff",
			"infiniband.cm.req.pppmtu":              "0x05",
			"infiniband.cm.req.rnrretrcount":        "0x07",
			"infiniband.cm.req.maxcmretr":           "0x0f",
			"infiniband.cm.req.prim_locallid":       "65535",
			"infiniband.cm.req.prim_localgid_ipv4":  "10.77.0.2",
			"infiniband.cm.req.prim_remotegid_ipv4": "10.77.0.3",
			"infiniband.cm.req.prim_flowlabel":      "0x0002ea3a",
			"infiniband.cm.req.prim_pktrate":        "0x00000000",
			"infiniband.cm.req.prim_hoplim":         "0x40",
			"infiniband.cm.req.prim_localacktout":   "0x11",
			"infiniband.cm.req.alt_localgid":        strings.Repeat("00", 16),
			"infiniband.cm.req.ip_cm.ipv":           "0x04",
			"infiniband.cm.req.ip_cm.sport":         "0x9b4c",
			"infiniband.cm.req.ip_cm.sip4":          "10.77.0.2",
			"infiniband.cm.req.ip_cm.dip4":          "10.77.0.3",
			"infiniband.cm.req.ip_cm.private":       strings.Repeat("00", 56),
			"infiniband.cm.req.ip_cm.sip6":          "",
			"infiniband.cm.req.private":             "",
			"infiniband.cm.req.prim_localgid":       "",
			"infiniband.smpdirected.d":              "",
			"infiniband.mad.status.classspecific":   "",
			"infiniband.cm.req.alt_reserved1":       "0x00",
			"infiniband.cm.req.prim_remotelid":      "65535",
			"infiniband.cm.req.e2eflowctrl":         "0x00",
			"infiniband.cm.req.ext_transport":       "0x00",
			"infiniband.cm.req.vendorid":            "0x000000",
			"infiniband.cm.req.srq":                 "0x00",
			"infiniband.cm.req.prim_subnetlocal":    "0x00",
			"infiniband.cm.req.prim_reserved0":      "0x00000000",
			"infiniband.cm.req.alt_flowlabel":       "0x00000000",
			"infiniband.cm.req.sapsupported":        "0x00",
			"infiniband.cm.req.ip_cm.majv":          "0x00",
			"infiniband.cm.req.ip_cm.reserved":      "0x00",
			"infiniband.cm.req.ip_cm.minv":          "0x00",
			"infiniband.cm.req.prim_tfcclass":       "0x00",
			"infiniband.cm.req.prim_sl":             "0x00",
			"infiniband.cm.req.localqkey":           "0x00000000",
			"infiniband.cm.req.localeecn":           "0x000000",
			"infiniband.cm.req.alt_localacktout":    "0x00",
			"infiniband.cm.req.alt_remotelid":       "0",
			"infiniband.cm.req.rdcexist":            "0x00",
			"infiniband.cm.req.remoteeecn":          "0x000000",
			"infiniband.cm.req.alt_pktrate":         "0x00000000",
		}},
		{"REP", recordedRep, map[string]string{
			"infiniband.cm.rep":              "0xad9975c8",
			"infiniband.cm.rep.remotecommid": "0x141c6eb0",
			"infiniband.cm.rep.localqpn":     "0x000019",
			"infiniband.cm.rep.startpsn":     "0x39ef55",
			"infiniband.cm.rep.respres":      "0x01",
			"infiniband.cm.rep.initdepth":    "0x01",
			"infiniband.cm.rep.tgtackdelay":  "0x0f",
			"infiniband.cm.rep.failoveracc":  "0x00",
			"infiniband.cm.rep.rnrretrcount": "0x07",
			"infiniband.cm.rep.srq":          "0x00",
			"infiniband.cm.rep.localcaguid":  "0x505400fffe770003",
			"infiniband.cm.rep.private":      strings.Repeat("00", 196),
		}},
		{"DREQ", recordedDreq, map[string]string{
			"infiniband.cm.dreq.localcommid":  "0x141c6eb0",
			"infiniband.cm.dreq.remotecommid": "0xad9975c8",
			"infiniband.cm.req.remoteqpneecn": "0x000019",
		}},
		{"REJ", recordedRej, map[string]string{
			"infiniband.cm.rej.localcommid":  "0x00000000",
			"infiniband.cm.rej.remotecommid": "0x101c6eb0",
			"infiniband.cm.rej.msgrej":       "0x00",
			"infiniband.cm.rej.rejinfolen":   "0x00",
			"infiniband.cm.rej.reason":       "0x0008",
		}},
		{"SIDR_REP", recordedSidrRep, map[string]string{
			"infiniband.cm.sidrrep.requestid": "0x151c6eb0",
			"infiniband.cm.sidrrep.status":    "0x00",
			"infiniband.cm.sidrrep.qpn":       "0x000020",
			"infiniband.cm.sidrrep.serviceid": "0x0000000001111c06",
			"infiniband.cm.sidrrep.qkey":      "0x01234567",
		}},
		{"SIDR_REQ", recordedSidrReq, map[string]string{
			"infiniband.cm.sidrreq.pkey":            "0xffff",
			"infiniband.cm.sidrreq.serviceid.dport": "0x1c06",
			"infiniband.cm.req.ip_cm.sport":         "0xafff",
			"infiniband.cm.req.ip_cm.sip4":          "10.77.0.2",
		}},
	} {
		got := shownFields(mad(t, c.front))
		for name, want := range c.want {
			if got[name] != want {
				t.Errorf("%s: %s = %q, want %q", c.name, name, got[name], want)
			}
		}
	}
}

func TestEveryClassHasItsLayout(t *testing.T) {
	for _, c := range []struct {
		class  uint8
		attr   uint16
		expect string
	}{
		{ClassSMPLID, 0x0011, "mad@0+24 smplid@24+40 nodeinfo@64+40"},
		{ClassSMPLID, 0x7777, "mad@0+24 smplid@24+40 mad.payload@64+64"},
		{ClassSMPDirected, 0x0015, "mad@0+24 smpdirected@24+40 portinfo@64+64 smpdirected.paths@128+128"},
		{ClassSMPDirected, 0x0002, "mad@0+24 smpdirected@24+40 notice@64+10 trap.data@74+54 smpdirected.paths@128+128"},
		{ClassSA, 0x0035, "mad@0+24 rmpp@24+12 sa@36+20 pathrecord@56+64"},
		{ClassSA, 0x0011, "mad@0+24 rmpp@24+12 sa@36+20 sa.lidkey@56+4 nodeinfo@60+40 nodedescription@100+64"},
		{ClassSA, 0x00F3, "mad@0+24 rmpp@24+12 sa@36+20 informinforecord@56+24 informinfo@80+36"},
		{ClassSA, 0x0002, "mad@0+24 rmpp@24+12 sa@36+20 notice@56+10 trap.data@66+54 notice.issuer@120+16"},
		{ClassSA, 0x7777, "mad@0+24 rmpp@24+12 sa@36+20 mad.payload@56+200"},
		{ClassPerf, 0x0012, "mad@0+24 portcounters@64+44"},
		{ClassPerf, 0x001D, "mad@0+24 portcounters_ext@64+72"},
		{ClassPerf, 0x7777, "mad@0+24 mad.payload@64+192"},
		{ClassBM, 0x0020, "mad@0+24 bm@24+40 mad.payload@64+192"},
		{ClassDevMgt, 0x0011, "mad@0+24 devmgt.iocontrollerprofile@64+128"},
		{ClassCM, CMAttrMra, "mad@0+24 cm.mra@24+232"},
		{ClassCM, CMAttrLap, "mad@0+24 cm.lap@24+232"},
		{ClassCM, CMAttrApr, "mad@0+24 cm.apr@24+232"},
		{ClassCM, CMAttrReq, "mad@0+24 cm.req.message@24+232"},
		{ClassCM, 0x0001, "mad@0+24 classportinfo@24+72"},
		{ClassCM, 0x7777, "mad@0+24 mad.payload@24+232"},
		{ClassSNMP, 0x0011, "mad@0+24 snmp@24+40 mad.payload@64+192"},
		{0x09, 0x0011, "mad@0+24 mad.payload@24+232"},
		{0x32, 0x0011, "mad@0+24 rmpp@24+12 vendor@36+4 mad.payload@40+216"},
		{ClassCC, 0x0011, "mad@0+24 cc@24+8 cc.congestioninfo@64+3"},
		{ClassCC, 0x0013, "mad@0+24 cc@24+8 cc.switchlog@32+220"},
		{ClassCC, 0x0016, "mad@0+24 cc@24+8 cc.cacongestionsetting@64+132"},
		{ClassCC, 0x0002, "mad@0+24 cc@24+8 notice@64+10 trap.data@74+54 notice.issuer@128+16"},
		{ClassDevAdm, 0x0001, "mad@0+24 classportinfo@64+72"},
	} {
		got, p := madLayout(newMAD(c.class, 0x01, c.attr), MADLen)
		if s := strings.Join(got, " "); s != c.expect || p != 0 {
			t.Errorf("class %#x attribute %#x: %s (problems %#x), want %s", c.class, c.attr, s, p, c.expect)
		}
	}
}

func TestNoticeDetailsFollowTheTrapNumber(t *testing.T) {
	for trap, want := range map[uint16]string{
		64: "trap.gid", 67: "trap.gid", 68: "trap.data", 128: "trap.switch", 131: "trap.port",
		144: "trap.capability", 145: "trap.imageguid", 256: "trap.badmkey", 258: "trap.badkey", 259: "trap.switchbadpkey",
	} {
		m := newMAD(ClassSMPLID, 0x05, 0x0002)
		m[64] = 0x80 // generic
		be.PutUint16(m[68:], trap)
		got, _ := madLayout(m, MADLen)
		if got[3] != want+"@74+54" {
			t.Errorf("trap %d: %v, want %s", trap, got, want)
		}
		m[64] = 0 // a vendor's notice
		if got, _ := madLayout(m, MADLen); got[3] != "trap.data@74+54" {
			t.Errorf("device ID %d: %v", trap, got)
		}
	}
}

func TestCongestionLogOfAChannelAdapter(t *testing.T) {
	m := newMAD(ClassCC, 0x81, 0x0013)
	m[ccLogOff] = logTypeCA
	if got, _ := madLayout(m, MADLen); got[2] != "cc.calog@32+220" {
		t.Errorf("headers %v", got)
	}
}

// rmppMAD makes the answer to a table query.
func rmppMAD(attr uint16, kind, flags uint8, data1, data2 uint32, spacing uint16) []byte {
	m := newMAD(ClassSA, 0x92, attr)
	h := RMPP(m[MADHeaderLen:])
	h.SetVersion(1)
	h.SetType(kind)
	h.SetFlags(flags)
	h.SetData1(data1)
	h.SetData2(data2)
	be.PutUint16(m[44:], spacing)
	return m
}

func TestRecordsOfATable(t *testing.T) {
	const front = "mad@0+24 rmpp@24+12"
	for _, c := range []struct {
		name   string
		mad    []byte
		expect string
	}{
		{"two records in the only segment", rmppMAD(0x0020, RMPPData, 7, 1, 20+16, 1), front + " sa@36+20 linkrecord@56+8 linkrecord@64+8"},
		{"no record", rmppMAD(0x0020, RMPPData, 7, 1, 20, 1), front + " sa@36+20"},
		{"records of the first of many segments", rmppMAD(0x0035, RMPPData, 3, 1, 4000, 8), front + " sa@36+20 pathrecord@56+64 pathrecord@120+64 pathrecord@184+64 mad.payload@248+8"},
		{"a segment that is not the last, which is full whatever its payload length", rmppMAD(0x0035, RMPPData, 3, 1, 84, 8), front + " sa@36+20 pathrecord@56+64 pathrecord@120+64 pathrecord@184+64 mad.payload@248+8"},
		{"more records than are shown", rmppMAD(0x0020, RMPPData, 3, 1, 4000, 1), front + " sa@36+20 linkrecord@56+8 linkrecord@64+8 linkrecord@72+8 linkrecord@80+8 mad.payload@88+168"},
		{"a later segment", rmppMAD(0x0035, RMPPData, 1, 2, 0, 8), front + " sa@36+20 mad.payload@56+200"},
		{"a spacing shorter than the record", rmppMAD(0x0035, RMPPData, 7, 1, 220, 1), front + " sa@36+20 pathrecord@56+64"},
		{"a payload length beyond the datagram", rmppMAD(0x0020, RMPPData, 7, 1, 0xFFFFFFFF, 25), front + " sa@36+20 linkrecord@56+8"},
		{"ACK", rmppMAD(0x0035, RMPPAck, 1, 5, 9, 8), front + " sa@36+20"},
		{"ABORT", rmppMAD(0x0035, RMPPAbort, 1, 0, 0, 8), front + " rmpp.error@36+220"},
	} {
		got, p := madLayout(c.mad, MADLen)
		if s := strings.Join(got, " "); s != c.expect || p != 0 {
			t.Errorf("%s: %s (problems %#x), want %s", c.name, s, p, c.expect)
		}
	}
}

func TestMultiPathRecordHasAsManyGIDsAsItCounts(t *testing.T) {
	m := newMAD(ClassSA, 0x14, 0x003A)
	m[saDataOff+15], m[saDataOff+16] = 2, 1
	if got := strings.Count(shownFields(m)["infiniband.multipathrecord.sdgid"], "::"); got != 3 {
		t.Errorf("%d GIDs, want 3", got)
	}
	m[saDataOff+15], m[saDataOff+16] = 255, 255
	if got := strings.Count(shownFields(m)["infiniband.multipathrecord.sdgid"], "::"); got != 11 {
		t.Errorf("%d GIDs, want the 11 that there is room for", got)
	}
}

func TestRMPPFieldsFollowTheType(t *testing.T) {
	data := shownFields(rmppMAD(0x0035, RMPPData, 7, 1, 84, 8))
	if data["infiniband.rmpp.segmentnumber"] != "0x00000001" || data["infiniband.rmpp.payloadlength"] != "0x00000054" || data["infiniband.rmpp.data1"] != "" {
		t.Errorf("DATA: %v", data)
	}
	ack := shownFields(rmppMAD(0x0035, RMPPAck, 1, 5, 9, 8))
	if ack["infiniband.rmpp.segmentnumber"] != "0x00000005" || ack["infiniband.rmpp.newwindowlast"] != "0x00000009" || ack["infiniband.rmpp.payloadlength"] != "" {
		t.Errorf("ACK: %v", ack)
	}
	none := shownFields(newMAD(ClassSA, 1, 0x0035))
	if none["infiniband.rmpp.data1"] != "0x00000000" || none["infiniband.rmpp.segmentnumber"] != "" {
		t.Errorf("not RMPP: %v", none)
	}
}

func TestDeviceManagementShowsRMPPOnlyWhenItIsActive(t *testing.T) {
	m := newMAD(ClassDevMgt, 0x81, 0x0010)
	h := RMPP(m[MADHeaderLen:])
	h.SetVersion(1)
	if got, _ := madLayout(m, MADLen); slices.Contains(got, "rmpp@24+12") {
		t.Errorf("inactive: %v", got)
	}
	h.SetFlags(RMPPActive)
	if got, _ := madLayout(m, MADLen); !slices.Contains(got, "rmpp@24+12") {
		t.Errorf("active: %v", got)
	}
}

func TestDirectedRouteFieldsOfTheCommonHeader(t *testing.T) {
	m := MAD(newMAD(ClassSMPDirected, 0x81, 0x0020))
	m.SetStatus(0x8000)
	m.SetClassSpecific(0x0102)
	got := shownFields(m)
	for name, want := range map[string]string{
		"infiniband.smpdirected.d":          "0x0000000000000001",
		"infiniband.smpdirected.smpstatus":  "0x8000",
		"infiniband.smpdirected.hoppointer": "0x01",
		"infiniband.smpdirected.hopcount":   "0x02",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	if s := string(MADSummary(nil, m)); s != "SubnGetResp(SMInfo)" {
		t.Errorf("summary %q: the direction bit is no status", s)
	}
}

func TestTablesRepeatTheirFields(t *testing.T) {
	m := newMAD(ClassSMPLID, 0x81, 0x0017)
	copy(m[64:], []byte{0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF})
	got := shownFields(m)
	if s := got["infiniband.sltovlmappingtable.sltovlhighbits"]; s != "0x00,0x02,0x04,0x06,0x08,0x0a,0x0c,0x0e" {
		t.Errorf("even service levels %s", s)
	}
	if s := got["infiniband.sltovlmappingtable.sltovllowbits"]; s != "0x01,0x03,0x05,0x07,0x09,0x0b,0x0d,0x0f" {
		t.Errorf("odd service levels %s", s)
	}
	m = newMAD(ClassSMPLID, 0x81, 0x0016)
	be.PutUint16(m[64+62:], 0x8123)
	if s := shownFields(m)["infiniband.p_keytable.p_keybase"]; !strings.HasSuffix(s, ",0x0123") || strings.Count(s, ",") != 31 {
		t.Errorf("P_Keys %s", s)
	}
	if s := numbered(10, 2, 3, Field{Title: "Mask", Bit: 65}); s[1].Title != "Mask 11" || s[1].Bit != 68 {
		t.Errorf("numbered: %+v", s)
	}
}

func TestSummariesOfOtherClasses(t *testing.T) {
	sa := rmppMAD(0x0011, RMPPData, 1, 2, 0, 14)
	failed := MAD(newMAD(ClassPerf, 0x81, 0x0012))
	failed.SetStatus(0x001C)
	apr := newMAD(ClassCM, 0x03, CMAttrApr)
	CMApr(apr[MADHeaderLen:]).SetStatus(5)
	sidr := newMAD(ClassCM, 0x03, CMAttrSidrRep)
	CMSidrRep(sidr[MADHeaderLen:]).SetStatus(99)
	old := MAD(newMAD(ClassPerf, 0x01, 0x0012))
	old.SetBaseVersion(2)
	for _, c := range []struct {
		mad  []byte
		want string
	}{
		{newMAD(ClassSMPLID, 0x01, 0x0011), "SubnGet(NodeInfo)"},
		{newMAD(ClassPerf, 0x01, 0x0012), "PerfMgtGet(PortCounters)"},
		{failed, "PerfMgtGetResp(PortCounters) status 0x001c"},
		{sa, "SubnAdmGetTableResp(NodeRecord) RMPP DATA segment 2"},
		{newMAD(ClassCC, 0x02, 0x0016), "CCSet(CACongestionSetting)"},
		{newMAD(0x32, 0x42, 0x1234), "VendorMethod 0x42(0x1234)"},
		{newMAD(0x70, 0x01, 0x0001), "Class 0x70 Get(ClassPortInfo)"},
		{newMAD(ClassCM, 0x03, CMAttrMra), "CM MsgRcptAck REQ"},
		{newMAD(ClassCM, 0x01, 0x0001), "CommMgtGet(ClassPortInfo)"},
		{apr, "CM AlternatePathResponse: duplicate of the current path"},
		{sidr, "CM ServiceIDResReqResp: code 99"},
		{old, "MAD base version 2"},
		{old[:23], "MAD (cut)"},
		{newMAD(ClassCM, 0x03, CMAttrReq)[:100], "CM ConnectRequest"},
	} {
		if got := string(MADSummary([]byte("> "), c.mad)); got != "> "+c.want {
			t.Errorf("summary %q, want %q", got, c.want)
		}
	}
}

func TestAMADTooShortForItsClassIsAProblem(t *testing.T) {
	for _, c := range []struct {
		mad    []byte
		length int
		want   Problem
	}{
		{newMAD(ClassSMPLID, 1, 0x0011), 23, ProblemBadMAD},
		{newMAD(ClassSMPLID, 1, 0x0011), 63, ProblemBadMAD},
		{newMAD(ClassSMPLID, 1, 0x0011), 103, ProblemBadMAD},
		{newMAD(ClassSMPLID, 1, 0x0011), 104, 0},
		{newMAD(ClassSMPDirected, 1, 0x0011), 255, ProblemBadMAD},
		{newMAD(ClassSA, 1, 0x0035), 119, ProblemBadMAD},
		{newMAD(ClassSA, 1, 0x0035), 120, 0},
		{newMAD(ClassPerf, 1, 0x7777), 63, ProblemBadMAD},
		{newMAD(ClassCM, 3, CMAttrReq), 24 + CMReqLen - 1, ProblemBadMAD},
		{newMAD(ClassCM, 3, CMAttrReq), 24 + CMReqLen, 0},
		{mad(t, recordedReq), 24 + CMReqLen + CMIPPrivateLen - 1, ProblemBadMAD},
		{mad(t, recordedReq), 24 + CMReqLen + CMIPPrivateLen, 0},
		{newMAD(ClassCC, 1, 0x0013), 251, ProblemBadMAD},
		{append([]byte{2}, newMAD(ClassCM, 3, CMAttrReq)[1:]...), MADLen, ProblemVersion},
	} {
		if _, p := madLayout(c.mad, c.length); p != c.want {
			t.Errorf("class %#x of %d bytes: problems %#x, want %#x", c.mad[1], c.length, p, c.want)
		}
	}
}

// sampleMADs holds one datagram of every described attribute of every class,
// with random contents.
func sampleMADs() [][]byte {
	rng := rand.New(rand.NewPCG(5, 5))
	var all [][]byte
	for _, class := range []uint8{ClassSMPLID, ClassSMPDirected, ClassSA, ClassPerf, ClassBM, ClassDevMgt, ClassCM, ClassSNMP, ClassDevAdm, ClassCC, 0x09, 0x32} {
		for attr := range uint16(0x100) {
			if MADAttributeName(class, attr) == "" && attr != 0x50 {
				continue
			}
			m := MAD(randomHeader(rng, MADLen))
			m.SetBaseVersion(MADBaseVersion)
			m.SetMgmtClass(class)
			m.SetAttributeID(attr)
			all = append(all, m)
		}
	}
	for _, front := range []string{recordedReq, recordedSidrReq, recordedRej} {
		b, _ := hex.DecodeString(front)
		all = append(all, append(b, make([]byte, MADLen-len(b))...))
	}
	return append(all, rmppMAD(0x0020, RMPPData, 3, 1, 400, 1), rmppMAD(0x0035, RMPPAbort, 1, 0, 0, 8))
}

// checkMAD parses and reads all there is of a datagram of length bytes of
// which data was captured, and checks that its headers follow one another
// inside it.
func checkMAD(t *testing.T, data []byte, length int) {
	t.Helper()
	var s Stack
	s.Reset(slices.Clip(data))
	s.pushMAD(0, length)
	at := 0
	for _, hdr := range s.Headers() {
		if int(hdr.Off) < at || hdr.Len <= 0 || int(hdr.Off)+int(hdr.Len) > length {
			t.Fatalf("header %+v of a datagram of %d bytes begins before %d or leaves it", hdr, length, at)
		}
		at = int(hdr.Off) + int(hdr.Len)
		spec, h := SpecOf(hdr.ID), s.Bytes(hdr)
		if int(hdr.Len) < spec.Len {
			t.Fatalf("%s of %d bytes", spec.Name, hdr.Len)
		}
		for i := range spec.Fields {
			if f := &spec.Fields[i]; f.Present(h) {
				shown(f, h)
			}
		}
	}
	MADSummary(nil, data)
}

func TestEveryPrefixOfAMADIsReadInsideIt(t *testing.T) {
	for _, m := range sampleMADs() {
		for n := range len(m) + 1 {
			checkMAD(t, m[:n:n], MADLen) // cut by the capture
			checkMAD(t, m[:n:n], n)      // short on the wire
		}
	}
}

func TestPushMADAndSummaryDoNotAllocate(t *testing.T) {
	all := sampleMADs()
	line := make([]byte, 0, 200)
	var s Stack
	n := testing.AllocsPerRun(10, func() {
		for _, m := range all {
			s.Reset(m)
			s.pushMAD(0, len(m))
			line = MADSummary(line[:0], m)
		}
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestAFullStackIsAProblem(t *testing.T) {
	var s Stack
	s.Reset(mad(t, recordedReq))
	for s.Push(HdrBTH, 0, 0) {
	}
	if p := s.pushMAD(0, MADLen); p != ProblemTooDeep {
		t.Errorf("problems %#x, want %#x", p, ProblemTooDeep)
	}
}

func FuzzPushMAD(f *testing.F) {
	for _, m := range sampleMADs() {
		f.Add(m, MADLen)
	}
	f.Add(newMAD(ClassSMPDirected, 1, 0x0011), 100)
	f.Fuzz(func(t *testing.T, data []byte, length int) {
		if length < 0 || length > 1<<16 {
			return
		}
		checkMAD(t, data, length)
	})
}
