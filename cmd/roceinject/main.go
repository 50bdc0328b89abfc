// Command roceinject crafts and injects RDMA traffic.
package main

import (
	"os"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
)

func main() {
	os.Exit(roceinject.Main(os.Args[1:], cli.OSStreams()))
}
