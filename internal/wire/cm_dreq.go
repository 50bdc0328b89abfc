package wire

// CMDreqLen is the length of a DREQ without its private data.
const CMDreqLen = 12

// CMDreq is a DisconnectRequest (IBTA vol. 1, 12.6.10).
//
//	 0 +---------------------------------------------------------------+
//	   |                    local communication ID                     |
//	 4 +---------------------------------------------------------------+
//	   |                    remote communication ID                    |
//	 8 +-----------------------------------------------+---------------+
//	   |              remote QPN or EECN               |   reserved    |
//	12 +-----------------------------------------------+---------------+
//	   |                  private data (220 bytes)                     |
//	   +---------------------------------------------------------------+
type CMDreq []byte

const (
	cmDreqLocalCommID  = 0
	cmDreqRemoteCommID = 4
	cmDreqRemoteQPN    = 8
)

// LocalCommID is the sender's communication ID.
func (m CMDreq) LocalCommID() uint32 { return be.Uint32(m[cmDreqLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMDreq) SetLocalCommID(v uint32) { be.PutUint32(m[cmDreqLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMDreq) RemoteCommID() uint32 { return be.Uint32(m[cmDreqRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMDreq) SetRemoteCommID(v uint32) { be.PutUint32(m[cmDreqRemoteCommID:], v) }

// RemoteQPN is the receiver's queue pair, or its end-to-end context.
func (m CMDreq) RemoteQPN() uint32 { return uint24(m[cmDreqRemoteQPN:]) }

// SetRemoteQPN sets the receiver's queue pair.
func (m CMDreq) SetRemoteQPN(v uint32) { putUint24(m[cmDreqRemoteQPN:], v) }

// PrivateData is what the consumer sends along.
func (m CMDreq) PrivateData() []byte { return cmRest(m, CMDreqLen) }

var cmDreqSpec = Spec{ID: HdrCMDreq, Name: "infiniband.cm.dreq", Title: "CM Disconnect Request", Len: CMDreqLen, Fields: []Field{
	{Name: "infiniband.cm.dreq.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.dreq.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	// Wireshark files this one under req.
	{Name: "infiniband.cm.req.remoteqpneecn", Title: "Remote QPN/EECN", Base: Hex, Bit: 64, Bits: 24},
	{Name: "infiniband.cm.dreq.private", Title: "Private Data", Kind: Bytes, Bit: 96},
}}
