package rocecap

import "testing"

func TestSpeedsOfLinks(t *testing.T) {
	for text, want := range map[string]linkSpeed{
		"25G": 25e9, "25g": 25e9, "2.5G": 2500e6, "100M": 100e6, "1.6T": 1600e9, "64k": 64000, "1": 1, "1000T": 1e15,
	} {
		var got, again linkSpeed
		if err := got.Set(text); err != nil || got != want {
			t.Errorf("%s: %d, %v, want %d", text, got, err, want)
		}
		if err := again.Set(got.String()); err != nil || again != got {
			t.Errorf("%s: written %s, which is %d", text, got.String(), again)
		}
	}
	for _, text := range []string{"", "G", "0", "-1G", "0.1", "NaN", "NaNG", "Inf", "1001T", "1e300T", "25GB", "25 G", "1KG"} {
		got := linkSpeed(7)
		if err := got.Set(text); err == nil || got != 7 {
			t.Errorf("%q: %d, %v", text, got, err)
		}
	}
}
