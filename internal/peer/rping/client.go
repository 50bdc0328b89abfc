package rping

import (
	"bytes"
	"context"
	"fmt"

	"github.com/rocecap/rocecap/internal/peer"
)

// Ping is the client: it sends its pings, one at a time, and ends the connection.
func (s *Session) Ping(ctx context.Context) error {
	return s.end(ctx, s.pings(ctx))
}

func (s *Session) pings(ctx context.Context) error {
	ctx, done := peer.While(ctx, s.Conn)
	defer done()
	for ; s.Count == 0 || s.Pings < s.Count; s.Pings++ {
		if err := s.ping(ctx, s.Pings); err != nil {
			return fmt.Errorf("ping %d: %w", s.Pings, err)
		}
		echo := s.memory[s.echoAt():]
		if s.Validate && !bytes.Equal(echo, s.memory[pingAt:s.echoAt()]) {
			return &MismatchError{s.Pings}
		}
		s.show(echo)
	}
	return nil
}

// ping lets the server read a ping and write it back.
func (s *Session) ping(ctx context.Context, n int) error {
	fill(s.memory[pingAt:s.echoAt()], n)
	for _, at := range []int{pingAt, s.echoAt()} {
		err := s.say(ctx, Advert{Addr: s.region.VA() + uint64(at), RKey: s.region.RKey(), Length: uint32(s.Size)})
		if err != nil {
			return err
		}
		if _, err := s.hear(ctx); err != nil {
			return err
		}
	}
	return nil
}
