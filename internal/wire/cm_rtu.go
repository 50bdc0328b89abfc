package wire

// CMRtuLen is the length of an RTU without its private data.
const CMRtuLen = 8

// CMRtu is a ReadyToUse (IBTA vol. 1, 12.6.9).
//
//	0 +---------------------------------------------------------------+
//	  |                    local communication ID                     |
//	4 +---------------------------------------------------------------+
//	  |                    remote communication ID                    |
//	8 +---------------------------------------------------------------+
//	  |                  private data (224 bytes)                     |
//	  +---------------------------------------------------------------+
type CMRtu []byte

const (
	cmRtuLocalCommID  = 0
	cmRtuRemoteCommID = 4
)

// LocalCommID is the sender's communication ID.
func (m CMRtu) LocalCommID() uint32 { return be.Uint32(m[cmRtuLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMRtu) SetLocalCommID(v uint32) { be.PutUint32(m[cmRtuLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMRtu) RemoteCommID() uint32 { return be.Uint32(m[cmRtuRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMRtu) SetRemoteCommID(v uint32) { be.PutUint32(m[cmRtuRemoteCommID:], v) }

// PrivateData is what the consumer sends along.
func (m CMRtu) PrivateData() []byte { return cmRest(m, CMRtuLen) }

var cmRtuSpec = Spec{ID: HdrCMRtu, Name: "infiniband.cm.rtu", Title: "CM Ready To Use", Len: CMRtuLen, Fields: []Field{
	{Name: "infiniband.cm.rtu.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.rtu.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.rtu.private", Title: "Private Data", Kind: Bytes, Bit: 64},
}}
