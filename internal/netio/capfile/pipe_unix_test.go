//go:build unix

package capfile

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
)

// TestANamedPipeWithoutReadersIsAnError writes to a pipe whose reader goes away.
func TestANamedPipeWithoutReadersIsAnError(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe.pcapng")
	if err := syscall.Mkfifo(name, 0o600); err != nil {
		testneed.Missing(t, "pipe", "no named pipe can be made here: "+err.Error())
	}
	read := make(chan error, 1)
	go func() {
		f, err := os.Open(name)
		if err == nil {
			err = f.Close()
		}
		read <- err
	}()
	w, err := Create(name, Interface{Link: 1, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := <-read; err != nil {
		t.Fatal(err)
	}
	failed := make(chan error, 1)
	go func() {
		rec := Record{Data: make([]byte, 1500), WireLen: 1500, HasTime: true, Link: 1, FCSLen: -1}
		var err error
		for err == nil { // many times what a pipe holds
			err = w.Write(&rec)
		}
		failed <- err
	}()
	select {
	case err := <-failed:
		if !errors.Is(err, syscall.EPIPE) {
			t.Errorf("%v, want a broken pipe", err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it waits for readers that never come")
	}
}
