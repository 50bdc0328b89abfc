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

// TestARateTriggerFiresWhileThereAreMoreInASecond has a hundred CNPs a second for two
// seconds, then eight a second.
func TestARateTriggerFiresWhileThereAreMoreInASecond(t *testing.T) {
	list, err := parseTriggers([]string{"nak, cnp-rate>10"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v", list, err)
	}
	for i := range int64(300) {
		at := i * int64(10*time.Millisecond)
		if i >= 200 {
			at = int64(2*time.Second) + (i-200)*int64(125*time.Millisecond)
		}
		fires := list[1].fires(conversation.CongestionCNP, at)
		if want := i >= 10 && i < 200; fires != want && (i < 200 || at > int64(3*time.Second)) {
			t.Fatalf("CNP %d, at %v: fires %t", i, time.Duration(at), fires)
		}
	}
}

// TestARateIsOfAnySecond has eleven CNPs around the begin of a second of the clock, and
// as many in a little more than a second.
func TestARateIsOfAnySecond(t *testing.T) {
	for step, want := range map[time.Duration]bool{90 * time.Millisecond: true, 102 * time.Millisecond: false} {
		list, err := parseTriggers([]string{"cnp-rate>10"})
		if err != nil {
			t.Fatal(err)
		}
		fired := false
		for i := range 11 {
			fired = list[0].fires(conversation.CongestionCNP, int64(1700000000500*time.Millisecond)+int64(i)*int64(step))
		}
		if fired != want {
			t.Errorf("one each %v: fires %t", step, fired)
		}
	}
}

func TestARateGoesOnWhenTheClockIsSetBack(t *testing.T) {
	list, err := parseTriggers([]string{"cnp-rate>2"})
	if err != nil {
		t.Fatal(err)
	}
	for i, test := range []struct {
		at   time.Duration
		want bool
	}{
		{time.Hour, false}, {time.Hour, false}, {time.Minute, false}, {time.Minute, false}, {time.Minute - 500*time.Millisecond, true}, {0, false},
	} {
		if got := list[0].fires(conversation.CongestionCNP, int64(test.at)); got != test.want {
			t.Errorf("CNP %d, at %v: fires %t", i, test.at, got)
		}
	}
}

func TestWrongTriggersSayWhatIsMeant(t *testing.T) {
	for _, text := range []string{"nonsense", "cnp-rate>", "cnp-rate>0", "cnp-rate>x", "", "nak,,rnr"} {
		if _, err := parseTriggers([]string{text}); err == nil || !strings.Contains(err.Error(), "--trigger") {
			t.Errorf("%q: %v", text, err)
		}
	}
}
