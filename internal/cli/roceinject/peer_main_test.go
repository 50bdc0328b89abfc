package roceinject

import "github.com/rocecap/rocecap/internal/cli"

// runPeer runs `roceinject peer` and returns its error.
func runPeer(args []string, s cli.Streams) error {
	root := newRoot(s)
	root.SetArgs(append([]string{"peer"}, args...))
	return root.Execute()
}

// RunPeer is runPeer for the lab tests.
var RunPeer = runPeer
