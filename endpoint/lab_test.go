//go:build linux

package endpoint_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"testing"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/lab"
)

func TestMain(m *testing.M) { lab.Main(m) }

// labDevice opens a device on a port of the lab's bridge.
func labDevice(t *testing.T, l *lab.Lab, change func(*endpoint.Options)) *endpoint.Device {
	t.Helper()
	port := l.Port(t, 1, "br0")
	o := endpoint.Options{
		Interface: port.Name,
		MAC:       port.MAC,
		Addresses: []netip.Prefix{netip.PrefixFrom(port.IP4, 24), netip.PrefixFrom(port.IP6, 64)},
	}
	if change != nil {
		change(&o)
	}
	var dev *endpoint.Device
	if err := l.Do(func() (err error) {
		dev, err = endpoint.Open(o)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	return dev
}

// A kernel finds the device by ARP and neighbour discovery, and it answers pings.
func TestLabEndpointAnswersPing(t *testing.T) {
	l := lab.Up(t, 1)
	dev := labDevice(t, l, nil)
	for gid := range 2 {
		out, err := l.Peer(1).Run(t.Context(), fmt.Sprintf("ping -c 2 -W 5 %v", dev.GID(gid)))
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	}
	if s := dev.Stats(); s.EchoAnswers < 4 || s.NeighbourAnswers < 2 {
		t.Errorf("%+v", s)
	}
}

// verbsPeer is the other end's view of lab/verbs_peer.py: what it says and
// wants to hear over TCP.
type verbsPeer struct {
	*side
	conn  net.Conn
	lines *bufio.Reader
	other struct {
		QPN  uint32 `json:"qpn"`
		GID  string `json:"gid"`
		PSN  uint32 `json:"psn"`
		RKey uint32 `json:"rkey"`
		Addr uint64 `json:"addr"`
	}
}

const verbsPeerBuffer = 16384

func (p *verbsPeer) tell(v any) {
	p.t.Helper()
	b, err := json.Marshal(v)
	if err == nil {
		_, err = p.conn.Write(append(b, '\n'))
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *verbsPeer) hear(v any) {
	p.t.Helper()
	line, err := p.lines.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, v)
	}
	if err != nil {
		p.t.Fatalf("the peer said %q: %v", line, err)
	}
}

func (p *verbsPeer) sync() {
	p.t.Helper()
	var answer string
	p.tell("sync")
	p.hear(&answer)
}

// meet connects the queue pair to the peer's, as its class Peer does.
func (p *verbsPeer) meet(rnrRetry, retryCount uint8) {
	p.t.Helper()
	if err := p.qp.Prepare(); err != nil { // receive requests may be posted from now on
		p.t.Fatal(err)
	}
	own := p.qp.Local()
	p.tell(map[string]any{
		"qpn": own.QPN, "psn": own.PSN, "rkey": p.region.RKey(), "addr": p.region.VA(),
		"gid": netip.AddrFrom16(own.GID.As16()).StringExpanded(),
	})
	p.hear(&p.other)
	remote := endpoint.Remote{QPN: p.other.QPN, PSN: endpoint.PSN(p.other.PSN), GID: netip.MustParseAddr(p.other.GID).Unmap()}
	err := p.qp.Connect(within(p.t), remote, func(a *endpoint.Attributes) {
		a.PathMTU = 1024
		a.MaxRdAtomic, a.MaxDestRdAtomic = 4, 4
		a.Timeout, a.RetryCount, a.RNRRetry = 18, retryCount, rnrRetry // guests are slow
	})
	if err != nil {
		p.t.Fatal(err)
	}
}

func (p *verbsPeer) remote(op endpoint.Op, length, offset int, rkey uint32) endpoint.WorkRequest {
	return endpoint.WorkRequest{
		ID: 2, Op: op, SGL: p.region.SGL(0, length), RemoteAddr: p.other.Addr + uint64(offset), RKey: rkey,
	}
}

// post posts a work request and wants it to end so.
func (p *verbsPeer) post(wr endpoint.WorkRequest, status endpoint.Status) {
	p.t.Helper()
	wr.ID = 2
	p.send(wr)
	p.want(2, status)
}

func (p *verbsPeer) receive(n, size int) {
	p.t.Helper()
	for range n {
		p.recv(endpoint.RecvRequest{ID: 1, SGL: p.region.SGL(0, size)})
	}
}

// verbsCases are the cases of verbs_peer.py with this side as the client.
var verbsCases = []struct {
	name     string
	rnrRetry uint8
	do       func(p *verbsPeer)
	prints   string // by the peer
}{
	{"imm", 5, immediates, `(?s)(receive IBV_WC_SUCCESS \d+\s+){10}`},
	{"psnwrap", 5, immediates, `(?s)(receive IBV_WC_SUCCESS \d+\s+){10}`},
	{"mixed", 5, func(p *verbsPeer) {
		p.sync()
		for i := range 6 {
			p.post(p.remote(endpoint.Write, 3000+i, 0, p.other.RKey), endpoint.Success)
			p.post(p.remote(endpoint.Read, 2100+i, 0, p.other.RKey), endpoint.Success)
			p.post(endpoint.WorkRequest{Op: endpoint.Send, SGL: p.region.SGL(0, 900+i)}, endpoint.Success)
		}
	}, `(?s)(receive IBV_WC_SUCCESS 90\d\s+){6}`},
	{"rnr", 2, func(p *verbsPeer) {
		p.sync()
		p.post(endpoint.WorkRequest{Op: endpoint.Send, SGL: p.region.SGL(0, 100)}, endpoint.RNRRetryExceeded)
	}, ``},
	{"rnrok", 7, func(p *verbsPeer) {
		p.sync()
		for i := range 4 {
			p.send(endpoint.WorkRequest{ID: 2, Op: endpoint.Send, SGL: p.region.SGL(0, 1500+i)})
		}
		for range 4 {
			p.want(2, endpoint.Success)
		}
	}, `(?s)(receive IBV_WC_SUCCESS 150\d\s+){4}`},
	{"badrkey", 5, func(p *verbsPeer) {
		p.sync()
		p.post(p.remote(endpoint.Write, 2000, 0, p.other.RKey^0x55), endpoint.RemoteAccessError)
	}, ``},
	{"badread", 5, func(p *verbsPeer) {
		p.sync()
		p.post(p.remote(endpoint.Read, 2000, verbsPeerBuffer-384, p.other.RKey), endpoint.RemoteAccessError)
	}, ``},
	{"toolong", 5, func(p *verbsPeer) {
		p.sync()
		p.post(endpoint.WorkRequest{Op: endpoint.Send, SGL: p.region.SGL(0, 3000)}, endpoint.RemoteOperationError)
	}, `receive IBV_WC_LOC_QP_OP_ERR`},
	{"flush", 5, func(p *verbsPeer) {
		p.sync()
		p.post(p.remote(endpoint.Write, 3000, 0, p.other.RKey), endpoint.Success)
		p.post(endpoint.WorkRequest{
			Op: endpoint.Flush, RemoteAddr: p.other.Addr, RKey: p.other.RKey, Length: 3000, Placement: 1,
		}, endpoint.Success)
	}, ``},
	{"flushmr", 5, func(p *verbsPeer) {
		p.sync()
		p.post(endpoint.WorkRequest{
			Op: endpoint.Flush, RemoteAddr: p.other.Addr, RKey: p.other.RKey, Placement: 1, WholeMR: true,
		}, endpoint.Success)
	}, ``},
	{"silence", 5, func(p *verbsPeer) {
		p.sync()
		p.sync() // the queue pair is gone
		p.post(p.remote(endpoint.Write, 100, 0, p.other.RKey), endpoint.RetryExceeded)
	}, ``},
	{"atomicwrite", 5, func(p *verbsPeer) {
		p.sync()
		wr := p.remote(endpoint.AtomicWrite, 8, 0, p.other.RKey)
		p.post(wr, endpoint.Success)
	}, ``},
	{"mw", 5, func(p *verbsPeer) {
		var rkey uint32
		p.hear(&rkey)
		p.post(p.remote(endpoint.Write, 500, 0, rkey), endpoint.Success)
		p.post(endpoint.WorkRequest{Op: endpoint.SendInvalidate, SGL: p.region.SGL(0, 20), Invalidate: rkey}, endpoint.Success)
		p.post(p.remote(endpoint.Write, 500, 0, rkey), endpoint.RemoteAccessError)
	}, `receive IBV_WC_SUCCESS 20`},
}

func immediates(p *verbsPeer) {
	p.sync()
	for i := range 5 {
		wr := p.remote(endpoint.WriteImmediate, 2500+i, 0, p.other.RKey)
		wr.Immediate = 0xCAFE00 + uint32(i)
		p.post(wr, endpoint.Success)
		p.post(endpoint.WorkRequest{
			Op: endpoint.SendImmediate, SGL: p.region.SGL(0, 7+i), Immediate: 0xBEEF00 + uint32(i),
		}, endpoint.Success)
	}
}

// Each case ends as it does between two kernels.
func TestLabEndpointAsVerbsClient(t *testing.T) {
	l := lab.Up(t, 1)
	dev := labDevice(t, l, func(o *endpoint.Options) { o.ICRC = endpoint.RxeFlushICRC })
	for _, c := range verbsCases {
		t.Run(c.name, func(t *testing.T) {
			server := l.Peer(1).Start(t, "python3 /mnt/lab/verbs_peer.py server "+c.name)
			p := &verbsPeer{side: newSide(t, dev, endpoint.RC, verbsPeerBuffer)}
			p.conn = dialPeer(t, l, "10.77.0.2:19999")
			p.lines = bufio.NewReader(p.conn)
			p.meet(c.rnrRetry, 3)
			c.do(p)
			p.sync()
			if c.prints != "" {
				if _, err := server.WaitFor(regexp.MustCompile(c.prints), time.Minute); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Over UDP sockets of the machine's own address, a kernel is met as well.
func TestLabEndpointOverUDPSockets(t *testing.T) {
	l := lab.Up(t, 1)
	var dev *endpoint.Device
	if err := l.Do(func() (err error) {
		dev, err = endpoint.Open(endpoint.Options{UDP: true, Addresses: prefixes("10.77.0.1/24")})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = dev.Close() })
	server := l.Peer(1).Start(t, "python3 /mnt/lab/verbs_peer.py server mixed")
	p := &verbsPeer{side: newSide(t, dev, endpoint.RC, verbsPeerBuffer)}
	p.conn = dialPeer(t, l, "10.77.0.2:19999")
	p.lines = bufio.NewReader(p.conn)
	p.meet(5, 7)
	for _, c := range verbsCases {
		if c.name == "mixed" {
			c.do(p)
			p.sync()
			if _, err := server.WaitFor(regexp.MustCompile(c.prints), time.Minute); err != nil {
				t.Error(err)
			}
		}
	}
	if s := dev.Stats(); s.BadICRC > 0 || s.Malformed > 0 {
		t.Errorf("%+v", s)
	}
}

// servedCases are cases with this side as the server, and what the kernel's side
// then prints.
var servedCases = []struct {
	name   string
	do     func(p *verbsPeer)
	prints string
	rxe    bool // with rxe's policy
}{
	{"imm", serveReceives(10, 4096), `(?s)(send IBV_WC_SUCCESS \d+\s+){10}`, false},
	{"psnwrap", serveReceives(10, 4096), `(?s)(send IBV_WC_SUCCESS \d+\s+){10}`, false},
	{"mixed", serveReceives(6, 4096), `(?s)(send IBV_WC_SUCCESS \d+\s+){18}`, false},
	{"rnr", serveReceives(0, 0), `send IBV_WC_RNR_RETRY_EXC_ERR`, false},
	{"rnrok", func(p *verbsPeer) {
		p.sync()
		before := p.dev.Stats().ReceivedPackets
		waitFor(p.t, p.dev, func(s endpoint.Stats) bool { return s.ReceivedPackets > before })
		p.receive(4, 4096)
		for range 4 {
			p.want(1, endpoint.Success)
		}
	}, `(?s)(send IBV_WC_SUCCESS \d+\s+){4}`, false},
	{"silence", func(p *verbsPeer) {
		p.sync()
		if err := p.qp.Destroy(); err != nil {
			p.t.Fatal(err)
		}
		p.sync()
	}, `send IBV_WC_RETRY_EXC_ERR`, false},
	{"badrkey", serveReceives(0, 0), `send IBV_WC_REM_ACCESS_ERR`, false},
	{"badread", serveReceives(0, 0), `send IBV_WC_REM_ACCESS_ERR`, false},
	{"toolong", func(p *verbsPeer) {
		p.receive(1, 64)
		p.sync()
		p.want(1, endpoint.LocalLengthError)
	}, `send IBV_WC_REM_INV_REQ_ERR`, false},
	{"toolong", func(p *verbsPeer) {
		p.receive(1, 64)
		p.sync()
		p.want(1, endpoint.LocalOperationError)
	}, `send IBV_WC_REM_OP_ERR`, true},
	{"flush", serveReceives(0, 0), `(?s)(send IBV_WC_SUCCESS \d+\s+){2}`, false},
	{"flushmr", serveReceives(0, 0), `send IBV_WC_SUCCESS`, false},
	{"atomicwrite", func(p *verbsPeer) {
		p.sync()
		p.sync()
		if string(p.mem[:8]) != "ABCDEFGH" {
			p.t.Errorf("memory begins with %q", p.mem[:8])
		}
	}, `send IBV_WC_SUCCESS`, false},
	{"mw", func(p *verbsPeer) {
		window, err := p.pd.AllocWindow(endpoint.Type2)
		if err != nil {
			p.t.Fatal(err)
		}
		p.receive(1, 4096)
		bind := window.Bind(p.region, p.region.VA(), 8192, window.RKey()+1, endpoint.RemoteWrite)
		p.post(endpoint.WorkRequest{Op: endpoint.BindMW, Bind: bind}, endpoint.Success)
		key := window.RKey()
		p.tell(key)
		if c := p.want(1, endpoint.Success); !c.HasInvalid || c.Invalidated != key {
			p.t.Errorf("%+v", c)
		}
	}, `(?s)(send IBV_WC_SUCCESS \d+\s+){2}send IBV_WC_REM_ACCESS_ERR`, false},
}

// serveReceives posts receive requests and waits until all are used.
func serveReceives(n, size int) func(p *verbsPeer) {
	return func(p *verbsPeer) {
		p.receive(n, size)
		p.sync()
		for range n {
			p.want(1, endpoint.Success)
		}
	}
}

// A kernel's requests end as they do at another kernel, or as the standard says.
func TestLabEndpointAsVerbsServer(t *testing.T) {
	l := lab.Up(t, 1)
	dev := labDevice(t, l, func(o *endpoint.Options) { o.ICRC = endpoint.RxeFlushICRC })
	var listener net.Listener
	if err := l.Do(func() (err error) {
		listener, err = net.Listen("tcp4", "10.77.0.1:19999")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	for _, c := range servedCases {
		t.Run(fmt.Sprintf("%s,rxe=%v", c.name, c.rxe), func(t *testing.T) {
			client := l.Peer(1).Start(t, "python3 /mnt/lab/verbs_peer.py client "+c.name+" 10.77.0.1")
			p := &verbsPeer{side: newSide(t, dev, endpoint.RC, verbsPeerBuffer)}
			var err error
			if c.rxe {
				policy := endpoint.RxePolicy()
				p.qp, err = dev.CreateQP(endpoint.QPOptions{
					Type: endpoint.RC, PD: p.pd, SendCQ: p.cq, RecvCQ: p.cq, SignalAll: true, Policy: &policy,
				})
				if err != nil {
					t.Fatal(err)
				}
			}
			if p.conn, err = listener.Accept(); err != nil {
				t.Fatal(err)
			}
			defer p.conn.Close()
			p.lines = bufio.NewReader(p.conn)
			p.meet(7, 7)
			c.do(p)
			if _, err := client.WaitFor(regexp.MustCompile(c.prints), 2*time.Minute); err != nil {
				t.Error(err)
			}
			if c.name != "atomicwrite" {
				p.sync()
			}
		})
	}
}

// dialPeer connects to a program in a guest that is about to listen.
func dialPeer(t *testing.T, l *lab.Lab, to string) (conn net.Conn) {
	t.Helper()
	ctx := withinTime(t, 2*time.Minute)
	for conn == nil {
		if ctx.Err() != nil {
			t.Fatalf("nobody listens on %s", to)
		}
		_ = l.Do(func() (err error) {
			// The test's own threads are in other namespaces than the lab's.
			var dialer net.Dialer
			conn, err = dialer.DialContext(ctx, "tcp4", to)
			return err
		})
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}
