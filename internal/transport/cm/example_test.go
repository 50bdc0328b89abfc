package cm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/transport/cm"
)

// Two ports connect over a network that loses nothing and takes no time.
func Example() {
	now := time.Unix(0, 0)
	client := cm.New(cm.DefaultConfig(0x0A, 1))
	server := cm.New(cm.DefaultConfig(0x0B, 2))
	server.ListenIP(cm.PortSpaceTCP, 7174)

	carry := func(from *cm.Manager, source cm.Peer, to *cm.Manager) {
		var mad mad
		for _, ok := from.Emit(&mad); ok; _, ok = from.Emit(&mad) {
			to.Receive(now, mad[:], source)
		}
	}

	_, err := client.Connect(now, &cm.Request{
		To:        peerB,
		ServiceID: cm.ServiceID(cm.PortSpaceTCP, 7174),
		IP:        cm.IPHeader{Src: addrA, SrcPort: 40000, Dst: addrB},
		Local:     cm.Side{QPN: 0x11, StartingPSN: 100, ResponderResources: 1, InitiatorDepth: 1, RNRRetryCount: 7},
		Terms:     cm.Terms{PathMTU: 3, RetryCount: 7, Primary: cm.RoCEPath(addrA, addrB)},
	})
	fmt.Println("asked:", err)
	carry(client, peerA, server)

	request, _ := server.Event()
	fmt.Printf("server: %v from %v for QP %#x\n", request.Kind, request.IP.Src, request.Remote.QPN)
	responder, initiator := request.Limits()
	err = server.Accept(now, request.Conn, &cm.Side{
		QPN: 0x22, StartingPSN: 200, ResponderResources: responder, InitiatorDepth: initiator, RNRRetryCount: 7,
	}, nil)
	fmt.Println("accepted:", err)
	carry(server, peerB, client)

	reply, _ := client.Event()
	fmt.Printf("client: %v from QP %#x, which expects PSN %d\n", reply.Kind, reply.Remote.QPN, reply.Remote.StartingPSN)
	fmt.Println("established:", client.Establish(reply.Conn, nil))
	carry(client, peerA, server)

	ready, _ := server.Event()
	fmt.Println("server:", ready.Kind)
	// Output:
	// asked: <nil>
	// server: connect request from 192.0.2.1 for QP 0x11
	// accepted: <nil>
	// client: reply from QP 0x22, which expects PSN 200
	// established: <nil>
	// server: established
}

// BenchmarkConnection is all datagrams of a connection, from REQ to DREP, on
// both sides.
func BenchmarkConnection(b *testing.B) {
	p := newPair(b)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		p.a.sent, p.b.sent = p.a.sent[:0], p.b.sent[:0]
		r := request()
		r.Local.QPN = uint32(i) & 0xFFFFFF
		a, err := p.a.Connect(p.now, r)
		p.must(err)
		carry(p)
		e, _ := p.b.Event()
		p.must(p.b.Accept(p.now, e.Conn, &cm.Side{QPN: uint32(i) & 0xFFFFFF}, nil))
		carry(p)
		p.a.Event()
		p.must(p.a.Establish(a, nil))
		p.must(p.a.Disconnect(p.now, a, nil))
		carry(p)
		p.now = p.now.Add(time.Second)
		p.a.Advance(p.now)
		p.b.Advance(p.now)
		events(p.a.Manager)
		events(p.b.Manager)
	}
}

// carry is flush without checks.
func carry(p *pair) {
	var m mad
	for range 2 {
		for _, e := range []*end{p.a, p.b} {
			for _, ok := e.Emit(&m); ok; _, ok = e.Emit(&m) {
				p.other(e).Receive(p.now, m[:], e.peer)
			}
		}
	}
}
