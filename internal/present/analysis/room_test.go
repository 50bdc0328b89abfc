package analysis

import (
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/track/survey"
)

func TestWhatHadNoRoomIsSaid(t *testing.T) {
	for _, test := range []struct {
		unplaced, requests int
		text, json         []string
	}{
		{3, 1, []string{"not followed: 3 unplaced answers\n", "too many were pending: 1 CM request\n"}, []string{`"answers_not_followed":3`, `"cm_requests_evicted":1`}},
		{0, 0, nil, nil},
	} {
		r := &Report{File: "f"}
		r.Finish(survey.NewTracker())
		r.Unplaced, r.Requests = test.unplaced, test.requests
		var text, object strings.Builder
		writer := Text{Style: NewStyle(false)}
		if err := writer.Write(&text, r); err != nil {
			t.Fatal(err)
		}
		if err := r.WriteJSON(&object); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.text {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%q lacks %q", text.String(), want)
			}
		}
		for _, want := range test.json {
			if !strings.Contains(object.String(), want) {
				t.Errorf("%s lacks %s", object.String(), want)
			}
		}
		if test.text == nil && (strings.Contains(text.String(), "not followed") || strings.Contains(object.String(), "cm_requests")) {
			t.Errorf("said although there is nothing:\n%s\n%s", text.String(), object.String())
		}
	}
}
