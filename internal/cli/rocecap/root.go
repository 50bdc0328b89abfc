// Package rocecap is the command line of the analyzer.
package rocecap

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
)

// The exit codes.
const (
	exitOK    = 0
	exitFound = 1 // the command found what it looks for: a wrong ICRC
	exitError = 2 // usage, file or capture error
)

// errFound makes the program exit with exitFound; it is no message.
var errFound = errors.New("found")

// Main runs the program and returns its exit code.
func Main(args []string, s Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	switch err := root.Execute(); {
	case err == nil:
		return exitOK
	case errors.Is(err, errFound):
		return exitFound
	default:
		fmt.Fprintf(s.Err, "rocecap: %v\n", err)
		return exitError
	}
}

func newRoot(s Streams) *cobra.Command {
	root := cli.NewRoot(s, "rocecap", "Decode and explain RDMA traffic: RoCEv1, RoCEv2, InfiniBand, iWARP",
		`rocecap reads captures of RDMA traffic and says what every packet is, to the
last bit, with a verdict on its ICRC. It reads pcap, pcapng, ERF and Sniffer
files, plain, gzip or zstd, and takes filters and field names as tshark does.`)
	root.AddCommand(newDecode(s), newAnalyze(s), newFlow(s), newExplain(s), newICRC(s), newRecord(s), newLive(s), newInterfaces(s), newFields(s), newOpcodes(s))
	return root
}
