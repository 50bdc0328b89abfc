//go:build !linux

package udplink

import (
	"net"
	"net/netip"
)

func bind(netip.Addr) (*net.UDPConn, error) { return nil, ErrNotSupported }

func trafficClass([]byte) uint8 { return 0 }
