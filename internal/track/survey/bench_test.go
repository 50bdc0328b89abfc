package survey

import (
	"encoding/binary"
	"testing"

	"github.com/rocecap/rocecap/internal/gencap"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// kept is the packets of a generated capture, as the tracker takes them.
type kept struct {
	facts Facts
	frame wire.Frame
	head  bool
	rest  []byte
}

// Write takes a classic pcap file as gencap writes it.
func (k *kept) Write(b []byte) (int, error) {
	const fileHeader, recordHeader = 24, 16
	k.rest = append(k.rest, b...)
	at := 0
	if !k.head {
		k.head, at = true, fileHeader
	}
	for len(k.rest) >= at+recordHeader {
		record := k.rest[at:]
		n := recordHeader + int(binary.LittleEndian.Uint32(record[8:]))
		if len(record) < n {
			break
		}
		time := int64(binary.LittleEndian.Uint32(record))*1e9 + int64(binary.LittleEndian.Uint32(record[4:]))
		k.frame.Parse(wire.LinkEthernet, record[recordHeader:n], n-recordHeader)
		k.facts.Read(&k.frame, Stamp{Number: k.facts.Counts.Seen + 1, Time: time})
		at += n
	}
	k.rest = append(k.rest[:0], k.rest[at:]...)
	return len(b), nil
}

// BenchmarkFollow follows packets that are in memory: what the one goroutine
// costs that no other can help.
func BenchmarkFollow(b *testing.B) {
	for name, o := range map[string]gencap.Options{
		"1KiB":   {Packets: 200_000, Payload: 1024, Message: 32, QPs: 16},
		"16B":    {Packets: 200_000, Payload: 16, Message: 1, QPs: 16},
		"4QPs":   {Packets: 200_000, Payload: 16, Message: 1, QPs: 4},
		"16kQPs": {Packets: 500_000, Payload: 16, Message: 1, QPs: 16000},
	} {
		b.Run(name, func(b *testing.B) {
			var k kept
			if err := gencap.Write(&k, o); err != nil {
				b.Fatal(err)
			}
			packets := k.facts.Packets
			b.ReportAllocs()
			for b.Loop() {
				track := conversation.NewTracker(conversation.DefaultLimits())
				for i := range packets {
					track.Packet(&packets[i])
				}
				track.Finish()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(packets)), "ns/packet")
		})
	}
}
