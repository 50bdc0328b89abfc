package wire

// CMDrepLen is the length of a DREP without its private data.
const CMDrepLen = 8

// CMDrep is a DisconnectReply (IBTA vol. 1, 12.6.11).
//
//	0 +---------------------------------------------------------------+
//	  |                    local communication ID                     |
//	4 +---------------------------------------------------------------+
//	  |                    remote communication ID                    |
//	8 +---------------------------------------------------------------+
//	  |                  private data (224 bytes)                     |
//	  +---------------------------------------------------------------+
type CMDrep []byte

const (
	cmDrepLocalCommID  = 0
	cmDrepRemoteCommID = 4
)

// LocalCommID is the sender's communication ID.
func (m CMDrep) LocalCommID() uint32 { return be.Uint32(m[cmDrepLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMDrep) SetLocalCommID(v uint32) { be.PutUint32(m[cmDrepLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMDrep) RemoteCommID() uint32 { return be.Uint32(m[cmDrepRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMDrep) SetRemoteCommID(v uint32) { be.PutUint32(m[cmDrepRemoteCommID:], v) }

// PrivateData is what the consumer sends along.
func (m CMDrep) PrivateData() []byte { return cmRest(m, CMDrepLen) }

var cmDrepSpec = Spec{ID: HdrCMDrep, Name: "infiniband.cm.drsp", Title: "CM Disconnect Reply", Len: CMDrepLen, Fields: []Field{
	{Name: "infiniband.cm.drsp.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.drsp.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.drsp.private", Title: "Private Data", Kind: Bytes, Bit: 64},
}}
