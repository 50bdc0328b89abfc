// Package cli holds what the command lines share.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/mattn/go-isatty"

	"github.com/rocecap/rocecap/internal/netio/privilege"
)

// Streams are what a program talks through; tests give their own.
type Streams struct {
	In             io.Reader
	Out, Err       io.Writer
	OutTTY, ErrTTY bool
	NoColour       bool
	ForceColour    bool
	Dumb           bool // the terminal has no cursor to move
	// Drop gives up the rights of the process, once what needs them is open; nil
	// when the process is not the program's own.
	Drop func() error
}

// OSStreams returns the process's own streams.
func OSStreams() Streams {
	force := os.Getenv("CLICOLOR_FORCE")
	return Streams{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr,
		OutTTY: isTerminal(os.Stdout), ErrTTY: isTerminal(os.Stderr),
		NoColour:    os.Getenv("NO_COLOR") != "" || os.Getenv("TERM") == "dumb",
		ForceColour: force != "" && force != "0",
		Drop:        drop,
		Dumb:        os.Getenv("TERM") == "dumb",
	}
}

// drop makes the process one of whoever ran it by sudo, who will own its files,
// and without any rights.
func drop() error {
	if user, ok := privilege.Invoker(); ok {
		return privilege.DropTo(user)
	}
	return privilege.Drop()
}

// DropRights gives up the rights of the process. A program that is built with C
// in it cannot, and says so.
func (s Streams) DropRights() error {
	if s.Drop == nil {
		return nil
	}
	err := s.Drop()
	if errors.Is(err, privilege.ErrCgo) {
		fmt.Fprintf(s.Err, "the rights that it was run with are kept: %v\n", err)
		return nil
	}
	return err
}

// Coloured reports whether to colour the output.
func (s Streams) Coloured() bool { return (s.OutTTY || s.ForceColour) && !s.NoColour }

func isTerminal(f *os.File) bool { return isatty.IsTerminal(f.Fd()) }
