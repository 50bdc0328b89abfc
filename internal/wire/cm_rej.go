package wire

// CMRejLen is the length of a REJ without its private data.
const CMRejLen = 84

// CMRej is a ConnectReject (IBTA vol. 1, 12.6.7).
//
//	 0 +---------------------------------------------------------------+
//	   |                    local communication ID                     |
//	 4 +---------------------------------------------------------------+
//	   |                    remote communication ID                    |
//	 8 +---+-----------+-------------+-+-------------------------------+
//	   |msg| reserved  | info length |r|            reason             |
//	12 +---+-----------+-------------+-+-------------------------------+
//	   |           additional reject information (72 bytes)            |
//	84 +---------------------------------------------------------------+
//	   |                  private data (148 bytes)                     |
//	   +---------------------------------------------------------------+
type CMRej []byte

const (
	cmRejLocalCommID     = 0
	cmRejRemoteCommID    = 4
	cmRejMessageRejected = 8
	cmRejInfoLength      = 9
	cmRejReason          = 10
)

// LocalCommID is the sender's communication ID, 0 when it has none.
func (m CMRej) LocalCommID() uint32 { return be.Uint32(m[cmRejLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMRej) SetLocalCommID(v uint32) { be.PutUint32(m[cmRejLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMRej) RemoteCommID() uint32 { return be.Uint32(m[cmRejRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMRej) SetRemoteCommID(v uint32) { be.PutUint32(m[cmRejRemoteCommID:], v) }

// MessageRejected is the message that is refused: 0 a REQ, 1 a REP, 2 none.
func (m CMRej) MessageRejected() uint8 { return m[cmRejMessageRejected] >> 6 }

// SetMessageRejected sets the message that is refused.
func (m CMRej) SetMessageRejected(v uint8) { putBits(&m[cmRejMessageRejected], 0xC0, v<<6) }

// InfoLength is the number of bytes of additional information that count.
func (m CMRej) InfoLength() uint8 { return m[cmRejInfoLength] >> 1 }

// SetInfoLength sets the number of bytes of additional information that count.
func (m CMRej) SetInfoLength(v uint8) { putBits(&m[cmRejInfoLength], 0xFE, v<<1) }

// Reason is the reason, see CMRejReason.
func (m CMRej) Reason() uint16 { return be.Uint16(m[cmRejReason:]) }

// SetReason sets the reason.
func (m CMRej) SetReason(v uint16) { be.PutUint16(m[cmRejReason:], v) }

const cmRejInfo = 12

// Info is the additional reject information that counts.
func (m CMRej) Info() []byte {
	n := min(int(m.InfoLength()), CMRejLen-cmRejInfo)
	return m[cmRejInfo : cmRejInfo+n]
}

// PrivateData is what the consumer sends along.
func (m CMRej) PrivateData() []byte { return cmRest(m, CMRejLen) }

var cmRejSpec = Spec{ID: HdrCMRej, Name: "infiniband.cm.rej", Title: "CM Connect Reject", Len: CMRejLen, Fields: []Field{
	{Name: "infiniband.cm.rej.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.rej.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.rej.msgrej", Title: "Message Rejected", Base: Hex, Bit: 64, Bits: 2, Names: rejMessageName},
	{Name: "infiniband.cm.rej.reserved0", Title: "Reserved", Base: Hex, Bit: 66, Bits: 6},
	{Name: "infiniband.cm.rej.rejinfolen", Title: "Reject Info Length", Base: Hex, Bit: 72, Bits: 7},
	{Name: "infiniband.cm.rej.reserved1", Title: "Reserved", Base: Hex, Bit: 79, Bits: 1},
	{Name: "infiniband.cm.rej.reason", Title: "Reason", Base: Hex, Bit: 80, Bits: 16, Names: rejReasonName},
	{Name: "infiniband.cm.rej.ari", Title: "Additional Reject Information", Kind: Bytes, Bit: 96, Bits: 576},
	{Name: "infiniband.cm.rej.private", Title: "Private Data", Kind: Bytes, Bit: 672},
}}

func rejReasonName(v uint64) string { return CMRejReason(uint16(v)) }

// CMRejReason names the reason of a REJ (IBTA vol. 1, 12.6.7.2; Linux enum
// ib_cm_rej_reason), "" for one that is not defined.
func CMRejReason(reason uint16) string {
	if int(reason) < len(cmRejReasons) {
		return cmRejReasons[reason]
	}
	return ""
}

var cmRejReasons = [...]string{
	1:  "no QP available",
	2:  "no EEC available",
	3:  "no resources available",
	4:  "timeout",
	5:  "unsupported request",
	6:  "invalid communication ID",
	7:  "invalid communication instance",
	8:  "invalid service ID",
	9:  "invalid transport service type",
	10: "stale connection",
	11: "RDC does not exist",
	12: "primary remote port GID rejected",
	13: "primary remote port LID rejected",
	14: "invalid primary SL",
	15: "invalid primary traffic class",
	16: "invalid primary hop limit",
	17: "invalid primary packet rate",
	18: "alternate remote port GID rejected",
	19: "alternate remote port LID rejected",
	20: "invalid alternate SL",
	21: "invalid alternate traffic class",
	22: "invalid alternate hop limit",
	23: "invalid alternate packet rate",
	24: "port and CM redirection",
	25: "port redirection",
	26: "invalid path MTU",
	27: "insufficient responder resources",
	28: "consumer reject",
	29: "RNR retry count rejected",
	30: "duplicate local communication ID",
	31: "unsupported class version",
	32: "invalid primary flow label",
	33: "invalid alternate flow label",
	35: "vendor option not supported",
}
