package wire

import "net/netip"

// CMMessageLen is the length of every connection management message: what a
// datagram holds behind its common header (IBTA vol. 1, 16.7.1).
const CMMessageLen = 232

// Connection management attributes (IBTA vol. 1, table 12.6.4 and 12.8, 12.11).
const (
	CMAttrReq     uint16 = 0x0010
	CMAttrMra     uint16 = 0x0011
	CMAttrRej     uint16 = 0x0012
	CMAttrRep     uint16 = 0x0013
	CMAttrRtu     uint16 = 0x0014
	CMAttrDreq    uint16 = 0x0015
	CMAttrDrep    uint16 = 0x0016
	CMAttrSidrReq uint16 = 0x0017
	CMAttrSidrRep uint16 = 0x0018
	CMAttrLap     uint16 = 0x0019
	CMAttrApr     uint16 = 0x001A
)

// cmAttribute names the header of a connection management message, HdrNone for
// one that is not described.
func cmAttribute(attr uint16) HeaderID {
	switch attr {
	case 0x0001:
		return HdrClassPortInfo
	case CMAttrReq:
		return HdrCMReq
	case CMAttrMra:
		return HdrCMMra
	case CMAttrRej:
		return HdrCMRej
	case CMAttrRep:
		return HdrCMRep
	case CMAttrRtu:
		return HdrCMRtu
	case CMAttrDreq:
		return HdrCMDreq
	case CMAttrDrep:
		return HdrCMDrep
	case CMAttrSidrReq:
		return HdrCMSidrReq
	case CMAttrSidrRep:
		return HdrCMSidrRep
	case CMAttrLap:
		return HdrCMLap
	case CMAttrApr:
		return HdrCMApr
	}
	return HdrNone
}

func cmAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case CMAttrReq:
		return "ConnectRequest"
	case CMAttrMra:
		return "MsgRcptAck"
	case CMAttrRej:
		return "ConnectReject"
	case CMAttrRep:
		return "ConnectReply"
	case CMAttrRtu:
		return "ReadyToUse"
	case CMAttrDreq:
		return "DisconnectRequest"
	case CMAttrDrep:
		return "DisconnectReply"
	case CMAttrSidrReq:
		return "ServiceIDResReq"
	case CMAttrSidrRep:
		return "ServiceIDResReqResp"
	case CMAttrLap:
		return "LoadAlternatePath"
	case CMAttrApr:
		return "AlternatePathResponse"
	case 0x001B:
		return "SuggestAlternatePath"
	case 0x001C:
		return "SuggestPathResponse"
	}
	return ""
}

// cmRest is the open-ended end of a message: its private data.
func cmRest(m []byte, off int) []byte {
	if off >= len(m) {
		return nil
	}
	return m[off:]
}

// gidAt reads a GID. An IPv4 address of RoCE v2 stays in its mapped form,
// ::ffff:a.b.c.d.
func gidAt(b []byte) netip.Addr { return netip.AddrFrom16([16]byte(b[:16])) }

// gidMapsIPv4 reports whether the GID at b is an IPv4-mapped address
// (IBTA annex A17, 17.4.5.2).
func gidMapsIPv4(b []byte) bool {
	for _, x := range b[:10] {
		if x != 0 {
			return false
		}
	}
	return b[10] == 0xFF && b[11] == 0xFF
}

// transportName names a transport service type (IBTA vol. 1, 12.7.11); type 3
// leaves the choice to the extended transport type.
func transportName(v uint64) string {
	switch v {
	case TransportRC:
		return "RC"
	case TransportUC:
		return "UC"
	case TransportRD:
		return "RD"
	}
	return "Extended"
}

// Transport service types of a REQ.
const (
	TransportRC       = 0
	TransportUC       = 1
	TransportRD       = 2
	TransportExtended = 3
)

// ExtendedTransportXRC is the extended transport type of an XRC connection
// (IBTA annex A14).
const ExtendedTransportXRC = 1

func extendedTransportName(v uint64) string {
	if v == ExtendedTransportXRC {
		return "XRC"
	}
	return ""
}

// mraMessageName names the message that an MRA acknowledges
// (IBTA vol. 1, 12.7.2).
func mraMessageName(v uint64) string {
	switch v {
	case 0:
		return "REQ"
	case 1:
		return "REP"
	case 2:
		return "LAP"
	}
	return ""
}

// rejMessageName names the message that a REJ answers (IBTA vol. 1, 12.7.3).
func rejMessageName(v uint64) string {
	switch v {
	case 0:
		return "REQ"
	case 1:
		return "REP"
	case 2:
		return "No message"
	}
	return ""
}
