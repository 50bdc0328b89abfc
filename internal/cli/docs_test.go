package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/rocecap"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/internal/testneed"
)

// TestConsoleSnippetsInTheDocsAreTrue runs the `$ rocecap` and `$ roceinject`
// lines of the console blocks in README.md and docs, alone or in a pipe, and
// compares what they print. A line of three dots stands for any lines.
func TestConsoleSnippetsInTheDocsAreTrue(t *testing.T) {
	root := testneed.ModuleRoot(t)
	t.Chdir(root)
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	ran := make(map[string]int)
	for _, page := range append(pages, "README.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range snippets(string(text)) {
			got, ok := s.run()
			if !ok {
				continue
			}
			ran[s.pipe[0][0]]++
			if !matches(strings.Split(strings.TrimRight(got, "\n"), "\n"), s.want) {
				t.Errorf("%s: %q prints\n%s\nthe page says\n%s", page, s.pipe, got, strings.Join(s.want, "\n"))
			}
		}
	}
	if ran["rocecap"] < 8 || ran["roceinject"] < 8 {
		t.Errorf("only %v snippets found", ran)
	}
}

// programs are what the snippets run.
func programs() map[string]func(args []string, s cli.Streams) int {
	return map[string]func(args []string, s cli.Streams) int{"rocecap": rocecap.Main, "roceinject": roceinject.Main}
}

type snippet struct {
	pipe [][]string // the command lines of a pipe
	want []string
}

// run returns what the snippet prints; ok is false when it has other programs.
func (s *snippet) run() (text string, ok bool) {
	var in, out, errs bytes.Buffer
	for _, command := range s.pipe {
		program := programs()[command[0]]
		if program == nil {
			return "", false
		}
		in, out = out, bytes.Buffer{}
		program(command[1:], cli.Streams{In: &in, Out: &out, Err: &errs})
	}
	return out.String() + errs.String(), true
}

func snippets(page string) []snippet {
	var list []snippet
	inside := false
	for _, line := range strings.Split(page, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case line == "```console":
			inside = true
		case strings.HasPrefix(line, "```"):
			inside = false
		case inside && isCommand:
			var s snippet
			for _, part := range strings.Split(command, " | ") {
				s.pipe = append(s.pipe, split(part))
			}
			list = append(list, s)
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
