package rocecap

import (
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/rdmap"
)

func TestTriggers(t *testing.T) {
	for _, test := range []struct {
		text    string
		fires   []any
		ignores []any
	}{
		{"nak", []any{conversation.NakAccess, conversation.NakSequence}, []any{conversation.RNRNak, conversation.Lost}},
		{"rnr", []any{conversation.RNRNak}, []any{conversation.NakAccess}},
		{"timeout", []any{conversation.RetransmitTimeout}, []any{conversation.RetransmitNak}},
		{"resend", []any{conversation.RetransmitTimeout, conversation.RetransmitNak}, []any{conversation.NakSequence}},
		{"icrc", []any{conversation.BadICRC, conversation.IcrcMistake}, []any{conversation.Lost}},
		{"pause", []any{pause.Paused, pause.Plain, pause.Storm}, []any{conversation.StallPaused}},
		{"cm", []any{connect.Rejected, connect.Unanswered}, []any{conversation.AfterDisconnect}},
		{"iwarp", []any{rdmap.Terminated, rdmap.BadCRC}, []any{rdmap.Resent}},
		{"psn-lost", []any{conversation.Lost}, []any{conversation.LostBehind}},
		{"error", []any{conversation.NakAccess}, []any{conversation.Lost, conversation.CongestionCE}},
	} {
		list, err := parseTriggers([]string{test.text})
		if err != nil || len(list) != 1 {
			t.Errorf("%s: %v, %v", test.text, list, err)
			continue
		}
		for _, kind := range test.fires {
			if !list[0].fires(kind, 0) {
				t.Errorf("%s does not fire for %v", test.text, kind)
			}
		}
		for _, kind := range test.ignores {
			if list[0].fires(kind, 0) {
				t.Errorf("%s fires for %v", test.text, kind)
			}
		}
	}
}

func TestARateTriggerFiresOnceASecond(t *testing.T) {
	list, err := parseTriggers([]string{"nak, cnp-rate>10"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	fired := 0
	for i := range int64(300) { // a hundred a second, then eight
		at := i * int64(10*time.Millisecond)
		if i >= 200 {
			at = int64(2*time.Second) + (i-200)*int64(125*time.Millisecond)
		}
		if list[1].fires(conversation.CongestionCNP, at) {
			fired++
		}
	}
	if fired != 2 {
		t.Errorf("fires %d times, want once in each of two seconds", fired)
	}
}

func TestWrongTriggersSayWhatIsMeant(t *testing.T) {
	for _, text := range []string{"nonsense", "cnp-rate>", "cnp-rate>0", "cnp-rate>x", "", "nak,,rnr"} {
		if _, err := parseTriggers([]string{text}); err == nil || !strings.Contains(err.Error(), "--trigger") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
