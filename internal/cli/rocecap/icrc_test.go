package rocecap_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// acknowledge is the RC ACK of case 01 with the destination 203.0.113.20 and a
// right ICRC.
func acknowledge(t *testing.T) []byte {
	t.Helper()
	frame, err := hex.DecodeString(hexFrames(t, pcaps(t, "cases", "01-icrc-recipe.hex"))[0])
	if err != nil {
		t.Fatal(err)
	}
	copy(frame[30:34], []byte{203, 0, 113, 20})
	if err := icrc.Patch(frame); err != nil {
		t.Fatal(err)
	}
	return frame
}

func captureOf(t *testing.T, frames ...[]byte) string {
	t.Helper()
	var records []capfile.Record
	for _, frame := range frames {
		records = append(records, capfile.Record{Link: wire.LinkEthernet, Data: frame, WireLen: len(frame), HasTime: true})
	}
	return writeRecords(t, wire.LinkEthernet, records)
}

// An address translator repairs the IP checksum. What the address was is known
// when another packet of the capture has it.
func TestTranslatedAddressIsFoundAmongThoseOfTheCapture(t *testing.T) {
	before := acknowledge(t)
	after := bytes.Clone(before)
	ip := wire.IPv4Header(after[14:34])
	ip.SetSrc([4]byte{10, 0, 0, 1})
	ip.SetChecksum(wire.IPv4Checksum(ip))
	v := judge(t, captureOf(t, before, after))
	if len(v.Mistakes) != 1 || v.Mistakes[0].Mistake != "source address rewritten: it was 192.0.2.10" {
		t.Errorf("%+v", v.Mistakes)
	}
	if v = judge(t, captureOf(t, after)); len(v.Mistakes) != 1 || !strings.HasPrefix(v.Mistakes[0].Mistake, "no known mistake") {
		t.Errorf("without the other packet: %+v", v.Mistakes)
	}
}

// Looking for mistakes ends after many that are unknown, but not while others
// are found: the kinds come mixed.
func TestUnknownMistakesDoNotHideKnownOnes(t *testing.T) {
	good := acknowledge(t)
	place := len(good) - icrc.Len
	var frames [][]byte
	for i := range uint32(200) {
		unknown, known := bytes.Clone(good), bytes.Clone(good)
		binary.LittleEndian.PutUint32(unknown[place:], (i+1)*2654435769)
		icrc.Store(known[place:], ^icrc.Load(good[place:]))
		frames = append(frames, unknown, known)
	}
	for _, m := range judge(t, captureOf(t, frames...)).Mistakes {
		if m.Count != 200 {
			t.Errorf("%d x %s, want 200", m.Count, m.Mistake)
		}
	}
}
