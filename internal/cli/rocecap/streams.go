package rocecap

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Streams are what the program talks through; tests give their own.
type Streams struct {
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
	NoColour       bool
	ForceColour    bool
}

// OSStreams returns the process's own streams.
func OSStreams() Streams {
	return Streams{
		Out: os.Stdout, Err: os.Stderr,
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		NoColour:    os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		ForceColour: os.Getenv("CLICOLOR_FORCE") != "" && os.Getenv("CLICOLOR_FORCE") != "0",
	}
}

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
