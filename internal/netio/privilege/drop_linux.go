package privilege

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Drop takes all capabilities from the process, and the ways to get some by
// executing a program. Sockets and files that are open stay usable. A process of
// root stays root, and so the owner of root's files.
func Drop() error {
	if _, _, errno := syscall.AllThreadsSyscall6(unix.SYS_PRCTL, unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0); errno != 0 {
		return dropError("no new privileges", errno)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3} // Pid 0: the calling thread
	var none [2]unix.CapUserData
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET,
		uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return dropError("no capabilities", errno)
	}
	return nil
}

// DropTo makes a process of root one of the user, with no other groups than the
// user's own, then does what Drop does. For any other process it is Drop.
func DropTo(u User) error {
	if os.Geteuid() != 0 {
		return Drop()
	}
	if err := syscall.Setgroups([]int{u.GID}); err != nil {
		return dropError("no other groups", err)
	}
	if err := syscall.Setresgid(u.GID, u.GID, u.GID); err != nil {
		return dropError("group", err)
	}
	if err := syscall.Setresuid(u.UID, u.UID, u.UID); err != nil {
		return dropError("user", err)
	}
	return Drop()
}

func dropError(what string, err error) error {
	if err == syscall.ENOTSUP { //nolint:errorlint // an Errno, never wrapped
		return ErrCgo
	}
	return fmt.Errorf("dropping privileges: %s: %w", what, err)
}
