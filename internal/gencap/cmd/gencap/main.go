// Command gencap writes a synthetic RoCEv2 capture.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/rocecap/rocecap/internal/gencap"
)

func main() {
	o := gencap.Options{}
	flag.IntVar(&o.Packets, "n", 1000, "number of packets")
	flag.IntVar(&o.Payload, "size", 1024, "payload bytes of each data packet")
	flag.IntVar(&o.Message, "message", 0, "packets of a message; 1 makes SENDs, more make RDMA WRITEs (default 32 for a payload of 1024 and more, else 1)")
	flag.IntVar(&o.QPs, "qps", 16, "number of queue pairs")
	flag.IntVar(&o.Life, "life", 0, "messages of a queue pair before another takes its place (default no end)")
	flag.BoolVar(&o.IPv6, "ipv6", false, "IPv6 instead of IPv4")
	flag.Uint64Var(&o.Seed, "seed", 1, "seed of the random choices")
	out := flag.String("o", "", "file to write (required)")
	flag.Parse()
	if *out == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if o.Message == 0 {
		o.Message = 1
		if o.Payload >= 1024 {
			o.Message = 32
		}
	}
	if err := write(*out, o); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(name string, o gencap.Options) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	if err := gencap.Write(f, o); err != nil {
		f.Close()
		return err
	}
	return f.Close()
}
