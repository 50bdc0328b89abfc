package roceinject_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
)

// watched is an output that tells when something has been written.
type watched struct {
	mu      sync.Mutex
	text    strings.Builder
	written chan struct{}
	once    sync.Once
}

func (w *watched) Write(b []byte) (int, error) {
	defer w.once.Do(func() { close(w.written) })
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(b)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

// TestLabPeerRunsPerftestByRDMACM runs tests whose ends meet by rdma_cm (-R).
func TestLabPeerRunsPerftestByRDMACM(t *testing.T) {
	p := newPeerLab(t)
	for _, test := range []perftestCase{
		{"send", "bw", ipv4, "-s 8192"},
		{"write", "bw", ipv4, "-q 3 -s 1000"},
		{"read", "bw", ipv4, "-s 5000"},
		{"atomic", "bw", ipv4, ""},
		{"send", "lat", ipv4, "-s 5000"},
		{"write", "lat", ipv4, ""},
		{"read", "lat", ipv4, ""},
		{"atomic", "lat", ipv4, ""},
		{"send", "bw", ipv6, ""},
	} {
		t.Run(test.String(), func(t *testing.T) {
			own, guest := "", p.guest.IP4
			if test.family.index == ipv6.index {
				own, guest = "--ipv6-addr", p.guest.IP6
			}
			program, args := test.commands(own, "-n 20 -R")
			t.Run("client", func(t *testing.T) {
				server := p.guest.Start(t, program)
				ours, err := p.run(test.family, append(args, guest.String())...)
				if err != nil {
					t.Fatalf("our client: %v\n%s\n%s", err, ours, server.Output())
				}
				ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
				defer cancel()
				theirs, err := server.Wait(ctx)
				if err != nil {
					t.Fatalf("the guest's %s: %v\n%s\n%s", program, err, theirs, ours)
				}
				checkPerftest(t, ours, theirs)
			})
			t.Run("server", func(t *testing.T) { p.serveByCM(t, test.family, program, args) })
		})
	}
}

// serveByCM has the guest connect to our own address: there is no TCP.
func (p *peerLab) serveByCM(t *testing.T, f family, program string, args []string) {
	t.Helper()
	out := &watched{written: make(chan struct{})}
	done := make(chan error, 1)
	args = append(args, "-i", p.port.Name, "--ip", f.own(p.port).String(), "--mac", p.port.MAC.String(), "--deadline", peerPatience.String())
	go func() {
		done <- p.lab.Do(func() error { return roceinject.RunPeer(args, cli.Streams{Out: out, Err: out}) })
	}()
	select {
	case <-out.written: // that it waits; a client tries for a second
	case err := <-done:
		t.Fatalf("our server: %v\n%s", err, out)
	}
	ctx, cancel := context.WithTimeout(t.Context(), peerPatience)
	defer cancel()
	theirs, err := p.guest.Run(ctx, fmt.Sprintf("%s %v", program, f.own(p.port)))
	if served := <-done; err != nil || served != nil {
		t.Fatalf("the guest's %s: %v\n%s\nour server: %v\n%s", program, err, theirs, served, out)
	}
	checkPerftest(t, out.String(), theirs)
}
