package iwarp

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// set returns b with one byte changed.
func set(b []byte, at int, v byte) []byte {
	b[at] = v
	return b
}

func TestIssuesOfFPDUs(t *testing.T) {
	tests := []struct {
		name  string
		ulpdu []byte
		want  []IssueKind
	}{
		{"a Send", send(1, nil), nil},
		{"DDP version", set(send(1, nil), 0, 0x40), []IssueKind{IssueDDPVersion}},
		{"RDMAP version", set(send(1, nil), 1, 0x83), []IssueKind{IssueRDMAPVersion}},
		{"unknown opcode", set(send(1, nil), 1, 0x4c), []IssueKind{IssueUnknownOpcode}},
		{"Send on queue 1", set(send(1, nil), 9, 1), []IssueKind{IssueQueue}},
		{"untagged Write", set(send(1, nil), 1, 0x40), []IssueKind{IssueQueue}},
		{"tagged Send", set(write(1, nil), 1, 0x43), []IssueKind{IssueQueue}},
		{"reserved DDP bit", set(send(1, nil), 0, 0x45), []IssueKind{IssueReserved}},
		{"short Read Request", set(set(send(1, nil), 1, 0x41), 9, 1), []IssueKind{IssueLength}},
		{"long Immediate Data", set(send(1, make([]byte, 9)), 1, 0x48), []IssueKind{IssueLength}},
		{"ULPDU of two bytes", []byte{0x41, 0x43}, []IssueKind{IssueLength}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := newSession(false, true)
			x.c.fpdu(tt.ulpdu)
			x.c.fpdu(send(2, []byte("next")))
			all := track(numbered(append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)))))
			if len(all) != 4 || all[2].CRC != CRCGood || all[3].CRC != CRCGood {
				t.Fatalf("PDUs %q", lines(all))
			}
			var got []IssueKind
			for _, i := range all[2].Issues {
				got = append(got, i.Kind)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("issues (-want +got):\n%s", diff)
			}
		})
	}
}

func TestIssuesOfStartFrames(t *testing.T) {
	type frame struct {
		flags, revision byte
		private         string
	}
	tests := []struct {
		name             string
		request, reply   frame
		wantReq, wantRep []IssueKind
	}{
		{"revision 1", frame{0x40, 1, "x"}, frame{0x40, 1, ""}, nil, nil},
		{"revision 2", frame{0x50, 2, "\x80\x01\x80\x01"}, frame{0x50, 2, "\x80\x01\x80\x01"}, nil, nil},
		{"no flag A in the reply", frame{0x50, 2, "\x80\x01\x80\x01"}, frame{0x50, 2, "\x00\x01\x80\x01"}, nil, []IssueKind{IssueFlagA}},
		{"flag A in the reply alone", frame{0x50, 2, "\x00\x01\x80\x01"}, frame{0x50, 2, "\x80\x01\x80\x01"}, nil, nil},
		{"reply of a higher revision", frame{0x40, 1, ""}, frame{0x40, 2, ""}, nil, []IssueKind{IssueRevision}},
		{"no S in the reply", frame{0x50, 2, "\x00\x01\x80\x01"}, frame{0x40, 2, ""}, nil, []IssueKind{IssueRevision}},
		{"revision 7", frame{0x40, 7, ""}, frame{0x40, 1, ""}, []IssueKind{IssueRevision}, nil},
		{"reserved bits", frame{0x48, 1, ""}, frame{0x50, 1, ""}, []IssueKind{IssueReserved}, []IssueKind{IssueReserved}},
		{"reject in the request", frame{0x60, 1, ""}, frame{0x40, 1, ""}, []IssueKind{IssueReserved}, nil},
		{"reject", frame{0x50, 2, "\x80\x01\x80\x01"}, frame{0x60, 1, "busy"}, nil, []IssueKind{IssueReject}},
		{"no room for IRD", frame{0x50, 2, "ab"}, frame{0x50, 2, "\x00\x01\x00\x01"}, []IssueKind{IssuePrivateData}, nil},
		{"too much private data", frame{0x40, 1, string(make([]byte, 513))}, frame{0x40, 1, ""}, []IssueKind{IssuePrivateData}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			x := &session{}
			x.c.start("MPA ID Req Frame", tt.request.flags, tt.request.revision, tt.request.private)
			x.s.start("MPA ID Rep Frame", tt.reply.flags, tt.reply.revision, tt.reply.private)
			all := track(numbered(x.handshake()))
			if len(all) != 2 {
				t.Fatalf("PDUs %q", lines(all))
			}
			for i, want := range [][]IssueKind{tt.wantReq, tt.wantRep} {
				var got []IssueKind
				for _, issue := range all[i].Issues {
					got = append(got, issue.Kind)
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%v (-want +got):\n%s", all[i].Kind, diff)
				}
			}
		})
	}
}

func TestBadMarkerIsReportedAndTheStreamGoesOn(t *testing.T) {
	x := newSession(true, true)
	x.c.fpdu(send(1, make([]byte, 700)))
	x.c.fpdu(send(2, make([]byte, 100)))
	x.c.stream[x.c.origin+512+1] = 3 // reserved half of the second marker
	all := track(numbered(append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)))))
	want := []string{"3 MPA Request", "4 MPA Reply", "5 Send bad markers=2 !crc !marker", "5 Send good"}
	if diff := cmp.Diff(want, lines(all)); diff != "" {
		t.Errorf("PDUs (-want +got):\n%s", diff)
	}
}

func TestCRCIsNotJudgedWhenNeitherSideAskedForIt(t *testing.T) {
	for _, flags := range [][2]byte{{0, 0}, {0x40, 0}, {0, 0x40}} {
		x := &session{}
		x.c.noCRC = true
		x.c.start("MPA ID Req Frame", flags[0], 1, "")
		x.s.start("MPA ID Rep Frame", flags[1], 1, "")
		x.c.fpdu(send(1, []byte("data")))
		all := track(numbered(append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)))))
		want := CRCUnused
		if flags != [2]byte{} {
			want = CRCBad
		}
		if len(all) != 3 || all[2].CRC != want || all[2].Has(IssueCRC) != (want == CRCBad) {
			t.Errorf("flags %x: %q, want CRC %v", flags, lines(all), want)
		}
	}
}

func TestWhatFollowsARejectIsNotFramed(t *testing.T) {
	x := &session{}
	x.c.start("MPA ID Req Frame", 0x40, 1, "")
	x.s.start("MPA ID Rep Frame", 0x60, 1, "")
	x.c.fpdu(send(1, []byte("data")))
	all := track(numbered(append(x.handshake(), x.segment(true, x.c.origin, len(x.c.stream)))))
	want := []string{"1 MPA Request", "2 MPA Reply !reject", "0 Skipped"}
	for i := range all {
		all[i].in = max(all[i].in, 2) - 2
	}
	if diff := cmp.Diff(want, lines(all)); diff != "" {
		t.Errorf("PDUs (-want +got):\n%s", diff)
	}
}

func TestResetGivesWhatLiesBehindAHole(t *testing.T) {
	x := newSession(false, true)
	r := rand.New(rand.NewPCG(1, 11))
	x.c.fill(r, 3, 100)
	packets := append(x.handshake(), x.segment(true, x.c.origin+10, len(x.c.stream)))
	reset := x.segment(true, 0, 0)
	reset.Flags = tcpstream.RST
	tr := NewTracker(DefaultLimits())
	var got []string
	for _, p := range numbered(append(packets, reset)) {
		got = append(got, lines(keep(tr.Segment(p), p.Number))...)
	}
	if len(got) < 4 || got[2] != "6 Gap" || got[len(got)-1][len(got[len(got)-1])-4:] != "good" {
		t.Errorf("PDUs %q", got)
	}
}

func TestNamesOfEverything(t *testing.T) {
	for k := MPARequest; k <= Skipped; k++ {
		if k.String() == "Unknown" {
			t.Errorf("kind %d has no name", k)
		}
	}
	for c := CRCUnchecked; c <= CRCBad; c++ {
		if c.String() == "unknown" {
			t.Errorf("verdict %d has no name", c)
		}
	}
	for k := IssueReject; k <= IssueLength; k++ {
		if k.String() == "unknown" {
			t.Errorf("issue %d has no name", k)
		}
	}
}
