package analysis

import "testing"

func TestAHeadThatIsTooLongForItsColumnPushesTheText(t *testing.T) {
	for head, want := range map[string]string{
		"a":          "  a     text that is\n        broken\n",
		"+4294967 s": "  +4294967 s text that\n        is broken\n",
	} {
		if got := string(appendWrapped(nil, 6, 22, head, "text that is broken")); got != want {
			t.Errorf("%q: got %q, want %q", head, got, want)
		}
	}
}
