package wire

// The lengths of a management datagram: all of it, and its common header
// (IBTA vol. 1, 13.4.2).
const (
	MADLen       = 256
	MADHeaderLen = 24
)

// MADBaseVersion is the only base version there is (IBTA vol. 1, 13.4.3).
const MADBaseVersion = 1

// MAD is a management datagram, from its common header on
// (IBTA vol. 1, 13.4.3). In a directed-route packet the status begins with the
// direction bit D, and the class-specific bytes are the hop pointer and the hop
// count.
//
//	 0 +---------------+---------------+---------------+---------------+
//	   | base version  |     class     | class version |R|   method    |
//	 4 +-+-------------+---------------+---------------+---------------+
//	   |D|           status            | class specific / hop ptr, cnt |
//	 8 +-+-----------------------------+-------------------------------+
//	   |                        transaction ID                         |
//	16 +-------------------------------+-------------------------------+
//	   |         attribute ID          |           reserved            |
//	20 +-------------------------------+-------------------------------+
//	   |                      attribute modifier                       |
//	   +---------------------------------------------------------------+
type MAD []byte

const (
	madBaseVersion       = 0
	madMgmtClass         = 1
	madClassVersion      = 2
	madMethod            = 3
	madStatus            = 4
	madClassSpecific     = 6
	madTransactionID     = 8
	madAttributeID       = 16
	madAttributeModifier = 20
)

// BaseVersion is the version of the format, 1.
func (m MAD) BaseVersion() uint8 { return m[madBaseVersion] }

// SetBaseVersion sets the version of the format.
func (m MAD) SetBaseVersion(v uint8) { m[madBaseVersion] = v }

// MgmtClass is the management class.
func (m MAD) MgmtClass() uint8 { return m[madMgmtClass] }

// SetMgmtClass sets the management class.
func (m MAD) SetMgmtClass(v uint8) { m[madMgmtClass] = v }

// ClassVersion is the version of the class.
func (m MAD) ClassVersion() uint8 { return m[madClassVersion] }

// SetClassVersion sets the version of the class.
func (m MAD) SetClassVersion(v uint8) { m[madClassVersion] = v }

// Method is the method; its high bit marks a response.
func (m MAD) Method() uint8 { return m[madMethod] }

// SetMethod sets the method.
func (m MAD) SetMethod(v uint8) { m[madMethod] = v }

// Status is the status of a response.
func (m MAD) Status() uint16 { return be.Uint16(m[madStatus:]) }

// SetStatus sets the status of a response.
func (m MAD) SetStatus(v uint16) { be.PutUint16(m[madStatus:], v) }

// ClassSpecific is the pair of bytes that the class may use.
func (m MAD) ClassSpecific() uint16 { return be.Uint16(m[madClassSpecific:]) }

// SetClassSpecific sets the pair of bytes that the class may use.
func (m MAD) SetClassSpecific(v uint16) { be.PutUint16(m[madClassSpecific:], v) }

// TransactionID is the transaction ID.
func (m MAD) TransactionID() uint64 { return be.Uint64(m[madTransactionID:]) }

// SetTransactionID sets the transaction ID.
func (m MAD) SetTransactionID(v uint64) { be.PutUint64(m[madTransactionID:], v) }

// AttributeID is the attribute that the method applies to.
func (m MAD) AttributeID() uint16 { return be.Uint16(m[madAttributeID:]) }

// SetAttributeID sets the attribute that the method applies to.
func (m MAD) SetAttributeID(v uint16) { be.PutUint16(m[madAttributeID:], v) }

// AttributeModifier is the attribute modifier.
func (m MAD) AttributeModifier() uint32 { return be.Uint32(m[madAttributeModifier:]) }

// SetAttributeModifier sets the attribute modifier.
func (m MAD) SetAttributeModifier(v uint32) { be.PutUint32(m[madAttributeModifier:], v) }

// Data is what follows the common header, for the class to interpret.
func (m MAD) Data() []byte { return cmRest(m, MADHeaderLen) }

var madSpec = Spec{ID: HdrMAD, Name: "infiniband.mad", Title: "Management Datagram", Len: MADHeaderLen, Fields: []Field{
	{Name: "infiniband.mad.baseversion", Title: "Base Version", Base: Hex, Bits: 8},
	{Name: "infiniband.mad.mgmtclass", Title: "Management Class", Base: Hex, Bit: 8, Bits: 8, Names: className},
	{Name: "infiniband.mad.classversion", Title: "Class Version", Base: Hex, Bit: 16, Bits: 8},
	{Name: "infiniband.mad.method", Title: "Method", Base: Hex, Bit: 24, Bits: 8, Names: methodName},
	{Name: "infiniband.mad.status", Title: "Status", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.smpdirected.d", Title: "D (Direction Bit)", Base: Hex, Bit: 32, Bits: 1, Width: 64, When: madIsDirected},
	{Name: "infiniband.smpdirected.smpstatus", Title: "Directed-Route Status", Base: Hex, Bit: 32, Bits: 16, When: madIsDirected},
	{Name: "infiniband.mad.status.classspecific", Title: "SA Status", Base: Hex, Bit: 32, Bits: 8, Names: saStatusName, When: madIsSA},
	{Name: "infiniband.mad.status.code", Title: "Status Code", Base: Hex, Bit: 43, Bits: 3, Names: statusCodeName},
	{Name: "infiniband.mad.status.redirect", Title: "Redirection Required", Base: Hex, Bit: 46, Bits: 1},
	{Name: "infiniband.mad.status.busy", Title: "Busy", Base: Hex, Bit: 47, Bits: 1},
	{Name: "infiniband.mad.classspecific", Title: "Class Specific", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.smpdirected.hoppointer", Title: "Hop Pointer", Base: Hex, Bit: 48, Bits: 8, When: madIsDirected},
	{Name: "infiniband.smpdirected.hopcount", Title: "Hop Count", Base: Hex, Bit: 56, Bits: 8, When: madIsDirected},
	{Name: "infiniband.mad.transactionid", Title: "Transaction ID", Base: Hex, Bit: 64, Bits: 64},
	// The same bits under the same name once a class: a name needs the class.
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, Names: smpAttributeNames, When: madIsSMP},
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, Names: saAttributeNames, When: madIsSA},
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, Names: perfAttributeNames, When: madIsPerf},
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, Names: cmAttributeNames, When: madIsCM},
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, Names: ccAttributeNames, When: madIsCC},
	{Name: "infiniband.mad.attributeid", Title: "Attribute ID", Base: Hex, Bit: 128, Bits: 16, When: madIsOther},
	{Name: "infiniband.mad.attributemodifier", Title: "Attribute Modifier", Base: Hex, Bit: 160, Bits: 32},
}}

// madDataSpec is for the bytes that nothing describes. Wireshark's
// infiniband.mad.data is another thing: all 232 bytes behind the header.
var madDataSpec = Spec{ID: HdrMADData, Name: "infiniband.mad.payload", Title: "Management Datagram Data", Fields: []Field{
	{Name: "infiniband.mad.undecoded", Title: "Undecoded Data", Kind: Bytes},
}}

func madIsDirected(h []byte) bool { return h[madMgmtClass] == ClassSMPDirected }

func madIsSMP(h []byte) bool {
	return h[madMgmtClass] == ClassSMPLID || h[madMgmtClass] == ClassSMPDirected
}

func madIsSA(h []byte) bool { return h[madMgmtClass] == ClassSA }

func madIsPerf(h []byte) bool { return h[madMgmtClass] == ClassPerf }

func madIsCM(h []byte) bool { return h[madMgmtClass] == ClassCM }

func madIsCC(h []byte) bool { return h[madMgmtClass] == ClassCC }

func madIsOther(h []byte) bool {
	return !madIsSMP(h) && !madIsSA(h) && !madIsPerf(h) && !madIsCM(h) && !madIsCC(h)
}
