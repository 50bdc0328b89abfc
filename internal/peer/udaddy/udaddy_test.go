package udaddy_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/peertest"
	"github.com/rocecap/rocecap/internal/peer/udaddy"
)

var program = peertest.Program[*udaddy.End]{New: udaddy.New, Service: endpoint.UDPPort, Port: udaddy.Port}

// The lines of the original.
var (
	clientLines = []string{
		"udaddy: starting client", "udaddy: connecting", "initiating data transfers", "receiving data transfers",
		"data transfers complete", "test complete", "return status 0",
	}
	serverLines = []string{
		"udaddy: starting server", "receiving data transfers", "sending replies",
		"data transfers complete", "test complete", "return status 0",
	}
)

func TestMessagesGoBothWays(t *testing.T) {
	program.CheckBothWays(t, peer.Options{Connections: 1, Count: 10, Size: 100}, clientLines, serverLines)
	program.CheckBothWays(t, peer.Options{Connections: 3, Count: 20, Size: 1000}, clientLines, serverLines)
}

// Nobody sends a lost datagram again: the wait for it ends with the context.
func TestAWaitForMessagesThatDoNotComeEnds(t *testing.T) {
	client, server := program.Run(t, 0, peer.Options{Connections: 1, Count: 2, Size: 10}, peer.Options{Connections: 1, Count: 3, Size: 10}, 200*time.Millisecond)
	if !errors.Is(client.Err, context.DeadlineExceeded) || !errors.Is(server.Err, context.DeadlineExceeded) {
		t.Errorf("%v; %v", client.Err, server.Err)
	}
}

func TestMessagesLongerThanAPacketAreRefused(t *testing.T) {
	dev, _ := peertest.Devices(t, 1500)
	if _, err := udaddy.New(dev, peer.Options{Connections: 1, Size: 1025}); err == nil || !strings.Contains(err.Error(), "active mtu 1024") {
		t.Error(err)
	}
}
