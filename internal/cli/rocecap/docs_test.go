package rocecap

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/testneed"
)

// TestConsoleSnippetsInTheDocsAreTrue runs every `$ rocecap` line of the
// console blocks in README.md and docs, and compares what it prints. A line of
// three dots stands for any lines.
func TestConsoleSnippetsInTheDocsAreTrue(t *testing.T) {
	root := testneed.ModuleRoot(t)
	t.Chdir(root)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range snippets(string(text)) {
			ran++
			var out, errs bytes.Buffer
			Main(s.args, Streams{Out: &out, Err: &errs})
			if got := out.String() + errs.String(); !matches(strings.Split(strings.TrimRight(got, "\n"), "\n"), s.want) {
				t.Errorf("%s: rocecap %q prints\n%s\nthe page says\n%s", page, s.args, got, strings.Join(s.want, "\n"))
			}
		}
	}
	if ran < 8 {
		t.Errorf("only %d snippets found", ran)
	}
}

type snippet struct {
	args []string
	want []string
}

func snippets(page string) []snippet {
	var list []snippet
	inside := false
	for _, line := range strings.Split(page, "\n") {
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && strings.HasPrefix(line, "$ rocecap "):
			list = append(list, snippet{args: split(strings.TrimPrefix(line, "$ rocecap "))})
		case inside && len(list) > 0:
			s := &list[len(list)-1]
			s.want = append(s.want, line)
		}
	}
	return list
}

// split cuts a command line at spaces outside single quotes.
func split(line string) []string {
	var args []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			args = append(args, part)
			continue
		}
		args = append(args, strings.Fields(part)...)
	}
	return args
}

// matches compares lines; "..." in want fits any number of lines.
func matches(got, want []string) bool {
	for i, line := range want {
		if line == "..." {
			for skip := 0; skip <= len(got)-i; skip++ {
				if matches(got[i+skip:], want[i+1:]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || strings.TrimRight(got[i], " ") != strings.TrimRight(line, " ") {
			return false
		}
	}
	return len(got) == len(want)
}
