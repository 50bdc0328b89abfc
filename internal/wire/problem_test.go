package wire

import (
	"slices"
	"testing"
)

func TestEveryProblemHasItsOwnText(t *testing.T) {
	seen := map[string]bool{}
	for p := ProblemShort; p <= ProblemFPDUPad; p <<= 1 {
		texts := p.AppendTexts(nil)
		if len(texts) != 1 || texts[0] == "" || seen[texts[0]] {
			t.Fatalf("problem %#x is %q", uint32(p), texts)
		}
		seen[texts[0]] = true
	}
	if len(problemTexts) != len(seen) {
		t.Errorf("%d texts, %d problems", len(problemTexts), len(seen))
	}
}

func TestProblemTextsAreAppendedInOrder(t *testing.T) {
	got := (ProblemReserved | ProblemTVer).AppendTexts([]string{"before"})
	want := []string{"before", "TVer is not 0: receivers drop the packet (IBTA 9.6.1.2)", "a reserved bit is set"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if texts := Problem(0).AppendTexts(nil); len(texts) != 0 {
		t.Errorf("no problem is %q", texts)
	}
}
