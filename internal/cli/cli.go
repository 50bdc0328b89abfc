// Package cli holds what the command lines share.
package cli

import (
	"io"
	"os"

	"github.com/mattn/go-isatty"
)

// Streams are what a program talks through; tests give their own.
type Streams struct {
	In             io.Reader
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
	NoColour       bool
	ForceColour    bool
}

// OSStreams returns the process's own streams.
func OSStreams() Streams {
	force := os.Getenv("CLICOLOR_FORCE")
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		NoColour:    os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		ForceColour: force != "" && force != "0",
	}
}

// Coloured reports whether to colour the output.
func (s Streams) Coloured() bool { return (s.OutTTY || s.ForceColour) && !s.NoColour }

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
