package capfile

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	snifferVers = `
		0100 1200 0000       # version record of 18 bytes
		0400 0000 0000 3e38  # version 4.0, time, 2008-01-30
		04 01 01 01 00 00 00000000 # frame records, Ethernet, uncompressed, 0.838096 us`
	snifferOne = `
		0400 1200 0000       # frame record of 18 bytes
		5ec7 a96e 0a 00      # time, day 0
		0400 00 00 4000 0000 # 4 bytes captured of 64
		0180c200`
	snifferLast = `0300 0000 0000`
)

func sniffer(t testing.TB, records string) []byte {
	t.Helper()
	return append([]byte(snifferMagic), unhex(t, records)...)
}

func TestSnifferFileIsRead(t *testing.T) {
	file := sniffer(t, snifferVers+snifferOne+snifferLast+"0400 0000 0000 00")
	r, got := mustParse(t, file)
	if r.Format() != Sniffer {
		t.Errorf("format %v", r.Format())
	}
	want := []Record{{
		Data: file[61:65], WireLen: 64, HasTime: true, Offset: 41, Interface: -1, Link: wire.LinkEthernet, FCSLen: -1,
		Time: time.Date(2008, 1, 30, 10, 25, 51, 975_224_756, time.UTC).UnixNano(), // as tshark reads it
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
}

func TestSnifferFaults(t *testing.T) {
	for _, c := range []struct {
		name, records string
		class         error
		text          string
	}{
		{"cut", snifferVers + "\n0400 1200 0000 5ec7", ErrTruncated, "record 1 at byte 41: the record is cut after 8 bytes"},
		{"no version", snifferOne, ErrFormat, "record 1 at byte 17: a frame before the version record"},
		{
			"long", snifferVers + "\n0400 0e00 0000 5ec7a96e0a00 0400 0000 0000 0000", ErrFormat,
			"record 1 at byte 41: captured length 4 exceeds the 0 bytes of the record",
		},
		{"token ring", "0100 1200 0000 0400 0000 0000 3e38 04 00 01 01 00 00 00000000", ErrFormat, "record 1 at byte 17: Sniffer network type 0 is not Ethernet"},
		{"compressed", "0100 1200 0000 0400 0000 0000 3e38 04 01 02 01 00 00 00000000", ErrFormat, "record 1 at byte 17: compressed Sniffer files are not read"},
		{"unit", "0100 1200 0000 0400 0000 0000 3e38 04 01 01 09 00 00 00000000", ErrFormat, "record 1 at byte 17: unknown Sniffer time unit 9"},
		{"short version", "0100 0100 0000 04", ErrFormat, "record 1 at byte 17: the version record has 1 bytes of 18"},
		{"short frame", snifferVers + "\n0400 0100 0000 04", ErrFormat, "record 1 at byte 41: the frame record has 1 bytes of 14"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := parse(sniffer(t, c.records))
			wantFault(t, err, c.class, "test: "+c.text)
		})
	}
}
