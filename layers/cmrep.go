package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMRep is a ConnectReply (IBTA vol. 1, 12.6.8).
type CMRep struct {
	BaseLayer
	LocalCommID        uint32 // sender's communication ID
	RemoteCommID       uint32 // receiver's communication ID
	LocalQKey          uint32 // sender's Q_Key, for RD only
	LocalQPN           uint32 // sender's queue pair
	LocalEECN          uint32 // sender's end-to-end context, for RD only
	StartingPSN        PSN    // first PSN that the receiver of the message will use
	ResponderResources uint8  // number of READs and atomics that the sender takes at a time
	InitiatorDepth     uint8  // number of READs and atomics that the sender will have outstanding
	TargetACKDelay     uint8  // time that the sender may take to acknowledge, 4.096 us times two to this power
	FailoverAccepted   uint8  // answer to the alternate path, 0 for accepted
	FlowControl        bool   // end-to-end flow control bit
	RNRRetryCount      uint8  // number of times that the receiver is to retry after an RNR NAK, 7 for ever
	SRQ                bool   // bit that says that the sender's queue pair has a shared receive queue
	LocalCAGUID        uint64 // GUID of the sender's channel adapter
	VendorID           uint32 // vendor ID, 0 for none
	PrivateData        []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMRep.
func (*CMRep) LayerType() gopacket.LayerType { return LayerTypeCMRep }

// CanDecode returns LayerTypeCMRep.
func (*CMRep) CanDecode() gopacket.LayerClass { return LayerTypeCMRep }

// NextLayerType is none.
func (*CMRep) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMRep) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMRep, data, wire.CMRepLen, df); err != nil {
		return err
	}
	v := wire.CMRep(data)
	h.LocalCommID = v.LocalCommID()
	h.RemoteCommID = v.RemoteCommID()
	h.LocalQKey = v.LocalQKey()
	h.LocalQPN = v.LocalQPN()
	h.LocalEECN = v.LocalEECN()
	h.StartingPSN = v.StartingPSN()
	h.ResponderResources = v.ResponderResources()
	h.InitiatorDepth = v.InitiatorDepth()
	h.TargetACKDelay = v.TargetACKDelay()
	h.FailoverAccepted = v.FailoverAccepted()
	h.FlowControl = v.FlowControl()
	h.RNRRetryCount = v.RNRRetryCount()
	h.SRQ = v.SRQ()
	h.LocalCAGUID = v.LocalCAGUID()
	h.VendorID = v.VendorID()
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMRep) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMRep, wire.CMRepLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMRep(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetRemoteCommID(h.RemoteCommID)
	v.SetLocalQKey(h.LocalQKey)
	v.SetLocalQPN(h.LocalQPN)
	v.SetLocalEECN(h.LocalEECN)
	v.SetStartingPSN(h.StartingPSN)
	v.SetResponderResources(h.ResponderResources)
	v.SetInitiatorDepth(h.InitiatorDepth)
	v.SetTargetACKDelay(h.TargetACKDelay)
	v.SetFailoverAccepted(h.FailoverAccepted)
	v.SetFlowControl(h.FlowControl)
	v.SetRNRRetryCount(h.RNRRetryCount)
	v.SetSRQ(h.SRQ)
	v.SetLocalCAGUID(h.LocalCAGUID)
	v.SetVendorID(h.VendorID)
	return nil
}
