package rocecap

import "github.com/rocecap/rocecap/internal/cli"

// Streams are what the program talks through; tests give their own.
type Streams = cli.Streams
