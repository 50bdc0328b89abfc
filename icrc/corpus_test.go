package icrc_test

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// Linux rxe computes the ICRC of a FLUSH request wrongly; everything else that
// it, and the people who published frames, sent is right.
func TestEveryRecordedPacketIsGoodButTheFlushRequests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testneed.Pcaps(t), "*.pcap*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no captures: %v", err)
	}
	flush := map[string]int{"py_flush.pcap": 5, "py_flushmr.pcap": 1}
	var h icrc.Hasher
	good, bad := 0, 0
	for _, file := range files {
		name := filepath.Base(file)
		eachFrame(t, file, func(number int, f *wire.Frame) {
			switch v, computed, received := h.Judge(f); v {
			case icrc.NotApplicable:
			case icrc.Good:
				good++
			case icrc.Bad:
				bad++
				if e := h.Explain(f); flush[name] != number || e.Cause != icrc.CauseHeadersTwice {
					t.Errorf("%s %d: computed %08x, received %08x: %+v", name, number, computed, received, e)
				}
			default:
				t.Errorf("%s %d: verdict %q", name, number, v)
			}
		})
	}
	if bad != len(flush) || good < 1000 {
		t.Errorf("%d good, %d bad; want thousands and %d", good, bad, len(flush))
	}
	t.Logf("%d good, %d bad in %d files", good, bad, len(files))
}

func TestInfiniBandSampleIsGood(t *testing.T) {
	var h icrc.Hasher
	n, global := 0, 0
	eachFrame(t, filepath.Join(testneed.Shared(t), "captures", "public", "wireshark_infiniband_erf.pcap"),
		func(number int, f *wire.Frame) {
			if v, computed, received := h.Judge(f); v != icrc.Good {
				t.Errorf("%d: ICRC %v: computed %08x, received %08x", number, v, computed, received)
			}
			if v, computed, received := icrc.JudgeVCRC(f); v != icrc.Good {
				t.Errorf("%d: VCRC %v: computed %04x, received %04x", number, v, computed, received)
			}
			n++
			if _, ok := f.Last(wire.HdrGRH); ok {
				global++
			}
		})
	if n != 43 || global != 6 {
		t.Errorf("%d packets, %d with GRH; want 43 and 6", n, global)
	}
}

// The raw packets of t5 end in the dummy aa bb.
func TestInfiniBandFixturesHaveGoodVCRCs(t *testing.T) {
	for _, name := range []string{"t5.pcap", "t6.pcap", "../cases/31-dlt247.pcap"} {
		n := 0
		eachFrame(t, filepath.Join(testneed.Pcaps(t), "fixtures", name), func(number int, f *wire.Frame) {
			switch v, computed, received := icrc.JudgeVCRC(f); {
			case v == icrc.Good:
				n++
			case v == icrc.NotApplicable || f.Proto == wire.ProtoIBRaw && received == 0xBBAA:
			default:
				t.Errorf("%s %d: %v: computed %04x, received %04x", name, number, v, computed, received)
			}
		})
		if n == 0 {
			t.Errorf("%s: no VCRC found", name)
		}
	}
}

type vector struct {
	ID, Link, Hex    string
	ICRCInFrame      string `json:"icrc_in_frame"`
	ICRCComputed     string `json:"icrc_computed"`
	VCRCComputed     string `json:"vcrc_computed"`
	CRC32cComputed   string `json:"crc32c_computed"`
	CRC32c           string `json:"crc32c"`
	CRCInFPDU        string `json:"crc_in_fpdu"`
	PublishedMatches bool   `json:"published_equals_computed"`
}

func TestPublishedVectors(t *testing.T) {
	file, err := os.Open(filepath.Join(testneed.Shared(t), "cases", "vectors.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	links := map[string]wire.LinkType{
		"ethernet": wire.LinkEthernet, "ethernet-nonstd": wire.LinkEthernet,
		"ipv4": wire.LinkRawIP, "infiniband": wire.LinkIB,
	}
	n := 0
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			t.Fatal(err)
		}
		data := unhex(t, v.Hex)
		if link, ok := links[v.Link]; ok {
			n++
			checkVector(t, v, link, data)
		}
		if v.CRC32cComputed != "" {
			n++
			body := len(data) - icrc.Len
			if got := wireOrder(icrc.CRC32C(data[:body])); got != v.CRC32cComputed || got != v.CRCInFPDU {
				t.Errorf("%s: CRC32c %s, want %s", v.ID, got, v.CRC32cComputed)
			}
		}
	}
	if n < 25 {
		t.Errorf("%d vectors used", n)
	}
}

func checkVector(t *testing.T, v vector, link wire.LinkType, data []byte) {
	t.Helper()
	var f wire.Frame
	if v.Link == "ethernet-nonstd" {
		f.RoCEPort = binary.BigEndian.Uint16(data[36:]) // the UDP destination port
	}
	f.Parse(link, data, 0)
	verdict, computed, received := new(icrc.Hasher).Judge(&f)
	if wireOrder(computed) != v.ICRCComputed || wireOrder(received) != v.ICRCInFrame {
		t.Errorf("%s: %v: computed %s, received %s; want %s and %s",
			v.ID, verdict, wireOrder(computed), wireOrder(received), v.ICRCComputed, v.ICRCInFrame)
	}
	if v.VCRCComputed != "" {
		verdict, computed, _ := icrc.JudgeVCRC(&f)
		if got := hex.EncodeToString(binary.LittleEndian.AppendUint16(nil, computed)); got != v.VCRCComputed || verdict != icrc.Good {
			t.Errorf("%s: VCRC %v: %s, want %s", v.ID, verdict, got, v.VCRCComputed)
		}
	}
	if strings.Trim(v.ICRCInFrame, "0") == "" || v.ICRCInFrame == "efbeadde" {
		if e := new(icrc.Hasher).Explain(&f); e.Cause != icrc.CauseNotFilled {
			t.Errorf("%s: %+v, want not filled in", v.ID, e)
		}
	}
}

// wireOrder prints an ICRC as a hex dump shows it.
func wireOrder(crc uint32) string {
	var b [icrc.Len]byte
	icrc.Store(b[:], crc)
	return hex.EncodeToString(b[:])
}
