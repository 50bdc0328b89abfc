package wire

// SALen is the length of the subnet administration header, which an RMPP payload
// length counts in (IBTA vol. 1, 13.6.2.3).
const SALen = 20

// saDataOff is where the records of a subnet administration packet begin (IBTA
// vol. 1, 15.2.1.1).
const saDataOff = MADHeaderLen + RMPPLen + SALen

// SA is the subnet administration header, behind the RMPP header:
//
//	+---------------------------------------------------------------+
//	|                            SM_Key                             |
//	|                                                               |
//	+-------------------------------+-------------------------------+
//	|       attribute offset        |           reserved            |
//	+-------------------------------+-------------------------------+
//	|                        component mask                         |
//	|                                                               |
//	+---------------------------------------------------------------+
type SA []byte

// SMKey is the key of the subnet manager.
func (h SA) SMKey() uint64 { return be.Uint64(h) }

// SetSMKey sets the key of the subnet manager.
func (h SA) SetSMKey(v uint64) { be.PutUint64(h, v) }

// AttributeOffset is the distance of the records in units of 8 bytes.
func (h SA) AttributeOffset() uint16 { return be.Uint16(h[8:]) }

// SetAttributeOffset sets the distance of the records.
func (h SA) SetAttributeOffset(v uint16) { be.PutUint16(h[8:], v) }

// ComponentMask says which components of the record count.
func (h SA) ComponentMask() uint64 { return be.Uint64(h[12:]) }

// SetComponentMask says which components of the record count.
func (h SA) SetComponentMask(v uint64) { be.PutUint64(h[12:], v) }

var saSpec = Spec{ID: HdrSA, Name: "infiniband.sa", Title: "Subnet Administration", Len: SALen, Fields: []Field{
	{Name: "infiniband.sa.smkey", Title: "SM_Key", Base: Hex, Bits: 64},
	{Name: "infiniband.sa.attributeoffset", Title: "Attribute Offset", Base: Hex, Bit: 64, Bits: 16},
	{Name: "infiniband.sa.componentmask", Title: "Component Mask", Base: Hex, Bit: 96, Bits: 64},
}}

// saRecord is what a record is made of: a key and up to two attributes of the
// subnet manager, or one header of its own.
type saRecord struct {
	parts [3]HeaderID
	// pad is the number of reserved bytes that end the record.
	pad int
}

// saRecordOf describes the record that a subnet administration attribute
// names (IBTA vol. 1, table 15.2.5). Its first part is HdrNone for one that is
// not described.
func saRecordOf(attr uint16) saRecord {
	switch attr {
	case 0x0001:
		return saRecord{parts: [3]HeaderID{HdrClassPortInfo}}
	case 0x0003:
		return saRecord{parts: [3]HeaderID{HdrInformInfo}}
	case 0x0011:
		return saRecord{parts: [3]HeaderID{HdrSALIDKey, HdrNodeInfo, HdrNodeDescription}}
	case 0x0012:
		return saRecord{parts: [3]HeaderID{HdrSAPortKey, HdrPortInfo}}
	case 0x0013:
		return saRecord{parts: [3]HeaderID{HdrSASLtoVLKey, HdrSLtoVLTable}}
	case 0x0014:
		return saRecord{parts: [3]HeaderID{HdrSALIDKey, HdrSwitchInfo}}
	case 0x0015:
		return saRecord{parts: [3]HeaderID{HdrSABlockKey, HdrLinearForwardingTable}}
	case 0x0016:
		return saRecord{parts: [3]HeaderID{HdrSABlockKey, HdrRandomForwardingTable}}
	case 0x0017:
		return saRecord{parts: [3]HeaderID{HdrSAMulticastKey, HdrMulticastForwardingTable}}
	case 0x0018:
		return saRecord{parts: [3]HeaderID{HdrSALIDKey, HdrSMInfo}}
	case 0x0020:
		return saRecord{parts: [3]HeaderID{HdrLinkRecord}}
	case 0x0030:
		return saRecord{parts: [3]HeaderID{HdrSAGUIDKey, HdrGUIDInfo}}
	case 0x0031:
		return saRecord{parts: [3]HeaderID{HdrServiceRecord}}
	case 0x0033:
		return saRecord{parts: [3]HeaderID{HdrSAPKeyKey, HdrPKeyTable}}
	case 0x0035:
		return saRecord{parts: [3]HeaderID{HdrPathRecord}}
	case 0x0036:
		return saRecord{parts: [3]HeaderID{HdrSAVLArbitrationKey, HdrVLArbitrationTable}}
	case 0x0038:
		return saRecord{parts: [3]HeaderID{HdrMCMemberRecord}}
	case 0x0039:
		return saRecord{parts: [3]HeaderID{HdrTraceRecord}}
	case 0x003A:
		return saRecord{parts: [3]HeaderID{HdrMultiPathRecord}}
	case 0x003B:
		return saRecord{parts: [3]HeaderID{HdrServiceAssociationRecord}}
	case 0x00F3:
		return saRecord{parts: [3]HeaderID{HdrInformInfoRecord, HdrInformInfo}, pad: 20}
	}
	return saRecord{}
}

// length is the size of the record in bytes.
func (r saRecord) length() int {
	n := r.pad
	for _, id := range r.parts {
		if id != HdrNone {
			n += madHeaderLen(id)
		}
	}
	return n
}

func saAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0003:
		return "InformInfo"
	case 0x0011:
		return "NodeRecord"
	case 0x0012:
		return "PortInfoRecord"
	case 0x0013:
		return "SLtoVLMappingTableRecord"
	case 0x0014:
		return "SwitchInfoRecord"
	case 0x0015:
		return "LinearForwardingTableRecord"
	case 0x0016:
		return "RandomForwardingTableRecord"
	case 0x0017:
		return "MulticastForwardingTableRecord"
	case 0x0018:
		return "SMInfoRecord"
	case 0x0020:
		return "LinkRecord"
	case 0x0030:
		return "GUIDInfoRecord"
	case 0x0031:
		return "ServiceRecord"
	case 0x0033:
		return "P_KeyTableRecord"
	case 0x0035:
		return "PathRecord"
	case 0x0036:
		return "VLArbitrationTableRecord"
	case 0x0038:
		return "MCMemberRecord"
	case 0x0039:
		return "TraceRecord"
	case 0x003A:
		return "MultiPathRecord"
	case 0x003B:
		return "ServiceAssociationRecord"
	case 0x00F3:
		return "InformInfoRecord"
	}
	return ""
}

// saStatusName names the class-specific byte of a status
// (IBTA vol. 1, table 15.2.2).
func saStatusName(v uint64) string {
	switch v {
	case 0:
		return "OK"
	case 1:
		return "No Resources"
	case 2:
		return "Request Invalid"
	case 3:
		return "No Records"
	case 4:
		return "Too Many Records"
	case 5:
		return "Request Invalid GID"
	case 6:
		return "Request Insufficient Components"
	case 7:
		return "Request Denied"
	}
	return ""
}
