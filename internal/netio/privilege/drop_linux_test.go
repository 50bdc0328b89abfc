package privilege_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/privilege"
	"github.com/rocecap/rocecap/internal/testneed"
)

// role tells a process that TestMain shall drop its rights instead of testing.
const role = "PRIVILEGE_TEST_ROLE"

const nobody = 65534

func TestMain(m *testing.M) {
	if how := os.Getenv(role); how != "" {
		if err := child(how); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child drops its rights and prints what each of its threads has, then what
// opening an interface says.
func child(how string) error {
	release := make(chan struct{})
	defer close(release)
	for range 4 { // goroutines that keep a thread each
		started := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(started)
			<-release
		}()
		<-started
	}
	capture, err := nic.OpenCapture(nic.CaptureOptions{Interface: "lo"})
	if err != nil {
		return err
	}
	if how == "user" {
		err = privilege.DropTo(privilege.User{UID: nobody, GID: nobody})
	} else {
		err = privilege.Drop()
	}
	if err != nil {
		return err
	}
	tasks, err := filepath.Glob("/proc/self/task/*/status")
	if err != nil {
		return err
	}
	for _, task := range tasks {
		text, err := os.ReadFile(task)
		if err != nil {
			return err
		}
		for line := range strings.Lines(string(text)) {
			switch name, value, _ := strings.Cut(line, ":"); name {
			case "Uid", "Gid", "Groups", "CapInh", "CapPrm", "CapEff", "NoNewPrivs":
				fmt.Printf("%s %s; ", name, strings.Join(strings.Fields(value), " "))
			}
		}
		fmt.Println()
	}
	_, err = nic.OpenCapture(nic.CaptureOptions{Interface: "lo"})
	fmt.Println("opening:", err)
	if _, err := capture.Stats(); err != nil { // what is open stays usable
		return err
	}
	return errors.Join(capture.Stop(), capture.Close())
}

// runChild runs the test program once more, in a network of its own.
func runChild(t *testing.T, how string) string {
	t.Helper()
	testneed.Root(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	unshare, ip := testneed.Tool(t, "unshare"), testneed.Tool(t, "ip")
	command := exec.Command(unshare, "--net", "sh", "-c", ip+` link set lo up && exec "$0"`, exe)
	command.Env = append(os.Environ(), role+"="+how)
	out, err := command.CombinedOutput()
	if err != nil {
		if strings.Contains(string(out), privilege.ErrCgo.Error()) {
			testneed.Missing(t, "nocgo", "this test program is built with cgo: "+privilege.ErrCgo.Error())
		}
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func TestNoThreadKeepsRights(t *testing.T) {
	for how, who := range map[string]string{
		"root": "Uid 0 0 0 0; Gid 0 0 0 0; ",
		"user": "Uid 65534 65534 65534 65534; Gid 65534 65534 65534 65534; Groups 65534; ",
	} {
		t.Run(how, func(t *testing.T) {
			threads := 0
			out := runChild(t, how)
			for line := range strings.Lines(out) {
				if !strings.HasPrefix(line, "Uid") {
					continue
				}
				threads++
				const none = "0000000000000000; "
				if !strings.HasPrefix(line, who) ||
					!strings.Contains(line, "CapInh "+none+"CapPrm "+none+"CapEff "+none+"NoNewPrivs 1; ") {
					t.Errorf("a thread has %s", line)
				}
			}
			if threads < 5 {
				t.Errorf("%d threads were looked at\n%s", threads, out)
			}
			want := "opening: interface lo: " + nic.ErrPermission.Error()
			if !strings.Contains(out, want) || !strings.Contains(out, unix.EPERM.Error()) {
				t.Errorf("opening an interface afterwards does not say %q\n%s", want, out)
			}
		})
	}
}

func TestInvoker(t *testing.T) {
	for _, c := range []struct {
		uid, gid string
		want     privilege.User
		ok       bool
	}{
		{"1000", "1001", privilege.User{UID: 1000, GID: 1001}, true},
		{"1000", "0", privilege.User{UID: 1000}, true},
		{"0", "0", privilege.User{}, false},
		{"", "", privilege.User{}, false},
		{"1000", "", privilege.User{}, false},
		{"-1", "1", privilege.User{}, false},
		{"4294967295", "1", privilege.User{}, false},
		{"me", "1", privilege.User{}, false},
	} {
		t.Setenv("SUDO_UID", c.uid)
		t.Setenv("SUDO_GID", c.gid)
		if got, ok := privilege.Invoker(); got != c.want || ok != c.ok {
			t.Errorf("SUDO_UID=%s SUDO_GID=%s: %v, %v", c.uid, c.gid, got, ok)
		}
	}
}
