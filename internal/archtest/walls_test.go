package archtest

import (
	"go/ast"
	"maps"
	"path"
	"slices"
	"strings"
)

const (
	module   = "github.com/rocecap/rocecap"
	maxLines = 800
)

// The three kinds of code, by folder. What is in none of them lies between
// pure code and people: it may touch the outside world but nothing above it.
func pure(dir string) bool {
	return under(dir, "icrc", "internal/wire", "internal/transport", "internal/track", "internal/rewrite", "internal/replay")
}

func people(dir string) bool {
	return under(dir, "cmd", "lab", "layers", "internal/cli", "internal/present", "internal/conformance")
}

// tooling is code that only builds and tests run.
func tooling(dir string) bool {
	return under(dir, "scripts", "internal/archtest", "internal/gencap", "internal/testneed", "docs")
}

// pureStd is what pure code may import: packages of values and of functions
// that depend on their arguments alone.
var pureStd = []string{
	"bytes", "cmp", "encoding", "encoding/binary", "encoding/hex", "errors",
	"fmt", "hash", "hash/crc32", "iter", "maps", "math", "math/bits",
	"math/rand/v2", "net/netip", "slices", "sort", "strconv", "strings", "time",
	"unicode", "unicode/utf8",
}

// impureImport gives the reason for the likeliest packages outside pureStd.
var impureImport = map[string]string{
	"os":          "files and processes are the outside world; take bytes as an argument",
	"io":          "streams are the outside world; take bytes as an argument",
	"net":         "sockets are the outside world; net/netip has the address types",
	"sync":        "pure code has no locks: the caller serialises",
	"sync/atomic": "pure code has no shared state: the caller serialises",
	"log":         "pure code returns findings and events and writes nothing",
	"log/slog":    "pure code returns findings and events and writes nothing",
	"context":     "pure code never waits, so there is nothing to cancel",
	"math/rand":   "its functions share one global state; use a seeded math/rand/v2 source",
	"crypto/rand": "randomness comes in as a seed, so that a run can be repeated",
	"unsafe":      "lengths are checked by the language here",
}

// hiddenState names what reaches the outside world, or state that outlives a
// call, in packages that pure code may import.
var hiddenState = map[string]struct {
	denied  []string
	allowed []string // if not nil, all else is denied
	why     string
}{
	"time": {
		denied: []string{
			"After", "AfterFunc", "Local", "LoadLocation", "NewTicker",
			"NewTimer", "Now", "Since", "Sleep", "Tick", "Until",
		},
		why: "time is an argument, so that a test of a 4 s timeout takes microseconds",
	},
	"math/rand/v2": {
		allowed: []string{
			"ChaCha8", "New", "NewChaCha8", "NewPCG", "NewZipf", "PCG", "Rand",
			"Source", "Zipf",
		},
		why: "randomness comes from a seeded source, so that a run can be repeated",
	},
	"fmt": {
		denied: []string{"Print", "Printf", "Println", "Scan", "Scanf", "Scanln"},
		why:    "pure code returns findings and events and writes nothing",
	},
}

// fenced names libraries that only some folders may import.
var fenced = []struct {
	libraries []string
	folders   []string
	tests     bool // tests anywhere may import it too
	why       string
}{
	{
		libraries: []string{"github.com/google/gopacket", "github.com/gopacket/gopacket"},
		folders:   []string{"layers"},
		tests:     true,
		why:       "gopacket belongs to layers and tests: it costs start-up time and allocations, and internal/wire parses",
	},
	{
		libraries: []string{
			"github.com/charmbracelet/lipgloss", "github.com/charmbracelet/bubbletea",
			"github.com/charmbracelet/bubbles", "github.com/muesli/termenv",
		},
		folders: []string{"internal/present", "internal/cli"},
		why:     "how things look on a terminal belongs to internal/present and internal/cli",
	},
	{
		libraries: []string{"golang.org/x/sys"},
		folders:   []string{"internal/netio"},
		why:       "the kernel is reached through internal/netio alone",
	},
}

// check returns every breach of the walls in the files of one module.
func check(files []*file) []breach {
	var found []breach
	for _, f := range files {
		for _, wall := range []func(*file) []breach{
			fencedLibraries, direction, device, thinMain, pureImports, pureStatements,
			noInit, shortFile,
		} {
			found = append(found, wall(f)...)
		}
	}
	return append(found, packageComments(files)...)
}

func fencedLibraries(f *file) (found []breach) {
	for _, fence := range fenced {
		if under(f.dir, fence.folders...) || (f.test && fence.tests) {
			continue
		}
		for _, imp := range f.imports {
			if under(imp.path, fence.libraries...) {
				found = append(found, f.breach(imp.line, fence.why, "%s imports %s", f.dir, imp.path))
			}
		}
	}
	return found
}

func direction(f *file) (found []breach) {
	if f.test || people(f.dir) || tooling(f.dir) {
		return nil
	}
	for _, imp := range f.imports {
		if dir, ours := strings.CutPrefix(imp.path, "./"); ours && people(dir) {
			found = append(found, f.breach(imp.line,
				"code below never imports code for people (cmd, lab, layers, internal/cli, internal/present, internal/conformance)",
				"%s imports %s", f.dir, dir))
		}
	}
	return found
}

// device keeps endpoint between the engines and the kernel: it reaches the kernel
// through internal/netio, which does not know of it.
func device(f *file) (found []breach) {
	if f.test {
		return nil
	}
	for _, imp := range f.imports {
		switch {
		case under(f.dir, "endpoint") && slices.Contains([]string{"os", "os/exec", "syscall"}, imp.path):
			found = append(found, f.breach(imp.line, "endpoint reaches the kernel through internal/netio alone", "%s imports %s", f.dir, imp.path))
		case under(f.dir, "internal/netio") && imp.path == "./endpoint":
			found = append(found, f.breach(imp.line, "endpoint is above the links that it uses", "%s imports endpoint", f.dir))
		}
	}
	return found
}

func thinMain(f *file) (found []breach) {
	if f.test || !under(f.dir, "cmd") {
		return nil
	}
	for _, imp := range f.imports {
		dir, ours := strings.CutPrefix(imp.path, "./")
		std := !strings.Contains(strings.Split(imp.path, "/")[0], ".")
		if (ours && under(dir, "internal/cli")) || (!ours && std) {
			continue
		}
		found = append(found, f.breach(imp.line,
			"a main is a dozen lines that call internal/cli, which tests can run",
			"%s imports %s", f.dir, imp.path))
	}
	return found
}

func pureImports(f *file) (found []breach) {
	if f.test || !pure(f.dir) {
		return nil
	}
	for _, imp := range f.imports {
		dir, ours := strings.CutPrefix(imp.path, "./")
		if (ours && pure(dir)) || slices.Contains(pureStd, imp.path) {
			continue
		}
		why := impureImport[imp.path]
		if why == "" {
			why = "pure code imports pure packages and the value packages in archtest's pureStd alone"
		}
		found = append(found, f.breach(imp.line, why, "pure package %s imports %s", f.dir, imp.path))
	}
	return found
}

// pureStatements finds what pure code may not do with the language and the
// packages that it has: goroutines, channels and hidden state.
func pureStatements(f *file) (found []breach) {
	if f.test || !pure(f.dir) {
		return nil
	}
	imports := map[string]string{} // path by name
	for _, imp := range f.imports {
		imports[imp.name] = imp.path
		if imp.name == "." {
			found = append(found, f.breach(imp.line, "a dot import hides what the package does", "pure package %s has a dot import of %s", f.dir, imp.path))
		}
	}
	report := func(n ast.Node, why, what string) {
		found = append(found, f.breach(f.line(n), why, "pure package %s %s", f.dir, what))
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			report(n, "pure code runs in its caller's goroutine: the caller serialises", "starts a goroutine")
		case *ast.ChanType, *ast.SelectStmt:
			report(n, "pure code never waits: the caller serialises", "uses a channel")
		case *ast.SelectorExpr:
			pkg, ok := n.X.(*ast.Ident)
			if !ok {
				break
			}
			use := n.Sel.Name
			hidden := hiddenState[imports[pkg.Name]]
			if slices.Contains(hidden.denied, use) || (hidden.allowed != nil && !slices.Contains(hidden.allowed, use)) {
				report(n, hidden.why, "uses "+pkg.Name+"."+use)
			}
		}
		return true
	})
	return found
}

func noInit(f *file) (found []breach) {
	if under(f.dir, "layers") {
		return nil // gopacket's layer types are registered at start-up
	}
	for _, decl := range f.syntax.Decls {
		if fn, ok := decl.(*ast.FuncDecl); ok && fn.Recv == nil && fn.Name.Name == "init" {
			found = append(found, f.breach(f.line(fn), "start-up work is hidden global state; only layers has to register with gopacket", "%s has an init function", f.dir))
		}
	}
	return found
}

func shortFile(f *file) []breach {
	if f.lines <= maxLines || ast.IsGenerated(f.syntax) {
		return nil
	}
	return []breach{f.breach(f.lines, "a file holds one concept; split it", "%d lines, more than %d", f.lines, maxLines)}
}

// packageComments wants a comment on one file of each package; a package that
// is nothing but tests may have it there.
func packageComments(files []*file) (found []breach) {
	first := map[string]*file{}
	documented := map[string]bool{}
	for _, f := range files {
		if have := first[f.dir]; have == nil || (have.test && !f.test) {
			first[f.dir] = f
		}
	}
	for _, f := range files {
		if f.syntax.Doc != nil && f.test == first[f.dir].test {
			documented[f.dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(first)) {
		if !documented[dir] {
			f := first[dir]
			found = append(found, f.breach(1, "a reader starts at the package comment", "package %s has no comment", path.Base(dir)))
		}
	}
	return found
}
