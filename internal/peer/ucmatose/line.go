package ucmatose

import (
	"context"
	"errors"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// line is one connection.
type line struct {
	conn           *endpoint.Conn
	qp             *endpoint.QP
	sendCQ, recvCQ *endpoint.CQ
}

// add makes a queue pair with all its receives posted and connects it.
func (e *End) add(connect func(*endpoint.QP) (*endpoint.Conn, error)) error {
	depth := max(1, e.Count)
	l := &line{sendCQ: e.dev.CreateCQ(depth), recvCQ: e.dev.CreateCQ(depth)}
	var err error
	l.qp, err = e.dev.CreateQP(endpoint.QPOptions{
		Type: endpoint.RC, PD: e.pd, SendCQ: l.sendCQ, RecvCQ: l.recvCQ, MaxSend: depth, MaxRecv: depth, SignalAll: true,
	})
	if err != nil {
		return err
	}
	e.lines = append(e.lines, l)
	if err := l.qp.Prepare(); err != nil {
		return err
	}
	for range e.Count {
		if err := l.qp.PostRecv(endpoint.RecvRequest{SGL: e.region.SGL(e.Size, e.Size)}); err != nil {
			return err
		}
	}
	l.conn, err = connect(l.qp)
	return err
}

// send posts all messages of all connections.
func (e *End) send() error {
	for _, l := range e.lines {
		for range e.Count {
			if err := l.qp.PostSend(endpoint.WorkRequest{Op: endpoint.Send, SGL: e.region.SGL(0, e.Size)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// sent waits until they have been sent.
func (e *End) sent(ctx context.Context) error {
	return e.await(ctx, func(l *line) *endpoint.CQ { return l.sendCQ }, func(endpoint.Completion) {})
}

// receive waits for as many to come.
func (e *End) receive(ctx context.Context) error {
	return e.await(ctx, func(l *line) *endpoint.CQ { return l.recvCQ }, func(c endpoint.Completion) {
		e.messages++
		e.bytes += uint64(c.Bytes)
	})
}

func (e *End) await(ctx context.Context, queue func(*line) *endpoint.CQ, each func(endpoint.Completion)) error {
	for _, l := range e.lines {
		for range e.Count {
			c, err := peer.Next(ctx, queue(l))
			if err != nil {
				return err
			}
			each(c)
		}
	}
	return nil
}

// Close frees what the end has.
func (e *End) Close() error {
	var err error
	for _, l := range e.lines {
		err = errors.Join(err, l.qp.Destroy())
		l.sendCQ.Destroy()
		l.recvCQ.Destroy()
	}
	return errors.Join(err, e.region.Deregister(), e.pd.Dealloc())
}
