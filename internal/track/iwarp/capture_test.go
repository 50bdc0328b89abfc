package iwarp

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
)

// capture reads the TCP segments of a little-endian pcap file of Ethernet
// frames, tagged or not, with IPv4, which is all that the sample captures of iWARP need.
func capture(t testing.TB, file string) []Packet {
	t.Helper()
	packets := tcpPackets(t, file)
	if len(packets) == 0 {
		t.Fatalf("%s has no TCP segment", file)
	}
	return packets
}

// located finds a capture of the repository, or one of public/, which lies
// beside it.
func located(t testing.TB, file string) string {
	t.Helper()
	if strings.HasPrefix(file, "public/") {
		return filepath.Join(testneed.Shared(t), "captures", file)
	}
	return filepath.Join(testneed.Pcaps(t), file)
}

// tcpPackets is capture for files that may have no TCP.
func tcpPackets(t testing.TB, file string) []Packet {
	t.Helper()
	name := located(t, file)
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("sample capture: %v", err)
	}
	if strings.HasSuffix(name, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if raw, err = io.ReadAll(r); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var packets []Packet
	number := uint64(0)
	for raw = raw[24:]; len(raw) >= 16; {
		caplen := binary.LittleEndian.Uint32(raw[8:])
		number++
		if p, ok := tcpPacket(raw[16 : 16+caplen]); ok {
			p.Number = number
			packets = append(packets, p)
		}
		raw = raw[16+caplen:]
	}
	return packets
}

func tcpPacket(frame []byte) (Packet, bool) {
	link := 14
	if frame[12] == 0x81 && frame[13] == 0 {
		link += 4
	}
	if len(frame) < link+40 || frame[link-2] != 8 || frame[link-1] != 0 || frame[link+9] != 6 {
		return Packet{}, false
	}
	ip := frame[link:]
	headers := int(ip[0]&15) * 4
	total := int(binary.BigEndian.Uint16(ip[2:]))
	tcp := ip[headers:]
	headers += int(tcp[12]>>4) * 4
	addr := func(at int, port []byte) netip.AddrPort {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[at:at+4])), binary.BigEndian.Uint16(port))
	}
	return Packet{
		Src: addr(12, tcp), Dst: addr(16, tcp[2:]),
		Seq: binary.BigEndian.Uint32(tcp[4:]), Ack: binary.BigEndian.Uint32(tcp[8:]),
		Flags:   tcpstream.Flags(tcp[13]),
		Payload: ip[headers:min(total, len(ip))],
		WireLen: total - headers,
		Offset:  link + headers,
	}, true
}

// kept is a PDU that outlives the call that returned it, and the packet that
// completed it.
type kept struct {
	PDU
	in uint64
}

// keep copies what the tracker reuses.
func keep(pdus []*PDU, in uint64) []kept {
	var all []kept
	for _, p := range pdus {
		all = append(all, kept{PDU: *p.Clone(), in: in})
	}
	return all
}

// track runs packets through a new tracker, the flush included.
func track(packets []Packet) []kept {
	t := NewTracker(DefaultLimits())
	var all []kept
	for _, p := range packets {
		all = append(all, keep(t.Segment(p), p.Number)...)
	}
	return append(all, keep(t.Flush(), 0)...)
}
