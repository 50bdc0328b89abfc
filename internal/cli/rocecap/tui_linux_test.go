package rocecap_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/testneed"
)

// tmux is a terminal with the program in it.
type tmux struct {
	t      *testing.T
	path   string
	socket string // of a server of its own
}

// newTmux starts the program; when it ends, its exit code and the terminal's
// settings are printed.
func newTmux(t *testing.T, width, height int, args string) *tmux {
	t.Helper()
	m := &tmux{t, testneed.Tool(t, "tmux"), filepath.Join(t.TempDir(), "tmux")}
	line := fmt.Sprintf("%s=1 TERM=xterm TZ=UTC '%s' live %s; echo exit=$?; stty -a | tr ';' '\\n' | grep -w icanon; cat", asProgram, os.Args[0], args)
	m.run("-f", "/dev/null", "new-session", "-d", "-s", "live", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), line)
	t.Cleanup(func() { _ = exec.Command(m.path, "-S", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command(m.path, append([]string{"-S", m.socket}, args...)...).CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v: %s", args, err, out)
	}
	return string(out)
}

func (m *tmux) keys(list ...string) { m.run(append([]string{"send-keys", "-t", "live"}, list...)...) }

// shows waits until the screen has all the texts.
func (m *tmux) shows(texts ...string) (screen string) {
	m.t.Helper()
	look := time.NewTicker(50 * time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for {
		screen = m.run("capture-pane", "-p", "-t", "live")
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return screen
		}
		select {
		case <-look.C:
		case <-late:
			m.t.Fatalf("no %q on the screen:\n%s", missing, screen)
		}
	}
}

// TestTheScreenInATerminal plays a capture on a terminal, changes its size, looks
// at the whole, writes a file and leaves.
func TestTheScreenInATerminal(t *testing.T) {
	file := filepath.Join(t.TempDir(), "last.pcapng")
	m := newTmux(t, 80, 24, "-r '"+pcaps(t, "rping_rxe.pcap")+"' --speed 0 --interval 20ms")
	m.shows("rping_rxe.pcap", "end of file", "10.77.0.2 0x19 → 10.77.0.3 0x19", "q:quit")
	m.run("resize-window", "-t", "live", "-x", "200", "-y", "60")
	m.shows("10.77.0.2 QP 0x000019 → 10.77.0.3 QP 0x000019", "ICRC")
	m.keys("#", "Enter", "4")
	m.shows("CM", "REQ", "REP", "RTU")
	m.keys("Escape")
	m.shows("Enter:detail") // what follows an Escape at once would be a key with Alt
	m.keys("w", "C-u", file, "Enter")
	m.shows("packets written to")
	m.keys("q")
	if screen := m.shows("exit=0", " icanon"); strings.Contains(screen, "-icanon") || strings.Contains(screen, "q:quit") {
		t.Errorf("the terminal is not as it was:\n%s", screen)
	}
	if got, want := mustRun(t, "decode", file), mustRun(t, "decode", pcaps(t, "rping_rxe.pcap")); got != want {
		t.Errorf("the file that was written has\n%s", got)
	}
}

func TestASignalRestoresTheTerminal(t *testing.T) {
	m := newTmux(t, 80, 24, "-r '"+pcaps(t, "rping_rxe.pcap")+"' --speed 0.0001 --interval 20ms")
	m.shows("q:quit")
	shell := strings.TrimSpace(m.run("display-message", "-p", "-t", "live", "#{pane_pid}"))
	children, err := os.ReadFile("/proc/" + shell + "/task/" + shell + "/children")
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(children)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m.shows("exit=0", " icanon")
}

// TestAFaultIsToldAfterTheScreen plays a capture that ends in the middle of a
// packet: what came before stays on the screen, then the fault is told.
func TestAFaultIsToldAfterTheScreen(t *testing.T) {
	whole, err := os.ReadFile(pcaps(t, "py_badrkey.pcap"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "cut.pcap")
	if err := os.WriteFile(file, whole[:len(whole)-5], 0o600); err != nil {
		t.Fatal(err)
	}
	m := newTmux(t, 120, 24, "-r '"+file+"' --speed 0")
	m.shows("record 3", "q:quit")
	m.keys("q")
	m.shows("rocecap: ", "record 3", "exit=2", " icanon")
}
