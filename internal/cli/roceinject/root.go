// Package roceinject is the command line of the injector.
package roceinject

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/cli"
)

// The exit codes.
const (
	exitOK    = 0
	exitError = 2 // usage, file or network error
)

// Main runs the program and returns its exit code.
func Main(args []string, s cli.Streams) int {
	root := newRoot(s)
	root.SetArgs(args)
	if err := root.Execute(); err != nil {
		fmt.Fprintf(s.Err, "roceinject: %v\n", err)
		return exitError
	}
	return exitOK
}

func newRoot(s cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "roceinject",
		Short: "Craft RDMA packets: any header, any field, right or wrong on purpose",
		Long: `roceinject makes packets of RoCEv1, RoCEv2 and native InfiniBand. Every field has
a right default and can be set to anything; lengths, pad, checksums and ICRC
follow, unless they are told not to.`,
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.AddCommand(newCraft(s))
	return root
}
