package rocecap_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests below are public reports and questions of people who work with
// RDMA, each with a small input and the right behaviour. pcaps/MANIFEST.md
// names their sources.

// wantColumns compares fields of every packet with a table of them.
func wantColumns(t *testing.T, file, fields, want string, extra ...string) {
	t.Helper()
	if diff := cmp.Diff(table(want), columns(t, file, fields, extra...)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", fields, diff)
	}
}

// wantVerdicts compares the counts of good, bad and cut ICRCs.
func wantVerdicts(t *testing.T, file string, good, bad, cut int) verdicts {
	t.Helper()
	v := judge(t, file)
	if v.Good != good || v.Bad != bad || v.Cut != cut || v.NotCheckable != 0 {
		t.Errorf("%d good, %d bad, %d cut, %d not checkable ICRCs; want %d, %d, %d, 0",
			v.Good, v.Bad, v.Cut, v.NotCheckable, good, bad, cut)
	}
	return v
}

// wantNoNotes checks that nothing is called wrong or unusual.
func wantNoNotes(t *testing.T, list []packetJSON) {
	t.Helper()
	for _, p := range list {
		if len(p.Notes) > 0 {
			t.Errorf("packet %d: notes %q", p.Number, p.Notes)
		}
	}
}

// Case 01.
func TestICRCRecipeIsTheOneThatNICsUse(t *testing.T) {
	file := caseFile(t, "01-icrc-recipe.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn infiniband.invariant.crc infiniband.icrc.computed infiniband.icrc.status",
		"17 0x000123 41394 0x22aa69ef 0x22aa69ef good")
	wantNoNotes(t, packets(t, file))
}

// Case 01: each mistake gives a value of its own, and is named from it.
func TestWrongICRCNamesTheMistakeInTheRecipe(t *testing.T) {
	frame := hexFrames(t, pcaps(t, "cases", "01-icrc-recipe.hex"))[0]
	for _, c := range []struct{ icrc, want string }{
		{"ab7fc59e", "ff"},
		{"dd559610", "inver"},
		{"ef69aa22", "big-endian"},
		{"db9a12c1", "zero instead of ones"},
		{"2e84cdc0", "TOS"},
		{"2493045c", "TTL"},
		{"77593056", "IP header checksum"},
		{"cd4aaf66", "UDP checksum"},
		{"47db70d9", "BTH"},
		{"d996aae2", "Ethernet"},
		{"2f9eec0a", "CRC32C"},
	} {
		file := writeFrames(t, 1, strings.TrimSuffix(frame, "22aa69ef")+c.icrc)
		v := wantVerdicts(t, file, 0, 1, 0)
		if len(v.Mistakes) != 1 || !strings.Contains(strings.ToLower(v.Mistakes[0].Mistake), strings.ToLower(c.want)) {
			t.Errorf("ICRC %s: %+v, want a mistake that speaks of %s", c.icrc, v.Mistakes, c.want)
		}
	}
}

// Case 03.
func TestICRCStoredInHostOrderIsBadAndSaysSo(t *testing.T) {
	file := caseFile(t, "03-icrc-byte-order.hex")
	wantColumns(t, file, "infiniband.invariant.crc infiniband.icrc.computed infiniband.icrc.status", `
		0x48ca9518 0x48ca9518 good
		0x1895ca48 0x48ca9518 bad`)
	v := wantVerdicts(t, file, 1, 1, 0)
	if len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0].Mistake, "byte-swapped") {
		t.Errorf("mistakes %+v, want byte-swapped", v.Mistakes)
	}
}

// Case 05.
func TestVendorCNPExampleIsDecodedAndItsICRCSimplyWrong(t *testing.T) {
	file := caseFile(t, "05-vendor-cnp-example.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.bth.becn infiniband.bth.destqp infiniband.bth.psn infiniband.cnp.reserved infiniband.invariant.crc infiniband.icrc.computed infiniband.icrc.status",
		"129 1 0x0000d2 0 00000000000000000000000000000000 0xe42dad81 0xdafc1bef bad")
	v := wantVerdicts(t, file, 0, 1, 0)
	if len(v.Mistakes) != 1 || v.Mistakes[0].Mistake != "no known mistake reproduces it" {
		t.Errorf("mistakes %+v, want none known", v.Mistakes)
	}
	if got := packets(t, file)[0].Notes; !slices.Equal(got, []string{"ICRC is wrong"}) {
		t.Errorf("notes %q, want only the ICRC", got)
	}
}

// Case 07.
func TestCNPIsKnownAndHasNoPayload(t *testing.T) {
	file := caseFile(t, "07-cnp.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.bth.becn infiniband.bth.destqp infiniband.bth.psn udp.srcport ip.dsfield.dscp ip.dsfield.ecn infiniband.payload.len infiniband.invariant.crc infiniband.icrc.status",
		"129 1 0x000118 0 0 48 2 0 0x4a876f6d good")
	p := packets(t, file)
	wantNoNotes(t, p)
	if !strings.HasPrefix(p[0].Info, "CNP") {
		t.Errorf("info %q, want CNP", p[0].Info)
	}
	if want := "eth ip udp infiniband.bth infiniband.cnp infiniband.icrc"; p[0].layers() != want {
		t.Errorf("layers %q, want %q", p[0].layers(), want)
	}
}

// Case 09.
func TestDatagramHeadersAreNotPayload(t *testing.T) {
	file := caseFile(t, "09-ud-deth-imm.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.deth.q_key infiniband.deth.srcqp infiniband.immdt.data infiniband.bth.destqp infiniband.payload.len infiniband.payload infiniband.invariant.crc infiniband.icrc.status",
		"101 0x0000000080010000 0x000000ab 0xdeadbeef 0x000001 24 000102030405060708090a0b0c0d0e0f1011121314151617 0x6e48b56c good")
	wantNoNotes(t, packets(t, file))
}

// Case 11.
func TestSoftRoCEReadRequest(t *testing.T) {
	file := caseFile(t, "11-rxe-read-request.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.psn infiniband.bth.a infiniband.bth.m infiniband.bth.p_key infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen infiniband.payload.len infiniband.invariant.crc infiniband.icrc.status",
		"12 0x000011 "+strconv.Itoa(0x54cb63)+" 1 0 65535 0x00007fee260fb000 0x000002b8 65536 0 0x08c6154a good")
	wantNoNotes(t, packets(t, file))
}

// Case 13.
func TestUndefinedOpcodesHaveNoExtensionHeadersAndAnICRC(t *testing.T) {
	file := caseFile(t, "13-unknown-opcode.hex")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.payload.len infiniband.invariant.crc infiniband.icrc.status", `
		255 0 0x6bfc8bb5 good
		54  8 0x83669c67 good
		213 8 0x789bc08c good`)
	headers := []string{
		"eth ip udp infiniband.bth infiniband.icrc",
		"eth ip udp infiniband.bth infiniband.payload infiniband.icrc",
		"eth ip udp infiniband.bth infiniband.payload infiniband.icrc",
	}
	for i, p := range packets(t, file) {
		if p.layers() != headers[i] {
			t.Errorf("packet %d: layers %q, want %q", p.Number, p.layers(), headers[i])
		}
		if !slices.Equal(p.Notes, []string{"undefined opcode"}) {
			t.Errorf("packet %d: notes %q, want only that the opcode is undefined", p.Number, p.Notes)
		}
	}
}

// Case 15: what decode says of it; that the retry came too early is analysis.
func TestRNRNakSaysHowLongToWait(t *testing.T) {
	file := caseFile(t, "15-rnr.pcap")
	wantColumns(t, file,
		"infiniband.bth.psn infiniband.aeth.syndrome infiniband.aeth.syndrome.timer infiniband.aeth.rnr_timer infiniband.aeth.msn frame.time_relative", `
		10 -  -  -           -  0.000000000
		10 46 14 0.001280000 9  0.000020000
		10 -  -  -           -  0.000120000
		10 31 -  -           10 0.000140000`)
	p := packets(t, file)
	wantNoNotes(t, p)
	if !strings.Contains(p[1].Info, "RNR NAK 1.28 ms") {
		t.Errorf("info %q, want the RNR wait", p[1].Info)
	}
	wantVerdicts(t, file, 4, 0, 0)
}

// Case 17.
func TestZeroLengthMessagesAreNotMalformed(t *testing.T) {
	file := caseFile(t, "17-zero-length.pcap")
	wantColumns(t, file,
		"infiniband.bth.opcode infiniband.bth.psn infiniband.reth.dmalen infiniband.payload.len infiniband.aeth.msn", `
		4  5 - 0  -
		17 5 - 0  1
		10 6 0 0  -
		17 6 - 0  2
		12 7 0 0  -
		16 7 - 0  3
		4  8 - 64 -
		17 8 - 0  4`)
	wantNoNotes(t, packets(t, file))
	wantVerdicts(t, file, 8, 0, 0)
}

// Case 19.
func TestCongestionMarksComeFromTheIPHeader(t *testing.T) {
	file := caseFile(t, "19-ce-cnp.pcap")
	marked := map[string][]string{} // PSNs by destination QP
	total := map[string]int{}
	for _, row := range columns(t, file, "infiniband.bth.destqp infiniband.bth.psn ip.dsfield.ecn") {
		total[row[0]]++
		if row[2] == "3" {
			marked[row[0]] = append(marked[row[0]], row[1])
		}
	}
	if diff := cmp.Diff(map[string]int{"0x000011": 10, "0x000021": 1, "0x000031": 5}, total); diff != "" {
		t.Errorf("packets by QP (-want +got):\n%s", diff)
	}
	want := map[string][]string{"0x000011": {"203", "205", "206"}, "0x000031": {"301", "302"}}
	if diff := cmp.Diff(want, marked); diff != "" {
		t.Errorf("marked PSNs (-want +got):\n%s", diff)
	}
	wantColumns(t, file, "frame.number infiniband.bth.opcode infiniband.bth.destqp infiniband.bth.becn infiniband.bth.psn",
		"11 129 0x000021 1 0", "-Y", "infiniband.bth.opcode == 129")
	wantNoNotes(t, packets(t, file))
	wantVerdicts(t, file, 16, 0, 0)
}

// Case 21.
func TestHeaderOnlyCaptureIsNotCalledCorrupt(t *testing.T) {
	file := caseFile(t, "21-snaplen.pcap")
	wantColumns(t, file,
		"frame.len frame.cap_len infiniband.bth.psn infiniband.payload.len infiniband.icrc.status", `
		1082 96 400 1024 cut
		1082 96 401 1024 cut
		1082 96 402 1024 cut
		62   62 402 0    good`)
	wantVerdicts(t, file, 1, 0, 3)
	for _, p := range packets(t, file) {
		for _, note := range p.Notes {
			if note != "cut by the capture: ICRC not checkable" {
				t.Errorf("packet %d: note %q", p.Number, note)
			}
		}
	}
	if got, want := len(columns(t, file, "infiniband.payload")[0][0])/2, 42; got != want {
		t.Errorf("%d captured bytes of payload, want %d", got, want)
	}
}

// Case 23.
func TestPauseIsNotPriorityFlowControl(t *testing.T) {
	file := caseFile(t, "23-pause-vs-pfc.pcap")
	wantColumns(t, file,
		"macc.opcode macc.pause_time macc.cbfc.enbv macc.cbfc.pause_time.c3 macc.cbfc.pause_time.c4", `
		0x0001 65535 -      -     -
		0x0101 -     0x0008 65535 0
		0x0001 0     -      -     -
		0x0101 -     0x0018 0     4096`)
	protocols := []string{"PAUSE", "PFC", "PAUSE", "PFC"}
	infos := []string{"PAUSE XOFF", "prio 3 XOFF", "PAUSE XON", "prio 3 XON prio 4 XOFF"}
	p := packets(t, file)
	for i := range p {
		if p[i].Protocol != protocols[i] || !strings.Contains(p[i].Info, infos[i]) {
			t.Errorf("packet %d is %s %q, want %s %q", i+1, p[i].Protocol, p[i].Info, protocols[i], infos[i])
		}
	}
	wantNoNotes(t, p)
}

// Case 25. The port is NVMe/TCP's, which means nothing here.
func TestMPAReplyThatLeavesOutControlFlagA(t *testing.T) {
	file := caseFile(t, "25-mpav2-flag-a.pcap")
	wantColumns(t, file,
		"iwarp_mpa.rev iwarp_mpa.crc_flag iwarp_mpa.enhanced_flag iwarp_mpa.enhanced.ird iwarp_mpa.enhanced.a iwarp_mpa.enhanced.b iwarp_mpa.enhanced.c iwarp_mpa.enhanced.D iwarp_mpa.enhanced.ord iwarp_mpa.privatedata", `
		2 1 1 32 1 0 0 1 1  cafef00d
		2 1 1 1  0 0 0 0 32 cafef00d`, "-Y", "iwarp_mpa")
	p := packets(t, file)
	wantNoNotes(t, p[:4])
	if len(p[4].Notes) != 1 || !strings.Contains(p[4].Notes[0], "flag A") {
		t.Errorf("notes of the reply %q, want the missing flag A", p[4].Notes)
	}
}

// Case 27.
func TestFPDUBehindTheMPAReplyInOneSegment(t *testing.T) {
	file := caseFile(t, "27-reply-plus-fpdu.pcap")
	wantColumns(t, file,
		"frame.number iwarp_mpa.privatedata iwarp_mpa.ulpdulength iwarp_ddp.tagged_flag iwarp_ddp.last_flag iwarp_rdma.opcode iwarp_ddp.qn iwarp_ddp.msn iwarp_ddp.mo iwarp_mpa.pad iwarp_mpa.crc iwarp_mpa.crc_check iwarp_mpa.crc.status",
		"5 73727630 45 0 1 0x03 0 1 0 00 0xb86f8e05 0xb86f8e05 good", "-Y", "frame.number == 5")
	if got := len(columns(t, file, "iwarp_rdma.payload")[4][0]) / 2; got != 27 {
		t.Errorf("%d bytes of data, want 27", got)
	}
	wantNoNotes(t, packets(t, file))
}

// Case 29.
func TestFPDULongerThanASegmentIsOneWrite(t *testing.T) {
	file := caseFile(t, "29-fpdu-over-mss.pcap")
	wantColumns(t, file,
		"frame.number iwarp_mpa.ulpdulength iwarp_rdma.opcode iwarp_ddp.stag iwarp_ddp.tagged_offset iwarp_mpa.crc iwarp_mpa.crc.status",
		"8 3014,21 0x00,0x03 0x00000200 0x0000000000010000 0xb41f7e24,0x2d12a50d good,good", "-Y", "iwarp_ddp.mo or iwarp_ddp.stag")
	payload := strings.Split(columns(t, file, "iwarp_rdma.payload")[7][0], ",")
	if len(payload) != 2 || len(payload[0])/2 != 3000 || payload[1] != "656e64" {
		t.Errorf("payloads %.40q, want 3000 bytes and \"end\"", payload)
	}
	notes := packets(t, file)[7].Notes
	if len(notes) != 1 || !strings.Contains(notes[0], "not aligned") {
		t.Errorf("notes %q, want that the FPDU exceeds its segment", notes)
	}
}

// Case 31: with a GRH, no byte of the LRH counts for the ICRC.
func TestNativeInfiniBandKeepsItsICRCAcrossARouter(t *testing.T) {
	file := caseFile(t, "31-dlt247.pcap")
	wantColumns(t, file,
		"infiniband.lrh.lnh infiniband.bth.opcode infiniband.invariant.crc infiniband.icrc.status infiniband.variant.crc infiniband.vcrc.status", `
		0x02 4 0xfd80bac1 good 0xb462 good
		0x03 4 0xbf4b50eb good 0x3081 good
		0x03 4 0xbf4b50eb good 0x8576 good`)
	p := packets(t, file)
	wantNoNotes(t, p)
	if got := columns(t, file, "infiniband.grh.hoplmt")[2][0]; got != "63" {
		t.Errorf("hop limit behind the router %s, want 63", got)
	}
	if v := wantVerdicts(t, file, 3, 0, 0); v.VCRCGood != 3 || v.VCRCBad != 0 {
		t.Errorf("%d good and %d bad VCRCs, want 3 and 0", v.VCRCGood, v.VCRCBad)
	}
}

// Case 33.
func TestICRCOutsideTheLengthsIsPointedOut(t *testing.T) {
	file := caseFile(t, "33-icrc-outside-length.hex")
	wantColumns(t, file, "infiniband.invariant.crc infiniband.icrc.computed infiniband.icrc.status", `
		0x0c0d0e0f 0x93955dac bad
		0x6eba6688 0x6eba6688 good`)
	v := wantVerdicts(t, file, 1, 1, 0)
	if len(v.Mistakes) != 1 || !strings.Contains(v.Mistakes[0].Mistake, "lengths do not include the ICRC") {
		t.Errorf("mistakes %+v, want that the lengths do not include the ICRC", v.Mistakes)
	}
}

// Case 35: what decode says of it; the version mismatch is analysis.
func TestRoCEv1AndRoCEv2AreToldApart(t *testing.T) {
	file := caseFile(t, "35-v1-v2-mismatch.pcap")
	wantColumns(t, file,
		"infiniband.roce eth.src infiniband.bth.opcode infiniband.bth.psn infiniband.icrc.status", `
		1 02:00:00:00:00:0a 4 7  good
		2 02:00:00:00:00:0b 4 90 good
		1 02:00:00:00:00:0a 4 7  good
		2 02:00:00:00:00:0b 4 90 good
		1 02:00:00:00:00:0a 4 7  good
		2 02:00:00:00:00:0b 4 90 good
		1 02:00:00:00:00:0a 4 7  good`)
	wantNoNotes(t, packets(t, file))
	wantVerdicts(t, file, 7, 0, 0)
}

// Case 38.
func TestSendPayloadIsDataUntilTheUserSaysItIsNVMe(t *testing.T) {
	file := caseFile(t, "38-nvme-no-cm.hex")
	const fields = "infiniband.payload.len nvme.cmd.opc nvme.cmd.cid nvme.cmd.nsid nvme.cmd.sgl1.addr nvme.cmd.sgl1.len nvme.cmd.sgl1.key nvme.cmd.slba nvme.cmd.nlb0 infiniband.invariant.crc infiniband.icrc.status"
	wantColumns(t, file, fields, "64 - - - - - - - - 0x1446672d good")
	wantColumns(t, file, fields,
		"64 0x02 0x0010 0x00000001 0x00007f1234560000 4096 0x00abcd01 0x0000000000001000 7 0x1446672d good", "--decode-as", "0x11=nvme")
	if p := packets(t, file); strings.Contains(p[0].Info, "NVMe") {
		t.Errorf("info %q guesses", p[0].Info)
	}
}

// MPA start-up frames carry no DDP.
func TestDDPIsAFilterOfItsOwn(t *testing.T) {
	file := pcaps(t, "iw_rping.pcap")
	ddp := mustRun(t, "decode", "-Y", "iwarp_ddp", file)
	if ddp == "" || ddp != mustRun(t, "decode", "-Y", "iwarp_rdma", file) || ddp == mustRun(t, "decode", "-Y", "iwarp_mpa", file) {
		t.Errorf("iwarp_ddp lets pass:\n%s", ddp)
	}
}
