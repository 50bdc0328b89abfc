package wire

// CMAprLen is the length of an APR without its private data.
const CMAprLen = 84

// CMApr is an AlternatePathResponse (IBTA vol. 1, 12.8.2).
//
//	 0 +---------------------------------------------------------------+
//	   |                    local communication ID                     |
//	 4 +---------------------------------------------------------------+
//	   |                    remote communication ID                    |
//	 8 +---------------+---------------+-------------------------------+
//	   |  info length  |    status     |           reserved            |
//	12 +---------------+---------------+-------------------------------+
//	   |               additional information (72 bytes)               |
//	84 +---------------------------------------------------------------+
//	   |                  private data (148 bytes)                     |
//	   +---------------------------------------------------------------+
type CMApr []byte

const (
	cmAprLocalCommID  = 0
	cmAprRemoteCommID = 4
	cmAprInfoLength   = 8
	cmAprStatus       = 9
	cmAprInfo         = 12
)

// LocalCommID is the sender's communication ID.
func (m CMApr) LocalCommID() uint32 { return be.Uint32(m[cmAprLocalCommID:]) }

// SetLocalCommID sets the sender's communication ID.
func (m CMApr) SetLocalCommID(v uint32) { be.PutUint32(m[cmAprLocalCommID:], v) }

// RemoteCommID is the receiver's communication ID.
func (m CMApr) RemoteCommID() uint32 { return be.Uint32(m[cmAprRemoteCommID:]) }

// SetRemoteCommID sets the receiver's communication ID.
func (m CMApr) SetRemoteCommID(v uint32) { be.PutUint32(m[cmAprRemoteCommID:], v) }

// InfoLength is the number of bytes of additional information that count.
func (m CMApr) InfoLength() uint8 { return m[cmAprInfoLength] }

// SetInfoLength sets the number of bytes of additional information that count.
func (m CMApr) SetInfoLength(v uint8) { m[cmAprInfoLength] = v }

// Status is the outcome, 0 for an alternate path that was loaded.
func (m CMApr) Status() uint8 { return m[cmAprStatus] }

// SetStatus sets the outcome.
func (m CMApr) SetStatus(v uint8) { m[cmAprStatus] = v }

// Info is the additional information about a refusal, of which InfoLength bytes
// count.
func (m CMApr) Info() []byte { return m[cmAprInfo:CMAprLen] }

// PrivateData is what the consumer sends along.
func (m CMApr) PrivateData() []byte { return cmRest(m, CMAprLen) }

var cmAprSpec = Spec{ID: HdrCMApr, Name: "infiniband.cm.apr", Title: "CM Alternate Path Response", Len: CMAprLen, Fields: []Field{
	{Name: "infiniband.cm.apr.localcommid", Title: "Local Communication ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.apr.remotecommid", Title: "Remote Communication ID", Base: Hex, Bit: 32, Bits: 32},
	{Name: "infiniband.cm.apr.infolen", Title: "Additional Information Length", Base: Hex, Bit: 64, Bits: 8},
	{Name: "infiniband.cm.apr.status", Title: "AP Status", Base: Hex, Bit: 72, Bits: 8, Names: aprStatusName},
	{Name: "infiniband.cm.apr.info", Title: "Additional Information", Kind: Bytes, Bit: 96, Bits: 576},
	{Name: "infiniband.cm.apr.private", Title: "Private Data", Kind: Bytes, Bit: 672},
}}

// aprStatusName names the outcome of a LAP (Linux enum ib_cm_apr_status).
func aprStatusName(v uint64) string {
	switch v {
	case 0:
		return "alternate path loaded"
	case 1:
		return "invalid communication ID"
	case 2:
		return "alternate paths not supported"
	case 3:
		return "rejected"
	case 4:
		return "redirected"
	case 5:
		return "duplicate of the current path"
	case 6:
		return "QPN or EECN does not match"
	case 7:
		return "remote port LID rejected"
	case 8:
		return "remote port GID rejected"
	case 9:
		return "flow label rejected"
	case 10:
		return "traffic class rejected"
	case 11:
		return "hop limit rejected"
	case 12:
		return "packet rate rejected"
	case 13:
		return "SL rejected"
	}
	return ""
}
