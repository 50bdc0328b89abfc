package wire

// HeaderID names one kind of header, or one kind of trailing part (payload,
// pad, CRC), that a packet can be made of.
type HeaderID uint16

// Link, network and tunnel headers.
const (
	HdrNone HeaderID = iota
	HdrEthernet
	HdrVLAN
	HdrMPLS
	HdrSLL
	HdrSLL2
	HdrERF
	HdrERFExt
	HdrIPoIBPseudo // the 20-byte address before an IPoIB frame (link type 242)
	HdrIPoIB
	HdrARP
	HdrMACControl // Ethernet PAUSE
	HdrPFC        // priority-based flow control
	HdrIPv4
	HdrIPv6
	HdrIPv6HopOpts
	HdrIPv6Routing
	HdrIPv6Fragment
	HdrIPv6DestOpts
	HdrUDP
	HdrTCP
	HdrGRE
	HdrERSPAN2
	HdrERSPAN3
	HdrVXLAN
	HdrGeneve
	HdrTCPPayload
	HdrServiceVLAN // an 802.1ad tag
)

// InfiniBand headers, in the order of the packet.
const (
	HdrLRH HeaderID = 40 + iota
	HdrRWH
	HdrGRH
	HdrBTH
	HdrRDETH
	HdrDETH
	HdrXRCETH
	HdrRETH
	HdrAtomicETH
	HdrAETH
	HdrAtomicAckETH
	HdrImmDt
	HdrIETH
	HdrFETH
	HdrCNP         // the 16 reserved bytes of a congestion notification packet
	HdrFlowControl // IB link-level flow-control packet
	HdrPayload
	HdrPad
	HdrICRC
	HdrVCRC
	HdrTrailer // bytes of the frame behind the packet: Ethernet pad, FCS
	HdrNVMeCommand
	HdrNVMeResponse
	HdrNVMeAdmin   // a command on queue 0
	HdrNVMeFabrics // a command of the Fabrics set, on any queue
)

// iWARP headers (mpa.go, ddp.go, rdmap.go, terminate.go).
const (
	HdrMPARequest HeaderID = 70 + iota
	HdrMPAReply
	HdrMPAEnhanced // the four IRD/ORD bytes of an MPA v2 start-up frame
	HdrMPALegacy   // eight bytes of private data that carry IRD and ORD
	HdrMPAPrivate
	HdrFPDU // the ULPDU length
	HdrMPAMarker
	HdrDDPTagged
	HdrDDPUntagged
	HdrRDMAP // the RDMAP control octet lies inside the DDP header; see rdmap.go
	HdrRDMAPReadRequest
	HdrRDMAPImmediate
	HdrRDMAPAtomicRequest
	HdrRDMAPAtomicResponse
	HdrRDMAPTerminate
	HdrRDMAPTermDDP  // the offending DDP header inside a Terminate
	HdrRDMAPTermRead // the offending Read Request header inside a Terminate
	HdrFPDUPayload
	HdrFPDUPad
	HdrFPDUCRC
)

// firstMAD is where the management-datagram headers begin (mad_ids.go).
const firstMAD HeaderID = 100

// Spec describes one kind of header.
type Spec struct {
	ID    HeaderID
	Name  string // display-filter name of the whole header, "infiniband.bth"
	Title string // "Base Transport Header"
	// Len is the length in bytes of a fixed header, the shortest length of one
	// whose length varies.
	Len    int
	Fields []Field
}

// Field returns the first field of the given name that the header h has, nil
// when it has none.
func (s *Spec) Field(name string, h []byte) *Field {
	for i := range s.Fields {
		if f := &s.Fields[i]; f.Name == name && f.Present(h) {
			return f
		}
	}
	return nil
}

// SpecOf returns the description of a header, nil for HdrNone and unknown ids.
func SpecOf(id HeaderID) *Spec {
	switch {
	case id >= firstMAD && int(id-firstMAD) < len(madSpecs):
		return madSpecs[id-firstMAD]
	case int(id) < len(specs):
		return specs[id]
	}
	return nil
}

// Specs returns the description of every header, in order of id.
func Specs() []*Spec {
	var all []*Spec
	for _, table := range [][]*Spec{specs[:], madSpecs[:]} {
		for _, s := range table {
			if s != nil {
				all = append(all, s)
			}
		}
	}
	return all
}
