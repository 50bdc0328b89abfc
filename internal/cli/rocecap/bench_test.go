package rocecap

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/gencap"
)

// BenchmarkMain runs whole commands over generated captures, as scripts/bench.sh
// does from outside. scripts/pgo.sh takes the compiler's profile from it.
func BenchmarkMain(b *testing.B) {
	for _, capture := range []struct {
		name             string
		packets, payload int
	}{{"1KiB", 50_000, 1024}, {"16B", 200_000, 16}} {
		file := generate(b, capture.packets, capture.payload)
		size, err := os.Stat(file)
		if err != nil {
			b.Fatal(err)
		}
		for _, command := range []struct {
			name string
			args []string
		}{
			{"line", []string{"decode", file}},
			{"fields", []string{"decode", "-T", "fields", "-e", "infiniband.bth.opcode", "-e", "infiniband.bth.psn", file}},
			{"filter", []string{"decode", "-Y", "infiniband.bth.psn == 0x10 && ip.src == 192.0.2.0/24 && !(infiniband.aeth)", file}},
			{"icrc", []string{"icrc", file}},
			{"analyze", []string{"analyze", file}},
			{"json", []string{"decode", "-T", "json", "-c", "20000", file}},
			{"tree", []string{"decode", "-V", "-c", "20000", file}},
		} {
			b.Run(capture.name+"/"+command.name, func(b *testing.B) {
				b.SetBytes(size.Size())
				for b.Loop() {
					if code := Main(command.args, Streams{Out: io.Discard, Err: os.Stderr}); code != exitOK {
						b.Fatalf("exit code %d", code)
					}
				}
			})
		}
	}
}

func generate(b *testing.B, packets, payload int) string {
	b.Helper()
	name := filepath.Join(b.TempDir(), "bench.pcap")
	f, err := os.Create(name)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	if err := gencap.Write(f, gencap.Options{Packets: packets, Payload: payload, Message: 1, QPs: 64}); err != nil {
		b.Fatal(err)
	}
	return name
}
