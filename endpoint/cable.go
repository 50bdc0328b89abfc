package endpoint

import "github.com/rocecap/rocecap/internal/netio/simnet"

// Cable makes two links in memory, each of which receives what the other sends,
// for IP packets of up to mtu bytes: devices for tests that need neither a
// network nor rights, and keep virtual time in a bubble of testing/synctest.
func Cable(mtu int) (left, right Link) { return simnet.Pair(mtu) }
