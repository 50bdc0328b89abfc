package mr

import "testing"

func TestRightsHaveVerbsValuesAndNames(t *testing.T) {
	for _, c := range []struct {
		access Access
		value  uint16
		text   string
	}{
		{0, 0, "none"},
		{LocalWrite, 1, "LOCAL_WRITE"},
		{RemoteWrite, 2, "REMOTE_WRITE"},
		{RemoteRead, 4, "REMOTE_READ"},
		{RemoteAtomic, 8, "REMOTE_ATOMIC"},
		{BindWindow, 16, "MW_BIND"},
		{ZeroBased, 32, "ZERO_BASED"},
		{FlushGlobal, 256, "FLUSH_GLOBAL"},
		{FlushPersistent, 512, "FLUSH_PERSISTENT"},
		{LocalWrite | RemoteRead, 5, "LOCAL_WRITE|REMOTE_READ"},
		{RemoteRead | 1<<15, 1<<15 | 4, "REMOTE_READ|UNKNOWN"},
	} {
		if uint16(c.access) != c.value || c.access.String() != c.text {
			t.Errorf("%d %q, want %d %q", uint16(c.access), c.access, c.value, c.text)
		}
	}
}

func TestFaultSaysWhatWasAskedAndWhatThereIs(t *testing.T) {
	for _, c := range []struct {
		fault Fault
		want  string
	}{
		{Fault{Kind: NoKey, Key: 0x1234}, "key 0x00001234: no such key"},
		{Fault{Kind: Bounds, Key: 1, VA: 0xff, Len: 8, Start: 0x100, Size: 64}, "key 0x00000001: out of bounds: 8 bytes at 0xff, of 64 at 0x100"},
		{Fault{Kind: NoRight, Key: 1, Need: RemoteWrite, Have: RemoteRead}, "key 0x00000001: right not granted: REMOTE_WRITE needed, REMOTE_READ given"},
		{Fault{Kind: BadRange, Key: 1, VA: 16, Len: 2}, "key 0x00000001: impossible range: 2 bytes at 0x10"},
		{Fault{Kind: 200}, "key 0x00000000: kind 200"},
	} {
		if got := c.fault.Error(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for k := NoKey; k <= Full; k++ {
		if k.String() == "" {
			t.Errorf("kind %d has no text", uint8(k))
		}
	}
}
