package qp

import "net/netip"

// Address is where packets go: an address vector (IBTA 11.2.2.1). The engine
// hands it back with each packet and looks at nothing in it.
type Address struct {
	DGID         netip.Addr // GID; RoCEv2's is an IP address
	SGID         netip.Addr
	FlowLabel    uint32
	TrafficClass uint8
	HopLimit     uint8
	SL           uint8 // the priority of a VLAN tag
	SrcPort      uint16
	// Head is what the driver puts before every packet to this address.
	Head []byte
}
