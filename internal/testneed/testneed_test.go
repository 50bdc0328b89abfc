package testneed

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// ended is a testing.TB that remembers how the code under test ended it.
type ended struct {
	testing.TB
	how, why string
}

func (e *ended) Helper() {}

func (e *ended) Fatalf(format string, args ...any) {
	e.how, e.why = "failed", fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (e *ended) Skipf(format string, args ...any) {
	e.how, e.why = "skipped", fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// run calls f as the testing package would, so that Goexit ends f alone.
func run(f func(t testing.TB)) *ended {
	e := &ended{how: "passed"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(e)
	}()
	<-done
	return e
}

func TestMissingToolSkipsUnlessCIRequiresIt(t *testing.T) {
	for _, c := range []struct{ require, how, why string }{
		{"", "skipped", "SKIPPED: no-such-tool is not installed"},
		{"other", "skipped", "SKIPPED: no-such-tool is not installed"},
		{"no-such-tool-2", "skipped", "SKIPPED: no-such-tool is not installed"},
		{"other,no-such-tool", "failed", "no-such-tool is not installed, and CI_REQUIRE promises no-such-tool"},
	} {
		t.Setenv("CI_REQUIRE", c.require)
		got := run(func(tb testing.TB) { Tool(tb, "no-such-tool") })
		if got.how != c.how || got.why != c.why {
			t.Errorf("CI_REQUIRE=%q: %s (%s), want %s (%s)", c.require, got.how, got.why, c.how, c.why)
		}
	}
}

func TestToolThatExistsIsFound(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "some-tool.exe")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
	if got := Tool(t, "some-tool.exe"); got != path {
		t.Errorf("Tool = %q, want %q", got, path)
	}
}

func TestSharedIsTheFolderBesideTheModule(t *testing.T) {
	top := t.TempDir()
	module := filepath.Join(top, "module")
	deep := filepath.Join(module, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "go.mod"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	t.Chdir(deep)
	t.Setenv("CI_REQUIRE", "")

	if got := run(func(tb testing.TB) { Shared(tb) }); got.how != "skipped" {
		t.Errorf("without the folder: %s (%s), want skipped", got.how, got.why)
	}
	want := filepath.Join(top, "shared")
	if err := os.Mkdir(want, 0o755); err != nil {
		t.Fatal(err)
	}
	var dir string
	if got := run(func(tb testing.TB) { dir = Shared(tb) }); got.how != "passed" || dir != want {
		t.Errorf("with the folder: %s, %q, want passed, %q", got.how, dir, want)
	}
}
