package host

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"time"

	"github.com/rocecap/rocecap/internal/netio/nic"
)

// Port sends and receives frames; *nic.Link is one.
type Port interface {
	Send(frames [][]byte, deadline time.Time) (int, error)
	Receive(b *nic.Batch, deadline time.Time) error
}

const (
	// asks is how often a question is sent, askEvery how long each waits. The
	// whole second is what RFC 4861, 10, gives one question; that some get lost
	// is likelier than that an answer takes so long.
	asks     = 4
	askEvery = 250 * time.Millisecond
)

// Resolve returns the MAC address that a frame from a link to an IP address
// goes to: a group's, the gateway's, or the destination's own. What the kernel
// does not know is asked over the link, in the name of from; frames that arrive
// meanwhile are lost. Where from has no MAC address it is the link's; no IP
// address, the kernel's choice.
func Resolve(ctx context.Context, link *nic.Link, from Question, to netip.Addr) (MAC, error) {
	to = to.Unmap().WithZone("")
	switch {
	case !to.IsValid() || to.IsUnspecified():
		return MAC{}, fmt.Errorf("%w to no address", ErrNoRoute)
	case to.IsMulticast():
		return MulticastMAC(to), nil
	case to == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
		return broadcast(), nil
	}
	hop, err := NextHop(ctx, to, link.Index())
	if err != nil && !errors.Is(err, ErrNoRoute) {
		return MAC{}, err
	}
	var own MAC
	copy(own[:], link.MAC()) // a loopback interface has none
	switch {
	case hop.Local:
		return own, nil
	case hop.Broadcast:
		return broadcast(), nil
	}
	from.Target = to // also without a route: then it must be on the link
	if hop.Gateway.IsValid() {
		from.Target = hop.Gateway
	}
	if mac, known, err := neighbour(ctx, link.Index(), from.Target); known || err != nil {
		return mac, err
	}
	if from.MAC == (MAC{}) {
		from.MAC = own
	}
	if !from.IP.IsValid() {
		from.IP = hop.Source
	}
	return Ask(ctx, link, from)
}

// Ask sends a question, some times within a second, and waits for the answer.
func Ask(ctx context.Context, port Port, q Question) (MAC, error) {
	frames := [][]byte{q.Append(nil)}
	limit, limited := ctx.Deadline()
	for range asks {
		until := time.Now().Add(askEvery)
		if limited && limit.Before(until) {
			until = limit
		}
		if _, err := port.Send(frames, until); err != nil {
			return MAC{}, fmt.Errorf("asking for the MAC address of %s: %w", q.Target, err)
		}
		mac, answered, err := listen(ctx, port, q, until)
		if answered || err != nil {
			return mac, err
		}
		err = ctx.Err()
		if limited && until.Equal(limit) {
			err = context.DeadlineExceeded // the context's own timer may be late
		}
		if err != nil {
			return MAC{}, fmt.Errorf("asking for the MAC address of %s: %w", q.Target, err)
		}
	}
	return MAC{}, fmt.Errorf("MAC address of %s: asked %d times, %w", q.Target, asks, ErrNoAnswer)
}

// listen waits for an answer until a point in time.
func listen(ctx context.Context, port Port, q Question, until time.Time) (MAC, bool, error) {
	var batch nic.Batch
	for ctx.Err() == nil {
		err := port.Receive(&batch, until)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return MAC{}, false, nil
		}
		if err != nil {
			return MAC{}, false, fmt.Errorf("waiting for the MAC address of %s: %w", q.Target, err)
		}
		for _, f := range batch.Frames {
			if mac, ok := q.Answer(f.Data); ok && !f.Outgoing {
				return mac, true, nil
			}
		}
		if !time.Now().Before(until) { // traffic without end is no answer
			return MAC{}, false, nil
		}
	}
	return MAC{}, false, nil
}
