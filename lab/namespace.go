//go:build linux

package lab

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

func (l *Lab) namespaceFile() string { return "/run/netns/" + l.netns }

// Do runs a function in the lab's namespace: sockets that it opens belong
// there, and stay there when it has returned. Goroutines that it starts do not.
func (l *Lab) Do(fn func() error) error {
	ns, err := os.Open(l.namespaceFile())
	if err != nil {
		return fmt.Errorf("lab: %w", err)
	}
	defer ns.Close()
	done := make(chan error)
	go func() {
		// The thread is never unlocked, so that it ends with the goroutine:
		// no other one is ever run in the wrong namespace.
		runtime.LockOSThread()
		if err := setns(ns.Fd()); err != nil {
			done <- err
			return
		}
		done <- fn()
	}()
	return <-done
}

// setns moves the calling thread into a network namespace. The syscall package
// was frozen before it got this call's number.
func setns(fd uintptr) error {
	number := map[string]uintptr{"386": 346, "amd64": 308, "arm": 375}[runtime.GOARCH]
	if number == 0 {
		number = 268 // arm64 and others that use the kernel's generic table
	}
	if _, _, errno := syscall.Syscall(number, fd, syscall.CLONE_NEWNET, 0); errno != 0 {
		return fmt.Errorf("lab: setns: %w", errno)
	}
	return nil
}

// killable makes a command the leader of a process group, which is told to end
// when the command's context does. peerlab exec then sees that the command in
// the guest ends too.
func killable(cmd *exec.Cmd) *exec.Cmd {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = 15 * time.Second
	return cmd
}
