package capfile

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// An InfiniBand record of 6 bytes on the wire and 2 that align.
	erfIB = `00000080 01000000 # 1.5 s
		15 05 0018 # type 21, flags, record length 24
		0000 0006  # loss counter, wire length
		f00200010002 ffff`
	// An Ethernet record with an extension header, cut to 4 of 60 bytes.
	erfEth = `00000000 02000000
		82 05 001e 0000 003c
		03 00000000000000 # extension header, the last
		0000 11223344`
	erfPadding = `00000000 02000000 30 00 0010 0000 0000`
	// A type whose framing is not known: no byte is left out.
	erfOther = `00000000 03000000 01 00 0014 0000 0002 ff030021`
)

func TestERFRecordsAreReadAsInPcap(t *testing.T) {
	file := unhex(t, erfIB+"\n"+erfEth+"\n"+erfPadding+"\n"+erfOther)
	r, got := mustParse(t, file)
	if r.Format() != ERF || r.Interfaces()[0].Link != wire.LinkERF {
		t.Errorf("format %v, interfaces %+v", r.Format(), r.Interfaces())
	}
	want := []Record{
		{Data: file[:22], WireLen: 22, Time: 1_500_000_000, Offset: 0},
		{Data: file[24:54], WireLen: 16 + 8 + 2 + 60, Time: 2_000_000_000, Offset: 24},
		{Data: file[70:90], WireLen: 20, Time: 3_000_000_000, Offset: 70},
	}
	for i := range want {
		want[i].HasTime, want[i].Interface, want[i].Link, want[i].FCSLen = true, -1, wire.LinkERF, -1
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
}

func TestERFFaults(t *testing.T) {
	for _, c := range []struct {
		name, file string
		records    int
		text       string
	}{
		{
			"header cut", erfIB + "\n0000", 1,
			"test: record 2 at byte 24: the record header is cut after 2 of 16 bytes",
		},
		{
			"data cut", erfIB + "\n00000080 01000000 15 05 0118 0000 0006 ff", 1,
			"test: record 2 at byte 24: record length 280 exceeds the 17 bytes left",
		},
	} {
		got, err := parse(unhex(t, c.file))
		if len(got) != c.records {
			t.Errorf("%s: %d records, want %d", c.name, len(got), c.records)
		}
		wantFault(t, err, ErrTruncated, c.text)
	}
}

func TestERFLengthBelowItsHeaderIsAFault(t *testing.T) {
	file := ""
	for range erfEnough {
		file += erfIB + "\n"
	}
	got, err := parse(unhex(t, file+"00000080 01000000 15 05 000f 0000 0006"))
	if len(got) != erfEnough {
		t.Errorf("%d records, want %d", len(got), erfEnough)
	}
	wantFault(t, err, ErrFormat,
		"test: record 9 at byte 192: record length 15 is less than the 16 bytes of its header")
}

func TestOtherFilesAreNotTakenForERF(t *testing.T) {
	zeros := make([]byte, 4096)
	for name, data := range map[string][]byte{
		"zeros":        zeros,
		"text":         []byte("# Captures\n\nLinux 6.12.117 rxe and siw in two guests of peerlab, rdma-core 56, perftest\n"),
		"no type":      unhex(t, "00000080 01000000 00 05 0018 0000 0006 f00200010002 ffff"),
		"unknown type": unhex(t, "00000080 01000000 1c 05 0018 0000 0006 f00200010002 ffff"),
		"short record": unhex(t, "00000080 01000000 15 05 0008 0000 0006 f00200010002 ffff"),
		"leap in time": unhex(t, erfIB+"\n00000080 00100000 15 05 0018 0000 0006 f00200010002 ffff"+
			"00000080 01001000 15 05 0018 0000 0006 f00200010002 ffff"),
		"nothing whole": unhex(t, "00000080 01000000 15 05 0018 0000 0006 f00200"),
	} {
		if _, err := parse(data); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: error is %v, want ErrFormat", name, err)
		}
	}
}
