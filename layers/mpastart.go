package layers

import (
	"fmt"

	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// MPANotNegotiated is the IRD or ORD of a side that leaves it to the upper
// layer (RFC 6581, 9.1).
const MPANotNegotiated = wire.MPANotNegotiated

// MPAStart is what the two MPA start-up frames share (RFC 5044, 7.1.1).
type MPAStart struct {
	BaseLayer
	Markers  bool  // M: the sender wants markers in what it receives
	CRC      bool  // C: the sender wants CRCs checked
	Reject   bool  // R: the responder refuses
	Revision uint8 // 1 (RFC 5044) or 2 (RFC 6581)
	// PrivateLen counts Enhanced and PrivateData, in bytes, at most 512.
	PrivateLen uint16
	// Enhanced is the set-up data of revision 2, flag S; nil if there is none.
	Enhanced    *MPAEnhanced
	PrivateData []byte // what the consumer sends along
}

// MPAEnhanced is the set-up data that MPA revision 2 puts before the private
// data (RFC 6581, 5).
type MPAEnhanced struct {
	PeerToPeer bool   // A: the initiator sends a ready-to-receive message first
	RTRSend    bool   // B: a Send of length zero is such a message
	RTRWrite   bool   // C: a Write of length zero is one
	RTRRead    bool   // D: a Read of length zero is one
	IRD        uint16 // Read Requests that the sender can have pending as a responder
	ORD        uint16 // Read Requests that the sender wants outstanding
}

// MPARequest is the MPA start-up frame of the initiator (RFC 5044, 7.1.1). It
// lies at the start of its TCP stream.
type MPARequest struct{ MPAStart }

// MPAReply is the MPA start-up frame of the responder (RFC 5044, 7.1.1).
type MPAReply struct{ MPAStart }

// LayerType returns LayerTypeMPARequest.
func (*MPARequest) LayerType() gopacket.LayerType { return LayerTypeMPARequest }

// LayerType returns LayerTypeMPAReply.
func (*MPAReply) LayerType() gopacket.LayerType { return LayerTypeMPAReply }

// CanDecode returns LayerTypeMPARequest.
func (*MPARequest) CanDecode() gopacket.LayerClass { return LayerTypeMPARequest }

// CanDecode returns LayerTypeMPAReply.
func (*MPAReply) CanDecode() gopacket.LayerClass { return LayerTypeMPAReply }

// NextLayerType is none: FPDUs may follow, but not before the other side has
// answered.
func (*MPARequest) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// NextLayerType is FPDU when the responder's first one follows at once.
func (h *MPAReply) NextLayerType() gopacket.LayerType {
	if len(h.Payload) == 0 {
		return gopacket.LayerTypeZero
	}
	return LayerTypeFPDU
}

// DecodeFromBytes reads the frame that begins data.
func (h *MPARequest) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return h.decode(LayerTypeMPARequest, wire.MPARequestKey, data, df)
}

// DecodeFromBytes reads the frame that begins data.
func (h *MPAReply) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	return h.decode(LayerTypeMPAReply, wire.MPAReplyKey, data, df)
}

// SerializeTo writes the frame before what b holds. With FixLengths it counts
// PrivateLen.
func (h *MPARequest) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	return h.serialize(wire.MPARequestKey, b, opts)
}

// SerializeTo writes the frame before what b holds. With FixLengths it counts
// PrivateLen.
func (h *MPAReply) SerializeTo(b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	return h.serialize(wire.MPAReplyKey, b, opts)
}

func (h *MPAStart) decode(t gopacket.LayerType, key string, data []byte, df gopacket.DecodeFeedback) error {
	base, err := split(t, data, wire.MPAStartLen, df)
	if err != nil {
		return err
	}
	v := wire.MPAStart(data)
	if string(v.Key()) != key {
		return fmt.Errorf("%v: key %q", t, v.Key())
	}
	h.Markers, h.CRC, h.Reject = v.Markers(), v.CRC(), v.Reject()
	h.Revision, h.PrivateLen, h.Enhanced = v.Revision(), uint16(v.PrivateLen()), nil
	private := clip(base.Payload, v.PrivateLen(), df)
	end := wire.MPAStartLen + len(private)
	h.BaseLayer = BaseLayer{Contents: data[:end], Payload: data[end:]}
	if v.Enhanced() && len(private) >= wire.MPAEnhancedLen {
		h.Enhanced = readEnhanced(wire.MPAEnhanced(private))
		private = private[wire.MPAEnhancedLen:]
	}
	h.PrivateData = private
	return nil
}

func readEnhanced(v wire.MPAEnhanced) *MPAEnhanced {
	return &MPAEnhanced{
		PeerToPeer: v.PeerToPeer(), RTRSend: v.RTRSend(), RTRWrite: v.RTRWrite(), RTRRead: v.RTRRead(),
		IRD: v.IRD(), ORD: v.ORD(),
	}
}

func (e *MPAEnhanced) write(v wire.MPAEnhanced) {
	v.SetPeerToPeer(e.PeerToPeer)
	v.SetRTRSend(e.RTRSend)
	v.SetRTRWrite(e.RTRWrite)
	v.SetRTRRead(e.RTRRead)
	v.SetIRD(e.IRD)
	v.SetORD(e.ORD)
}

func (h *MPAStart) serialize(key string, b gopacket.SerializeBuffer, opts gopacket.SerializeOptions) error {
	if err := prependCopy(b, h.PrivateData); err != nil {
		return err
	}
	private := len(h.PrivateData)
	if h.Enhanced != nil {
		room, err := prepend(b, wire.MPAEnhancedLen)
		if err != nil {
			return err
		}
		h.Enhanced.write(wire.MPAEnhanced(room))
		private += wire.MPAEnhancedLen
	}
	if opts.FixLengths {
		if private > wire.MaxMPAPrivate {
			return fmt.Errorf("MPA start-up frame: %d bytes of private data, of at most %d", private, wire.MaxMPAPrivate)
		}
		h.PrivateLen = uint16(private)
	}
	room, err := prepend(b, wire.MPAStartLen)
	if err != nil {
		return err
	}
	v := wire.MPAStart(room)
	v.SetKey(key)
	v.SetMarkers(h.Markers)
	v.SetCRC(h.CRC)
	v.SetReject(h.Reject)
	v.SetEnhanced(h.Enhanced != nil)
	v.SetRevision(h.Revision)
	v.SetPrivateLen(int(h.PrivateLen))
	return nil
}
