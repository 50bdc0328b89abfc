package wire

// The keys that the subnet administrator puts before an attribute of the
// subnet manager (IBTA vol. 1, 15.2.5.2 to 15.2.5.11 and 15.2.5.18).

var saLIDKeySpec = Spec{ID: HdrSALIDKey, Name: "infiniband.sa.lidkey", Title: "Record Key", Len: 4, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
}}

var saPortKeySpec = Spec{ID: HdrSAPortKey, Name: "infiniband.sa.portkey", Title: "Record Key", Len: 4, Fields: []Field{
	{Name: "infiniband.sa.endportlid", Title: "End Port LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.portnum", Title: "Port Number", Base: Hex, Bit: 16, Bits: 8},
}}

var saSLtoVLKeySpec = Spec{ID: HdrSASLtoVLKey, Name: "infiniband.sa.sltovlkey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.inputportnum", Title: "Input Port Number", Base: Hex, Bit: 16, Bits: 8},
	{Name: "infiniband.sa.outputportnum", Title: "Output Port Number", Base: Hex, Bit: 24, Bits: 8},
}}

var saBlockKeySpec = Spec{ID: HdrSABlockKey, Name: "infiniband.sa.blockkey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.blocknum_sixteenbit", Title: "Block Number", Base: Hex, Bit: 16, Bits: 16},
}}

var saMulticastKeySpec = Spec{ID: HdrSAMulticastKey, Name: "infiniband.sa.multicastkey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.position", Title: "Position", Base: Hex, Bit: 16, Bits: 4},
	{Name: "infiniband.sa.blocknum_ninebit", Title: "Block Number", Base: Hex, Bit: 23, Bits: 9},
}}

var saVLArbitrationKeySpec = Spec{ID: HdrSAVLArbitrationKey, Name: "infiniband.sa.vlarbitrationkey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.outputportnum", Title: "Output Port Number", Base: Hex, Bit: 16, Bits: 8},
	{Name: "infiniband.sa.blocknum_eightbit", Title: "Block Number", Base: Hex, Bit: 24, Bits: 8},
}}

var saGUIDKeySpec = Spec{ID: HdrSAGUIDKey, Name: "infiniband.sa.guidkey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.blocknum_eightbit", Title: "Block Number", Base: Hex, Bit: 16, Bits: 8},
}}

var saPKeyKeySpec = Spec{ID: HdrSAPKeyKey, Name: "infiniband.sa.p_keykey", Title: "Record Key", Len: 8, Fields: []Field{
	{Name: "infiniband.sa.lid", Title: "LID", Base: Hex, Bits: 16},
	{Name: "infiniband.sa.blocknum_sixteenbit", Title: "Block Number", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.sa.portnum", Title: "Port Number", Base: Hex, Bit: 32, Bits: 8},
}}

// Records of the subnet administrator's own (IBTA vol. 1, 15.2.5.12 to
// 15.2.5.20).

var informInfoRecordSpec = Spec{ID: HdrInformInfoRecord, Name: "infiniband.informinforecord", Title: "Inform Info Record", Len: 24, Fields: []Field{
	{Name: "infiniband.informinforecord.subscribergid", Title: "Subscriber GID", Kind: IPv6, Bits: 128},
	{Name: "infiniband.informinforecord.enum", Title: "Enumeration", Base: Hex, Bit: 128, Bits: 16},
}}

var linkRecordSpec = Spec{ID: HdrLinkRecord, Name: "infiniband.linkrecord", Title: "Link Record", Len: 8, Fields: []Field{
	{Name: "infiniband.linkrecord.fromlid", Title: "From LID", Base: Hex, Bits: 16},
	{Name: "infiniband.linkrecord.fromport", Title: "From Port", Base: Hex, Bit: 16, Bits: 8},
	{Name: "infiniband.linkrecord.toport", Title: "To Port", Base: Hex, Bit: 24, Bits: 8},
	{Name: "infiniband.linkrecord.tolid", Title: "To LID", Base: Hex, Bit: 32, Bits: 16},
}}

// Wireshark files the service record's fields under linkrecord.
var serviceRecordSpec = Spec{ID: HdrServiceRecord, Name: "infiniband.servicerecord", Title: "Service Record", Len: 176, Fields: concat([]Field{
	{Name: "infiniband.linkrecord.serviceid", Title: "Service ID", Base: Hex, Bits: 64},
	{Name: "infiniband.linkrecord.servicegid", Title: "Service GID", Kind: IPv6, Bit: 64, Bits: 128},
	{Name: "infiniband.linkrecord.servicep_key", Title: "Service P_Key", Base: Hex, Bit: 192, Bits: 16},
	{Name: "infiniband.linkrecord.servicelease", Title: "Service Lease", Base: Hex, Bit: 224, Bits: 32},
	{Name: "infiniband.linkrecord.servicekey", Title: "Service Key", Kind: Bytes, Bit: 256, Bits: 128},
	{Name: "infiniband.linkrecord.servicename", Title: "Service Name", Kind: Bytes, Bit: 384, Bits: 512},
}, repeated(4, 128,
	// In units of 1, 2, 4 and 8 bytes.
	Field{Name: "infiniband.linkrecord.servicedata", Title: "Service Data", Kind: Bytes, Bit: 896, Bits: 128},
))}

var pathRecordSpec = Spec{ID: HdrPathRecord, Name: "infiniband.pathrecord", Title: "Path Record", Len: 64, Fields: []Field{
	{Name: "infiniband.pathrecord.serviceid", Title: "Service ID", Base: Hex, Bits: 64},
	{Name: "infiniband.pathrecord.dgid", Title: "DGID", Kind: IPv6, Bit: 64, Bits: 128},
	{Name: "infiniband.pathrecord.sgid", Title: "SGID", Kind: IPv6, Bit: 192, Bits: 128},
	{Name: "infiniband.pathrecord.dlid", Title: "DLID", Base: Hex, Bit: 320, Bits: 16},
	{Name: "infiniband.pathrecord.slid", Title: "SLID", Base: Hex, Bit: 336, Bits: 16},
	{Name: "infiniband.pathrecord.rawtraffic", Title: "Raw Traffic", Base: Hex, Bit: 352, Bits: 1},
	{Name: "infiniband.pathrecord.flowlabel", Title: "Flow Label", Base: Hex, Bit: 356, Bits: 20},
	{Name: "infiniband.pathrecord.hoplimit", Title: "Hop Limit", Base: Hex, Bit: 376, Bits: 8},
	{Name: "infiniband.pathrecord.tclass", Title: "Traffic Class", Base: Hex, Bit: 384, Bits: 8},
	{Name: "infiniband.pathrecord.reversible", Title: "Reversible", Base: Hex, Bit: 392, Bits: 1},
	{Name: "infiniband.pathrecord.numbpath", Title: "Number of Paths", Base: Hex, Bit: 393, Bits: 7},
	{Name: "infiniband.pathrecord.p_key", Title: "P_Key", Base: Hex, Bit: 400, Bits: 16},
	{Name: "infiniband.pathrecord.qosclass", Title: "QoS Class", Base: Hex, Bit: 416, Bits: 12},
	{Name: "infiniband.pathrecord.sl", Title: "SL", Base: Hex, Bit: 428, Bits: 4, Width: 16},
	{Name: "infiniband.pathrecord.mtuselector", Title: "MTU Selector", Base: Hex, Bit: 432, Bits: 2, Names: selectorName},
	{Name: "infiniband.pathrecord.mtu", Title: "MTU", Base: Hex, Bit: 434, Bits: 6, Names: mtuName},
	{Name: "infiniband.pathrecord.rateselector", Title: "Rate Selector", Base: Hex, Bit: 440, Bits: 2, Names: selectorName},
	{Name: "infiniband.pathrecord.rate", Title: "Rate", Base: Hex, Bit: 442, Bits: 6, Names: rateName},
	{Name: "infiniband.pathrecord.packetlifetimeselector", Title: "Packet Lifetime Selector", Base: Hex, Bit: 448, Bits: 2, Names: selectorName},
	{Name: "infiniband.pathrecord.packetlifetime", Title: "Packet Lifetime", Base: Hex, Bit: 450, Bits: 6},
	{Name: "infiniband.pathrecord.preference", Title: "Preference", Base: Hex, Bit: 456, Bits: 8},
	{Name: "infiniband.pathrecord.reversepathpkeymemberbit", Title: "Reverse Path P_Key Member Bit", Base: Hex, Bit: 464, Bits: 2},
}}

var mcMemberRecordSpec = Spec{ID: HdrMCMemberRecord, Name: "infiniband.mcmemberrecord", Title: "Multicast Member Record", Len: 52, Fields: []Field{
	{Name: "infiniband.mcmemberrecord.mgid", Title: "MGID", Kind: IPv6, Bits: 128},
	{Name: "infiniband.mcmemberrecord.portgid", Title: "Port GID", Kind: IPv6, Bit: 128, Bits: 128},
	{Name: "infiniband.mcmemberrecord.q_key", Title: "Q_Key", Base: Hex, Bit: 256, Bits: 32},
	{Name: "infiniband.mcmemberrecord.mlid", Title: "MLID", Base: Hex, Bit: 288, Bits: 16},
	{Name: "infiniband.mcmemberrecord.mtuselector", Title: "MTU Selector", Base: Hex, Bit: 304, Bits: 2, Names: selectorName},
	{Name: "infiniband.mcmemberrecord.mtu", Title: "MTU", Base: Hex, Bit: 306, Bits: 6, Names: mtuName},
	{Name: "infiniband.mcmemberrecord.tclass", Title: "Traffic Class", Base: Hex, Bit: 312, Bits: 8},
	{Name: "infiniband.mcmemberrecord.p_key", Title: "P_Key", Base: Hex, Bit: 320, Bits: 16},
	{Name: "infiniband.mcmemberrecord.rateselector", Title: "Rate Selector", Base: Hex, Bit: 336, Bits: 2, Names: selectorName},
	{Name: "infiniband.mcmemberrecord.rate", Title: "Rate", Base: Hex, Bit: 338, Bits: 6, Names: rateName},
	{Name: "infiniband.mcmemberrecord.packetlifetimeselector", Title: "Packet Lifetime Selector", Base: Hex, Bit: 344, Bits: 2, Names: selectorName},
	{Name: "infiniband.mcmemberrecord.packetlifetime", Title: "Packet Lifetime", Base: Hex, Bit: 346, Bits: 6},
	{Name: "infiniband.mcmemberrecord.sl", Title: "SL", Base: Hex, Bit: 352, Bits: 4},
	{Name: "infiniband.mcmemberrecord.flowlabel", Title: "Flow Label", Base: Hex, Bit: 356, Bits: 20},
	{Name: "infiniband.mcmemberrecord.hoplimit", Title: "Hop Limit", Base: Hex, Bit: 376, Bits: 8},
	{Name: "infiniband.mcmemberrecord.scope", Title: "Scope", Base: Hex, Bit: 384, Bits: 4, Names: scopeName},
	{Name: "infiniband.mcmemberrecord.joinstate", Title: "Join State", Base: Hex, Bit: 388, Bits: 4, Names: joinStateName},
	{Name: "infiniband.mcmemberrecord.proxyjoin", Title: "Proxy Join", Base: Hex, Bit: 392, Bits: 1},
}}

var traceRecordSpec = Spec{ID: HdrTraceRecord, Name: "infiniband.tracerecord", Title: "Trace Record", Len: 48, Fields: []Field{
	{Name: "infiniband.tracerecord.gidprefix", Title: "GID Prefix", Base: Hex, Bits: 64},
	{Name: "infiniband.tracerecord.idgeneration", Title: "ID Generation", Base: Hex, Bit: 64, Bits: 16},
	{Name: "infiniband.tracerecord.nodetype", Title: "Node Type", Base: Hex, Bit: 88, Bits: 8, Names: nodeTypeName},
	{Name: "infiniband.tracerecord.nodeid", Title: "Node ID", Base: Hex, Bit: 96, Bits: 64},
	{Name: "infiniband.tracerecord.chassisid", Title: "Chassis ID", Base: Hex, Bit: 160, Bits: 64},
	{Name: "infiniband.tracerecord.entryportid", Title: "Entry Port ID", Base: Hex, Bit: 224, Bits: 64},
	{Name: "infiniband.tracerecord.exitportid", Title: "Exit Port ID", Base: Hex, Bit: 288, Bits: 64},
	{Name: "infiniband.tracerecord.entryport", Title: "Entry Port", Base: Hex, Bit: 352, Bits: 8},
	{Name: "infiniband.tracerecord.exitport", Title: "Exit Port", Base: Hex, Bit: 360, Bits: 8},
}}

// The source and then the destination GIDs end a MultiPathRecord, as many as
// its two counts say.
var multiPathRecordSpec = Spec{ID: HdrMultiPathRecord, Name: "infiniband.multipathrecord", Title: "Multi-Path Record", Len: 24, Fields: concat([]Field{
	{Name: "infiniband.multipathrecord.rawtraffic", Title: "Raw Traffic", Base: Hex, Bits: 1},
	{Name: "infiniband.multipathrecord.flowlabel", Title: "Flow Label", Base: Hex, Bit: 4, Bits: 20},
	{Name: "infiniband.multipathrecord.hoplimit", Title: "Hop Limit", Base: Hex, Bit: 24, Bits: 8},
	{Name: "infiniband.multipathrecord.tclass", Title: "Traffic Class", Base: Hex, Bit: 32, Bits: 8},
	{Name: "infiniband.multipathrecord.reversible", Title: "Reversible", Base: Hex, Bit: 40, Bits: 1},
	{Name: "infiniband.multipathrecord.numbpath", Title: "Number of Paths", Base: Hex, Bit: 41, Bits: 7},
	{Name: "infiniband.multipathrecord.p_key", Title: "P_Key", Base: Hex, Bit: 48, Bits: 16},
	{Name: "infiniband.multipathrecord.sl", Title: "SL", Base: Hex, Bit: 76, Bits: 4},
	{Name: "infiniband.multipathrecord.mtuselector", Title: "MTU Selector", Base: Hex, Bit: 80, Bits: 2, Names: selectorName},
	{Name: "infiniband.multipathrecord.mtu", Title: "MTU", Base: Hex, Bit: 82, Bits: 6, Names: mtuName},
	{Name: "infiniband.multipathrecord.rateselector", Title: "Rate Selector", Base: Hex, Bit: 88, Bits: 2, Names: selectorName},
	{Name: "infiniband.multipathrecord.rate", Title: "Rate", Base: Hex, Bit: 90, Bits: 6, Names: rateName},
	{Name: "infiniband.multipathrecord.packetlifetimeselector", Title: "Packet Lifetime Selector", Base: Hex, Bit: 96, Bits: 2, Names: selectorName},
	{Name: "infiniband.multipathrecord.packetlifetime", Title: "Packet Lifetime", Base: Hex, Bit: 98, Bits: 6},
	{Name: "infiniband.multipathrecord.independenceselector", Title: "Independence Selector", Base: Hex, Bit: 112, Bits: 2},
	{Name: "infiniband.multipathrecord.gidscope", Title: "GID Scope", Base: Hex, Bit: 114, Bits: 6},
	{Name: "infiniband.multipathrecord.sgidcount", Title: "SGID Count", Base: Hex, Bit: 120, Bits: 8},
	{Name: "infiniband.multipathrecord.dgidcount", Title: "DGID Count", Base: Hex, Bit: 128, Bits: 8},
}, multiPathGIDs())}

// multiPathGIDs lists the GIDs that one datagram has room for.
func multiPathGIDs() []Field {
	const room = (MADLen - saDataOff - 24) / 16
	gids := repeated(room, 128, Field{Name: "infiniband.multipathrecord.sdgid", Title: "SDGID", Kind: IPv6, Bit: 192, Bits: 128})
	for i := range gids {
		gids[i].When = func(h []byte) bool { return i < int(h[15])+int(h[16]) }
	}
	return gids
}

var serviceAssociationRecordSpec = Spec{ID: HdrServiceAssociationRecord, Name: "infiniband.serviceassociationrecord", Title: "Service Association Record", Len: 80, Fields: []Field{
	{Name: "infiniband.serviceassociationrecord.servicekey", Title: "Service Key", Kind: Bytes, Bits: 128},
	{Name: "infiniband.serviceassociationrecord.servicename", Title: "Service Name", Kind: Text, Bit: 128, Bits: 512},
}}

func selectorName(v uint64) string {
	switch v {
	case 0:
		return "Greater Than"
	case 1:
		return "Less Than"
	case 2:
		return "Exactly"
	}
	return "Best Available"
}

// rateName names a static rate (Linux enum ib_rate).
func rateName(v uint64) string {
	switch v {
	case 2:
		return "2.5 Gbps"
	case 3:
		return "10 Gbps"
	case 4:
		return "30 Gbps"
	case 5:
		return "5 Gbps"
	case 6:
		return "20 Gbps"
	case 7:
		return "40 Gbps"
	case 8:
		return "60 Gbps"
	case 9:
		return "80 Gbps"
	case 10:
		return "120 Gbps"
	case 11:
		return "14 Gbps"
	case 12:
		return "56 Gbps"
	case 13:
		return "112 Gbps"
	case 14:
		return "168 Gbps"
	case 15:
		return "25 Gbps"
	case 16:
		return "100 Gbps"
	case 17:
		return "200 Gbps"
	case 18:
		return "300 Gbps"
	case 19:
		return "28 Gbps"
	case 20:
		return "50 Gbps"
	case 21:
		return "400 Gbps"
	case 22:
		return "600 Gbps"
	case 23:
		return "800 Gbps"
	}
	return ""
}

// scopeName names a multicast scope (RFC 4291, 2.7).
func scopeName(v uint64) string {
	switch v {
	case 2:
		return "Link-Local"
	case 5:
		return "Site-Local"
	case 8:
		return "Organization-Local"
	case 14:
		return "Global"
	}
	return ""
}

func joinStateName(v uint64) string {
	return setName(v, "Full Member", "Non-Member", "Send-Only Non-Member", "Send-Only Full Member")
}
