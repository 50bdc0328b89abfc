package wire

// Subnet management attributes that are one block of a table
// (IBTA vol. 1, 14.2.5.5 and 14.2.5.7 to 14.2.5.12).

var guidInfoSpec = Spec{ID: HdrGUIDInfo, Name: "infiniband.guidinfo", Title: "GUID Info", Len: 64, Fields: repeated(8, 64,
	// Wireshark files the GUIDs of a port under switchinfo.
	Field{Name: "infiniband.switchinfo.guid", Title: "GUID", Base: Hex, Bits: 64},
)}

var pKeyTableSpec = Spec{ID: HdrPKeyTable, Name: "infiniband.p_keytable", Title: "P_Key Table", Len: 64, Fields: repeated(32, 16,
	Field{Name: "infiniband.p_keytable.membershiptype", Title: "Membership Type", Base: Hex, Bits: 1, Names: membershipName},
	Field{Name: "infiniband.p_keytable.p_keybase", Title: "P_Key Base", Base: Hex, Bit: 1, Bits: 15},
)}

var slToVLTableSpec = Spec{ID: HdrSLtoVLTable, Name: "infiniband.sltovlmappingtable", Title: "SL to VL Mapping Table", Len: 8, Fields: repeated(8, 8,
	Field{Name: "infiniband.sltovlmappingtable.sltovlhighbits", Title: "Even SL to VL", Base: Hex, Bits: 4},
	Field{Name: "infiniband.sltovlmappingtable.sltovllowbits", Title: "Odd SL to VL", Base: Hex, Bit: 4, Bits: 4},
)}

var vlArbitrationTableSpec = Spec{ID: HdrVLArbitrationTable, Name: "infiniband.vlarbitrationtable", Title: "VL Arbitration Table", Len: 64, Fields: repeated(32, 16,
	Field{Name: "infiniband.vlarbitrationtable.vl", Title: "VL", Base: Hex, Bit: 4, Bits: 4},
	Field{Name: "infiniband.vlarbitrationtable.weight", Title: "Weight", Base: Hex, Bit: 8, Bits: 8},
)}

var linearForwardingTableSpec = Spec{ID: HdrLinearForwardingTable, Name: "infiniband.linearforwardingtable", Title: "Linear Forwarding Table", Len: 64, Fields: repeated(64, 8,
	Field{Name: "infiniband.linearforwardingtable.port", Title: "Port", Base: Hex, Bits: 8},
)}

var randomForwardingTableSpec = Spec{ID: HdrRandomForwardingTable, Name: "infiniband.randomforwardingtable", Title: "Random Forwarding Table", Len: 64, Fields: repeated(16, 32,
	Field{Name: "infiniband.randomforwardingtable.lid", Title: "LID", Base: Hex, Bits: 16},
	Field{Name: "infiniband.randomforwardingtable.valid", Title: "Valid", Base: Hex, Bit: 16, Bits: 1},
	Field{Name: "infiniband.randomforwardingtable.lmc", Title: "LMC", Base: Hex, Bit: 17, Bits: 3},
	Field{Name: "infiniband.randomforwardingtable.port", Title: "Port", Base: Hex, Bit: 24, Bits: 8},
)}

var multicastForwardingTableSpec = Spec{ID: HdrMulticastForwardingTable, Name: "infiniband.multicastforwardingtable", Title: "Multicast Forwarding Table", Len: 64, Fields: repeated(32, 16,
	Field{Name: "infiniband.multicastforwardingtable.portmask", Title: "Port Mask", Base: Hex, Bits: 16},
)}

// linkSpeedWidthPairsSpec says which widths a set of ports can have at each
// speed (IBTA vol. 1, 14.2.5; Wireshark shows one bit of each set).
var linkSpeedWidthPairsSpec = Spec{ID: HdrLinkSpeedWidthPairs, Name: "infiniband.linkspeedwidthpairstable", Title: "Link Speed Width Pairs Table", Len: 36, Fields: []Field{
	{Name: "infiniband.linkspeedwidthpairstable.numtables", Title: "Number of Tables", Base: Hex, Bits: 8},
	{Name: "infiniband.linkspeedwidthpairstable.portmask", Title: "Port Mask", Kind: Bytes, Bit: 8, Bits: 256},
	{Name: "infiniband.linkspeedwidthpairstable.speedtwofive", Title: "Widths at 2.5 Gbps", Base: Hex, Bit: 264, Bits: 8, Names: linkWidthName},
	{Name: "infiniband.linkspeedwidthpairstable.speedfive", Title: "Widths at 5 Gbps", Base: Hex, Bit: 272, Bits: 8, Names: linkWidthName},
	{Name: "infiniband.linkspeedwidthpairstable.speedten", Title: "Widths at 10 Gbps", Base: Hex, Bit: 280, Bits: 8, Names: linkWidthName},
}}

func membershipName(v uint64) string {
	if v == 1 {
		return "Full"
	}
	return "Limited"
}
