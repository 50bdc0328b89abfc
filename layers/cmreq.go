package layers

import (
	"github.com/google/gopacket"

	"github.com/rocecap/rocecap/internal/wire"
)

// CMReq is a ConnectRequest (IBTA vol. 1, 12.6.5).
type CMReq struct {
	BaseLayer
	LocalCommID           uint32 // sender's communication ID
	VendorID              uint32 // vendor ID, 0 for none
	ServiceID             uint64 // service that is asked for
	LocalCAGUID           uint64 // GUID of the sender's channel adapter
	LocalQKey             uint32 // sender's Q_Key, for RD only
	LocalQPN              uint32 // sender's queue pair
	ResponderResources    uint8  // number of READs and atomics that the sender takes at a time
	LocalEECN             uint32 // sender's end-to-end context, for RD only
	InitiatorDepth        uint8  // number of READs and atomics that the sender wants to have outstanding
	RemoteEECN            uint32 // receiver's end-to-end context, for RD only
	RemoteResponseTimeout uint8  // time within which the receiver is to answer, 4.096 us times two to this power
	TransportType         uint8  // transport service type
	FlowControl           bool   // end-to-end flow control bit
	StartingPSN           PSN    // first PSN that the receiver of the message will use
	LocalResponseTimeout  uint8  // time within which the sender answers, 4.096 us times two to this power
	RetryCount            uint8  // number of times that the receiver is to retry
	PKey                  uint16 // partition key
	PathMTU               uint8  // path MTU code, 1 for 256 to 5 for 4096 bytes
	RDCExists             bool   // bit that says that an RD channel exists
	RNRRetryCount         uint8  // number of times that the receiver is to retry after an RNR NAK, 7 for ever
	MaxCMRetries          uint8  // number of times that the sender sends this message again
	SRQ                   bool   // bit that says that the sender's queue pair has a shared receive queue
	ExtendedTransport     uint8  // extended transport type
	PrimaryPath           CMPath
	AlternatePath         CMPath
	PrivateData           []byte // what the consumer sends along, filled up with zeros
}

// LayerType returns LayerTypeCMReq.
func (*CMReq) LayerType() gopacket.LayerType { return LayerTypeCMReq }

// CanDecode returns LayerTypeCMReq.
func (*CMReq) CanDecode() gopacket.LayerClass { return LayerTypeCMReq }

// NextLayerType is none.
func (*CMReq) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }

// DecodeFromBytes reads the message that begins data.
func (h *CMReq) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) (err error) {
	if h.BaseLayer, h.PrivateData, err = splitCM(LayerTypeCMReq, data, wire.CMReqLen, df); err != nil {
		return err
	}
	v := wire.CMReq(data)
	h.LocalCommID = v.LocalCommID()
	h.VendorID = v.VendorID()
	h.ServiceID = v.ServiceID()
	h.LocalCAGUID = v.LocalCAGUID()
	h.LocalQKey = v.LocalQKey()
	h.LocalQPN = v.LocalQPN()
	h.ResponderResources = v.ResponderResources()
	h.LocalEECN = v.LocalEECN()
	h.InitiatorDepth = v.InitiatorDepth()
	h.RemoteEECN = v.RemoteEECN()
	h.RemoteResponseTimeout = v.RemoteResponseTimeout()
	h.TransportType = v.TransportType()
	h.FlowControl = v.FlowControl()
	h.StartingPSN = v.StartingPSN()
	h.LocalResponseTimeout = v.LocalResponseTimeout()
	h.RetryCount = v.RetryCount()
	h.PKey = v.PKey()
	h.PathMTU = v.PathMTU()
	h.RDCExists = v.RDCExists()
	h.RNRRetryCount = v.RNRRetryCount()
	h.MaxCMRetries = v.MaxCMRetries()
	h.SRQ = v.SRQ()
	h.ExtendedTransport = v.ExtendedTransport()
	h.PrimaryPath = readCMPath(v.PrimaryPath())
	h.AlternatePath = readCMPath(v.AlternatePath())
	return nil
}

// SerializeTo writes the message before what b holds.
func (h *CMReq) SerializeTo(b gopacket.SerializeBuffer, _ gopacket.SerializeOptions) error {
	room, err := prependCM(b, LayerTypeCMReq, wire.CMReqLen, h.PrivateData)
	if err != nil {
		return err
	}
	v := wire.CMReq(room)
	v.SetLocalCommID(h.LocalCommID)
	v.SetVendorID(h.VendorID)
	v.SetServiceID(h.ServiceID)
	v.SetLocalCAGUID(h.LocalCAGUID)
	v.SetLocalQKey(h.LocalQKey)
	v.SetLocalQPN(h.LocalQPN)
	v.SetResponderResources(h.ResponderResources)
	v.SetLocalEECN(h.LocalEECN)
	v.SetInitiatorDepth(h.InitiatorDepth)
	v.SetRemoteEECN(h.RemoteEECN)
	v.SetRemoteResponseTimeout(h.RemoteResponseTimeout)
	v.SetTransportType(h.TransportType)
	v.SetFlowControl(h.FlowControl)
	v.SetStartingPSN(h.StartingPSN)
	v.SetLocalResponseTimeout(h.LocalResponseTimeout)
	v.SetRetryCount(h.RetryCount)
	v.SetPKey(h.PKey)
	v.SetPathMTU(h.PathMTU)
	v.SetRDCExists(h.RDCExists)
	v.SetRNRRetryCount(h.RNRRetryCount)
	v.SetMaxCMRetries(h.MaxCMRetries)
	v.SetSRQ(h.SRQ)
	v.SetExtendedTransport(h.ExtendedTransport)
	h.PrimaryPath.write(v.PrimaryPath())
	h.AlternatePath.write(v.AlternatePath())
	return nil
}
