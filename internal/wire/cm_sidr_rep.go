package wire

// CMSidrRepLen is the length of a SIDR_REP without its private data.
const CMSidrRepLen = 96

// CMSidrRep answers a SIDR_REQ (IBTA vol. 1, 12.11.2, as Linux lays it out:
// ib_cm, CM_SIDR_REP_*).
//
//	 0 +---------------------------------------------------------------+
//	   |                          request ID                           |
//	 4 +---------------+---------------+-------------------------------+
//	   |    status     |  info length  |         vendor ID H           |
//	 8 +---------------+---------------+---------------+---------------+
//	   |                      QPN                      |  vendor ID L  |
//	12 +-----------------------------------------------+---------------+
//	   |                          service ID                           |
//	20 +---------------------------------------------------------------+
//	   |                            Q_Key                              |
//	24 +---------------------------------------------------------------+
//	   |              additional information (72 bytes)                |
//	96 +---------------------------------------------------------------+
//	   |                  private data (136 bytes)                     |
//	   +---------------------------------------------------------------+
type CMSidrRep []byte

const (
	cmSidrRepRequestID  = 0
	cmSidrRepStatus     = 4
	cmSidrRepInfoLength = 5
	cmSidrRepQPN        = 8
	cmSidrRepServiceID  = 12
	cmSidrRepQKey       = 20
	cmSidrRepInfo       = 24
)

// RequestID is the ID of the request that is answered.
func (m CMSidrRep) RequestID() uint32 { return be.Uint32(m[cmSidrRepRequestID:]) }

// SetRequestID sets the ID of the request that is answered.
func (m CMSidrRep) SetRequestID(v uint32) { be.PutUint32(m[cmSidrRepRequestID:], v) }

// Status is the outcome, 0 for a valid queue pair.
func (m CMSidrRep) Status() uint8 { return m[cmSidrRepStatus] }

// SetStatus sets the outcome.
func (m CMSidrRep) SetStatus(v uint8) { m[cmSidrRepStatus] = v }

// InfoLength is the number of bytes of additional information that count.
func (m CMSidrRep) InfoLength() uint8 { return m[cmSidrRepInfoLength] }

// SetInfoLength sets the number of bytes of additional information that count.
func (m CMSidrRep) SetInfoLength(v uint8) { m[cmSidrRepInfoLength] = v }

// QPN is the queue pair of the service.
func (m CMSidrRep) QPN() uint32 { return uint24(m[cmSidrRepQPN:]) }

// SetQPN sets the queue pair of the service.
func (m CMSidrRep) SetQPN(v uint32) { putUint24(m[cmSidrRepQPN:], v) }

// ServiceID is the service.
func (m CMSidrRep) ServiceID() uint64 { return be.Uint64(m[cmSidrRepServiceID:]) }

// SetServiceID sets the service.
func (m CMSidrRep) SetServiceID(v uint64) { be.PutUint64(m[cmSidrRepServiceID:], v) }

// QKey is the Q_Key of the service.
func (m CMSidrRep) QKey() uint32 { return be.Uint32(m[cmSidrRepQKey:]) }

// SetQKey sets the Q_Key of the service.
func (m CMSidrRep) SetQKey(v uint32) { be.PutUint32(m[cmSidrRepQKey:], v) }

const (
	cmSidrRepVendorIDH = 6
	cmSidrRepVendorIDL = 11
)

// VendorID is the vendor ID, 0 for none.
func (m CMSidrRep) VendorID() uint32 {
	return uint32(be.Uint16(m[cmSidrRepVendorIDH:]))<<8 | uint32(m[cmSidrRepVendorIDL])
}

// SetVendorID sets the vendor ID.
func (m CMSidrRep) SetVendorID(v uint32) {
	be.PutUint16(m[cmSidrRepVendorIDH:], uint16(v>>8))
	m[cmSidrRepVendorIDL] = byte(v)
}

// Info is the additional information about a refusal, of which InfoLength bytes
// count.
func (m CMSidrRep) Info() []byte { return m[cmSidrRepInfo:CMSidrRepLen] }

// PrivateData is what the consumer sends along.
func (m CMSidrRep) PrivateData() []byte { return cmRest(m, CMSidrRepLen) }

var cmSidrRepSpec = Spec{ID: HdrCMSidrRep, Name: "infiniband.cm.sidrrep", Title: "CM Service ID Resolution Response", Len: CMSidrRepLen, Fields: []Field{
	{Name: "infiniband.cm.sidrrep.requestid", Title: "Request ID", Base: Hex, Bits: 32},
	{Name: "infiniband.cm.sidrrep.status", Title: "Status", Base: Hex, Bit: 32, Bits: 8, Names: sidrStatusName},
	{Name: "infiniband.cm.sidrrep.infolen", Title: "Additional Information Length", Base: Hex, Bit: 40, Bits: 8},
	{Name: "infiniband.cm.sidrrep.vendorid_h", Title: "Vendor ID, High Bytes", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.cm.sidrrep.qpn", Title: "QPN", Base: Hex, Bit: 64, Bits: 24},
	{Name: "infiniband.cm.sidrrep.vendorid_l", Title: "Vendor ID, Low Byte", Base: Hex, Bit: 88, Bits: 8},
	{Name: "infiniband.cm.sidrrep.serviceid", Title: "Service ID", Base: Hex, Bit: 96, Bits: 64},
	{Name: "infiniband.cm.sidrrep.qkey", Title: "Q_Key", Base: Hex, Bit: 160, Bits: 32},
	{Name: "infiniband.cm.sidrrep.info", Title: "Additional Information", Kind: Bytes, Bit: 192, Bits: 576},
	{Name: "infiniband.cm.sidrrep.private", Title: "Private Data", Kind: Bytes, Bit: 768},
}}

// sidrStatusName names the outcome of a service ID resolution (Linux enum
// ib_cm_sidr_status).
func sidrStatusName(v uint64) string {
	switch v {
	case 0:
		return "valid QPN"
	case 1:
		return "service ID not supported"
	case 2:
		return "rejected by service provider"
	case 3:
		return "no QP available"
	case 4:
		return "redirected"
	case 5:
		return "unsupported version"
	}
	return ""
}
