//go:build linux

package lab

import (
	"context"
	"errors"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// These tests need no guest: the command runs here.
func startHere(t *testing.T, script string) *Proc {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	return start(t, killable(exec.CommandContext(ctx, "sh", "-c", script)), cancel)
}

func TestWaitForReturnsGroupsWhileTheCommandRuns(t *testing.T) {
	p := startHere(t, "echo port 4791; sleep 4711")
	match, err := p.WaitFor(regexp.MustCompile(`port (\d+)\n`), shortTimeout)
	if err != nil || match[1] != "4791" {
		t.Errorf("WaitFor = %q, %v", match, err)
	}
}

func TestWaitForSeesTheLastWordsOfACommand(t *testing.T) {
	p := startHere(t, "printf end; exit 3")
	_, err := p.Wait(t.Context())
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 3 {
		t.Errorf("Wait = %v, want exit code 3", err)
	}
	if _, err := p.WaitFor(regexp.MustCompile("end"), 0); err != nil {
		t.Error(err)
	}
}

func TestWaitForTellsWhatWasPrintedInstead(t *testing.T) {
	p := startHere(t, "echo something else >&2")
	_, err := p.WaitFor(regexp.MustCompile("ready"), shortTimeout)
	if err == nil || !strings.Contains(err.Error(), "something else") {
		t.Errorf("WaitFor = %v", err)
	}
}

func TestStopKillsTheChildrenToo(t *testing.T) {
	p := startHere(t, "sleep 4711 & echo $!; wait")
	match, err := p.WaitFor(regexp.MustCompile(`(\d+)\n`), shortTimeout)
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	// The child holds the pipe that the output comes through until it ends.
	if errors.Is(p.err, exec.ErrWaitDelay) {
		t.Errorf("child %s was left behind", match[1])
	}
}
