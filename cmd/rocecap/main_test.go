package main

import (
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/rocecap/rocecap/internal/cli/clitest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"rocecap": main})
}

// TestScripts runs the program as its users do: testdata/*.txtar are sessions.
func TestScripts(t *testing.T) { clitest.Run(t) }
