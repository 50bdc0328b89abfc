package pingpong

import (
	"bytes"
	"net/netip"
	"testing"
)

// Lines that ibv_rc_pingpong sent in the lab, and what it printed of them.
var observed = []struct {
	line, text string
	address    Address
}{
	{
		line:    "0000:000011:70aeb2:00000000000000000000ffff0a4d0002\x00",
		text:    "LID 0x0000, QPN 0x000011, PSN 0x70aeb2, GID ::ffff:10.77.0.2",
		address: Address{QPN: 0x11, PSN: 0x70aeb2, GID: netip.MustParseAddr("::ffff:10.77.0.2")},
	},
	{
		line:    "0001:ffffff:000000:fd770000000000000000000000010001\x00",
		text:    "LID 0x0001, QPN 0xffffff, PSN 0x000000, GID fd77::1:1",
		address: Address{LID: 1, QPN: 0xffffff, GID: netip.MustParseAddr("fd77::1:1")},
	},
}

func TestAddressIsTheExamplesLine(t *testing.T) {
	for _, o := range observed {
		if got := o.address.Append(nil); string(got) != o.line {
			t.Errorf("%v is told as %q, want %q", o.address, got, o.line)
		}
		got, err := ParseAddress([]byte(o.line))
		if err != nil || got != o.address {
			t.Errorf("%q is read as %v, %v", o.line, got, err)
		}
		if got.String() != o.text {
			t.Errorf("%q is printed as %q, want %q", o.line, got, o.text)
		}
	}
}

func TestIPv4AddressBecomesAMappedGID(t *testing.T) {
	a := Address{QPN: 0x11, PSN: 0x70aeb2, GID: netip.MustParseAddr("10.77.0.2")}
	if got := a.Append(nil); string(got) != observed[0].line {
		t.Errorf("told as %q, want %q", got, observed[0].line)
	}
}

func TestEveryPrefixOfAnAddressIsRefused(t *testing.T) {
	line := []byte(observed[0].line)
	for n := range line {
		if a, err := ParseAddress(line[:n]); err == nil {
			t.Errorf("%q was read as %v", line[:n], a)
		}
	}
}

func TestWhatIsNoAddressIsRefused(t *testing.T) {
	for _, line := range []string{
		"0000 000011:70aeb2:00000000000000000000ffff0a4d0002\x00",
		"0000:000011:70aeb2.00000000000000000000ffff0a4d0002\x00",
		"000x:000011:70aeb2:00000000000000000000ffff0a4d0002\x00",
		"0000:-00011:70aeb2:00000000000000000000ffff0a4d0002\x00",
		"0000:000011:+0aeb2:00000000000000000000ffff0a4d0002\x00",
		"0000:000011:70aeb2:0000000000000000000:ffff0a4d0002\x00",
	} {
		if a, err := ParseAddress([]byte(line)); err == nil {
			t.Errorf("%q was read as %v", line, a)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, o := range observed {
		f.Add([]byte(o.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		a, err := ParseAddress(line)
		if err != nil {
			return
		}
		again, err := ParseAddress(a.Append(nil))
		if err != nil || again != a {
			t.Errorf("%q: %v became %v, %v", line, a, again, err)
		}
		if upper := bytes.ToLower(line); !bytes.Equal(a.Append(nil)[:lineEnd], upper[:lineEnd]) {
			t.Errorf("%q is told as %q", line, a.Append(nil))
		}
	})
}
