//go:build linux

// Command measure runs a command and prints its wall time in seconds and its
// peak resident memory in KiB on one line to file descriptor 3. The command's
// output goes where measure's own goes.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: measure COMMAND [ARGUMENT]... 3>RESULT")
		os.Exit(2)
	}
	if err := measure(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "measure: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

func measure(command []string) error {
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	start := time.Now()
	err := cmd.Run()
	wall := time.Since(start)
	if err != nil {
		return err
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return fmt.Errorf("no resource usage on this system")
	}
	_, err = fmt.Fprintf(os.NewFile(3, "result"), "%.4f %d\n", wall.Seconds(), usage.Maxrss)
	return err
}
