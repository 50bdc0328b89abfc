package rocecap_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// vector is one published packet with what it holds.
type vector struct {
	ID   string `json:"id"`
	Link string `json:"link"`
	Hex  string `json:"hex"`

	ICRCInFrame  string `json:"icrc_in_frame"`
	ICRCComputed string `json:"icrc_computed"`
	ICRCOK       bool   `json:"icrc_ok"`
	VCRC         string `json:"vcrc_in_frame"`
	IPChecksum   string `json:"ip_checksum"`
	UDPChecksum  string `json:"udp_checksum"`

	Opcode     *string `json:"opcode"`
	DestQP     *uint32 `json:"dqpn"`
	PSN        *int    `json:"psn"`
	BECN       *int    `json:"becn"`
	Pad        *int    `json:"padcount"`
	MigReq     *int    `json:"migreq"`
	AckReq     *int    `json:"ackreq"`
	MSN        *int    `json:"msn"`
	RETHVA     string  `json:"reth_va"`
	RETHRKey   string  `json:"reth_rkey"`
	RETHDMALen *int    `json:"reth_dmalen"`

	ULPDULength int    `json:"ulpdu_length"`
	FPDUPad     int    `json:"pad"`
	FPDUCRC     string `json:"crc_in_fpdu"`
	FPDUCRCOK   bool   `json:"crc_ok"`

	M, C, R, S  int
	Revision    int    `json:"rev"`
	PrivateLen  int    `json:"pdlen"`
	PrivateData string `json:"pd"`

	CRC32C string `json:"crc32c"`
}

func vectors(t *testing.T) []vector {
	t.Helper()
	file, err := os.Open(filepath.Join(testneed.Shared(t), "cases", "vectors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var list []vector
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		list = append(list, v)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	if len(list) != 40 {
		t.Fatalf("%d vectors, want 40", len(list))
	}
	return list
}

func TestPublishedPacketsAreDecodedAsTheirPublishersSay(t *testing.T) {
	links := map[string]wire.LinkType{
		"ethernet": wire.LinkEthernet, "ipv4": wire.LinkIPv4, "infiniband": wire.LinkIB,
	}
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			switch v.Link {
			case "ethernet", "ipv4", "infiniband":
				v.checkFrame(t, writeFrames(t, links[v.Link], v.Hex))
			case "ethernet-nonstd":
				v.checkForcedPort(t)
			case "mpa-fpdu":
				v.checkFPDU(t)
			case "mpa-frame":
				v.checkStart(t)
			case "raw":
				v.checkSum(t)
			default:
				t.Fatalf("unknown link %q", v.Link)
			}
		})
	}
}

// expected maps field names to the values that the vector gives.
func (v *vector) expected(t *testing.T) map[string]string {
	t.Helper()
	want := map[string]string{
		"infiniband.invariant.crc": "0x" + v.ICRCInFrame,
		"infiniband.icrc.computed": "0x" + v.ICRCComputed,
		"infiniband.icrc.status":   map[bool]string{true: "good", false: "bad"}[v.ICRCOK],
	}
	if v.Opcode != nil {
		opcode, err := strconv.ParseUint(*v.Opcode, 0, 8)
		if err != nil {
			t.Fatal(err)
		}
		want["infiniband.bth.opcode"] = strconv.FormatUint(opcode, 10)
	}
	if v.DestQP != nil {
		want["infiniband.bth.destqp"] = fmt.Sprintf("0x%06x", *v.DestQP)
	}
	for name, value := range map[string]*int{
		"infiniband.bth.psn": v.PSN, "infiniband.bth.becn": v.BECN, "infiniband.bth.padcnt": v.Pad,
		"infiniband.bth.m": v.MigReq, "infiniband.bth.a": v.AckReq,
		"infiniband.aeth.msn": v.MSN, "infiniband.reth.dmalen": v.RETHDMALen,
	} {
		if value != nil {
			want[name] = strconv.Itoa(*value)
		}
	}
	for name, value := range map[string]string{
		"infiniband.reth.va": v.RETHVA, "infiniband.reth.r_key": v.RETHRKey,
	} {
		if value != "" {
			want[name] = value
		}
	}
	for name, value := range map[string]string{
		"infiniband.variant.crc": v.VCRC, "ip.checksum": v.IPChecksum, "udp.checksum": v.UDPChecksum,
	} {
		if value != "" {
			want[name] = "0x" + value
		}
	}
	if v.VCRC != "" {
		want["infiniband.vcrc.status"] = "good"
	}
	return want
}

func (v *vector) checkFrame(t *testing.T, file string, extra ...string) {
	t.Helper()
	for name, want := range v.expected(t) {
		if got := columns(t, file, name, extra...)[0][0]; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}

// checkForcedPort checks a frame to a port that is not RoCEv2's: it is RoCE
// only when the user says so.
func (v *vector) checkForcedPort(t *testing.T) {
	t.Helper()
	file := writeFrames(t, wire.LinkEthernet, v.Hex)
	p := packets(t, file)[0]
	if want := "eth ip udp"; p.Protocol != "UDP" || p.layers() != want {
		t.Errorf("%s, layers %q; want UDP, %q", p.Protocol, p.layers(), want)
	}
	if got := judge(t, file); got.Good+got.Bad != 0 {
		t.Errorf("%d good and %d bad ICRCs of a packet that is not RoCE", got.Good, got.Bad)
	}
	const rule = "udp.port==8000,infiniband"
	v.checkFrame(t, file, "--decode-as", rule)
	if got := judge(t, file, "--decode-as", rule); got.Bad != 1 {
		t.Errorf("%d bad ICRCs when taken as RoCE, want 1", got.Bad)
	}
}

func (v *vector) bytes(t *testing.T) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (v *vector) checkFPDU(t *testing.T) {
	t.Helper()
	b := v.bytes(t)
	var s wire.Stack
	if problems := wire.ParseFPDU(&s, b); problems != 0 {
		t.Errorf("problems %v", problems.AppendTexts(nil))
	}
	f := wire.FPDU(b)
	if f.ULPDULen() != v.ULPDULength || wire.FPDUPad(f.ULPDULen()) != v.FPDUPad {
		t.Errorf("ULPDU of %d bytes and pad %d, want %d and %d", f.ULPDULen(), wire.FPDUPad(f.ULPDULen()), v.ULPDULength, v.FPDUPad)
	}
	computed := icrc.CRC32C(b[:len(b)-wire.FPDUCRCLen])
	if got := littleEndian(computed); got != v.FPDUCRC || (computed == f.CRC()) != v.FPDUCRCOK {
		t.Errorf("CRC32c %s, want %s", got, v.FPDUCRC)
	}
}

func (v *vector) checkStart(t *testing.T) {
	t.Helper()
	var s wire.Stack
	if problems := wire.ParseMPAStart(&s, v.bytes(t)); problems != 0 {
		t.Errorf("problems %v", problems.AppendTexts(nil))
	}
	h := wire.MPAStart(s.Data)
	got := vector{
		M: bit(h.Markers()), C: bit(h.CRC()), R: bit(h.Reject()), S: bit(h.Enhanced()),
		Revision: int(h.Revision()), PrivateLen: h.PrivateLen(),
		PrivateData: hex.EncodeToString(s.View(wire.HdrMPAPrivate)),
	}
	want := vector{M: v.M, C: v.C, R: v.R, S: v.S, Revision: v.Revision, PrivateLen: v.PrivateLen, PrivateData: v.PrivateData}
	if got != want {
		t.Errorf("start-up frame %+v, want %+v", got, want)
	}
}

// checkSum checks the CRC32c of bare bytes. One vector has none: it is the state
// of a CRC-32 register, for those who keep the ICRC's mask bytes as a seed.
func (v *vector) checkSum(t *testing.T) {
	t.Helper()
	if v.CRC32C == "" {
		return
	}
	if got := fmt.Sprintf("%08x", icrc.CRC32C(v.bytes(t))); got != v.CRC32C {
		t.Errorf("CRC32c %s, want %s", got, v.CRC32C)
	}
}

func littleEndian(crc uint32) string {
	return hex.EncodeToString(binary.LittleEndian.AppendUint32(nil, crc))
}

func bit(on bool) int {
	if on {
		return 1
	}
	return 0
}
