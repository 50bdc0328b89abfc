package rping

import (
	"context"
	"errors"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Options say what to ping with.
type Options struct {
	Size     int  // of a ping, with its zero byte
	Count    int  // of a client's pings; 0 is without end
	Validate bool // compare what comes back
	// Show gets each ping that has come, and may be nil.
	Show func(ping string)
	// Change changes the attributes of the queue pair.
	Change func(*endpoint.Attributes)
}

// Check says what the original does not take either.
func (o *Options) Check() error {
	if o.Size < MinSize || o.Size > MaxSize {
		return fmt.Errorf("invalid size %d (valid range is %d to %d)", o.Size, MinSize, MaxSize)
	}
	if o.Count < 0 {
		return fmt.Errorf("invalid count %d", o.Count)
	}
	return nil
}

// MismatchError says that a ping did not come back as it was.
type MismatchError struct{ Ping int }

var _ error = (*MismatchError)(nil)

func (e *MismatchError) Error() string { return fmt.Sprintf("ping %d: data mismatch", e.Ping) }

// Session is one end of a connection.
type Session struct {
	Options
	Conn   *endpoint.Conn
	Pings  int // that have gone all the way
	dev    *endpoint.Device
	pd     *endpoint.PD
	qp     *endpoint.QP
	sendCQ *endpoint.CQ
	recvCQ *endpoint.CQ
	memory []byte
	region *endpoint.Region
}

// queueDepth is enough for turns: one request and one receive at a time.
const queueDepth = 2

// The places in a session's memory: what a SEND is received into, what is sent,
// the ping (a server's only one), and a client's ping that has come back.
const (
	heardAt = 0
	saidAt  = heardAt + AdvertLen
	pingAt  = saidAt + AdvertLen
)

func (s *Session) echoAt() int { return pingAt + s.Size }

// Dial connects to a server.
func Dial(ctx context.Context, dev *endpoint.Device, server netip.AddrPort, o Options) (*Session, error) {
	s, err := newSession(dev, o)
	if err != nil {
		return nil, err
	}
	s.Conn, err = dev.Dial(ctx, server.Addr(), endpoint.TCPPort(server.Port()), s.qp, endpoint.ConnOptions{Change: s.attributes})
	return s.connected(err)
}

// Accept connects to a client that asks for it.
func Accept(ctx context.Context, dev *endpoint.Device, r *endpoint.Request, o Options) (*Session, error) {
	s, err := newSession(dev, o)
	if err != nil {
		return nil, err
	}
	s.Conn, err = r.Accept(ctx, s.qp, endpoint.ConnOptions{Change: s.attributes})
	return s.connected(err)
}

func (s *Session) connected(err error) (*Session, error) {
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func newSession(dev *endpoint.Device, o Options) (*Session, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	s := &Session{
		Options: o, dev: dev, pd: dev.AllocPD(), sendCQ: dev.CreateCQ(queueDepth), recvCQ: dev.CreateCQ(queueDepth),
		memory: make([]byte, pingAt+2*o.Size),
	}
	var err error
	s.region, err = s.pd.RegisterMemory(s.memory, endpoint.LocalWrite|endpoint.RemoteWrite|endpoint.RemoteRead)
	if err != nil {
		return nil, err
	}
	s.qp, err = dev.CreateQP(endpoint.QPOptions{
		Type: endpoint.RC, PD: s.pd, SendCQ: s.sendCQ, RecvCQ: s.recvCQ,
		MaxSend: queueDepth, MaxRecv: queueDepth, SignalAll: true,
	})
	if err != nil {
		return nil, errors.Join(err, s.region.Deregister())
	}
	if err := s.qp.Prepare(s.attributes); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if err := s.listen(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// attributes asks for one READ at a time, as the original does: there is never
// more.
func (s *Session) attributes(a *endpoint.Attributes) {
	a.MaxRdAtomic, a.MaxDestRdAtomic = 1, 1
	if s.Change != nil {
		s.Change(a)
	}
}

// listen posts the receive for the next SEND.
func (s *Session) listen() error {
	return s.qp.PostRecv(endpoint.RecvRequest{SGL: s.region.SGL(heardAt, AdvertLen)})
}

// hear waits for a SEND.
func (s *Session) hear(ctx context.Context) (Advert, error) {
	c, err := peer.Next(ctx, s.recvCQ)
	if err != nil {
		return Advert{}, err
	}
	a, err := ParseAdvert(s.memory[heardAt:][:c.Bytes])
	if err != nil {
		return Advert{}, err
	}
	return a, s.listen()
}

// say sends an advert.
func (s *Session) say(ctx context.Context, a Advert) error {
	a.Append(s.memory[saidAt:saidAt])
	return s.do(ctx, endpoint.WorkRequest{Op: endpoint.Send, SGL: s.region.SGL(saidAt, AdvertLen)})
}

// do posts a request and waits for its end.
func (s *Session) do(ctx context.Context, wr endpoint.WorkRequest) error {
	if err := s.qp.PostSend(wr); err != nil {
		return err
	}
	_, err := peer.Next(ctx, s.sendCQ)
	return err
}

func (s *Session) show(ping []byte) {
	if s.Show != nil {
		s.Show(text(ping))
	}
}

// end ends the connection, whatever came of it.
func (s *Session) end(ctx context.Context, err error) error {
	if e := s.Conn.Disconnect(ctx); err == nil {
		err = e
	}
	return err
}

// Close frees what the session has.
func (s *Session) Close() error {
	err := errors.Join(s.qp.Destroy(), s.region.Deregister(), s.pd.Dealloc())
	s.sendCQ.Destroy()
	s.recvCQ.Destroy()
	return err
}
