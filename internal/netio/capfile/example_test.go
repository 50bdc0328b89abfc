package capfile_test

import (
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// Write a compressed pcapng file and read it back.
func Example() {
	dir, err := os.MkdirTemp("", "capfile")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "two.pcapng.zst")

	w, err := capfile.Create(name, capfile.Interface{Name: "eth0", Link: wire.LinkEthernet})
	if err != nil {
		log.Fatal(err)
	}
	for i := range 2 {
		rec := capfile.Record{
			Data: make([]byte, 60+i), Time: 1_700_000_000_000_000_001, HasTime: true,
			Link: wire.LinkEthernet, Comment: fmt.Sprintf("packet %d", i+1),
		}
		if err := w.Write(&rec); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}

	r, err := capfile.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for i, rec := range batch.Records {
			fmt.Println(batch.First+int64(i), rec.Time, rec.WireLen, r.Interfaces()[rec.Interface].Name, rec.Comment)
		}
		batch.Release()
	}
	fmt.Println(r.Format(), r.Compression())
	// Output:
	// 1 1700000000000000001 60 eth0 packet 1
	// 2 1700000000000000001 61 eth0 packet 2
	// pcapng zstd
}
