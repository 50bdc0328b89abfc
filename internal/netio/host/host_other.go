//go:build !linux

package host

import (
	"context"
	"net/netip"
)

// Links returns ErrNotSupported.
func Links(context.Context) ([]Link, error) { return nil, ErrNotSupported }

// Addresses returns ErrNotSupported.
func Addresses(context.Context) ([]Address, error) { return nil, ErrNotSupported }

// DefaultRouteLinks returns ErrNotSupported.
func DefaultRouteLinks(context.Context) ([]int, error) { return nil, ErrNotSupported }

// NextHop returns ErrNotSupported.
func NextHop(context.Context, netip.Addr, int) (Hop, error) { return Hop{}, ErrNotSupported }

// Neighbours returns ErrNotSupported.
func Neighbours(context.Context) ([]Neighbour, error) { return nil, ErrNotSupported }
