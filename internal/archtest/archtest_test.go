package archtest

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rocecap/rocecap/internal/testneed"
)

func TestTheTreeKeepsItsWalls(t *testing.T) {
	files, err := load(os.DirFS(testneed.ModuleRoot(t)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, f := range files {
		seen[f.dir] = true
	}
	for _, dir := range []string{"internal/wire", "internal/archtest"} {
		if !seen[dir] {
			t.Errorf("the walk did not reach %s: it has checked nothing", dir)
		}
	}
	for _, b := range check(files) {
		t.Error(b)
	}
}

// source makes a documented Go file of the given imports and body.
func source(imports, body string) string {
	src := "// Package p is made up.\npackage p\n"
	for _, line := range strings.Fields(imports) {
		src += "import " + strings.Replace(line, "=", " ", 1) + "\n"
	}
	return src + body + "\n"
}

func breaches(t *testing.T, tree map[string]string) []breach {
	t.Helper()
	fsys := fstest.MapFS{}
	for name, src := range tree {
		fsys[name] = &fstest.MapFile{Data: []byte(src)}
	}
	files, err := load(fsys)
	if err != nil {
		t.Fatal(err)
	}
	return check(files)
}

func TestEachWallReportsItsBreach(t *testing.T) {
	const ours = `"github.com/rocecap/rocecap/`
	for _, c := range []struct {
		name, path, src, want string
	}{
		{"pure imports os", "internal/wire/a.go", source(`"os"`, ""), "imports os"},
		{"pure imports net", "icrc/a.go", source(`"net"`, ""), "imports net"},
		{"pure imports sync", "internal/transport/qp/a.go", source(`"sync"`, ""), "imports sync"},
		{"pure imports math/rand", "internal/transport/fault/a.go", source(`"math/rand"`, ""), "imports math/rand"},
		{"pure imports log", "internal/track/a.go", source(`"log"`, ""), "imports log"},
		{"pure imports context", "internal/track/deep/a.go", source(`"context"`, ""), "imports context"},
		{"pure imports an unknown library", "internal/wire/a.go", source(`"example.org/x"`, ""), "imports example.org/x"},
		{"pure imports the outside world", "internal/track/a.go", source(ours+`internal/netio/capfile"`, ""), "imports ./internal/netio/capfile"},
		{"pure reads the clock", "internal/wire/a.go", source(`"time"`, "var _ = time.Now"), "uses time.Now"},
		{"pure reads the clock by another name", "internal/wire/a.go", source(`clock="time"`, "func f() { clock.Sleep(1) }"), "uses clock.Sleep"},
		{"pure hides the clock", "internal/wire/a.go", source(`.="time"`, "var _ = Now"), "dot import of time"},
		{"pure rolls global dice", "internal/transport/fault/a.go", source(`"math/rand/v2"`, "var _ = rand.IntN(6)"), "uses rand.IntN"},
		{"pure writes to the terminal", "internal/wire/a.go", source(`"fmt"`, "func f() { fmt.Println() }"), "uses fmt.Println"},
		{"pure starts a goroutine", "internal/wire/a.go", source("", "func f() { go f() }"), "starts a goroutine"},
		{"pure uses a channel", "internal/wire/a.go", source("", "var c chan int"), "uses a channel"},
		{"gopacket in present", "internal/present/a.go", source(`"github.com/google/gopacket/layers"`, ""), "imports github.com/google/gopacket/layers"},
		{"lipgloss in netio", "internal/netio/a.go", source(`"github.com/charmbracelet/lipgloss"`, ""), "imports github.com/charmbracelet/lipgloss"},
		{"bubbletea in conformance", "internal/conformance/a.go", source(`tea="github.com/charmbracelet/bubbletea"`, ""), "imports github.com/charmbracelet/bubbletea"},
		{"x/sys in endpoint", "endpoint/a.go", source(`"golang.org/x/sys/unix"`, ""), "imports golang.org/x/sys/unix"},
		{"endpoint imports syscall", "endpoint/a.go", source(`"syscall"`, ""), "imports syscall"},
		{"netio imports endpoint", "internal/netio/a.go", source(ours+`endpoint"`, ""), "imports endpoint"},
		{"netio imports present", "internal/netio/a.go", source(ours+`internal/present/text"`, ""), "imports internal/present/text"},
		{"endpoint imports layers", "endpoint/a.go", source(ours+`layers"`, ""), "imports layers"},
		{"endpoint imports the lab", "endpoint/b.go", source(ours+`lab"`, ""), "imports lab"},
		{"craft imports cli", "internal/craft/a.go", source(ours+`internal/cli/rocecap"`, ""), "imports internal/cli/rocecap"},
		{"main imports wire", "cmd/x/main.go", source(ours+`internal/wire"`, ""), "cmd/x imports ./internal/wire"},
		{"main imports a library", "cmd/x/main.go", source(`"github.com/spf13/cobra"`, ""), "cmd/x imports github.com/spf13/cobra"},
		{"init below layers", "internal/netio/a.go", source("", "func init() {}"), "has an init function"},
		{"long file", "internal/netio/a.go", source("", strings.Repeat("\n", maxLines)), "more than 800"},
		{"no package comment", "internal/netio/a.go", "package p\n", "has no comment"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := breaches(t, map[string]string{c.path: c.src})
			if len(got) != 1 || !strings.Contains(got[0].what, c.want) || got[0].why == "" || got[0].path != c.path {
				t.Errorf("breaches = %v, want one of %q with its reason", got, c.want)
			}
		})
	}
}

func TestAllowedCodeIsLeftAlone(t *testing.T) {
	const ours = `"github.com/rocecap/rocecap/`
	got := breaches(t, map[string]string{
		"icrc/a.go":                    source(`"hash/crc32"`, ""),
		"internal/wire/a.go":           source(`"net/netip" "time"`, "var _ time.Duration = time.Second"),
		"internal/wire/a_test.go":      source(`"os" "github.com/google/gopacket"`, "func f() { go f() }"),
		"internal/track/a.go":          source(ours+`internal/wire"`, ""),
		"internal/transport/qp/a.go":   source(`"math/rand/v2"`, "var _ = rand.New(rand.NewPCG(1, 2))"),
		"internal/netio/nic/a.go":      source(`"golang.org/x/sys/unix" "os" "sync"`, ""),
		"internal/present/text/a.go":   source(`"github.com/charmbracelet/lipgloss" `+ours+`internal/track"`, ""),
		"internal/cli/rocecap/a.go":    source(ours+`internal/present/text"`, ""),
		"layers/a.go":                  source(`"github.com/google/gopacket"`, "func init() {}"),
		"cmd/rocecap/main.go":          source(`"os" `+ours+`internal/cli/rocecap"`, ""),
		"internal/netio/gen.go":        "// Code generated by x; DO NOT EDIT.\n\n" + source("", strings.Repeat("\n", maxLines)),
		"internal/netio/plain.go":      "package p\n",
		"internal/onlytests/a_test.go": source("", ""),
		"internal/oracle/go.mod":       "module other\n",
		"internal/oracle/a.go":         "package oracle\n\nimport _ \"github.com/google/gopacket\"\n",
		"internal/wire/testdata/a.go":  "this is not Go",
	})
	if len(got) != 0 {
		t.Errorf("breaches = %v, want none", got)
	}
}

func TestABreachNamesPlaceAndReason(t *testing.T) {
	got := breaches(t, map[string]string{"internal/wire/a.go": source(`"fmt" "os"`, "")})
	want := "[internal/wire/a.go:4: pure package internal/wire imports os\n\twhy not: " + impureImport["os"] + "]"
	if fmt.Sprint(got) != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
