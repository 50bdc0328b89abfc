package capfile

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReader walks a file of 64 MiB in the page cache. It touches one byte
// of each packet.
func BenchmarkReader(b *testing.B) {
	for _, format := range []string{"pcap", "pcapng"} {
		for _, length := range []int{64, 1024} {
			data := pcapOf(64<<20/length, length)
			if format == "pcapng" {
				_, data = ngFile(b, 64<<20/length, length)
			}
			file := filepath.Join(b.TempDir(), "x."+format)
			if err := os.WriteFile(file, data, 0o600); err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("%s/%d", format, length), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				b.ReportAllocs()
				var sum, packets int
				for b.Loop() {
					packets += walk(b, file, &sum)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
			})
		}
	}
}

func walk(b *testing.B, file string, sum *int) (packets int) {
	r, err := Open(file)
	if err != nil {
		b.Fatal(err)
	}
	for {
		batch, err := r.Next()
		if err != nil {
			break
		}
		for i := range batch.Records {
			*sum += int(batch.Records[i].Data[0])
		}
		packets += len(batch.Records)
		batch.Release()
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
	return packets
}
