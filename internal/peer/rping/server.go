package rping

import (
	"context"
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/peer"
)

// Answer is the server: it answers pings until the client ends the connection.
func (s *Session) Answer(ctx context.Context) error {
	return s.end(ctx, s.answers(ctx))
}

func (s *Session) answers(ctx context.Context) error {
	ctx, done := peer.While(ctx, s.Conn)
	defer done()
	for {
		if err := s.answer(ctx); errors.Is(err, peer.ErrDisconnected) {
			return nil
		} else if err != nil {
			return fmt.Errorf("ping %d: %w", s.Pings, err)
		}
	}
}

// answer reads a ping and writes it back.
func (s *Session) answer(ctx context.Context) error {
	source, err := s.hear(ctx)
	if err != nil {
		return err
	}
	ping, err := s.transfer(ctx, endpoint.Read, source)
	if err != nil {
		return err
	}
	s.show(ping)
	if err := s.say(ctx, Advert{}); err != nil {
		return err
	}
	sink, err := s.hear(ctx)
	if err != nil {
		return err
	}
	if sink.Length < source.Length {
		return fmt.Errorf("the client has sent %d bytes and takes %d back", source.Length, sink.Length)
	}
	sink.Length = source.Length
	if _, err := s.transfer(ctx, endpoint.Write, sink); err != nil {
		return err
	}
	s.Pings++
	return s.say(ctx, Advert{})
}

// transfer reads or writes a client's buffer.
func (s *Session) transfer(ctx context.Context, op endpoint.Op, a Advert) ([]byte, error) {
	if int64(a.Length) > int64(s.Size) {
		return nil, fmt.Errorf("the client's buffer has %d bytes, this side's %d", a.Length, s.Size)
	}
	err := s.do(ctx, endpoint.WorkRequest{
		Op: op, SGL: s.region.SGL(pingAt, int(a.Length)), RemoteAddr: a.Addr, RKey: a.RKey,
	})
	return s.memory[pingAt:][:a.Length], err
}
