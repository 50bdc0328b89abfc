package rocecap_test

import (
	"os"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/lab"
)

// asProgram makes the test's executable the program itself, for tests that kill
// it, limit it, or run it in the lab.
const asProgram = "ROCECAP_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		os.Exit(rocecap.Main(os.Args[1:], cli.OSStreams()))
	}
	lab.Main(m)
}
