package wire

// Subnet management attributes that describe a node or a port
// (IBTA vol. 1, 14.2.5.2 to 14.2.5.6 and 14.2.5.13 to 14.2.5.15).

var nodeDescriptionSpec = Spec{ID: HdrNodeDescription, Name: "infiniband.nodedescription", Title: "Node Description", Len: 64, Fields: []Field{
	{Name: "infiniband.nodedescription.nodestring", Title: "Node String", Kind: Text, Bits: 512},
}}

var nodeInfoSpec = Spec{ID: HdrNodeInfo, Name: "infiniband.nodeinfo", Title: "Node Info", Len: 40, Fields: []Field{
	{Name: "infiniband.nodeinfo.baseversion", Title: "Base Version", Base: Hex, Bits: 8},
	{Name: "infiniband.nodeinfo.classversion", Title: "Class Version", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.nodeinfo.nodetype", Title: "Node Type", Base: Hex, Bit: 16, Bits: 8, Names: nodeTypeName},
	{Name: "infiniband.nodeinfo.numports", Title: "Number of Ports", Base: Hex, Bit: 24, Bits: 8},
	{Name: "infiniband.nodeinfo.systemimageguid", Title: "System Image GUID", Base: Hex, Bit: 32, Bits: 64},
	{Name: "infiniband.nodeinfo.nodeguid", Title: "Node GUID", Base: Hex, Bit: 96, Bits: 64},
	{Name: "infiniband.nodeinfo.portguid", Title: "Port GUID", Base: Hex, Bit: 160, Bits: 64},
	{Name: "infiniband.nodeinfo.partitioncap", Title: "Partition Capacity", Base: Hex, Bit: 224, Bits: 16},
	{Name: "infiniband.nodeinfo.deviceid", Title: "Device ID", Base: Hex, Bit: 240, Bits: 16},
	{Name: "infiniband.nodeinfo.revision", Title: "Revision", Base: Hex, Bit: 256, Bits: 32},
	{Name: "infiniband.nodeinfo.localportnum", Title: "Local Port Number", Base: Hex, Bit: 288, Bits: 8},
	{Name: "infiniband.nodeinfo.vendorid", Title: "Vendor ID", Base: Hex, Bit: 296, Bits: 24},
}}

var switchInfoSpec = Spec{ID: HdrSwitchInfo, Name: "infiniband.switchinfo", Title: "Switch Info", Len: 20, Fields: []Field{
	{Name: "infiniband.switchinfo.linearfdbcap", Title: "Linear FDB Capability", Base: Hex, Bits: 16},
	{Name: "infiniband.switchinfo.randomfdbcap", Title: "Random FDB Capability", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.switchinfo.multicastfdbcap", Title: "Multicast FDB Capability", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.switchinfo.linearfdbtop", Title: "Linear FDB Top", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.switchinfo.defaultport", Title: "Default Port", Base: Hex, Bit: 64, Bits: 8},
	{Name: "infiniband.switchinfo.defaultmulticastprimaryport", Title: "Default Multicast Primary Port", Base: Hex, Bit: 72, Bits: 8},
	{Name: "infiniband.switchinfo.defaultmulticastnotprimaryport", Title: "Default Multicast Not Primary Port", Base: Hex, Bit: 80, Bits: 8},
	{Name: "infiniband.switchinfo.lifetimevalue", Title: "Lifetime Value", Base: Hex, Bit: 88, Bits: 5},
	{Name: "infiniband.switchinfo.portstatechange", Title: "Port State Change", Base: Hex, Bit: 93, Bits: 1},
	{Name: "infiniband.switchinfo.optimizedsltovlmappingprogramming", Title: "Optimized SL to VL Mapping Programming", Base: Hex, Bit: 94, Bits: 2},
	{Name: "infiniband.switchinfo.lidsperport", Title: "LIDs Per Port", Base: Hex, Bit: 96, Bits: 16},
	{Name: "infiniband.switchinfo.partitionenforcementcap", Title: "Partition Enforcement Capability", Base: Hex, Bit: 112, Bits: 16},
	{Name: "infiniband.switchinfo.inboundenforcementcap", Title: "Inbound Enforcement Capability", Base: Hex, Bit: 128, Bits: 1},
	{Name: "infiniband.switchinfo.outboundenforcementcap", Title: "Outbound Enforcement Capability", Base: Hex, Bit: 129, Bits: 1},
	{Name: "infiniband.switchinfo.filterrawinboundcap", Title: "Filter Raw Inbound Capability", Base: Hex, Bit: 130, Bits: 1},
	{Name: "infiniband.switchinfo.filterrawoutboundcap", Title: "Filter Raw Outbound Capability", Base: Hex, Bit: 131, Bits: 1},
	{Name: "infiniband.switchinfo.enhancedportzero", Title: "Enhanced Port 0", Base: Hex, Bit: 132, Bits: 1},
	{Name: "infiniband.switchinfo.multicastfdbtop", Title: "Multicast FDB Top", Base: Hex, Bit: 144, Bits: 16},
}}

var portInfoSpec = Spec{ID: HdrPortInfo, Name: "infiniband.portinfo", Title: "Port Info", Len: 64, Fields: concat([]Field{
	{Name: "infiniband.portinfo.m_key", Title: "M_Key", Base: Hex, Bits: 64},
	{Name: "infiniband.portinfo.guid", Title: "GID Prefix", Base: Hex, Bit: 64, Bits: 64},
	{Name: "infiniband.portinfo.lid", Title: "LID", Base: Hex, Bit: 128, Bits: 16},
	{Name: "infiniband.portinfo.mastersmlid", Title: "Master SM LID", Base: Hex, Bit: 144, Bits: 16},
	{Name: "infiniband.portinfo.capabilitymask", Title: "Capability Mask", Base: Hex, Bit: 160, Bits: 32},
	{Name: "infiniband.portinfo.diagcode", Title: "Diagnostic Code", Base: Hex, Bit: 192, Bits: 16},
	{Name: "infiniband.portinfo.m_keyleaseperiod", Title: "M_Key Lease Period", Base: Hex, Bit: 208, Bits: 16},
	{Name: "infiniband.portinfo.localportnum", Title: "Local Port Number", Base: Hex, Bit: 224, Bits: 8},
	{Name: "infiniband.portinfo.linkwidthenabled", Title: "Link Width Enabled", Base: Hex, Bit: 232, Bits: 8, Names: linkWidthName},
	{Name: "infiniband.portinfo.linkwidthsupported", Title: "Link Width Supported", Base: Hex, Bit: 240, Bits: 8, Names: linkWidthName},
	{Name: "infiniband.portinfo.linkwidthactive", Title: "Link Width Active", Base: Hex, Bit: 248, Bits: 8, Names: linkWidthName},
	{Name: "infiniband.portinfo.linkspeedsupported", Title: "Link Speed Supported", Base: Hex, Bit: 256, Bits: 4, Names: linkSpeedName},
	{Name: "infiniband.portinfo.portstate", Title: "Port State", Base: Hex, Bit: 260, Bits: 4, Names: portStateName},
	{Name: "infiniband.portinfo.portphysicalstate", Title: "Port Physical State", Base: Hex, Bit: 264, Bits: 4, Names: portPhysicalStateName},
	{Name: "infiniband.portinfo.linkdowndefaultstate", Title: "Link Down Default State", Base: Hex, Bit: 268, Bits: 4, Names: portPhysicalStateName},
	{Name: "infiniband.portinfo.m_keyprotectbits", Title: "M_Key Protect Bits", Base: Hex, Bit: 272, Bits: 2},
	{Name: "infiniband.portinfo.lmc", Title: "LMC", Base: Hex, Bit: 277, Bits: 3},
	{Name: "infiniband.portinfo.linkspeedactive", Title: "Link Speed Active", Base: Hex, Bit: 280, Bits: 4, Names: linkSpeedName},
	{Name: "infiniband.portinfo.linkspeedenabled", Title: "Link Speed Enabled", Base: Hex, Bit: 284, Bits: 4, Names: linkSpeedName},
	{Name: "infiniband.portinfo.neighbormtu", Title: "Neighbor MTU", Base: Hex, Bit: 288, Bits: 4, Names: mtuName},
	{Name: "infiniband.portinfo.mastersmsl", Title: "Master SM SL", Base: Hex, Bit: 292, Bits: 4},
	{Name: "infiniband.portinfo.vlcap", Title: "VL Capability", Base: Hex, Bit: 296, Bits: 4, Names: vlName},
	{Name: "infiniband.portinfo.inittype", Title: "Initialization Type", Base: Hex, Bit: 300, Bits: 4},
	{Name: "infiniband.portinfo.vlhighlimit", Title: "VL High Limit", Base: Hex, Bit: 304, Bits: 8},
	{Name: "infiniband.portinfo.vlarbitrationhighcap", Title: "VL Arbitration High Capability", Base: Hex, Bit: 312, Bits: 8},
	{Name: "infiniband.portinfo.vlarbitrationlowcap", Title: "VL Arbitration Low Capability", Base: Hex, Bit: 320, Bits: 8},
	{Name: "infiniband.portinfo.inittypereply", Title: "Initialization Type Reply", Base: Hex, Bit: 328, Bits: 4},
	{Name: "infiniband.portinfo.mtucap", Title: "MTU Capability", Base: Hex, Bit: 332, Bits: 4, Names: mtuName},
	{Name: "infiniband.portinfo.vlstallcount", Title: "VL Stall Count", Base: Hex, Bit: 336, Bits: 3},
	{Name: "infiniband.portinfo.hoqlife", Title: "HOQ Life", Base: Hex, Bit: 339, Bits: 5},
	{Name: "infiniband.portinfo.operationalvls", Title: "Operational VLs", Base: Hex, Bit: 344, Bits: 4, Names: vlName},
	{Name: "infiniband.portinfo.partitionenforcementinbound", Title: "Partition Enforcement Inbound", Base: Hex, Bit: 348, Bits: 1},
	{Name: "infiniband.portinfo.partitionenforcementoutbound", Title: "Partition Enforcement Outbound", Base: Hex, Bit: 349, Bits: 1},
	{Name: "infiniband.portinfo.filterrawinbound", Title: "Filter Raw Inbound", Base: Hex, Bit: 350, Bits: 1},
	{Name: "infiniband.portinfo.filterrawoutbound", Title: "Filter Raw Outbound", Base: Hex, Bit: 351, Bits: 1},
	{Name: "infiniband.portinfo.m_keyviolations", Title: "M_Key Violations", Base: Hex, Bit: 352, Bits: 16},
	{Name: "infiniband.portinfo.p_keyviolations", Title: "P_Key Violations", Base: Hex, Bit: 368, Bits: 16},
	{Name: "infiniband.portinfo.q_keyviolations", Title: "Q_Key Violations", Base: Hex, Bit: 384, Bits: 16},
	{Name: "infiniband.portinfo.guidcap", Title: "GUID Capability", Base: Hex, Bit: 400, Bits: 8},
	{Name: "infiniband.portinfo.clientreregister", Title: "Client Reregister", Base: Hex, Bit: 408, Bits: 1},
	{Name: "infiniband.portinfo.multicastpkeytrapsuppressionenabled", Title: "Multicast P_Key Trap Suppression Enabled", Base: Hex, Bit: 409, Bits: 2},
	{Name: "infiniband.portinfo.subnettimeout", Title: "Subnet Timeout", Base: Hex, Bit: 411, Bits: 5},
	{Name: "infiniband.portinfo.resptimevalue", Title: "Response Time Value", Base: Hex, Bit: 419, Bits: 5},
	{Name: "infiniband.portinfo.localphyerrors", Title: "Local Physical Errors", Base: Hex, Bit: 424, Bits: 4},
	{Name: "infiniband.portinfo.overrunerrors", Title: "Overrun Errors", Base: Hex, Bit: 428, Bits: 4},
	{Name: "infiniband.portinfo.maxcredithint", Title: "Maximum Credit Hint", Base: Hex, Bit: 432, Bits: 16},
	{Name: "infiniband.portinfo.linkroundtriplatency", Title: "Link Round Trip Latency", Base: Hex, Bit: 456, Bits: 24},
	{Name: "infiniband.portinfo.capabilitymask2", Title: "Capability Mask 2", Base: Hex, Bit: 480, Bits: 16},
	{Name: "infiniband.portinfo.linkspeedextactive", Title: "Link Speed Extended Active", Base: Hex, Bit: 496, Bits: 4, Names: linkSpeedExtName},
	{Name: "infiniband.portinfo.linkspeedextsupported", Title: "Link Speed Extended Supported", Base: Hex, Bit: 500, Bits: 4, Names: linkSpeedExtName},
	{Name: "infiniband.portinfo.linkspeedextenabled", Title: "Link Speed Extended Enabled", Base: Hex, Bit: 507, Bits: 5, Names: linkSpeedExtName},
}, portCapabilities)}

// portCapabilities are the bits of PortInfo's CapabilityMask
// (IBTA vol. 1, table 14.2.5.6).
var portCapabilities = []Field{
	{Name: "infiniband.portinfo.capabilitymask.issm", Title: "SM", Base: Hex, Bit: 190, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.noticesupported", Title: "Notice Supported", Base: Hex, Bit: 189, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.trapsupported", Title: "Trap Supported", Base: Hex, Bit: 188, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.optionalipdsupported", Title: "Optional IPD Supported", Base: Hex, Bit: 187, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.automaticmigrationsupported", Title: "Automatic Migration Supported", Base: Hex, Bit: 186, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.slmappingsupported", Title: "SL Mapping Supported", Base: Hex, Bit: 185, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.mkeynvram", Title: "M_Key NVRAM", Base: Hex, Bit: 184, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.pkeynvram", Title: "P_Key NVRAM", Base: Hex, Bit: 183, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.ledinfosupported", Title: "LED Info Supported", Base: Hex, Bit: 182, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.smdisabled", Title: "SM Disabled", Base: Hex, Bit: 181, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.systemimageguidsupported", Title: "System Image GUID Supported", Base: Hex, Bit: 180, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.pkeyswitchexternalporttrapsupported", Title: "P_Key Switch External Port Trap Supported", Base: Hex, Bit: 179, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.communicationmanagementsupported", Title: "Communication Management Supported", Base: Hex, Bit: 175, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.snmptunnelingsupported", Title: "SNMP Tunneling Supported", Base: Hex, Bit: 174, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.reinitsupported", Title: "Reinitialization Supported", Base: Hex, Bit: 173, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.devicemanagementsupported", Title: "Device Management Supported", Base: Hex, Bit: 172, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.vendorclasssupported", Title: "Vendor Class Supported", Base: Hex, Bit: 171, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.drnoticesupported", Title: "DR Notice Supported", Base: Hex, Bit: 170, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.capabilitymasknoticesupported", Title: "Capability Mask Notice Supported", Base: Hex, Bit: 169, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.bootmanagementsupported", Title: "Boot Management Supported", Base: Hex, Bit: 168, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.linkroundtriplatencysupported", Title: "Link Round Trip Latency Supported", Base: Hex, Bit: 167, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.clientregistrationsupported", Title: "Client Registration Supported", Base: Hex, Bit: 166, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.otherlocalchangesnoticesupported", Title: "Other Local Changes Notice Supported", Base: Hex, Bit: 165, Bits: 1, Width: 32},
	{Name: "infiniband.portinfo.capabilitymask.linkspeedwidthpairstablesupported", Title: "Link Speed Width Pairs Table Supported", Base: Hex, Bit: 164, Bits: 1, Width: 32},
}

var smInfoSpec = Spec{ID: HdrSMInfo, Name: "infiniband.sminfo", Title: "Subnet Manager Info", Len: 24, Fields: []Field{
	{Name: "infiniband.sminfo.guid", Title: "GUID", Base: Hex, Bits: 64},
	{Name: "infiniband.sminfo.sm_key", Title: "SM_Key", Base: Hex, Bit: 64, Bits: 64},
	{Name: "infiniband.sminfo.actcount", Title: "Activity Count", Base: Hex, Bit: 128, Bits: 32},
	{Name: "infiniband.sminfo.priority", Title: "Priority", Base: Hex, Bit: 160, Bits: 4},
	{Name: "infiniband.sminfo.smstate", Title: "SM State", Base: Hex, Bit: 164, Bits: 4, Names: smStateName},
}}

var vendorDiagSpec = Spec{ID: HdrVendorDiag, Name: "infiniband.vendordiag", Title: "Vendor Diagnostics", Len: 64, Fields: []Field{
	{Name: "infiniband.vendordiag.nextindex", Title: "Next Index", Base: Hex, Bits: 16},
	{Name: "infiniband.vendordiag.diagdata", Title: "Diagnostic Data", Kind: Bytes, Bit: 16, Bits: 496},
}}

var ledInfoSpec = Spec{ID: HdrLedInfo, Name: "infiniband.ledinfo", Title: "LED Info", Len: 4, Fields: []Field{
	{Name: "infiniband.ledinfo.ledmask", Title: "LED Mask", Base: Hex, Bits: 1},
}}

func nodeTypeName(v uint64) string {
	switch v {
	case 1:
		return "Channel Adapter"
	case 2:
		return "Switch"
	case 3:
		return "Router"
	}
	return ""
}

func portStateName(v uint64) string {
	switch v {
	case 0:
		return "No Change"
	case 1:
		return "Down"
	case 2:
		return "Initialize"
	case 3:
		return "Armed"
	case 4:
		return "Active"
	}
	return ""
}

func portPhysicalStateName(v uint64) string {
	switch v {
	case 0:
		return "No Change"
	case 1:
		return "Sleep"
	case 2:
		return "Polling"
	case 3:
		return "Disabled"
	case 4:
		return "Port Configuration Training"
	case 5:
		return "Link Up"
	case 6:
		return "Link Error Recovery"
	case 7:
		return "Phy Test"
	}
	return ""
}

// linkWidthName names a set of link widths; an active width is a set of one.
func linkWidthName(v uint64) string {
	return setName(v, "1x", "4x", "8x", "12x", "2x")
}

// linkSpeedName names a set of link speeds.
func linkSpeedName(v uint64) string {
	return setName(v, "2.5 Gbps", "5 Gbps", "10 Gbps")
}

// linkSpeedExtName names a set of extended link speeds.
func linkSpeedExtName(v uint64) string {
	return setName(v, "14.0625 Gbps", "25.78125 Gbps", "53.125 Gbps", "106.25 Gbps")
}

// mtuName names an MTU code (IBTA vol. 1, 14.2.5.6, NeighborMTU).
func mtuName(v uint64) string {
	switch v {
	case 1:
		return "256"
	case 2:
		return "512"
	case 3:
		return "1024"
	case 4:
		return "2048"
	case 5:
		return "4096"
	}
	return ""
}

func vlName(v uint64) string {
	switch v {
	case 1:
		return "VL0"
	case 2:
		return "VL0-VL1"
	case 3:
		return "VL0-VL3"
	case 4:
		return "VL0-VL7"
	case 5:
		return "VL0-VL14"
	}
	return ""
}

func smStateName(v uint64) string {
	switch v {
	case 0:
		return "Not Active"
	case 1:
		return "Discovering"
	case 2:
		return "Standby"
	case 3:
		return "Master"
	}
	return ""
}
