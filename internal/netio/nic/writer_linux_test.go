package nic

import (
	"fmt"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/testneed"
)

// TestPastTheQueueFramesGoByXDP lets nobody lose the faster way unnoticed.
func TestPastTheQueueFramesGoByXDP(t *testing.T) {
	n, _ := nettest.Pair(t)
	n.Do(t, func() {
		options := Options{Interface: nettest.LeftInterface, SendOnly: true, SendRingBytes: 1 << 20, Writers: 2, QdiscBypass: true}
		first, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		defer first.Close()
		for i, w := range first.writers {
			if _, ok := w.(*xdpWriter); !ok {
				_, err := newXDPWriters(first, options)
				testneed.Missing(t, "xdp", fmt.Sprintf("writer %d is a %T: this kernel has no XDP sockets here: %v", i, w, err))
			}
		}
		second, err := Open(options)
		if err != nil {
			t.Fatal(err)
		}
		defer second.Close()
		if _, ok := second.writers[0].(*ringWriter); !ok {
			t.Errorf("while another link has the queue, the writer is a %T", second.writers[0])
		}
	})
}
