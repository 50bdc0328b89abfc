package wire

// Attributes that every management class shares (IBTA vol. 1, 13.4.8).

var classPortInfoSpec = Spec{ID: HdrClassPortInfo, Name: "infiniband.classportinfo", Title: "Class Port Info", Len: 72, Fields: []Field{
	{Name: "infiniband.classportinfo.baseversion", Title: "Base Version", Base: Hex, Bits: 8},
	{Name: "infiniband.classportinfo.classversion", Title: "Class Version", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.classportinfo.capabilitymask", Title: "Capability Mask", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.classportinfo.capabilitymask2", Title: "Capability Mask 2", Base: Hex, Bit: 32, Bits: 27},
	{Name: "infiniband.classportinfo.resptimevalue", Title: "Response Time Value", Base: Hex, Bit: 59, Bits: 5},
	{Name: "infiniband.classportinfo.redirectgid", Title: "Redirect GID", Kind: IPv6, Bit: 64, Bits: 128},
	{Name: "infiniband.classportinfo.redirecttc", Title: "Redirect Traffic Class", Base: Hex, Bit: 192, Bits: 8},
	{Name: "infiniband.classportinfo.redirectsl", Title: "Redirect Service Level", Base: Hex, Bit: 200, Bits: 4},
	{Name: "infiniband.classportinfo.redirectfl", Title: "Redirect Flow Label", Base: Hex, Bit: 204, Bits: 20},
	{Name: "infiniband.classportinfo.redirectlid", Title: "Redirect LID", Base: Hex, Bit: 224, Bits: 16},
	{Name: "infiniband.classportinfo.redirectpkey", Title: "Redirect P_Key", Base: Hex, Bit: 240, Bits: 16},
	{Name: "infiniband.classportinfo.redirectqp", Title: "Redirect QP", Base: Hex, Bit: 264, Bits: 24},
	{Name: "infiniband.classportinfo.redirectqkey", Title: "Redirect Q_Key", Base: Hex, Bit: 288, Bits: 32},
	{Name: "infiniband.classportinfo.trapgid", Title: "Trap GID", Kind: IPv6, Bit: 320, Bits: 128},
	{Name: "infiniband.classportinfo.traptc", Title: "Trap Traffic Class", Base: Hex, Bit: 448, Bits: 8},
	{Name: "infiniband.classportinfo.trapsl", Title: "Trap Service Level", Base: Hex, Bit: 456, Bits: 4},
	{Name: "infiniband.classportinfo.trapfl", Title: "Trap Flow Label", Base: Hex, Bit: 460, Bits: 20},
	{Name: "infiniband.classportinfo.traplid", Title: "Trap LID", Base: Hex, Bit: 480, Bits: 16},
	{Name: "infiniband.classportinfo.trappkey", Title: "Trap P_Key", Base: Hex, Bit: 496, Bits: 16},
	{Name: "infiniband.classportinfo.traphl", Title: "Trap Hop Limit", Base: Hex, Bit: 512, Bits: 8},
	{Name: "infiniband.classportinfo.trapqp", Title: "Trap QP", Base: Hex, Bit: 520, Bits: 24},
	{Name: "infiniband.classportinfo.trapqkey", Title: "Trap Q_Key", Base: Hex, Bit: 544, Bits: 32},
}}

var informInfoSpec = Spec{ID: HdrInformInfo, Name: "infiniband.informinfo", Title: "Inform Info", Len: 36, Fields: []Field{
	{Name: "infiniband.informinfo.gid", Title: "GID", Kind: IPv6, Bits: 128},
	{Name: "infiniband.informinfo.lidrangebegin", Title: "LID Range Begin", Base: Hex, Bit: 128, Bits: 16},
	{Name: "infiniband.informinfo.lidrangeend", Title: "LID Range End", Base: Hex, Bit: 144, Bits: 16},
	{Name: "infiniband.informinfo.isgeneric", Title: "Is Generic", Base: Hex, Bit: 176, Bits: 8},
	{Name: "infiniband.informinfo.subscribe", Title: "Subscribe", Base: Hex, Bit: 184, Bits: 8},
	{Name: "infiniband.informinfo.type", Title: "Type", Base: Hex, Bit: 192, Bits: 16, Names: noticeTypeName},
	{Name: "infiniband.informinfo.trapnumberdeviceid", Title: "Trap Number or Device ID", Base: Hex, Bit: 208, Bits: 16},
	{Name: "infiniband.informinfo.qpn", Title: "QPN", Base: Hex, Bit: 224, Bits: 24},
	{Name: "infiniband.informinfo.resptimevalue", Title: "Response Time Value", Base: Hex, Bit: 251, Bits: 5},
	{Name: "infiniband.informinfo.producertypevendorid", Title: "Producer Type or Vendor ID", Base: Hex, Bit: 264, Bits: 24},
}}

// noticeLen and trapLen are the lengths of a notice's two parts.
const (
	noticeLen = 10
	trapLen   = 54
)

// The front of a Notice; the 54 bytes of data details that follow have a
// layout per trap number.
//
//	+-+-------------+-----------------------------------------------+
//	|G|    type     |          producer type or vendor ID           |
//	+-+-------------+---------------+-------------------------------+
//	|   trap number or device ID    |          issuer LID           |
//	+-+-----------------------------+-------------------------------+
//	|T|           count             |  data details ...
//	+-+-----------------------------+
var noticeSpec = Spec{ID: HdrNotice, Name: "infiniband.notice", Title: "Notice", Len: noticeLen, Fields: []Field{
	{Name: "infiniband.notice.isgeneric", Title: "Is Generic", Base: Hex, Bits: 1},
	{Name: "infiniband.notice.type", Title: "Type", Base: Hex, Bit: 1, Bits: 7, Names: noticeTypeName},
	{Name: "infiniband.notice.producertypevendorid", Title: "Producer Type or Vendor ID", Base: Hex, Bit: 8, Bits: 24, Names: producerName, When: noticeGeneric},
	{Name: "infiniband.notice.producertypevendorid", Title: "Producer Type or Vendor ID", Base: Hex, Bit: 8, Bits: 24, When: noticeVendor},
	{Name: "infiniband.notice.trapnumberdeviceid", Title: "Trap Number or Device ID", Base: Hex, Bit: 32, Bits: 16, Names: trapName, When: noticeGeneric},
	{Name: "infiniband.notice.trapnumberdeviceid", Title: "Trap Number or Device ID", Base: Hex, Bit: 32, Bits: 16, When: noticeVendor},
	{Name: "infiniband.notice.issuerlid", Title: "Issuer LID", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.notice.noticetoggle", Title: "Notice Toggle", Base: Hex, Bit: 64, Bits: 1},
	{Name: "infiniband.notice.noticecount", Title: "Notice Count", Base: Hex, Bit: 65, Bits: 15},
}}

func noticeGeneric(h []byte) bool { return h[0]&0x80 != 0 }

func noticeVendor(h []byte) bool { return h[0]&0x80 == 0 }

// noticeIssuerSpec is the end of a Notice outside the subnet management class,
// whose data are too short for it.
var noticeIssuerSpec = Spec{ID: HdrNoticeIssuer, Name: "infiniband.notice.issuer", Title: "Notice Issuer", Len: 16, Fields: []Field{
	{Name: "infiniband.notice.issuergid", Title: "Issuer GID", Kind: IPv6, Bits: 128},
}}

// Data details by trap number (IBTA vol. 1, 14.2.5.1).

var trapGIDSpec = Spec{ID: HdrTrapGID, Name: "infiniband.trap.gid", Title: "Trap Details (GID)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.gidaddr", Title: "GID Address", Kind: IPv6, Bit: 48, Bits: 128},
}}

var trapSwitchSpec = Spec{ID: HdrTrapSwitch, Name: "infiniband.trap.switch", Title: "Trap Details (Switch)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr", Title: "LID Address", Base: Hex, Bits: 16},
}}

var trapPortSpec = Spec{ID: HdrTrapPort, Name: "infiniband.trap.port", Title: "Trap Details (Port)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr", Title: "LID Address", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.portno", Title: "Port Number", Base: Hex, Bit: 32, Bits: 8},
}}

var trapCapabilitySpec = Spec{ID: HdrTrapCapability, Name: "infiniband.trap.capability", Title: "Trap Details (Capability Change)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr", Title: "LID Address", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.otherlocalchanges", Title: "Other Local Changes", Base: Hex, Bit: 47, Bits: 1},
	{Name: "infiniband.trap.capabilitymask", Title: "Capability Mask", Base: Hex, Bit: 48, Bits: 32},
	{Name: "infiniband.trap.smprioritychange", Title: "SM Priority Change", Base: Hex, Bit: 92, Bits: 1},
	{Name: "infiniband.trap.linkspeecenabledchange", Title: "Link Speed Enabled Change", Base: Hex, Bit: 93, Bits: 1},
	{Name: "infiniband.trap.linkwidthenabledchange", Title: "Link Width Enabled Change", Base: Hex, Bit: 94, Bits: 1},
	{Name: "infiniband.trap.nodedescriptionchange", Title: "Node Description Change", Base: Hex, Bit: 95, Bits: 1},
}}

var trapImageGUIDSpec = Spec{ID: HdrTrapImageGUID, Name: "infiniband.trap.imageguid", Title: "Trap Details (System Image GUID)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr", Title: "LID Address", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.systemimageguid", Title: "System Image GUID", Base: Hex, Bit: 48, Bits: 64},
}}

var trapMKeySpec = Spec{ID: HdrTrapMKey, Name: "infiniband.trap.badmkey", Title: "Trap Details (Bad M_Key)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr", Title: "LID Address", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.drslid", Title: "Directed-Route Source LID", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.trap.method", Title: "Method", Base: Hex, Bit: 48, Bits: 8, Names: methodName},
	{Name: "infiniband.trap.attributeid", Title: "Attribute ID", Base: Hex, Bit: 64, Bits: 16},
	{Name: "infiniband.trap.attributemodifier", Title: "Attribute Modifier", Base: Hex, Bit: 80, Bits: 32},
	{Name: "infiniband.trap.mkey", Title: "M_Key", Base: Hex, Bit: 112, Bits: 64},
	{Name: "infiniband.trap.drnotice", Title: "Directed-Route Notice", Base: Hex, Bit: 184, Bits: 1},
	{Name: "infiniband.trap.drpathtruncated", Title: "Directed-Route Path Truncated", Base: Hex, Bit: 185, Bits: 1},
	{Name: "infiniband.trap.drhopcount", Title: "Directed-Route Hop Count", Base: Hex, Bit: 186, Bits: 6},
	{Name: "infiniband.trap.drnoticereturnpath", Title: "Directed-Route Return Path", Kind: Bytes, Bit: 192, Bits: 240},
}}

var trapKeySpec = Spec{ID: HdrTrapKey, Name: "infiniband.trap.badkey", Title: "Trap Details (Bad P_Key or Q_Key)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.lidaddr1", Title: "LID Address 1", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.lidaddr2", Title: "LID Address 2", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.trap.key", Title: "Key", Base: Hex, Bit: 48, Bits: 32},
	{Name: "infiniband.trap.sl", Title: "Service Level", Base: Hex, Bit: 80, Bits: 4},
	{Name: "infiniband.trap.qp1", Title: "QP 1", Base: Hex, Bit: 88, Bits: 24},
	{Name: "infiniband.trap.qp2", Title: "QP 2", Base: Hex, Bit: 120, Bits: 24},
	{Name: "infiniband.trap.gidaddr1", Title: "GID Address 1", Kind: IPv6, Bit: 144, Bits: 128},
	{Name: "infiniband.trap.gidaddr2", Title: "GID Address 2", Kind: IPv6, Bit: 272, Bits: 128},
}}

var trapSwitchPKeySpec = Spec{ID: HdrTrapSwitchPKey, Name: "infiniband.trap.switchbadpkey", Title: "Trap Details (Bad P_Key at a Switch)", Len: trapLen, Fields: []Field{
	{Name: "infiniband.trap.datavalid", Title: "Data Valid", Base: Hex, Bits: 16},
	{Name: "infiniband.trap.lidaddr1", Title: "LID Address 1", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.trap.lidaddr2", Title: "LID Address 2", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.trap.pkey", Title: "P_Key", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.trap.sl", Title: "Service Level", Base: Hex, Bit: 64, Bits: 4},
	{Name: "infiniband.trap.qp1", Title: "QP 1", Base: Hex, Bit: 72, Bits: 24},
	{Name: "infiniband.trap.qp2", Title: "QP 2", Base: Hex, Bit: 104, Bits: 24},
	{Name: "infiniband.trap.gidaddr1", Title: "GID Address 1", Kind: IPv6, Bit: 128, Bits: 128},
	{Name: "infiniband.trap.gidaddr2", Title: "GID Address 2", Kind: IPv6, Bit: 256, Bits: 128},
	{Name: "infiniband.trap.swlidaddr", Title: "Switch LID Address", Base: Hex, Bit: 384, Bits: 16},
	{Name: "infiniband.trap.portno", Title: "Port Number", Base: Hex, Bit: 400, Bits: 8},
}}

var trapDataSpec = Spec{ID: HdrTrapData, Name: "infiniband.trap.data", Title: "Trap Details", Len: trapLen, Fields: []Field{
	{Name: "infiniband.notice.datadetails", Title: "Data Details", Kind: Bytes, Bits: 432},
}}

// trapDetails names the layout of the data details of a subnet management
// notice, h being the front of it.
func trapDetails(h []byte) HeaderID {
	if !noticeGeneric(h) {
		return HdrTrapData
	}
	switch be.Uint16(h[4:]) {
	case 64, 65, 66, 67:
		return HdrTrapGID
	case 128:
		return HdrTrapSwitch
	case 129, 130, 131:
		return HdrTrapPort
	case 144:
		return HdrTrapCapability
	case 145:
		return HdrTrapImageGUID
	case 256:
		return HdrTrapMKey
	case 257, 258:
		return HdrTrapKey
	case 259:
		return HdrTrapSwitchPKey
	}
	return HdrTrapData
}

func noticeTypeName(v uint64) string {
	switch v {
	case 0:
		return "Fatal"
	case 1:
		return "Urgent"
	case 2:
		return "Security"
	case 3:
		return "Subnet Management"
	case 4:
		return "Informational"
	case 0x7F:
		return "Empty"
	}
	return ""
}

func producerName(v uint64) string {
	if v == 4 {
		return "Class Manager"
	}
	return nodeTypeName(v)
}

// trapName names the generic traps (IBTA vol. 1, table 14.3.7).
func trapName(v uint64) string {
	switch v {
	case 64:
		return "GID in service"
	case 65:
		return "GID out of service"
	case 66:
		return "multicast group created"
	case 67:
		return "multicast group deleted"
	case 68:
		return "paths out of service"
	case 69:
		return "paths changed"
	case 128:
		return "link state change"
	case 129:
		return "local link integrity"
	case 130:
		return "excessive buffer overrun"
	case 131:
		return "flow control update watchdog"
	case 144:
		return "capability or node description change"
	case 145:
		return "system image GUID change"
	case 256:
		return "bad M_Key"
	case 257:
		return "bad P_Key"
	case 258:
		return "bad Q_Key"
	case 259:
		return "bad P_Key at a switch port"
	}
	return ""
}
