package rocecap_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What analyze says of the cases: the findings of each, by code.
func TestCasesAreAnalyzedAsTheirReportsWantIt(t *testing.T) {
	for name, want := range map[string]map[string]int{
		// One RNR NAK, and a retry before its time.
		"15-rnr.pcap": {"RNR-NAK": 1, "RNR-EARLY": 1, "RESEND-RNR": 1},
		// Each message of no bytes takes a PSN.
		"17-zero-length.pcap": {},
		// Marks without a CNP are told, those with one are not.
		"19-ce-cnp.pcap": {"CE-MARK": 5, "CE-UNANSWERED": 1, "CNP": 1},
		// A capture of headers alone is none of corrupt packets.
		"21-snaplen.pcap": {},
		// PAUSE and PFC are told apart; an XON pauses nothing.
		"23-pause-vs-pfc.pcap":    {"PAUSE-PLAIN": 1, "PFC-PAUSE": 2},
		"25-mpav2-flag-a.pcap":    {"IW-START": 1},
		"27-reply-plus-fpdu.pcap": {},
		"29-fpdu-over-mss.pcap":   {"IW-UNALIGNED": 1},
		// Packet 3 is packet 2 behind a router.
		"31-dlt247.pcap": {"PSN-DUPLICATE": 1},
		// 3 and 2 retransmissions, and why nothing answers.
		"35-v1-v2-mismatch.pcap": {"ROCE-VERSIONS": 1, "RESEND-TIMEOUT": 5},
	} {
		got := map[string]int{}
		for _, f := range foundIn(t, caseFile(t, name)).Findings {
			got[f.Code] += f.Count
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", name, diff)
		}
	}
}

// Case 19: the flow without CNPs is the one that is told.
func TestTheFlowWithoutCNPsIsTold(t *testing.T) {
	out := mustRun(t, "analyze", caseFile(t, "19-ce-cnp.pcap"))
	for _, want := range []string{
		"CE-UNANSWERED    once: packets were marked for congestion, and no CNP answers (packet 13)\n                   192.0.2.10 to 192.0.2.30 QP 0x000031\n",
		"3 packets of it marked, 1 CNP came back", "2 packets of it marked, 0 CNPs came back",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not in\n%s", want, out)
		}
	}
	// A capture of one direction cannot have CNPs.
	if out := mustRun(t, "analyze", "-Y", "ip.dst == 192.0.2.30", caseFile(t, "19-ce-cnp.pcap")); strings.Contains(out, "CE-UNANSWERED") {
		t.Errorf("one direction:\n%s", out)
	}
}

// Case 31: LIDs are no IPv6 addresses.
func TestConversationsOfLIDsAreNamedByThem(t *testing.T) {
	file := caseFile(t, "31-dlt247.pcap")
	for _, args := range [][]string{{"analyze"}, {"analyze", "--host", "LID 4"}, {"analyze", "--json"}, {"flow", "--host", "lid 1"}} {
		if out := mustRun(t, append(args, file)...); !strings.Contains(out, "LID 4") || strings.Contains(out, " ::") || strings.Contains(out, `"::`) {
			t.Errorf("%v:\n%s", args, out)
		}
	}
}
