// Package roceinject is the command line of the injector.
package roceinject

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
)

// The exit codes.
const (
	exitOK        = 0
	exitDifferent = 1 // replay --react: the peer did not do what was recorded
	exitError     = 2 // usage, file or network error
)

// Main runs the program and returns its exit code.
func Main(args []string, s cli.Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(s.Err, "roceinject: %v\n", err)
		if errors.Is(err, errDifferent) {
			return exitDifferent
		}
		return exitError
	}
	return exitOK
}

// words is how many arguments a command takes; ask says what is missing.
func words(least, most int, ask string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return errors.New(ask)
		case len(args) > most:
			return fmt.Errorf("%q is one word too many", args[most])
		}
		return nil
	}
}

func newRoot(s cli.Streams) *cobra.Command {
	root := cli.NewRoot(s, "roceinject", "Make RDMA packets and speak RDMA, right or wrong on purpose",
		`roceinject makes packets of RoCEv1, RoCEv2, native InfiniBand and iWARP. Every
field has a right default and can be set to anything; lengths, pad, checksums and
CRCs follow, unless they are told not to. It sends them, replays and disturbs
conversations, and is itself either end of the RDMA programs that everybody has.`)
	root.AddCommand(newCraft(s), newSend(s), newBridge(s), newReplay(s), newPeer(s))
	return root
}
