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
		Missing(t, name, name+" is not installed")
	}
	return path
}

// Shared returns the folder "shared" beside the repository: sample captures
// and vectors that are not part of the project.
func Shared(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(ModuleRoot(t)), "shared")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		Missing(t, "shared", "there is no folder shared beside the repository")
	}
	return dir
}

// Pcaps returns the folder of the repository's own captures.
func Pcaps(t testing.TB) string {
	t.Helper()
	return filepath.Join(ModuleRoot(t), "pcaps")
}

// Public returns the folder of other people's sample captures, "" when it is
// not there, which is said in the test's log.
func Public(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(filepath.Dir(ModuleRoot(t)), "shared", "captures", "public")
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		t.Log("public sample captures NOT TESTED: there is no folder shared beside the repository")
		return ""
	}
	return dir
}

// Captures returns every capture file at hand: the repository's own, and the
// public samples where they are there. Files of hexadecimal lines are among
// them.
func Captures(t testing.TB) []string {
	t.Helper()
	var files []string
	for _, dir := range []string{Pcaps(t), Public(t)} {
		if dir == "" {
			continue
		}
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && isCapture(path) {
				files = append(files, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(files) == 0 {
		t.Fatal("there is no capture in pcaps")
	}
	return files
}

func isCapture(path string) bool {
	switch filepath.Ext(strings.TrimSuffix(path, ".gz")) {
	case ".pcap", ".pcapng", ".cap", ".erf", ".hex":
		return true
	}
	return false
}

// Root asks for the rights to open raw sockets and make network namespaces.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		Missing(t, "root", "the test is not run by root")
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

// Missing ends a test that lacks the named thing: it is skipped, or fails when
// CI_REQUIRE promises the thing.
func Missing(t testing.TB, name, reason string) {
	t.Helper()
	if slices.Contains(strings.Split(os.Getenv("CI_REQUIRE"), ","), name) {
		t.Fatalf("%s, and CI_REQUIRE promises %s", reason, name)
	}
	t.Skipf("SKIPPED: %s", reason)
}
