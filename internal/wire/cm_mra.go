package wire

// CMMraLen is the length of an MRA without its private data.
const CMMraLen = 10

// CMMra is a message receipt acknowledgement: "wait" (IBTA vol. 1, 12.6.6).
//
//	0 +---------------------------------------------------------------+
//	  |                    local communication ID                     |
//	4 +---------------------------------------------------------------+
//	  |                    remote communication ID                    |
//	8 +---+-----------+---------+-----+-------------------------------+
//	  |msg| reserved  | timeout | rsv |  private data (222 bytes) ...
//	  +---+-----------+---------+-----+
type CMMra []byte

const (
	cmMraLocalCommID    = 0
	cmMraRemoteCommID   = 4
	cmMraMessage        = 8
	cmMraServiceTimeout = 9
)

// LocalCommID is the sender's communication ID.
func (m CMMra) LocalCommID() uint32 { return be.Uint32(m[cmMraLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMMra) SetLocalCommID(v uint32) { be.PutUint32(m[cmMraLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMMra) RemoteCommID() uint32 { return be.Uint32(m[cmMraRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMMra) SetRemoteCommID(v uint32) { be.PutUint32(m[cmMraRemoteCommID:], v) }

// Message is the message that was received: 0 a REQ, 1 a REP, 2 a LAP.
func (m CMMra) Message() uint8 { return m[cmMraMessage] >> 6 }

// SetMessage sets the message that was received.
func (m CMMra) SetMessage(v uint8) { putBits(&m[cmMraMessage], 0xC0, v<<6) }

// ServiceTimeout is the time that the sender asks for, 4.096 us times two to this power.
func (m CMMra) ServiceTimeout() uint8 { return m[cmMraServiceTimeout] >> 3 }

// SetServiceTimeout sets the time that the sender asks for.
func (m CMMra) SetServiceTimeout(v uint8) { putBits(&m[cmMraServiceTimeout], 0xF8, v<<3) }

// PrivateData is what the consumer sends along.
func (m CMMra) PrivateData() []byte { return cmRest(m, CMMraLen) }

var cmMraSpec = Spec{ID: HdrCMMra, Name: "infiniband.cm.mra", Title: "CM Message Receipt Acknowledgement", Len: CMMraLen, Fields: []Field{
	{Name: "infiniband.cm.mra.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.mra.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.mra.msgmraed", Title: "Message MRAed", Base: Hex, Bit: 64, Bits: 2, Names: mraMessageName},
	{Name: "infiniband.cm.mra.servicetimeout", Title: "Service Timeout", Base: Hex, Bit: 72, Bits: 5},
	{Name: "infiniband.cm.mra.private", Title: "Private Data", Kind: Bytes, Bit: 80},
}}
