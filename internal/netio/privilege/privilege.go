// Package privilege lets a process give up, for good, the rights that it has
// used: what it reads from then on comes from strangers.
package privilege

import (
	"errors"
	"os"
	"strconv"
)

// ErrCgo says that a program cannot drop its rights. Rights belong to threads;
// Go reaches all of them only where C starts none.
var ErrCgo = errors.New("rights can only be dropped in a program that is built without cgo (CGO_ENABLED=0)")

// User is who a process acts for.
type User struct {
	UID, GID int
}

// Invoker returns the user who ran the program by sudo, as sudo(8) tells in the
// environment. ok is false when there is none, or when it is root.
func Invoker() (u User, ok bool) {
	uid, err := strconv.ParseUint(os.Getenv("SUDO_UID"), 10, 31)
	if err != nil || uid == 0 {
		return User{}, false
	}
	gid, err := strconv.ParseUint(os.Getenv("SUDO_GID"), 10, 31)
	if err != nil {
		return User{}, false
	}
	return User{UID: int(uid), GID: int(gid)}, true
}
