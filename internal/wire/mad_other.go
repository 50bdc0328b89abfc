package wire

// Baseboard management, SNMP tunnelling, vendor and device management.

// bmDataOff, snmpDataOff and devMgtDataOff are where the attributes of these
// classes begin (IBTA vol. 1, 16.2.1, 16.4.1 and 16.3.1).
const (
	bmDataOff     = 64
	snmpDataOff   = 64
	devMgtDataOff = 64
)

var bmSpec = Spec{ID: HdrBM, Name: "infiniband.bm", Title: "Baseboard Management", Len: 40, Fields: []Field{
	{Name: "infiniband.bm.b_key", Title: "B_Key", Base: Hex, Bits: 64},
}}

var snmpSpec = Spec{ID: HdrSNMP, Name: "infiniband.snmp", Title: "SNMP Tunnelling", Len: 40, Fields: []Field{
	{Name: "infiniband.snmp.raddress", Title: "Responder Address", Base: Hex, Bit: 256, Bits: 32},
	{Name: "infiniband.snmp.payloadlength", Title: "Payload Length", Bit: 288, Bits: 8},
	{Name: "infiniband.snmp.segmentnumber", Title: "Segment Number", Bit: 296, Bits: 8},
	{Name: "infiniband.snmp.sourcelid", Title: "Source LID", Base: Hex, Bit: 304, Bits: 16},
}}

// The vendor's identity, behind the RMPP header of classes 0x30 to 0x4F
// (IBTA vol. 1, 16.5.1).
//
//	+---------------+-----------------------------------------------+
//	|   reserved    |                      OUI                      |
//	+---------------+-----------------------------------------------+
var vendorOUISpec = Spec{ID: HdrVendorOUI, Name: "infiniband.vendor", Title: "Vendor Specific", Len: 4, Fields: []Field{
	{Name: "infiniband.vendor.oui", Title: "Organizationally Unique Identifier", Base: Hex, Bit: 8, Bits: 24},
}}

// Device management attributes (IBTA vol. 1, 16.3.3).

var ioUnitInfoSpec = Spec{ID: HdrIOUnitInfo, Name: "infiniband.devmgt.iounitinfo", Title: "I/O Unit Info", Len: 132, Fields: []Field{
	{Name: "infiniband.devmgt.iounitinfo.changeid", Title: "Change ID", Base: Hex, Bits: 16},
	{Name: "infiniband.devmgt.iounitinfo.maxcontrollers", Title: "Maximum Controllers", Bit: 16, Bits: 8},
	{Name: "infiniband.devmgt.iounitinfo.diagdeviceid", Title: "Diagnostic Device ID", Base: Hex, Bit: 30, Bits: 1},
	{Name: "infiniband.devmgt.iounitinfo.optionrom", Title: "Option ROM", Base: Hex, Bit: 31, Bits: 1},
	{Name: "infiniband.devmgt.iounitinfo.controllerlist", Title: "Controller List", Kind: Bytes, Bit: 32, Bits: 1024},
}}

var ioControllerProfileSpec = Spec{ID: HdrIOControllerProfile, Name: "infiniband.devmgt.iocontrollerprofile", Title: "I/O Controller Profile", Len: 128, Fields: []Field{
	{Name: "infiniband.devmgt.iocontrollerprofile.guid", Title: "GUID", Base: Hex, Bits: 64},
	{Name: "infiniband.devmgt.iocontrollerprofile.vendorid", Title: "Vendor ID", Base: Hex, Bit: 64, Bits: 24},
	{Name: "infiniband.devmgt.iocontrollerprofile.deviceid", Title: "Device ID", Base: Hex, Bit: 96, Bits: 32},
	{Name: "infiniband.devmgt.iocontrollerprofile.deviceversion", Title: "Device Version", Base: Hex, Bit: 128, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.subsystemvendorid", Title: "Subsystem Vendor ID", Base: Hex, Bit: 160, Bits: 24},
	{Name: "infiniband.devmgt.iocontrollerprofile.subsystemid", Title: "Subsystem ID", Base: Hex, Bit: 192, Bits: 32},
	{Name: "infiniband.devmgt.iocontrollerprofile.ioclass", Title: "I/O Class", Base: Hex, Bit: 224, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.iosubclass", Title: "I/O Subclass", Base: Hex, Bit: 240, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.protocol", Title: "Protocol", Base: Hex, Bit: 256, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.protocolversion", Title: "Protocol Version", Base: Hex, Bit: 272, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.sendmessagedepth", Title: "Send Message Depth", Bit: 320, Bits: 16},
	{Name: "infiniband.devmgt.iocontrollerprofile.rdmareaddepth", Title: "RDMA Read Depth", Bit: 344, Bits: 8},
	{Name: "infiniband.devmgt.iocontrollerprofile.sendmessagesize", Title: "Send Message Size", Bit: 352, Bits: 32},
	{Name: "infiniband.devmgt.iocontrollerprofile.rdmatransfersize", Title: "RDMA Transfer Size", Bit: 384, Bits: 32},
	{Name: "infiniband.devmgt.iocontrollerprofile.controlleroperationsmask", Title: "Controller Operations Mask", Base: Hex, Bit: 416, Bits: 8},
	{Name: "infiniband.devmgt.iocontrollerprofile.serviceentries", Title: "Service Entries", Bit: 432, Bits: 8},
	{Name: "infiniband.devmgt.iocontrollerprofile.idstring", Title: "ID String", Kind: Text, Bit: 512, Bits: 512},
}}

var serviceEntriesSpec = Spec{ID: HdrServiceEntries, Name: "infiniband.devmgt.serviceentries", Title: "Service Entries", Len: 192, Fields: repeated(4, 384,
	Field{Name: "infiniband.devmgt.serviceentries.servicename", Title: "Service Name", Kind: Text, Bits: 320},
	Field{Name: "infiniband.devmgt.serviceentries.serviceid", Title: "Service ID", Base: Hex, Bit: 320, Bits: 64},
)}

var diagnosticTimeoutSpec = Spec{ID: HdrDiagnosticTimeout, Name: "infiniband.devmgt.diagnostictimeout", Title: "Diagnostic Timeout", Len: 4, Fields: []Field{
	{Name: "infiniband.devmgt.diagnostictimeout.maxdiagtime", Title: "Maximum Diagnostic Time", Bits: 32},
}}

var diagCodeSpec = Spec{ID: HdrDiagCode, Name: "infiniband.devmgt.diagcode", Title: "Diagnostic Code", Len: 4, Fields: []Field{
	{Name: "infiniband.devmgt.diagcode.diagcode", Title: "Diagnostic Code", Base: Hex, Bits: 16},
}}

// devMgtAttribute names the header of a device management attribute
// (IBTA vol. 1, table 16.3.3), HdrNone for one that is not described.
func devMgtAttribute(attr uint16) HeaderID {
	switch attr {
	case 0x0001:
		return HdrClassPortInfo
	case 0x0010:
		return HdrIOUnitInfo
	case 0x0011:
		return HdrIOControllerProfile
	case 0x0012:
		return HdrServiceEntries
	case 0x0020:
		return HdrDiagnosticTimeout
	case 0x0024:
		return HdrDiagCode
	}
	return HdrNone
}

func devMgtAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0010:
		return "IOUnitInfo"
	case 0x0011:
		return "IOControllerProfile"
	case 0x0012:
		return "ServiceEntries"
	case 0x0020:
		return "DiagnosticTimeout"
	case 0x0021:
		return "PrepareToTest"
	case 0x0022:
		return "TestDeviceOnce"
	case 0x0023:
		return "TestDeviceLoop"
	case 0x0024:
		return "DiagCode"
	}
	return ""
}

func bmAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0010:
		return "BKeyInfo"
	case 0x0020:
		return "WriteVPD"
	case 0x0021:
		return "ReadVPD"
	case 0x0022:
		return "ResetIBML"
	case 0x0023:
		return "SetModulePMControl"
	case 0x0024:
		return "GetModulePMControl"
	case 0x0025:
		return "SetUnitPMControl"
	case 0x0026:
		return "GetUnitPMControl"
	case 0x0027:
		return "SetIOCPMControl"
	case 0x0028:
		return "GetIOCPMControl"
	case 0x0029:
		return "SetModuleState"
	case 0x002A:
		return "SetModuleAttention"
	case 0x002B:
		return "GetModuleStatus"
	case 0x002C:
		return "IB2IBML"
	case 0x002D:
		return "IB2CME"
	case 0x002E:
		return "IB2MME"
	case 0x002F:
		return "OEM"
	}
	return ""
}

func snmpAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0010:
		return "CommunityInfo"
	case 0x0011:
		return "PDUInfo"
	}
	return ""
}
