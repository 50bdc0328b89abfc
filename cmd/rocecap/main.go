// Command rocecap decodes and explains RDMA traffic.
package main

import (
	"os"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/rocecap"
)

func main() {
	os.Exit(rocecap.Main(os.Args[1:], cli.OSStreams()))
}
