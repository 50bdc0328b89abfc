package endpoint_test

import (
	"runtime"
	"testing"

	"github.com/rocecap/rocecap/endpoint"
)

// Ten thousand connected queue pairs on each of two devices, all of which have
// sent and received, stay under the half of a gigabyte that a device may take;
// here it is both.
func TestTenThousandConnectedQueuePairsFitIntoMemory(t *testing.T) {
	const (
		pairs = 10_000
		most  = 512 << 20
	)
	left, right := options(1500)
	a, b := openDevice(t, left), openDevice(t, right)
	before := heap()
	one, other := crowd(t, a, pairs), crowd(t, b, pairs)
	for i := range pairs {
		join(t, &side{t: t, dev: a, qp: one.qps[i]}, &side{t: t, dev: b, qp: other.qps[i]}, i%2)
	}
	connected := heap()
	talk(t, one, other)
	talk(t, other, one)
	after := heap()
	t.Logf("%d connected queue pairs on each of two devices: %d MB, %d B each; after a message each way: %d MB, %d B each",
		pairs, (connected-before)>>20, (connected-before)/(2*pairs), (after-before)>>20, (after-before)/(2*pairs))
	if after-before > most {
		t.Errorf("they take %d MB", (after-before)>>20)
	}
	runtime.KeepAlive(one)
	runtime.KeepAlive(other)
}

// group is many queue pairs of a device that share what they can.
type group struct {
	side
	qps []*endpoint.QP
}

func crowd(t *testing.T, dev *endpoint.Device, n int) *group {
	t.Helper()
	g := &group{side: side{t: t, dev: dev, pd: dev.AllocPD(), cq: dev.CreateCQ(2 * n), mem: make([]byte, 4096)}}
	var err error
	if g.region, err = g.pd.RegisterMemory(g.mem, allAccess); err != nil {
		t.Fatal(err)
	}
	for range n {
		qp, err := dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: g.pd, SendCQ: g.cq, RecvCQ: g.cq, SignalAll: true})
		if err != nil {
			t.Fatal(err)
		}
		g.qps = append(g.qps, qp)
	}
	return g
}

// talk sends one message over each connection.
func talk(t *testing.T, from, to *group) {
	t.Helper()
	const batch = 500
	for i := 0; i < len(from.qps); i += batch {
		for j := i; j < i+batch; j++ {
			if err := to.qps[j].PostRecv(endpoint.RecvRequest{SGL: to.region.SGL(0, 64)}); err != nil {
				t.Fatal(err)
			}
			if err := from.qps[j].PostSend(endpoint.WorkRequest{Op: endpoint.Send, SGL: from.region.SGL(0, 64)}); err != nil {
				t.Fatal(err)
			}
		}
		for _, g := range []*group{from, to} {
			for range batch {
				c, err := g.cq.Next(within(t))
				if err != nil || c.Status != endpoint.Success {
					t.Fatalf("%+v %v", c, err)
				}
			}
		}
	}
}
