package iwarp

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// line writes a PDU as one line: packet, kind or opcode, CRC verdict, markers,
// segments, issues.
func line(k *kept) string {
	name := k.Kind.String()
	if op, ok := k.Opcode(); ok {
		name = op.String()
	}
	s := fmt.Sprintf("%d %s", k.in, name)
	if k.Kind == FPDU {
		s += " " + k.CRC.String()
	}
	if len(k.Markers) > 0 {
		s += fmt.Sprintf(" markers=%d", len(k.Markers))
	}
	if k.Segments > 1 {
		s += fmt.Sprintf(" segments=%d", k.Segments)
	}
	for _, i := range k.Issues {
		s += " !" + i.Kind.String()
	}
	return s
}

func lines(all []kept) []string {
	var out []string
	for i := range all {
		out = append(out, line(&all[i]))
	}
	return out
}

func TestFixtures(t *testing.T) {
	tests := []struct {
		file string
		want []string
	}{
		{"fixtures/iw.pcap", []string{
			"4 MPA Request", "5 MPA Reply", "6 Send good", "7 Read Request good",
			"11 MPA Request", "12 MPA Reply", "13 Send bad !crc", // byte-swapped on purpose
			"17 MPA Request", "18 MPA Reply", "19 Send good", "19 Send good",
			"23 MPA Request", "24 MPA Reply", "26 Send good segments=2 !exceeds-segment",
			"30 MPA Request", "31 MPA Reply !flag-a", "32 Write good",
			"36 MPA Request", "37 MPA Reply", "38 Immediate Data good", "39 Immediate Data with SE good",
			"43 MPA Request", "44 MPA Reply", "45 Atomic Request good", "46 Atomic Response good",
			"50 MPA Request", "51 MPA Reply", "52 Terminate good",
			"56 MPA Request", "57 MPA Reply", "58 Send bad !crc",
			"62 Send good",
		}},
		{"fixtures/mk.pcap", []string{
			"4 MPA Request", "5 MPA Reply", "6 Send good markers=1", "7 Send good markers=1",
			"8 Send good markers=1", "9 Send good markers=2", "10 Send good", "11 Send good markers=1",
			"15 MPA Request", "16 MPA Reply", "17 Send good markers=1", "17 Send good", "17 Send good",
		}},
		{"cases/25-mpav2-flag-a.pcap", []string{"4 MPA Request", "5 MPA Reply !flag-a"}},
		{"cases/27-reply-plus-fpdu.pcap", []string{"4 MPA Request", "5 MPA Reply", "5 Send good"}},
		{"cases/29-fpdu-over-mss.pcap", []string{
			"4 MPA Request", "5 MPA Reply", "8 Write good segments=3 !exceeds-segment", "8 Send good",
		}},
		{"public/iwarp_connect_C00_M00_reject.pcap", []string{"4 MPA Request", "6 MPA Reply !reject"}},
		{"public/iwarp_send_recv_snd_recv_crc_mrkr.pcap", []string{
			"4 MPA Request", "6 MPA Reply", "7 Send good markers=1", "10 Send good markers=1",
		}},
		{"public/iwarp_send_recv_snd_recv_mrkr.pcap", []string{
			"4 MPA Request", "6 MPA Reply", "7 Send unused markers=1", "10 Send unused markers=1",
		}},
	}
	for _, tt := range tests {
		t.Run(filepath.Base(tt.file), func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lines(track(capture(t, tt.file)))); diff != "" {
				t.Errorf("PDUs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCaseValues(t *testing.T) {
	crcOf := func(k *kept) string { return fmt.Sprintf("%x", k.Stack.View(wire.HdrFPDUCRC)) }

	a := track(capture(t, "cases/25-mpav2-flag-a.pcap"))
	req, rep := wire.MPAEnhanced(a[0].Stack.View(wire.HdrMPAEnhanced)), wire.MPAEnhanced(a[1].Stack.View(wire.HdrMPAEnhanced))
	if req.IRD() != 32 || !req.PeerToPeer() || req.ORD() != 1 || !req.RTRRead() || rep.IRD() != 1 || rep.PeerToPeer() || rep.ORD() != 32 {
		t.Errorf("case 25: request %x, reply %x", []byte(req), []byte(rep))
	}
	if got := fmt.Sprintf("%x", a[0].Stack.View(wire.HdrMPAPrivate)); got != "cafef00d" {
		t.Errorf("case 25: private data %s", got)
	}

	b := track(capture(t, "cases/27-reply-plus-fpdu.pcap"))
	if got := string(b[1].Stack.View(wire.HdrMPAPrivate)); got != "srv0" {
		t.Errorf("case 27: private data %q", got)
	}
	if got := b[2]; crcOf(&got) != "b86f8e05" || len(got.Stack.View(wire.HdrFPDUPayload)) != 27 || got.Offset != 78 {
		t.Errorf("case 27: FPDU with CRC %s at %d", crcOf(&got), got.Offset)
	}

	c := track(capture(t, "cases/29-fpdu-over-mss.pcap"))
	tagged := wire.DDPTagged(c[2].Stack.View(wire.HdrDDPTagged))
	if tagged.STag() != 0x200 || tagged.Offset() != 0x10000 || crcOf(&c[2]) != "b41f7e24" || crcOf(&c[3]) != "2d12a50d" ||
		c[2].First != 6 || c[2].Last != 8 || string(c[3].Stack.View(wire.HdrFPDUPayload)) != "end" {
		t.Errorf("case 29: %x, CRCs %s %s, packets %d to %d", []byte(tagged), crcOf(&c[2]), crcOf(&c[3]), c[2].First, c[2].Last)
	}

	swapped := track(capture(t, "fixtures/iw.pcap"))[6]
	want := "CRC32c is 0x74068c7f and should be 0x7f8c0674, byte-swapped"
	if got := swapped.Issues[0].Text; crcOf(&swapped) == "74068c7f" && got != want {
		t.Errorf("byte-swapped CRC: %q, want %q", got, want)
	}
}

func TestMarkersOfTheFixtureReachTheirFPDU(t *testing.T) {
	var got []string
	all := track(capture(t, "fixtures/mk.pcap"))
	for i := range all {
		for j := range all[i].Markers {
			m := &all[i].Markers[j]
			got = append(got, fmt.Sprintf("%d: before byte %d, FPDUPTR %d, %t", all[i].in, m.At, m.View().FPDUPtr(), m.Good))
		}
	}
	want := []string{
		"6: before byte 0, FPDUPTR 0, true", "7: before byte 384, FPDUPTR 384, true",
		"8: before byte 268, FPDUPTR 268, true", "9: before byte 272, FPDUPTR 272, true",
		"9: before byte 780, FPDUPTR 784, true", "11: before byte 16, FPDUPTR 16, true",
		"17: before byte 0, FPDUPTR 0, true",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("markers (-want +got):\n%s", diff)
	}
}

func TestReadWriteLongRun(t *testing.T) {
	counts := map[string]int{}
	all := track(capture(t, "public/iwarp_rdma_read_write_long_run.pcap"))
	for i := range all {
		if op, ok := all[i].Opcode(); ok {
			counts[op.String()]++
		}
	}
	want := map[string]int{"Write": 20, "Read Request": 20, "Read Response": 20, "Send": 3}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Errorf("FPDUs (-want +got):\n%s", diff)
	}
}

// sampleFiles lists all captures that have iWARP in them.
func sampleFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, path := range testneed.Captures(t) {
		base := filepath.Base(path)
		switch {
		case strings.HasPrefix(base, "iwarp_"):
			files = append(files, "public/"+base)
		case strings.HasPrefix(base, "iw_"):
			files = append(files, base)
		}
	}
	if len(files) == 0 {
		t.Fatal("there is no capture of iWARP")
	}
	return files
}

func TestEveryByteOfTheSamplesIsInAPDU(t *testing.T) {
	for _, file := range sampleFiles(t) {
		packets := capture(t, file)
		sent := 0
		seen := map[uint64]bool{} // retransmissions count once
		for _, p := range packets {
			for i := range p.WireLen {
				at := uint64(p.Src.Port())<<48 | uint64(p.Dst.Port())<<32 | uint64(p.Seq+uint32(i))
				if !seen[at] {
					seen[at] = true
					sent++
				}
			}
		}
		framed := 0
		all := track(packets)
		for i := range all {
			p := &all[i]
			if p.Kind == Gap || p.Kind == Skipped || p.CRC == CRCBad || p.Missing > 0 {
				t.Errorf("%s: packet %d: %s", file, p.in, line(p))
			}
			if p.Has(IssueMarker) || p.Has(IssueQueue) || p.Has(IssueUnknownOpcode) || p.Has(IssueLength) {
				t.Errorf("%s: packet %d: %v", file, p.in, p.Issues)
			}
			framed += int(p.Len)
		}
		if framed != sent {
			t.Errorf("%s: PDUs hold %d bytes, %d were sent", file, framed, sent)
		}
	}
}

// The marked twins of what was recorded without markers: the same FPDUs with
// markers put in must come out the same.
func TestMarkedTwinsOfTheSamples(t *testing.T) {
	for _, file := range sampleFiles(t) {
		all := track(capture(t, file))
		x := newSession(true, true)
		x.c.fpdus, x.s.fpdus = nil, nil
		for i := range all {
			if p := &all[i]; p.Kind == FPDU {
				x.c.fpdu(wire.FPDU(p.Stack.Data).ULPDU())
			}
		}
		packets := x.handshake()
		for lo := x.c.origin; lo < len(x.c.stream); lo += 1448 {
			packets = append(packets, x.segment(true, lo, min(lo+1448, len(x.c.stream))))
		}
		marked := track(numbered(packets))
		if !slices.Equal(ulpdus(marked, client), x.c.fpdus) {
			t.Errorf("%s: the marked twin has other FPDUs", file)
		}
		for i := range marked {
			if p := &marked[i]; p.Kind == FPDU && p.CRC != CRCGood || p.Has(IssueMarker) {
				t.Errorf("%s: %s", file, line(p))
			}
		}
	}
}

func TestThePlaceInTheFrame(t *testing.T) {
	for _, file := range []string{"fixtures/iw.pcap", "fixtures/mk.pcap", "iw_send_bw.pcap"} {
		packets := capture(t, file)
		byNumber := map[uint64]Packet{}
		for _, p := range packets {
			byNumber[p.Number] = p
		}
		n := 0
		for _, k := range track(packets) {
			if k.Offset < 0 {
				continue
			}
			n++
			p := byNumber[k.in]
			at := k.Offset - p.Offset
			if got := p.Payload[at : at+len(k.Stack.Data)]; string(got) != string(k.Stack.Data) {
				t.Errorf("%s: packet %d: the bytes at %d are not those of the PDU", file, k.in, k.Offset)
			}
		}
		if n == 0 {
			t.Errorf("%s: no PDU has a place", file)
		}
	}
}

func TestSnaplen(t *testing.T) {
	for _, snap := range []int{96, 100, 128} {
		packets := capture(t, "public/iwarp_rdma_read_write_long_run.pcap")
		whole := lines(track(packets))
		for i := range packets {
			p := &packets[i]
			p.Payload = p.Payload[:min(len(p.Payload), snap-p.Offset)]
		}
		cut := track(packets)
		n := 0
		for i := range cut {
			if cut[i].Kind == FPDU {
				n++
				if cut[i].Missing > 0 && cut[i].CRC != CRCUnchecked {
					t.Errorf("snaplen %d: %s has a verdict", snap, line(&cut[i]))
				}
			}
		}
		// 16 of the FPDUs share segments with others and may go with them.
		if n < len(whole)-2-16 {
			t.Errorf("snaplen %d: %d of %d FPDUs", snap, n, len(whole)-2)
		}
	}
}
