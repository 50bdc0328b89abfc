package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocecap/rocecap/endpoint"
)

// dial connects two sides by connection management: a asks b.
func dial(t *testing.T, a, b *side, gid int, asked, answered endpoint.ConnOptions) (active, passive *endpoint.Conn, dialErr, acceptErr error) {
	t.Helper()
	l, err := b.dev.Listen(endpoint.TCPPort(18515))
	if err != nil {
		t.Fatal(err)
	}
	accepted := make(chan error, 1)
	go func() {
		r, err := l.Accept(within(t))
		if err == nil {
			passive, err = r.Accept(within(t), b.qp, answered)
		}
		accepted <- err
	}()
	active, dialErr = a.dev.Dial(within(t), b.dev.GID(gid), endpoint.TCPPort(18515), a.qp, asked)
	acceptErr = <-accepted
	return active, passive, dialErr, acceptErr
}

// dialled makes two sides whose queue pairs were connected by connection
// management.
func dialled(t *testing.T, typ endpoint.Type, gid int) (a, b *side, active, passive *endpoint.Conn) {
	t.Helper()
	left, right := options(1500)
	a, b = sides(t, typ, left, right, 1<<16)
	active, passive, err, acceptErr := dial(t, a, b, gid, endpoint.ConnOptions{Private: []byte("please")}, endpoint.ConnOptions{Private: []byte("welcome")})
	if err := errors.Join(err, acceptErr); err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(passive.Private, []byte("please")) || !bytes.HasPrefix(active.Private, []byte("welcome")) {
		t.Errorf("asked with %q, answered with %q", passive.Private, active.Private)
	}
	return a, b, active, passive
}

func TestDialAndAcceptConnectQueuePairs(t *testing.T) {
	for _, c := range []struct {
		name string
		typ  endpoint.Type
		gid  int
	}{{"RC over IPv4", endpoint.RC, 0}, {"RC over IPv6", endpoint.RC, 1}, {"UC", endpoint.UC, 0}} {
		t.Run(c.name, func(t *testing.T) {
			a, b, active, passive := dialled(t, c.typ, c.gid)
			random(a.mem, 1)
			b.recv(endpoint.RecvRequest{ID: 7, SGL: b.region.SGL(0, len(b.mem))})
			a.send(endpoint.WorkRequest{ID: 8, Op: endpoint.Send, SGL: a.region.SGL(0, 5000)})
			a.want(8, endpoint.Success)
			b.want(7, endpoint.Success)
			if !bytes.Equal(b.mem[:5000], a.mem[:5000]) {
				t.Error("other bytes")
			}
			if active.Remote.QPN != b.qp.QPN() || passive.Remote.QPN != a.qp.QPN() {
				t.Errorf("remote QPs %#x and %#x", active.Remote.QPN, passive.Remote.QPN)
			}
			if err := active.Disconnect(within(t)); err != nil {
				t.Fatal(err)
			}
			<-passive.Done()
			if err := passive.Disconnect(within(t)); err != nil {
				t.Error(err)
			}
			if s := b.qp.State(); s != endpoint.Error {
				t.Errorf("state %v after the end", s)
			}
		})
	}
}

func TestReadsWorkOverADialledConnection(t *testing.T) {
	a, b, _, _ := dialled(t, endpoint.RC, 0)
	random(b.mem, 2)
	a.send(remoteTo(b, endpoint.Read, a.region.SGL(0, 9000), 10))
	a.want(1, endpoint.Success)
	if !bytes.Equal(a.mem[:9000], b.mem[10:9010]) {
		t.Error("other bytes")
	}
}

func TestARequestThatNobodyListensForIsRejected(t *testing.T) {
	left, right := options(1500)
	a := newSide(t, openDevice(t, left), endpoint.RC, 64)
	b := openDevice(t, right)
	l, err := b.Listen(endpoint.TCPPort(1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Listen(endpoint.TCPPort(1)); err == nil {
		t.Error("two listeners for one service")
	}
	_, err = a.dev.Dial(within(t), b.GID(0), endpoint.TCPPort(2), a.qp, endpoint.ConnOptions{})
	var rejected *endpoint.RejectError
	if !errors.As(err, &rejected) || rejected.Reason != 8 {
		t.Errorf("wrong port: %v", err)
	}
	go func() {
		if r, err := l.Accept(within(t)); err == nil {
			_ = r.Reject([]byte("no"))
		}
	}()
	_, err = a.dev.Dial(within(t), b.GID(0), endpoint.TCPPort(1), a.qp, endpoint.ConnOptions{})
	if !errors.As(err, &rejected) || rejected.Reason != 28 || !bytes.HasPrefix(rejected.Private, []byte("no")) {
		t.Errorf("refused: %v", err)
	}
}

func TestAPeerWithoutConnectionManagerIsUnreachable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := options(1500)
		a := newSide(t, openDevice(t, left), endpoint.RC, 64)
		b := openDevice(t, right)
		begin := time.Now()
		_, err := a.dev.Dial(t.Context(), b.GID(0), endpoint.TCPPort(2), a.qp, endpoint.ConnOptions{})
		if !errors.Is(err, endpoint.ErrUnreachable) || time.Since(begin) < time.Minute {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		_ = a.dev.Close()
		_ = b.Close()
	})
}

func TestLookupFindsADatagramService(t *testing.T) {
	left, right := options(1500)
	a, b := connected(t, endpoint.UD, left, right, 0, 4096)
	l, err := b.dev.Listen(endpoint.UDPPort(7))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if r, err := l.Accept(within(t)); err == nil {
			_ = r.Answer(b.qp, []byte("here"))
		}
	}()
	found, err := a.dev.Lookup(within(t), b.dev.GID(1), endpoint.UDPPort(7), endpoint.ConnOptions{Private: []byte("where?")})
	if err != nil {
		t.Fatal(err)
	}
	if found.QPN != b.qp.QPN() || found.QKey != endpoint.DefaultQKey || !bytes.HasPrefix(found.Private, []byte("here")) {
		t.Errorf("%+v", found)
	}
	b.recv(endpoint.RecvRequest{ID: 3, SGL: b.region.SGL(0, 100)})
	a.send(endpoint.WorkRequest{ID: 4, Op: endpoint.Send, SGL: a.region.SGL(0, 10), To: found.To, DestQP: found.QPN, QKey: found.QKey})
	a.want(4, endpoint.Success)
	b.want(3, endpoint.Success)
	if _, err := a.dev.Lookup(within(t), b.dev.GID(1), endpoint.UDPPort(8), endpoint.ConnOptions{}); err == nil {
		t.Error("a service that nobody offers was found")
	}
}

// TestEachSideBeginsWithThePSNThatTheOtherChose holds what REQ and REP say
// against the first packets that follow them: two devices that had it the wrong
// way round would understand each other, and no other one.
func TestEachSideBeginsWithThePSNThatTheOtherChose(t *testing.T) {
	a, b, _, _ := dialled(t, endpoint.RC, 0)
	req, rep := a.qp.Attributes(), b.qp.Attributes()
	if req.RQPSN != a.qp.Local().PSN || req.SQPSN != b.qp.Local().PSN || rep.RQPSN != b.qp.Local().PSN || rep.SQPSN != a.qp.Local().PSN {
		t.Errorf("asked for %d and %d, began with %+v and %+v", a.qp.Local().PSN, b.qp.Local().PSN, req, rep)
	}
}

func TestARequestForALargerPathMTUThanTheLinksIsRefused(t *testing.T) {
	left, right := options(4200)
	right.MTU = 1024
	a, b := sides(t, endpoint.RC, left, right, 4096)
	_, _, err, acceptErr := dial(t, a, b, 0, endpoint.ConnOptions{}, endpoint.ConnOptions{})
	if rejected := new(endpoint.RejectError); !errors.As(err, &rejected) || rejected.Reason != 26 {
		t.Errorf("dialled: %v", err)
	}
	if acceptErr == nil {
		t.Error("accepted")
	}
}

// Dial waits with the timeout that the other side names, unless told otherwise.
func TestAWishedTimeoutWins(t *testing.T) {
	for _, wished := range []uint8{0, 11, 14} {
		left, right := options(1500)
		a, b := sides(t, endpoint.RC, left, right, 64)
		change := endpoint.ConnOptions{Change: func(a *endpoint.Attributes) {
			if wished != 0 {
				a.Timeout = wished
			}
		}}
		_, _, err, acceptErr := dial(t, a, b, 0, change, change)
		if err := errors.Join(err, acceptErr); err != nil {
			t.Fatal(err)
		}
		for _, s := range []*side{a, b} {
			got := s.qp.Attributes().Timeout
			if wished != 0 && got != wished || wished == 0 && got < 15 {
				t.Errorf("timeout %d, wished %d", got, wished)
			}
		}
	}
}

func TestAQueuePairThatIsConnectedIsNotConnectedAgain(t *testing.T) {
	a, b, _, _ := dialled(t, endpoint.RC, 0)
	_, err := a.dev.Dial(within(t), b.dev.GID(0), endpoint.TCPPort(18515), a.qp, endpoint.ConnOptions{})
	if err == nil || a.qp.State() != endpoint.RTS {
		t.Errorf("%v, and it is in %v", err, a.qp.State())
	}
	datagrams := newSide(t, a.dev, endpoint.UD, 64)
	if _, err := a.dev.Dial(within(t), b.dev.GID(0), endpoint.TCPPort(18515), datagrams.qp, endpoint.ConnOptions{}); err == nil {
		t.Error("a UD queue pair was connected")
	}
}

// A peer that sends a REQ and then no RTU leaves no queue pair that could send.
func TestAConnectionThatIsNotWaitedForEndsItsQueuePair(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := options(1500)
		a, b := sides(t, endpoint.RC, left, right, 64)
		l, err := b.dev.Listen(endpoint.TCPPort(1))
		if err != nil {
			t.Fatal(err)
		}
		dialled := make(chan error)
		go func() {
			_, err := a.dev.Dial(t.Context(), b.dev.GID(0), endpoint.TCPPort(1), a.qp, endpoint.ConnOptions{})
			dialled <- err
		}()
		r, err := l.Accept(within(t))
		if err != nil {
			t.Fatal(err)
		}
		_ = a.dev.Close()
		<-dialled
		waiting, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Accept(waiting, b.qp, endpoint.ConnOptions{}); err == nil || b.qp.State() == endpoint.RTS {
			t.Errorf("%v, and the queue pair is in %v", err, b.qp.State())
		}
		_ = b.dev.Close()
	})
}
