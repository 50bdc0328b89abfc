// Package testneed gives tests the outside things they need: a program, a
// folder of sample files, the rights of root. Where the thing is missing the
// test is skipped and says why, unless the environment variable CI_REQUIRE, a
// comma-separated list, names it: then somebody promised the thing, and the
// test fails.
package testneed

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Tool returns the path of a program that the test runs, "tshark" say.
func Tool(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, name, name+" is not installed")
	}
	return path
}

// Shared returns the folder "shared" beside the repository: sample captures
// and vectors that are not part of the project.
func Shared(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(ModuleRoot(t)), "shared")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		missing(t, "shared", "there is no folder shared beside the repository")
	}
	return dir
}

// Root asks for the rights to open raw sockets and make network namespaces.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "root", "the test is not run by root")
	}
}

// ModuleRoot returns the folder that holds the project's go.mod.
func ModuleRoot(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("working directory: %v", err)
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "go.mod"))
		if err == nil {
			return dir
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			t.Fatalf("no go.mod above the working directory: %v", err)
		}
		dir = filepath.Dir(dir)
	}
}

// missing ends the test: it fails when CI_REQUIRE promises the thing.
func missing(t testing.TB, name, reason string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("CI_REQUIRE"), ","), name) {
		t.Fatalf("%s, and CI_REQUIRE promises %s", reason, name)
	}
	t.Skipf("SKIPPED: %s", reason)
}
