package ucmatose_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
	"github.com/rocecap/rocecap/internal/peer/peertest"
	"github.com/rocecap/rocecap/internal/peer/ucmatose"
)

var program = peertest.Program[*ucmatose.End]{New: ucmatose.New, Service: endpoint.TCPPort, Port: ucmatose.Port}

// The lines of the original.
var (
	clientLines = []string{
		"cmatose: starting client", "cmatose: connecting", "receiving data transfers", "sending replies",
		"data transfers complete", "test complete", "return status 0",
	}
	serverLines = []string{
		"cmatose: starting server", "initiating data transfers", "completing sends", "receiving data transfers",
		"data transfers complete", "cmatose: disconnecting", "disconnected", "test complete", "return status 0",
	}
)

func TestMessagesGoBothWays(t *testing.T) {
	program.CheckBothWays(t, peer.Options{Connections: 1, Count: 10, Size: 100}, clientLines, serverLines)
	program.CheckBothWays(t, peer.Options{Connections: 3, Count: 20, Size: 5000}, clientLines, serverLines)
}

func TestConnectionsWithoutMessagesAreMadeAndEnded(t *testing.T) {
	o := peer.Options{Connections: 2, Size: 1}
	client, server := program.Run(t, 0, o, o, 20*time.Second)
	if err := errors.Join(client.Err, server.Err); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(server.Lines, ","); got != "cmatose: starting server,cmatose: disconnecting,disconnected,test complete,return status 0" {
		t.Error(got)
	}
	if len(client.Conns()) != 2 {
		t.Errorf("%d connections", len(client.Conns()))
	}
}

// A server that sends fewer messages ends the connection while the client waits.
func TestAClientNoticesThatTooFewMessagesCome(t *testing.T) {
	client, server := program.Run(t, 0, peer.Options{Connections: 1, Count: 3, Size: 10}, peer.Options{Connections: 1, Size: 10}, 20*time.Second)
	if !errors.Is(client.Err, peer.ErrDisconnected) || server.Err != nil {
		t.Errorf("%v; %v", client.Err, server.Err)
	}
}
