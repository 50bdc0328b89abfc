package capfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

func TestPcapFormsAreRead(t *testing.T) {
	want := []Record{
		{
			Data: []byte{0xaa, 0xbb, 0xcc}, WireLen: 60, Time: 1_000_000_002_000, HasTime: true,
			Offset: 24, Interface: -1, Link: 1, FCSLen: -1,
		},
		{
			Data: []byte{}, WireLen: 0, Time: 1_001_000_000_000, HasTime: true,
			Offset: 43, Interface: -1, Link: 1, FCSLen: -1,
		},
	}
	for _, c := range []struct {
		name   string
		format Format
		file   string
		gap    int64 // by how much the record headers are longer
	}{
		{"micro, little-endian", Pcap, `
			d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000
			e8030000 02000000 03000000 3c000000 aabbcc
			e9030000 00000000 00000000 00000000`, 0},
		{"micro, big-endian", Pcap, `
			a1b2c3d4 0002 0004 00000000 00000000 0000ffff 00000001
			000003e8 00000002 00000003 0000003c aabbcc
			000003e9 00000000 00000000 00000000`, 0},
		{"nano, little-endian", PcapNano, `
			4d3cb2a1 0200 0400 00000000 00000000 00000000 01000000 # snaplen 0
			e8030000 d0070000 03000000 3c000000 aabbcc
			e9030000 00000000 00000000 00000000`, 0},
		{"nano, big-endian", PcapNano, `
			a1b23c4d 0002 0004 00000000 00000000 ffffffff 00000001 # snaplen 4 GiB
			000003e8 000007d0 00000003 0000003c aabbcc
			000003e9 00000000 00000000 00000000`, 0},
		{"modified, little-endian", PcapModified, `
			34cdb2a1 0200 0400 00000000 00000000 ffff0000 01000000
			e8030000 02000000 03000000 3c000000 07000000 0800 00 00 aabbcc
			e9030000 00000000 00000000 00000000 07000000 0800 00 00`, 8},
		{"modified, big-endian", PcapModified, `
			a1b2cd34 0002 0004 00000000 00000000 0000ffff 00000001
			000003e8 00000002 00000003 0000003c 00000007 0008 00 00 aabbcc
			000003e9 00000000 00000000 00000000 00000007 0008 00 00`, 8},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, got := mustParse(t, unhex(t, c.file))
			if r.Format() != c.format {
				t.Errorf("format is %v, want %v", r.Format(), c.format)
			}
			for i := range got {
				got[i].Offset -= int64(i) * c.gap
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("records differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPcapLinkTypeFieldIsTakenApart(t *testing.T) {
	for _, c := range []struct {
		name, field string
		link        wire.LinkType
		fcs         int8
	}{
		{"plain", "01000000", 1, -1},
		{"above 255 (SLL2)", "14010000", 276, -1},
		{"FCS of two 16-bit words", "01000024", 1, 4},
		{"FCS length without the P bit", "01000020", 1, -1},
		{"FCS length 0 is said", "01000004", 1, 0},
		{"reserved bits are ignored", "f700ff01", 247, -1},
	} {
		file := unhex(t, "d4c3b2a1 0200 0400 00000000 00000000 ffff0000"+c.field+
			"00000000 00000000 01000000 01000000 55")
		r, got := mustParse(t, file)
		if got[0].Link != c.link || got[0].FCSLen != c.fcs {
			t.Errorf("%s: link type %d, FCS %d; want %d, %d", c.name, got[0].Link, got[0].FCSLen, c.link, c.fcs)
		}
		if i := r.Interfaces()[0]; i.Link != c.link || i.FCSLen != c.fcs {
			t.Errorf("%s: the interface has link type %d, FCS %d", c.name, i.Link, i.FCSLen)
		}
	}
}

func TestPcapCapturedLengthAboveWireLengthIsAccepted(t *testing.T) {
	_, got := mustParse(t, unhex(t, `
		d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000
		00000000 00000000 03000000 01000000 aabbcc`))
	if len(got[0].Data) != 3 || got[0].WireLen != 3 {
		t.Errorf("%d bytes captured of %d, want 3 of 3", len(got[0].Data), got[0].WireLen)
	}
}

func TestPcapRecordOfERFHasTheTimeOfTheCard(t *testing.T) {
	_, got := mustParse(t, unhex(t, `
		d4c3b2a1 0200 0400 00000000 00000000 ffff0000 c5000000
		ef412b48 ed9f0700 12000000 12000000
		60eaeb7f ef412b48 15 05 0018 0000 0002 f002`))
	if want := int64(1_210_794_479_499_693_535); got[0].Time != want {
		t.Errorf("time is %d, want %d", got[0].Time, want)
	}
}

func TestPcapFaultsNameRecordAndOffset(t *testing.T) {
	const head = "d4c3b2a1 0200 0400 00000000 00000000 ffff0000 01000000"
	const good = "00000000 00000000 01000000 01000000 55"
	for _, c := range []struct {
		name, file string
		records    int
		class      error
		text       string
	}{
		{
			"record header cut", head + good + "0000000000", 1, ErrTruncated,
			"test: record 2 at byte 41: the record header is cut after 5 of 16 bytes",
		},
		{
			"data cut", head + good + "00000000 00000000 40420f00 40420f00 0102030405", 1, ErrTruncated,
			"test: record 2 at byte 41: captured length 1000000 exceeds the 5 bytes left",
		},
		{
			"length that is not believed", head + "00000000 00000000 00000010 00000010", 0, ErrFormat,
			"test: record 1 at byte 24: captured length 268435456 exceeds the limit of 16777216",
		},
		{
			"length with the top bit", head + good + good + "00000000 00000000 ffffffff ffffffff", 2, ErrFormat,
			"test: record 3 at byte 58: captured length 4294967295 exceeds the limit of 16777216",
		},
		{
			"file header cut", "d4c3b2a1 0200 0400", 0, ErrTruncated,
			"test: record 1 at byte 0: the file ends after 8 bytes, inside its header",
		},
		{
			"magic cut", "d4c3b2", 0, ErrTruncated,
			"test: record 1 at byte 0: the file ends after 3 bytes, inside its header",
		},
		{"empty", "", 0, ErrTruncated, "test: record 1 at byte 0: the file is empty"},
		{
			"old version", "d4c3b2a1 0200 0200 00000000 00000000 ffff0000 01000000", 0, ErrFormat,
			"test: record 1 at byte 0: pcap version 2.2 is not supported, only 2.4 is",
		},
		{
			"unknown magic", "7f454c46 02010100 00000000 00000000 00000000", 0, ErrFormat,
			"test: record 1 at byte 0: not a capture file: it begins with 7f 45 4c 46 02 01 01 00",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(unhex(t, c.file))
			if len(got) != c.records {
				t.Errorf("%d records, want %d", len(got), c.records)
			}
			wantFault(t, err, c.class, c.text)
		})
	}
}
