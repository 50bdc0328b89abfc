package connect

import (
	"bytes"
	"fmt"
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Attribute says which message a datagram holds: one of wire.CMAttrReq and so on.
type Attribute uint16

// forms lists the messages that are followed.
var forms = map[Attribute]struct {
	name   string
	header wire.HeaderID
	// asks: its sender waits for an answer, and sends it again when none comes.
	asks bool
}{
	Attribute(wire.CMAttrReq):     {"REQ", wire.HdrCMReq, true},
	Attribute(wire.CMAttrMra):     {"MRA", wire.HdrCMMra, false},
	Attribute(wire.CMAttrRej):     {"REJ", wire.HdrCMRej, false},
	Attribute(wire.CMAttrRep):     {"REP", wire.HdrCMRep, true},
	Attribute(wire.CMAttrRtu):     {"RTU", wire.HdrCMRtu, false},
	Attribute(wire.CMAttrDreq):    {"DREQ", wire.HdrCMDreq, true},
	Attribute(wire.CMAttrDrep):    {"DREP", wire.HdrCMDrep, false},
	Attribute(wire.CMAttrSidrReq): {"SIDR REQ", wire.HdrCMSidrReq, true},
	Attribute(wire.CMAttrSidrRep): {"SIDR REP", wire.HdrCMSidrRep, false},
	Attribute(wire.CMAttrLap):     {"LAP", wire.HdrCMLap, true},
	Attribute(wire.CMAttrApr):     {"APR", wire.HdrCMApr, false},
}

// String returns the message's usual name.
func (a Attribute) String() string {
	if form, ok := forms[a]; ok {
		return form.name
	}
	return fmt.Sprintf("attribute %#04x", uint16(a))
}

// Header is the header that the message begins with, for its fields.
func (a Attribute) Header() wire.HeaderID { return forms[a].header }

// Message is a connection management message as the capture has it. The header
// is there, whole; of the private data behind it, what was captured.
type Message struct {
	Number      int   // 1-based place in the capture
	Time        int64 // nanoseconds since the epoch
	Src, Dst    netip.Addr
	Attribute   Attribute
	Transaction uint64

	// What the Tracker adds.
	Sender   int   // which end of the connection sent it
	Repeats  int   // how often it came again
	Repeated int64 // when it came last, Time if it came once

	len  int
	body [wire.CMMessageLen]byte
}

// methodSend is what all messages are sent with (IBTA vol. 1, 16.7.2).
const methodSend = 0x03

// Read takes the message out of a frame; ok is false when the frame has none, or
// its header was not captured whole. Number, Time, Src and Dst are the caller's.
func (m *Message) Read(f *wire.Frame) (ok bool) {
	h, ok := f.Last(wire.HdrMAD)
	if !ok {
		return false
	}
	mad := wire.MAD(f.Whole(h))
	if mad == nil || mad.MgmtClass() != wire.ClassCM || mad.Method() != methodSend {
		return false
	}
	attribute := Attribute(mad.AttributeID())
	form, known := forms[attribute]
	if !known {
		return false
	}
	body := f.PayloadBytes()
	body = body[min(len(body), wire.MADHeaderLen):min(len(body), wire.MADLen)]
	if len(body) < wire.SpecOf(form.header).Len {
		return false
	}
	m.Attribute, m.Transaction = attribute, mad.TransactionID()
	m.Sender, m.Repeats, m.Repeated = 0, 0, m.Time
	m.body = [wire.CMMessageLen]byte{}
	m.len = copy(m.body[:], body)
	return true
}

// Body is the message from its header on, for the views of package wire.
func (m *Message) Body() []byte { return m.body[:m.len] }

// is reports whether a message is of a kind.
func (m *Message) is(attribute uint16) bool { return m.Attribute == Attribute(attribute) }

// ids returns the communication IDs of the sender and of the receiver, as far
// as the message names them: a REQ has no receiver's, and the request ID of SIDR
// is that of the asking end. A REJ may come from an end that has none, and says 0.
func (m *Message) ids() (local, remote identifier) {
	b := wire.CMRtu(m.Body()) // all messages begin with the IDs
	switch uint16(m.Attribute) {
	case wire.CMAttrReq, wire.CMAttrSidrReq:
		return identifier{b.LocalCommID(), true}, remote
	case wire.CMAttrSidrRep:
		return local, identifier{b.LocalCommID(), true}
	case wire.CMAttrRej:
		return identifier{b.LocalCommID(), b.LocalCommID() != 0}, identifier{b.RemoteCommID(), true}
	}
	return identifier{b.LocalCommID(), true}, identifier{b.RemoteCommID(), true}
}

// datagram reports whether the message is about a service of datagrams.
func (m *Message) datagram() bool { return m.is(wire.CMAttrSidrReq) || m.is(wire.CMAttrSidrRep) }

// Service is the service ID that a REQ or SIDR REQ asks for, or a SIDR REP answers.
func (m *Message) Service() (id uint64, ok bool) {
	switch uint16(m.Attribute) {
	case wire.CMAttrReq:
		return wire.CMReq(m.Body()).ServiceID(), true
	case wire.CMAttrSidrReq:
		return wire.CMSidrReq(m.Body()).ServiceID(), true
	case wire.CMAttrSidrRep:
		return wire.CMSidrRep(m.Body()).ServiceID(), true
	}
	return 0, false
}

// IP is what rdma_cm says in front of the private data of a REQ or SIDR REQ: the
// IP addresses and the port of the asking end; nil when there is no such header.
func (m *Message) IP() wire.CMIPPrivate {
	service, ok := m.Service()
	if _, _, ip := wire.ParseCMIPServiceID(service); !ok || !ip || m.is(wire.CMAttrSidrRep) {
		return nil
	}
	if h := m.rest(); len(h) >= wire.CMIPPrivateLen {
		return h
	}
	return nil
}

// rest is what is behind the header.
func (m *Message) rest() []byte { return m.Body()[wire.SpecOf(m.Attribute.Header()).Len:] }

// Private is the consumer's private data. The message does not say how long it
// is: the zeros that fill it up are left out, also those that the consumer meant.
func (m *Message) Private() []byte {
	data := m.rest()
	if ip := m.IP(); ip != nil {
		data = ip.PrivateData()
	}
	return bytes.TrimRight(data, "\x00")
}
