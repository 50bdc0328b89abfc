package rewrite

import "github.com/rocecap/rocecap/internal/wire"

// CM is a message of the connection manager: what it is, and the connection that
// it names.
type CM struct {
	What wire.HeaderID // HdrCMReq and so on
	// Local and Remote are the communication IDs of sender and receiver, 0 where
	// there is none. Local is the request ID of a service ID resolution, which
	// is the requester's in the reply too (IBTA 12.11).
	Local, Remote uint32
	Service       uint64 // of a request
}

// connected is a message that names both ends of a connection.
type connected interface {
	LocalCommID() uint32
	RemoteCommID() uint32
	SetRemoteCommID(v uint32)
}

// connectedOf returns nil for a message that names one end, or none.
func connectedOf(id wire.HeaderID, b []byte) connected {
	switch id {
	case wire.HdrCMRep:
		return wire.CMRep(b)
	case wire.HdrCMRtu:
		return wire.CMRtu(b)
	case wire.HdrCMRej:
		return wire.CMRej(b)
	case wire.HdrCMMra:
		return wire.CMMra(b)
	case wire.HdrCMDreq:
		return wire.CMDreq(b)
	case wire.HdrCMDrep:
		return wire.CMDrep(b)
	case wire.HdrCMLap:
		return wire.CMLap(b)
	case wire.HdrCMApr:
		return wire.CMApr(b)
	}
	return nil
}

// CMOf finds the message of the connection manager in a frame.
func CMOf(f *wire.Frame) (m CM, ok bool) {
	id, b := cmHeader(f)
	m.What = id
	switch id {
	case wire.HdrNone:
		return m, false
	case wire.HdrCMReq:
		m.Local, m.Service = wire.CMReq(b).LocalCommID(), wire.CMReq(b).ServiceID()
	case wire.HdrCMSidrReq:
		m.Local, m.Service = wire.CMSidrReq(b).RequestID(), wire.CMSidrReq(b).ServiceID()
	case wire.HdrCMSidrRep:
		m.Local = wire.CMSidrRep(b).RequestID()
	default:
		c := connectedOf(id, b)
		m.Local, m.Remote = c.LocalCommID(), c.RemoteCommID()
	}
	return m, true
}

// cmHeader is the message's own header.
func cmHeader(f *wire.Frame) (wire.HeaderID, []byte) {
	for _, h := range f.Headers() {
		b := f.Whole(h)
		switch h.ID {
		case wire.HdrCMReq, wire.HdrCMSidrReq, wire.HdrCMSidrRep:
		default:
			if connectedOf(h.ID, b) == nil {
				continue
			}
		}
		if b != nil {
			return h.ID, b
		}
	}
	return wire.HdrNone, nil
}

// begins reports whether a message begins a transaction; the others take over
// the ID of the one that they belong to (IBTA 12.6).
func begins(id wire.HeaderID) bool {
	switch id {
	case wire.HdrCMReq, wire.HdrCMDreq, wire.HdrCMLap, wire.HdrCMSidrReq:
		return true
	}
	return false
}
