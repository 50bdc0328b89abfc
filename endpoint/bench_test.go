//go:build linux

package endpoint_test

import (
	"net"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
)

// pump keeps writes of a size on their way until b.N packets of 4096 bytes are
// through.
func pump(b *testing.B, x, y *side, size int) {
	b.Helper()
	wr := remoteTo(y, endpoint.Write, x.region.SGL(0, size), 0)
	const window = 8
	wrs := make([]endpoint.WorkRequest, window)
	for i := range wrs {
		wrs[i] = wr
	}
	perMessage := size / 4096
	messages := max(1, b.N/perMessage)
	done := make([]endpoint.Completion, window)
	before := y.dev.Stats()
	b.ReportAllocs()
	b.ResetTimer()
	begin := time.Now()
	posted, completed := 0, 0
	for completed < messages {
		if n := min(window-(posted-completed), messages-posted); n > 0 {
			if err := x.qp.PostSend(wrs[:n]...); err != nil {
				b.Fatal(err)
			}
			posted += n
		}
		if err := x.cq.Wait(b.Context()); err != nil {
			b.Fatal(err)
		}
		n := x.cq.Poll(done)
		for _, c := range done[:n] {
			if c.Status != endpoint.Success {
				b.Fatal(c.Status)
			}
		}
		completed += n
	}
	b.StopTimer()
	took := time.Since(begin)
	packets := float64(messages * perMessage)
	b.ReportMetric(packets*4096*8/took.Seconds()/1e9, "Gbit/s")
	b.ReportMetric(float64(took.Nanoseconds())/packets, "ns/packet")
	after := y.dev.Stats()
	if extra := float64(after.ReceivedPackets-before.ReceivedPackets) - packets; extra > 0 {
		b.ReportMetric(extra/packets, "again/packet")
		b.ReportMetric(float64(after.RingDropped-before.RingDropped)/packets, "dropped/packet")
	}
}

func BenchmarkWriteOverVeth(b *testing.B) {
	left, right, leftNS, rightNS := vethOptions(b, "4200")
	left.Policy.MaxUnacked = 1024 // the receive ring has room for more
	x := newSide(b, openIn(b, leftNS, left), endpoint.RC, 1<<20)
	y := newSide(b, openIn(b, rightNS, right), endpoint.RC, 1<<20)
	join(b, x, y, 0)
	pump(b, x, y, 1<<20)
}

// What the kernel's UDP sockets carry over the same cable in packets of the same
// size, a system call for each: what there is to compare with.
func BenchmarkUDPOverVeth(b *testing.B) {
	_, _, leftNS, rightNS := vethOptions(b, "4200")
	rightNS.IP(b, "addr add 10.0.0.12/24 dev right0")
	var sender, receiver *net.UDPConn
	open := func(ip string) (conn *net.UDPConn) {
		conn, err := net.ListenUDP("udp4", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(ip+":9999")))
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = conn.Close() })
		return conn
	}
	leftNS.Do(b, func() { sender = open("10.0.0.11") })
	rightNS.Do(b, func() { receiver = open("10.0.0.12") })
	var got atomic.Int64
	go func() {
		buf := make([]byte, 8192)
		for {
			if _, _, err := receiver.ReadFromUDPAddrPort(buf); err != nil {
				return
			}
			got.Add(1)
		}
	}()
	packet, to := make([]byte, 4096), netip.MustParseAddrPort("10.0.0.12:9999")
	b.ResetTimer()
	begin := time.Now()
	for range b.N {
		if _, err := sender.WriteToUDPAddrPort(packet, to); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	took := time.Since(begin)
	b.ReportMetric(float64(b.N)*4096*8/took.Seconds()/1e9, "Gbit/s")
	b.ReportMetric(float64(got.Load())*4096*8/took.Seconds()/1e9, "Gbit/s-received")
}

func BenchmarkWriteInMemory(b *testing.B) {
	left, right := options(4200)
	x := newSide(b, openDevice(b, left), endpoint.RC, 1<<20)
	y := newSide(b, openDevice(b, right), endpoint.RC, 1<<20)
	join(b, x, y, 0)
	pump(b, x, y, 1<<20)
}

// A round trip of a SEND of 8 bytes.
func BenchmarkPingPong(b *testing.B) {
	left, right, leftNS, rightNS := vethOptions(b, "4200")
	x := newSide(b, openIn(b, leftNS, left), endpoint.RC, 4096)
	y := newSide(b, openIn(b, rightNS, right), endpoint.RC, 4096)
	join(b, x, y, 0)
	go func() {
		for range b.N {
			if y.qp.PostRecv(endpoint.RecvRequest{ID: 1, SGL: y.region.SGL(0, 8)}) != nil {
				return
			}
			for {
				c, err := y.cq.Next(b.Context())
				if err != nil {
					return
				}
				if c.Op == endpoint.Receive {
					break
				}
			}
			if y.qp.PostSend(endpoint.WorkRequest{ID: 2, Op: endpoint.Send, SGL: y.region.SGL(0, 8)}) != nil {
				return
			}
		}
	}()
	b.ResetTimer()
	for range b.N {
		x.recv(endpoint.RecvRequest{ID: 1, SGL: x.region.SGL(0, 8)})
		x.send(endpoint.WorkRequest{ID: 2, Op: endpoint.Send, SGL: x.region.SGL(0, 8)})
		for got := 0; got < 2; got++ {
			if _, err := x.cq.Next(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}
