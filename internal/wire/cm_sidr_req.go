package wire

// CMSidrReqLen is the length of a SIDR_REQ without its private data.
const CMSidrReqLen = 16

// CMSidrReq asks for the queue pair of a datagram service
// (IBTA vol. 1, 12.11.1).
//
//	 0 +---------------------------------------------------------------+
//	   |                          request ID                           |
//	 4 +-------------------------------+-------------------------------+
//	   |             P_Key             |           reserved            |
//	 8 +-------------------------------+-------------------------------+
//	   |                          service ID                           |
//	16 +---------------------------------------------------------------+
//	   |                  private data (216 bytes)                     |
//	   +---------------------------------------------------------------+
type CMSidrReq []byte

const (
	cmSidrReqRequestID = 0
	cmSidrReqPKey      = 4
	cmSidrReqServiceID = 8
)

// RequestID is the sender's request ID.
func (m CMSidrReq) RequestID() uint32 { return be.Uint32(m[cmSidrReqRequestID:]) }

// SetRequestID sets the sender's request ID.
func (m CMSidrReq) SetRequestID(v uint32) { be.PutUint32(m[cmSidrReqRequestID:], v) }

// PKey is the partition key.
func (m CMSidrReq) PKey() uint16 { return be.Uint16(m[cmSidrReqPKey:]) }

// SetPKey sets the partition key.
func (m CMSidrReq) SetPKey(v uint16) { be.PutUint16(m[cmSidrReqPKey:], v) }

// ServiceID is the service that is asked for.
func (m CMSidrReq) ServiceID() uint64 { return be.Uint64(m[cmSidrReqServiceID:]) }

// SetServiceID sets the service that is asked for.
func (m CMSidrReq) SetServiceID(v uint64) { be.PutUint64(m[cmSidrReqServiceID:], v) }

// PrivateData is what the consumer sends along, behind the rdma_cm header
// when there is one.
func (m CMSidrReq) PrivateData() []byte { return cmRest(m, CMSidrReqLen) }

var cmSidrReqSpec = Spec{ID: HdrCMSidrReq, Name: "infiniband.cm.sidrreq", Title: "CM Service ID Resolution Request", Len: CMSidrReqLen, Fields: []Field{
	{Name: "infiniband.cm.sidrreq.requestid", Title: "Request ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.sidrreq.pkey", Title: "Partition Key", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.cm.sidrreq.serviceid", Title: "Service ID", Base: Hex, Bit: 64, Bits: 64},
	{Name: "infiniband.cm.sidrreq.serviceid.prefix", Title: "Service ID Prefix", Kind: Bytes, Bit: 64, Bits: 40, When: sidrReqIsIPCM},
	{Name: "infiniband.cm.sidrreq.serviceid.protocol", Title: "Service ID Protocol", Base: Hex, Bit: 104, Bits: 8, When: sidrReqIsIPCM},
	{Name: "infiniband.cm.sidrreq.serviceid.dport", Title: "Service ID Destination Port", Base: Hex, Bit: 112, Bits: 16, When: sidrReqIsIPCM},
	{Name: "infiniband.cm.sidrreq.private", Title: "Private Data", Kind: Bytes, Bit: 128, When: sidrReqIsPlain},
}}

func sidrReqIsIPCM(h []byte) bool {
	if len(h) < CMSidrReqLen {
		return false
	}
	_, _, ok := ParseCMIPServiceID(CMSidrReq(h).ServiceID())
	return ok
}

func sidrReqIsPlain(h []byte) bool { return !sidrReqIsIPCM(h) }
