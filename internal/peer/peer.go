// Package peer is what the ends of connections made by rdma_cm have in common.
package peer

import (
	"context"
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/endpoint"
)

// ErrDisconnected is for what was still waited for when the other side ended the
// connection.
var ErrDisconnected = errors.New("the peer has ended the connection")

// StatusError says that a work request failed.
type StatusError struct{ Completion endpoint.Completion }

var _ error = (*StatusError)(nil)

func (e *StatusError) Error() string {
	return fmt.Sprintf("failed status %d (%s): wr_id %d", e.Completion.Status, e.Completion.Status, e.Completion.ID)
}

// Next waits for a completion that succeeded. When ctx ends first, the error is
// its cause.
func Next(ctx context.Context, cq *endpoint.CQ) (endpoint.Completion, error) {
	c, err := cq.Next(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		err = context.Cause(ctx)
	case err == nil && c.Status != endpoint.Success:
		err = &StatusError{c}
	}
	return c, err
}

// While is a context that ends with any of the connections too, with
// ErrDisconnected.
func While(ctx context.Context, conns ...*endpoint.Conn) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	for _, c := range conns {
		go func() {
			select {
			case <-c.Done():
				cancel(ErrDisconnected)
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// Ended waits until the other side has ended the connection.
func Ended(ctx context.Context, c *endpoint.Conn) error {
	select {
	case <-c.Done():
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
