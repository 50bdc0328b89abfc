package mr

import "strings"

// Access is a set of rights to a region or window. The values are those of
// verbs' ibv_access_flags.
type Access uint16

// The rights. Reading by the owner needs none.
const (
	LocalWrite      Access = 1 << 0
	RemoteWrite     Access = 1 << 1
	RemoteRead      Access = 1 << 2
	RemoteAtomic    Access = 1 << 3
	BindWindow      Access = 1 << 4
	ZeroBased       Access = 1 << 5 // no right: addresses count from 0
	FlushGlobal     Access = 1 << 8
	FlushPersistent Access = 1 << 9
)

const (
	flushRights  = FlushGlobal | FlushPersistent
	remoteRights = RemoteWrite | RemoteRead | RemoteAtomic | flushRights
	regionRights = LocalWrite | remoteRights | BindWindow | ZeroBased
	windowRights = remoteRights | ZeroBased
)

var accessNames = [...]struct {
	bit  Access
	name string
}{
	{LocalWrite, "LOCAL_WRITE"},
	{RemoteWrite, "REMOTE_WRITE"},
	{RemoteRead, "REMOTE_READ"},
	{RemoteAtomic, "REMOTE_ATOMIC"},
	{BindWindow, "MW_BIND"},
	{ZeroBased, "ZERO_BASED"},
	{FlushGlobal, "FLUSH_GLOBAL"},
	{FlushPersistent, "FLUSH_PERSISTENT"},
}

// String lists the rights by verbs' names.
func (a Access) String() string {
	var names []string
	for _, n := range accessNames {
		if a&n.bit != 0 {
			names = append(names, n.name)
		}
	}
	if a&^regionRights != 0 {
		names = append(names, "UNKNOWN")
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, "|")
}

// has reports whether all that is needed is there.
func (a Access) has(need Access) bool { return a&need == need }

// grantable reports whether memory with the local rights may be opened so far:
// what a peer may change, its owner must be allowed to change (ibv_reg_mr; for
// windows C10-74).
func (a Access) grantable(local Access) bool {
	return a&(RemoteWrite|RemoteAtomic) == 0 || local.has(LocalWrite)
}
