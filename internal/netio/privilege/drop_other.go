//go:build !linux

package privilege

// Drop does nothing: there are no capabilities here, and no packet sockets.
func Drop() error { return nil }

// DropTo does nothing.
func DropTo(User) error { return nil }
