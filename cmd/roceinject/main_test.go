package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/clitest"
	"github.com/rocecap/rocecap/internal/cli/rocecap"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"roceinject": main,
		"rocecap":    func() { os.Exit(rocecap.Main(os.Args[1:], cli.OSStreams())) },
	})
}

// TestScripts runs the program as its users do: testdata/*.txtar are sessions.
// What the program writes, rocecap reads.
func TestScripts(t *testing.T) { clitest.Run(t) }
