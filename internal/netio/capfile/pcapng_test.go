package capfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

const (
	// Section of unknown length, little-endian.
	ngSHB = `0a0d0d0a 1c000000 4d3c2b1a 0100 0000 ffffffffffffffff 1c000000
		`
	// Interface of link type 276, snapshot length 8, default resolution.
	ngIDB = `01000000 14000000 1401 0000 08000000 14000000
		`
	// One packet of 1 byte at 1 us.
	ngEPB = `06000000 24000000 00000000 00000000 01000000 01000000 01000000 55000000 24000000
		`
)

// ngBlockOf frames a body, little-endian.
func ngBlockOf(kind uint32, body []byte) []byte {
	total := uint32(len(body)+3)&^3 + ngFrameLen
	b := binary.LittleEndian.AppendUint32(nil, kind)
	b = binary.LittleEndian.AppendUint32(b, total)
	b = append(b, body...)
	b = append(b, make([]byte, int(total)-ngTrailerLen-len(b))...)
	return binary.LittleEndian.AppendUint32(b, total)
}

func TestPcapNGBlocksAreRead(t *testing.T) {
	file := unhex(t, ngSHB+ngIDB+`
		04000000 10000000 00000000 10000000 # name resolution, passed over
		0a000000 14000000 4b53535454455354 14000000 # secrets
		06000000 44000000 # enhanced packet
			00000000 00000000 e8030000 05000000 40000000 # interface 0, 1000 us, 5 of 64
			0102030405 000000
			0200 0400 80000000 # flags: FCS of 4 bytes
			0100 0200 6869 0000 # comment
			0100 0300 796f75 00 # another
			0000 0000
			44000000
		02000000 24000000 # obsolete packet: interface 0, 7 dropped, 2000 us
			0000 0700 00000000 d0070000 01000000 01000000 aa000000 24000000
		03000000 18000000 40000000 0102030405060708 18000000 # simple: 8 of 64 by the snaplen
		ad0b0000 10000000 00000000 10000000 # custom
		efbeadde 10000000 00000000 10000000 # unknown
		05000000 40000000 00000000 00000000 d0070000 # statistics
			0200 0800 00000000 e8030000 # start
			0400 0800 0300000000000000 # received
			0500 0800 0100000000000000 # dropped
			0000 0000 40000000`)
	r, got := mustParse(t, file)
	want := []Record{
		{Data: []byte{1, 2, 3, 4, 5}, WireLen: 64, Time: 1_000_000, HasTime: true, Offset: 84, FCSLen: 4, Comment: "hi\nyou"},
		{Data: []byte{0xaa}, WireLen: 1, Time: 2_000_000, HasTime: true, Offset: 152, FCSLen: -1},
		{Data: []byte{1, 2, 3, 4, 5, 6, 7, 8}, WireLen: 64, Offset: 188, FCSLen: -1},
	}
	for i := range want {
		want[i].Link = wire.LinkSLL2
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
	wantIface := []Interface{{
		Link: wire.LinkSLL2, SnapLen: 8, TSResol: 6, FCSLen: -1,
		Stats: Statistics{Received: Count(3), Dropped: Count(1), Start: 1_000_000},
	}}
	if diff := cmp.Diff(wantIface, r.Interfaces()); diff != "" {
		t.Errorf("interfaces differ (-want +got):\n%s", diff)
	}
}

func TestPcapNGInterfaceOptionsAreRead(t *testing.T) {
	r, got := mustParse(t, unhex(t, ngSHB+`
		01000000 7c000000 f700 0000 00000000
			0100 0200 686f 0000             # comment
			0200 0500 65746830 00 000000    # name, NUL at the end
			0300 0400 706f7274              # description
			0800 0800 00e40b5402000000      # speed 10^10
			0900 0100 9e 000000             # resolution 2^-30
			0b00 0400 00756470              # filter "udp"
			0c00 0300 6c6e78 00             # OS
			0d00 0100 04 000000             # FCS
			0e00 0800 0100000000000000      # offset 1 s
			0f00 0200 6378 0000             # hardware
			6300 0100 00 000000             # an unknown option
			0000 0000
			7c000000
		06000000 20000000 00000000 00000000 00000060 00000000 00000000 20000000 # 1.5 s`))
	want := []Interface{{
		Name: "eth0", Description: "port", Filter: "udp", Hardware: "cx", OS: "lnx", Comment: "ho",
		Link: wire.LinkIB, TSResol: 0x80 | 30, TSOffset: 1, Speed: 10_000_000_000, FCSLen: 4,
	}}
	if diff := cmp.Diff(want, r.Interfaces()); diff != "" {
		t.Errorf("interfaces differ (-want +got):\n%s", diff)
	}
	if got[0].Time != 2_500_000_000 || got[0].FCSLen != 4 || got[0].Link != wire.LinkIB {
		t.Errorf("record is %+v, want time 2.5 s, FCS 4, link type 247", got[0])
	}
}

func TestPcapNGSectionsHaveTheirOwnByteOrderAndInterfaces(t *testing.T) {
	r, got := mustParse(t, unhex(t, ngSHB+ngIDB+ngIDB+ngEPB+`
		0a0d0d0a 0000001c 1a2b3c4d 0001 0000 ffffffffffffffff 0000001c # big-endian
		00000001 0000001c 0001 0000 00000000 0009 0001 09 000000 0000001c # Ethernet, ns
		00000006 00000024 00000000 00000000 00000001 00000001 00000002 66000000 00000024
		00000005 00000024 00000000 00000000 00000002 0005 0008 00000000 00000009 00000024
		`+ngSHB+ngIDB+ngEPB))
	if r.Sections() != 3 {
		t.Errorf("%d sections, want 3", r.Sections())
	}
	type summary struct {
		Interface int32
		Link      wire.LinkType
		Time      int64
		WireLen   int
	}
	var sums []summary
	for _, rec := range got {
		sums = append(sums, summary{rec.Interface, rec.Link, rec.Time, rec.WireLen})
	}
	want := []summary{{0, 276, 1000, 1}, {2, 1, 1, 2}, {3, 276, 1000, 1}}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
	interfaces := r.Interfaces()
	for i, section := range []int{0, 0, 1, 2} {
		if interfaces[i].Section != section {
			t.Errorf("interface %d is in section %d, want %d", i, interfaces[i].Section, section)
		}
	}
	if got := interfaces[2].Stats.Dropped; got != Count(9) {
		t.Errorf("big-endian drop counter is %+v, want 9", got)
	}
}

func TestPcapNGFaults(t *testing.T) {
	const lead = ngSHB + ngIDB + ngEPB // 28 + 20 + 36 = 84 bytes
	for _, c := range []struct {
		name, file string
		records    int
		class      error
		text       string
	}{
		{
			"captured length beyond the block", lead + `
			06000000 24000000 00000000 00000000 01000000 00000010 01000000 55000000 24000000`,
			1, ErrFormat, "record 2 at byte 84: captured length 268435456 exceeds the limit of 16777216",
		},
		{
			"captured length beyond the block, small", lead + `
			06000000 24000000 00000000 00000000 01000000 05000000 01000000 55000000 24000000`,
			1, ErrFormat, "record 2 at byte 84: captured length 5 exceeds the 4 bytes left in its block",
		},
		{
			"block beyond the file", lead + `
			06000000 64000000 00000000 00000000 01000000 40000000 40000000 55000000`,
			1, ErrTruncated, "record 2 at byte 84: captured length 64 exceeds the 4 bytes left",
		},
		{
			"block of 256 MiB", lead + "06000000 00000010 00000000 00000000",
			1, ErrFormat, "record 2 at byte 84: block length 268435456 exceeds the limit of 17825792",
		},
		{
			"passed-over block of 4 GiB", lead + "ad0b0000 fcffffff 00000000 00000000",
			1, ErrTruncated, "record 2 at byte 84: block length 4294967292 exceeds the 16 bytes left",
		},
		{
			"block header cut", lead + "06000000 640000",
			1, ErrTruncated, "record 2 at byte 84: the block header is cut after 7 of 12 bytes",
		},
		{
			"length no multiple of 4", lead + "ad0b0000 0d000000 00000000",
			1, ErrFormat, "record 2 at byte 84: block of type 0xbad has the impossible length 13",
		},
		{
			"length below the fixed fields", lead + "06000000 1c000000 00000000",
			1, ErrFormat, "record 2 at byte 84: block of type 0x6 has the impossible length 28",
		},
		{
			"length 0", lead + "06000000 00000000 00000000",
			1, ErrFormat, "record 2 at byte 84: block of type 0x6 has the impossible length 0",
		},
		{
			"trailing length differs", ngSHB + ngIDB + strings.TrimSpace(ngEPB)[:len(strings.TrimSpace(ngEPB))-8] + "28000000",
			0, ErrFormat, "record 1 at byte 48: block length is 36 at its start and 40 at its end",
		},
		{
			"trailing length of a passed-over block differs", lead + "ad0b0000 10000000 00000000 14000000",
			1, ErrFormat, "record 2 at byte 84: block length is 16 at its start and 20 at its end",
		},
		{
			"interface not described", ngSHB + ngEPB,
			0, ErrFormat, "record 1 at byte 28: interface 0 is not described, the section has 0 so far",
		},
		{
			"interface of an earlier section", lead + ngSHB + ngEPB,
			1, ErrFormat, "record 2 at byte 112: interface 0 is not described, the section has 0 so far",
		},
		{
			"simple packet without interface", ngSHB + "03000000 10000000 00000000 10000000",
			0, ErrFormat, "record 1 at byte 28: interface 0 is not described, the section has 0 so far",
		},
		{
			"simple packet longer than its block", ngSHB + ngIDB + "03000000 14000000 40000000 01020304 14000000",
			0, ErrFormat, "record 1 at byte 48: captured length 8 exceeds the 4 bytes left in its block",
		},
		{
			"if_tsresol without value", ngSHB + "01000000 18000000 0100 0000 00000000 0900 0000 18000000",
			0, ErrFormat, "record 1 at byte 28: option 9 of the interface description has the impossible length 0",
		},
		{
			"if_tsoffset too short", ngSHB + "01000000 1c000000 0100 0000 00000000 0e00 0400 00000000 1c000000",
			0, ErrFormat, "record 1 at byte 28: option 14 of the interface description has the impossible length 4",
		},
		{
			"option beyond the block", ngSHB + "01000000 1c000000 0100 0000 00000000 0200 ffff 00000000 1c000000",
			0, ErrFormat, "record 1 at byte 28: an option of the interface description exceeds the 8 bytes left in its block",
		},
		{
			"no byte-order magic", "0a0d0d0a 1c000000 4d3c2b1b 0100 0000 ffffffffffffffff 1c000000",
			0, ErrFormat, "record 1 at byte 0: section header without the byte-order magic, but 4d 3c 2b 1b",
		},
		{
			"version 2", "0a0d0d0a 1c000000 4d3c2b1a 0200 0000 ffffffffffffffff 1c000000",
			0, ErrFormat, "record 1 at byte 0: pcapng version 2.0 is not supported, only 1 is",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := parse(unhex(t, c.file))
			if len(got) != c.records {
				t.Errorf("%d records, want %d", len(got), c.records)
			}
			wantFault(t, err, c.class, "test: "+c.text)
		})
	}
}

func TestPcapNGDamagedOptionsOfAPacketDoNotLoseIt(t *testing.T) {
	for name, options := range map[string]string{
		"value beyond the block": "0100 ff00 61626364",
		"value one byte beyond":  "0100 0500 61626364",
		"flags too short":        "0200 0200 ffff0000",
		"half a header":          "0100", // padded with zeros by the block
	} {
		body := unhex(t, "00000000 00000000 01000000 04000000 04000000 55555555"+options)
		_, got := mustParse(t, append(unhex(t, ngSHB+ngIDB), ngBlockOf(ngBlockEnhanced, body)...))
		if len(got) != 1 || got[0].Comment != "" || got[0].FCSLen != -1 {
			t.Errorf("%s: got %+v", name, got)
		}
	}
}

func TestPcapNGInterfacesAreBounded(t *testing.T) {
	file := unhex(t, ngSHB)
	idb := unhex(t, ngIDB)
	for range maxInterfaces + 1 {
		file = append(file, idb...)
	}
	_, err := parse(file)
	wantFault(t, err, ErrFormat, fmt.Sprintf("test: record 1 at byte %d: more than %d interfaces",
		28+20*maxInterfaces, maxInterfaces))
}

func TestPcapNGLongBlocksArePassedOver(t *testing.T) {
	long := ngBlockOf(0xbad, make([]byte, 3*blockSize))
	file := append(unhex(t, ngSHB+ngIDB+ngEPB), long...)
	file = append(file, unhex(t, ngEPB)...)
	_, got := mustParse(t, file)
	if len(got) != 2 || got[1].Offset != int64(84+len(long)) {
		t.Errorf("got %d records, want 2 around the long block", len(got))
	}
	if _, err := parse(file[:84+blockSize]); !errors.Is(err, ErrTruncated) {
		t.Errorf("cut inside the long block: error is %v, want ErrTruncated", err)
	}
}
