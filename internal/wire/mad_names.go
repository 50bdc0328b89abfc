package wire

// Management classes (IBTA vol. 1, table 13.4.4; Linux ib_mad.h).
const (
	ClassSMPLID      uint8 = 0x01
	ClassSA          uint8 = 0x03
	ClassPerf        uint8 = 0x04
	ClassBM          uint8 = 0x05
	ClassDevMgt      uint8 = 0x06
	ClassCM          uint8 = 0x07
	ClassSNMP        uint8 = 0x08
	ClassDevAdm      uint8 = 0x10
	ClassBootMgt     uint8 = 0x11
	ClassBIS         uint8 = 0x12
	ClassCC          uint8 = 0x21
	ClassSMPDirected uint8 = 0x81
)

// classIsVendor reports whether the class is one of the vendors' without an
// OUI, classIsVendorOUI one of those with it.
func classIsVendor(class uint8) bool { return class >= 0x09 && class <= 0x0F }

func classIsVendorOUI(class uint8) bool { return class >= 0x30 && class <= 0x4F }

func classIsApplication(class uint8) bool { return class >= 0x10 && class <= 0x2F }

// MADClassName names a management class, "" for a reserved one.
func MADClassName(class uint8) string {
	switch class {
	case ClassSMPLID:
		return "Subnet Management (LID Routed)"
	case ClassSMPDirected:
		return "Subnet Management (Directed Route)"
	case ClassSA:
		return "Subnet Administration"
	case ClassPerf:
		return "Performance Management"
	case ClassBM:
		return "Baseboard Management"
	case ClassDevMgt:
		return "Device Management"
	case ClassCM:
		return "Communication Management"
	case ClassSNMP:
		return "SNMP Tunnelling"
	case ClassDevAdm:
		return "Device Administration"
	case ClassBootMgt:
		return "Boot Management"
	case ClassBIS:
		return "Boot Information Service"
	case ClassCC:
		return "Congestion Control"
	}
	switch {
	case classIsVendor(class):
		return "Vendor"
	case classIsVendorOUI(class):
		return "Vendor (OUI)"
	case classIsApplication(class):
		return "Application"
	}
	return ""
}

// classPrefix is how the specification begins the names of a class's methods,
// "SubnGet", "PerfMgtGet".
func classPrefix(class uint8) string {
	switch class {
	case ClassSMPLID, ClassSMPDirected:
		return "Subn"
	case ClassSA:
		return "SubnAdm"
	case ClassPerf:
		return "PerfMgt"
	case ClassBM:
		return "BM"
	case ClassDevMgt:
		return "DevMgt"
	case ClassCM:
		return "CommMgt"
	case ClassSNMP:
		return "SNMP"
	case ClassDevAdm:
		return "DevAdm"
	case ClassBootMgt:
		return "BootMgt"
	case ClassBIS:
		return "BIS"
	case ClassCC:
		return "CC"
	}
	if classIsVendor(class) || classIsVendorOUI(class) {
		return "Vendor"
	}
	return ""
}

// MADMethodName names a method without its class's prefix, "" for one that the
// class does not have (IBTA vol. 1, tables 13.4.5 and 15.2.2).
func MADMethodName(class, method uint8) string {
	switch method {
	case 0x01:
		return "Get"
	case 0x02:
		return "Set"
	case 0x03:
		return "Send"
	case 0x05:
		return "Trap"
	case 0x06:
		return "Report"
	case 0x07:
		return "TrapRepress"
	case 0x81:
		return "GetResp"
	case 0x86:
		return "ReportResp"
	}
	if class == ClassSA {
		return saMethodName(method)
	}
	return ""
}

func saMethodName(method uint8) string {
	switch method {
	case 0x12:
		return "GetTable"
	case 0x13:
		return "GetTraceTable"
	case 0x14:
		return "GetMulti"
	case 0x15:
		return "Delete"
	case 0x92:
		return "GetTableResp"
	case 0x94:
		return "GetMultiResp"
	case 0x95:
		return "DeleteResp"
	}
	return ""
}

// MADAttributeName names an attribute of a management class, "" for an unknown
// one.
func MADAttributeName(class uint8, attr uint16) string {
	switch class {
	case ClassSMPLID, ClassSMPDirected:
		return smpAttributeName(attr)
	case ClassSA:
		return saAttributeName(attr)
	case ClassPerf:
		return perfAttributeName(attr)
	case ClassBM:
		return bmAttributeName(attr)
	case ClassDevMgt:
		return devMgtAttributeName(attr)
	case ClassCM:
		return cmAttributeName(attr)
	case ClassSNMP:
		return snmpAttributeName(attr)
	case ClassCC:
		return ccAttributeName(attr)
	}
	switch attr { // shared by all classes, IBTA vol. 1, table 13.4.8
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0003:
		return "InformInfo"
	}
	return ""
}

func className(v uint64) string { return MADClassName(uint8(v)) }

// methodName names a method where the class is not at hand; no two classes
// give one number two names.
func methodName(v uint64) string { return MADMethodName(ClassSA, uint8(v)) }

func smpAttributeNames(v uint64) string { return smpAttributeName(uint16(v)) }

func saAttributeNames(v uint64) string { return saAttributeName(uint16(v)) }

func perfAttributeNames(v uint64) string { return perfAttributeName(uint16(v)) }

func cmAttributeNames(v uint64) string { return cmAttributeName(uint16(v)) }

func ccAttributeNames(v uint64) string { return ccAttributeName(uint16(v)) }

// statusCodeName names bits 2 to 4 of a status (IBTA vol. 1, table 13.4.7).
func statusCodeName(v uint64) string {
	switch v {
	case 0:
		return "No Invalid Fields"
	case 1:
		return "Bad Version"
	case 2:
		return "Method Not Supported"
	case 3:
		return "Method and Attribute Combination Not Supported"
	case 7:
		return "Invalid Attribute or Modifier"
	}
	return ""
}
