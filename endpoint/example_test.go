package endpoint_test

import (
	"context"
	"fmt"
	"log"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/endpoint"
)

// A test of a network card: does it refuse a WRITE with a wrong key, and leave
// the memory alone? Here the card is a second device at the end of a cable; on
// a bench its queue pair number, key and address come from an agent beside it,
// and ours is opened with Interface.
func ExampleOpen() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	cable, far := endpoint.Cable(4200)
	card, memory := exampleCard(ctx, far)

	dev, err := endpoint.Open(endpoint.Options{
		Link:      cable,
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24")},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	pd, cq := dev.AllocPD(), dev.CreateCQ(16)
	buf, err := pd.RegisterMemory(make([]byte, 4096), endpoint.LocalWrite)
	if err != nil {
		log.Fatal(err)
	}
	qp, err := dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: pd, SendCQ: cq, RecvCQ: cq})
	if err != nil {
		log.Fatal(err)
	}
	if err := qp.Connect(ctx, card.Local()); err != nil {
		log.Fatal(err)
	}
	if err := card.Connect(ctx, qp.Local()); err != nil {
		log.Fatal(err)
	}
	err = qp.PostSend(endpoint.WorkRequest{
		Op: endpoint.Write, SGL: buf.SGL(0, 100), Flags: endpoint.Signaled,
		RemoteAddr: memory.VA(), RKey: memory.RKey() + 1,
	})
	if err != nil {
		log.Fatal(err)
	}
	completion, err := cq.Next(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(completion.Status)
	// Output: remote access error
}

// exampleCard is the device under test.
func exampleCard(ctx context.Context, link endpoint.Link) (*endpoint.QP, *endpoint.Region) {
	dev, err := endpoint.Open(endpoint.Options{
		Link:      link,
		Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.2/24")},
	})
	if err != nil {
		log.Fatal(err)
	}
	context.AfterFunc(ctx, func() { _ = dev.Close() })
	pd, cq := dev.AllocPD(), dev.CreateCQ(16)
	memory, err := pd.RegisterMemory(make([]byte, 4096), endpoint.LocalWrite|endpoint.RemoteWrite)
	if err != nil {
		log.Fatal(err)
	}
	qp, err := dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: pd, SendCQ: cq, RecvCQ: cq})
	if err != nil {
		log.Fatal(err)
	}
	return qp, memory
}

// Connection management, as rdma_cm does it: a server and a client.
func ExampleDevice_Dial() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	near, far := endpoint.Cable(1500)
	server, err := endpoint.Open(endpoint.Options{Link: far, Addresses: []netip.Prefix{netip.MustParsePrefix("fd00::2/64")}})
	if err != nil {
		log.Fatal(err)
	}
	defer server.Close()
	client, err := endpoint.Open(endpoint.Options{Link: near, Addresses: []netip.Prefix{netip.MustParsePrefix("fd00::1/64")}})
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()

	listener, err := server.Listen(endpoint.TCPPort(7174))
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		request, err := listener.Accept(ctx)
		if err != nil {
			log.Fatal(err)
		}
		qp, err := server.CreateQP(endpoint.QPOptions{Type: request.Type, PD: server.AllocPD()})
		if err != nil {
			log.Fatal(err)
		}
		if _, err := request.Accept(ctx, qp, endpoint.ConnOptions{Private: []byte("hello")}); err != nil {
			log.Fatal(err)
		}
	}()

	qp, err := client.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: client.AllocPD()})
	if err != nil {
		log.Fatal(err)
	}
	conn, err := client.Dial(ctx, netip.MustParseAddr("fd00::2"), endpoint.TCPPort(7174), qp, endpoint.ConnOptions{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s, and the queue pair is in %v\n", conn.Private[:5], qp.State())
	if err := conn.Disconnect(ctx); err != nil {
		log.Fatal(err)
	}
	fmt.Println("then in", qp.State())
	// Output:
	// hello, and the queue pair is in RTS
	// then in ERR
}
