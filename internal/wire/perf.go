package wire

// perfDataOff is where the attribute of a performance management packet begins
// (IBTA vol. 1, 16.1.1); 40 reserved bytes precede it.
const perfDataOff = 64

var portCountersSpec = Spec{ID: HdrPortCounters, Name: "infiniband.portcounters", Title: "Port Counters", Len: 44, Fields: []Field{
	{Name: "infiniband.portcounters.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.portcounters.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.portcounters.symbolerrorcounter", Title: "Symbol Error Counter", Bit: 32, Bits: 16},
	{Name: "infiniband.portcounters.linkerrorrecoverycounter", Title: "Link Error Recovery Counter", Bit: 48, Bits: 8},
	{Name: "infiniband.portcounters.linkdownedcounter", Title: "Link Downed Counter", Bit: 56, Bits: 8},
	{Name: "infiniband.portcounters.portrcverrors", Title: "Port Receive Errors", Bit: 64, Bits: 16},
	{Name: "infiniband.portcounters.portrcvremotephysicalerrors", Title: "Port Receive Remote Physical Errors", Bit: 80, Bits: 16},
	{Name: "infiniband.portcounters.portrcvswitchrelayerrors", Title: "Port Receive Switch Relay Errors", Bit: 96, Bits: 16},
	{Name: "infiniband.portcounters.portxmitdiscards", Title: "Port Transmit Discards", Bit: 112, Bits: 16},
	{Name: "infiniband.portcounters.portxmitconstrainterrors", Title: "Port Transmit Constraint Errors", Bit: 128, Bits: 8},
	{Name: "infiniband.portcounters.portrcvconstrainterrors", Title: "Port Receive Constraint Errors", Bit: 136, Bits: 8},
	{Name: "infiniband.portcounters.counterselect2", Title: "Counter Select 2", Base: Hex, Bit: 144, Bits: 8},
	{Name: "infiniband.portcounters.locallinkintegrityerrors", Title: "Local Link Integrity Errors", Bit: 152, Bits: 4},
	{Name: "infiniband.portcounters.excessivebufferoverrunerrors", Title: "Excessive Buffer Overrun Errors", Bit: 156, Bits: 4},
	{Name: "infiniband.portcounters.vl15dropped", Title: "VL15 Dropped", Bit: 176, Bits: 16},
	{Name: "infiniband.portcounters.portxmitdata", Title: "Port Transmit Data", Bit: 192, Bits: 32},
	{Name: "infiniband.portcounters.portrcvdata", Title: "Port Receive Data", Bit: 224, Bits: 32},
	{Name: "infiniband.portcounters.portxmitpkts", Title: "Port Transmit Packets", Bit: 256, Bits: 32},
	{Name: "infiniband.portcounters.portrcvpkts", Title: "Port Receive Packets", Bit: 288, Bits: 32},
	{Name: "infiniband.portcounters.portxmitwait", Title: "Port Transmit Wait", Bit: 320, Bits: 32},
}}

var portCountersExtSpec = Spec{ID: HdrPortCountersExt, Name: "infiniband.portcounters_ext", Title: "Port Counters Extended", Len: 72, Fields: []Field{
	{Name: "infiniband.portcounters_ext.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.portcounters_ext.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.portcounters_ext.portxmitdata", Title: "Port Transmit Data", Bit: 64, Bits: 64},
	{Name: "infiniband.portcounters_ext.portrcvdata", Title: "Port Receive Data", Bit: 128, Bits: 64},
	{Name: "infiniband.portcounters_ext.portxmitpkts", Title: "Port Transmit Packets", Bit: 192, Bits: 64},
	{Name: "infiniband.portcounters_ext.portrcvpkts", Title: "Port Receive Packets", Bit: 256, Bits: 64},
	{Name: "infiniband.portcounters_ext.portunicastxmitpkts", Title: "Port Unicast Transmit Packets", Bit: 320, Bits: 64},
	{Name: "infiniband.portcounters_ext.portunicastrcvpkts", Title: "Port Unicast Receive Packets", Bit: 384, Bits: 64},
	{Name: "infiniband.portcounters_ext.portmulticastxmitpkts", Title: "Port Multicast Transmit Packets", Bit: 448, Bits: 64},
	{Name: "infiniband.portcounters_ext.portmulticastrcvpkts", Title: "Port Multicast Receive Packets", Bit: 512, Bits: 64},
}}

// perfAttribute names the header of a performance management attribute
// (IBTA vol. 1, table 16.1.2 and 16.1.4), HdrNone for one that is not
// described.
func perfAttribute(attr uint16) HeaderID {
	switch attr {
	case 0x0001:
		return HdrClassPortInfo
	case 0x0010:
		return HdrPortSamplesControl
	case 0x0011:
		return HdrPortSamplesResult
	case 0x0012:
		return HdrPortCounters
	case 0x0015:
		return HdrPortRcvErrorDetails
	case 0x0016:
		return HdrPortXmitDiscardDetails
	case 0x0017:
		return HdrPortOpRcvCounters
	case 0x0018:
		return HdrPortFlowCtlCounters
	case 0x0019:
		return HdrPortVLOpPackets
	case 0x001A:
		return HdrPortVLOpData
	case 0x001B:
		return HdrPortVLXmitFlowCtlUpdateErrors
	case 0x001C:
		return HdrPortVLXmitWaitCounters
	case 0x001D:
		return HdrPortCountersExt
	case 0x001E:
		return HdrPortSamplesResultExt
	case 0x0030:
		return HdrSwPortVLCongestion
	case 0x0036:
		return HdrPortXmitDataSL
	case 0x0037:
		return HdrPortRcvDataSL
	}
	return HdrNone
}

func perfAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0010:
		return "PortSamplesControl"
	case 0x0011:
		return "PortSamplesResult"
	case 0x0012:
		return "PortCounters"
	case 0x0015:
		return "PortRcvErrorDetails"
	case 0x0016:
		return "PortXmitDiscardDetails"
	case 0x0017:
		return "PortOpRcvCounters"
	case 0x0018:
		return "PortFlowCtlCounters"
	case 0x0019:
		return "PortVLOpPackets"
	case 0x001A:
		return "PortVLOpData"
	case 0x001B:
		return "PortVLXmitFlowCtlUpdateErrors"
	case 0x001C:
		return "PortVLXmitWaitCounters"
	case 0x001D:
		return "PortCountersExtended"
	case 0x001E:
		return "PortSamplesResultExtended"
	case 0x0030:
		return "SwPortVLCongestion"
	case 0x0031:
		return "PortRcvConCtrl"
	case 0x0032:
		return "PortSLRcvFECN"
	case 0x0033:
		return "PortSLRcvBECN"
	case 0x0034:
		return "PortXmitConCtrl"
	case 0x0035:
		return "PortVLXmitTimeCong"
	case 0x0036:
		return "PortXmitDataSL"
	case 0x0037:
		return "PortRcvDataSL"
	}
	return ""
}
