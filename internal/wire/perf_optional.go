package wire

// Performance management attributes that a port may lack (IBTA vol. 1, 16.1.3.2
// to 16.1.3.4, 16.1.4 and A13.6.5).

var portSamplesControlSpec = Spec{ID: HdrPortSamplesControl, Name: "infiniband.perf.portsamplescontrol", Title: "Port Samples Control", Len: 80, Fields: concat([]Field{
	{Name: "infiniband.perf.portsamplescontrol.opcode", Title: "Opcode", Base: Hex, Bits: 8},
	{Name: "infiniband.perf.portsamplescontrol.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portsamplescontrol.tick", Title: "Tick", Bit: 16, Bits: 8},
	{Name: "infiniband.perf.portsamplescontrol.counterwidth", Title: "Counter Width", Base: Hex, Bit: 29, Bits: 3},
	{Name: "infiniband.perf.portsamplescontrol.samplemechanisms", Title: "Sample Mechanisms", Base: Hex, Bit: 80, Bits: 8},
	{Name: "infiniband.perf.portsamplescontrol.samplestatus", Title: "Sample Status", Base: Hex, Bit: 94, Bits: 2, Names: sampleStatusName},
	{Name: "infiniband.perf.portsamplescontrol.optionmask", Title: "Option Mask", Base: Hex, Bit: 96, Bits: 64},
	{Name: "infiniband.perf.portsamplescontrol.vendormask", Title: "Vendor Mask", Base: Hex, Bit: 160, Bits: 64},
	{Name: "infiniband.perf.portsamplescontrol.samplestart", Title: "Sample Start", Bit: 224, Bits: 32},
	{Name: "infiniband.perf.portsamplescontrol.sampleinterval", Title: "Sample Interval", Bit: 256, Bits: 32},
	{Name: "infiniband.perf.portsamplescontrol.tag", Title: "Tag", Base: Hex, Bit: 288, Bits: 16},
	{Name: "infiniband.perf.portsamplescontrol.samplesonlyoptionmask", Title: "Samples Only Option Mask", Base: Hex, Bit: 576, Bits: 64},
}, numbered(0, 10, 3,
	// A reserved bit parts the first ten counter masks from the rest.
	Field{Name: "infiniband.perf.portsamplescontrol.countermask", Title: "Counter Mask", Base: Hex, Bit: 34, Bits: 3},
), numbered(10, 5, 3,
	Field{Name: "infiniband.perf.portsamplescontrol.countermask", Title: "Counter Mask", Base: Hex, Bit: 65, Bits: 3},
), numbered(0, 15, 16,
	Field{Name: "infiniband.perf.portsamplescontrol.counterselect", Title: "Counter Select", Base: Hex, Bit: 304, Bits: 16},
))}

var portSamplesResultSpec = Spec{ID: HdrPortSamplesResult, Name: "infiniband.perf.portsamplesresult", Title: "Port Samples Result", Len: 64, Fields: concat([]Field{
	{Name: "infiniband.perf.portsamplesresult.tag", Title: "Tag", Base: Hex, Bits: 16},
	{Name: "infiniband.perf.portsamplesresult.samplestatus", Title: "Sample Status", Base: Hex, Bit: 30, Bits: 2, Names: sampleStatusName},
}, repeated(15, 32,
	Field{Name: "infiniband.perf.portsamplesresult.counter", Title: "Counter", Bit: 32, Bits: 32},
))}

var portSamplesResultExtSpec = Spec{ID: HdrPortSamplesResultExt, Name: "infiniband.perf.portsamplesresultextended", Title: "Port Samples Result Extended", Len: 128, Fields: concat([]Field{
	{Name: "infiniband.perf.portsamplesresultextended.tag", Title: "Tag", Base: Hex, Bits: 16},
	{Name: "infiniband.perf.portsamplesresultextended.samplestatus", Title: "Sample Status", Base: Hex, Bit: 30, Bits: 2, Names: sampleStatusName},
	{Name: "infiniband.perf.portsamplesresultextended.extendedwidth", Title: "Extended Width", Base: Hex, Bit: 32, Bits: 2},
}, repeated(15, 64,
	Field{Name: "infiniband.perf.portsamplesresultextended.counter", Title: "Counter", Bit: 64, Bits: 64},
))}

var portRcvErrorDetailsSpec = Spec{ID: HdrPortRcvErrorDetails, Name: "infiniband.perf.portrcverrordetails", Title: "Port Receive Error Details", Len: 16, Fields: []Field{
	{Name: "infiniband.perf.portrcverrordetails.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portrcverrordetails.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portlocalphysicalerrors", Title: "Port Local Physical Errors", Bit: 32, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portmalformedpacketerrors", Title: "Port Malformed Packet Errors", Bit: 48, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portbufferoverrunerrors", Title: "Port Buffer Overrun Errors", Bit: 64, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portdlidmappingerrors", Title: "Port DLID Mapping Errors", Bit: 80, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portvlmappingerrors", Title: "Port VL Mapping Errors", Bit: 96, Bits: 16},
	{Name: "infiniband.perf.portrcverrordetails.portloopingerrors", Title: "Port Looping Errors", Bit: 112, Bits: 16},
}}

var portXmitDiscardDetailsSpec = Spec{ID: HdrPortXmitDiscardDetails, Name: "infiniband.perf.portxmitdiscarddetails", Title: "Port Transmit Discard Details", Len: 12, Fields: []Field{
	{Name: "infiniband.perf.portxmitdiscarddetails.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portxmitdiscarddetails.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.perf.portxmitdiscarddetails.portinactivediscards", Title: "Port Inactive Discards", Bit: 32, Bits: 16},
	{Name: "infiniband.perf.portxmitdiscarddetails.portneighbormtudiscards", Title: "Port Neighbor MTU Discards", Bit: 48, Bits: 16},
	{Name: "infiniband.perf.portxmitdiscarddetails.portswlifetimelimitdiscards", Title: "Port Switch Lifetime Limit Discards", Bit: 64, Bits: 16},
	{Name: "infiniband.perf.portxmitdiscarddetails.portswhoqlimitdiscards", Title: "Port Switch HOQ Limit Discards", Bit: 80, Bits: 16},
}}

var portOpRcvCountersSpec = Spec{ID: HdrPortOpRcvCounters, Name: "infiniband.perf.portoprcvcounters", Title: "Port Op Receive Counters", Len: 12, Fields: []Field{
	{Name: "infiniband.perf.portoprcvcounters.opcode", Title: "Opcode", Base: Hex, Bits: 8},
	{Name: "infiniband.perf.portoprcvcounters.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portoprcvcounters.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.perf.portoprcvcounters.portoprcvpkts", Title: "Port Op Receive Packets", Bit: 32, Bits: 32},
	{Name: "infiniband.perf.portoprcvcounters.portoprcvdata", Title: "Port Op Receive Data", Bit: 64, Bits: 32},
}}

var portFlowCtlCountersSpec = Spec{ID: HdrPortFlowCtlCounters, Name: "infiniband.perf.portflowctlcounters", Title: "Port Flow Control Counters", Len: 12, Fields: []Field{
	{Name: "infiniband.perf.portflowctlcounters.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portflowctlcounters.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
	{Name: "infiniband.perf.portflowctlcounters.portxmitflowpkts", Title: "Port Transmit Flow Packets", Bit: 32, Bits: 32},
	{Name: "infiniband.perf.portflowctlcounters.portrcvflowpkts", Title: "Port Receive Flow Packets", Bit: 64, Bits: 32},
}}

var portVLOpPacketsSpec = Spec{ID: HdrPortVLOpPackets, Name: "infiniband.perf.portvloppackets", Title: "Port VL Op Packets", Len: 36, Fields: concat([]Field{
	{Name: "infiniband.perf.portvloppackets.opcode", Title: "Opcode", Base: Hex, Bits: 8},
	{Name: "infiniband.perf.portvloppackets.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portvloppackets.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 16,
	Field{Name: "infiniband.perf.portvloppackets.portvloppackets", Title: "VL Op Packets", Bit: 32, Bits: 16},
))}

var portVLOpDataSpec = Spec{ID: HdrPortVLOpData, Name: "infiniband.perf.portvlopdata", Title: "Port VL Op Data", Len: 68, Fields: concat([]Field{
	{Name: "infiniband.perf.portvlopdata.opcode", Title: "Opcode", Base: Hex, Bits: 8},
	{Name: "infiniband.perf.portvlopdata.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portvlopdata.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 32,
	Field{Name: "infiniband.perf.portvlopdata.portvlopdata", Title: "VL Op Data", Bit: 32, Bits: 32},
))}

var portVLXmitFlowCtlUpdateErrorsSpec = Spec{ID: HdrPortVLXmitFlowCtlUpdateErrors, Name: "infiniband.perf.portvlxmitflowctlupdateerrors", Title: "Port VL Transmit Flow Control Update Errors", Len: 8, Fields: concat([]Field{
	{Name: "infiniband.perf.portvlxmitflowctlupdateerrors.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portvlxmitflowctlupdateerrors.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 2,
	Field{Name: "infiniband.perf.portvlxmitflowctlupdateerrors.portvlxmitflowctlupdateerrors", Title: "VL Transmit Flow Control Update Errors", Bit: 32, Bits: 2},
))}

var portVLXmitWaitCountersSpec = Spec{ID: HdrPortVLXmitWaitCounters, Name: "infiniband.perf.portvlxmitwaitcounters", Title: "Port VL Transmit Wait Counters", Len: 36, Fields: concat([]Field{
	{Name: "infiniband.perf.portvlxmitwaitcounters.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portvlxmitwaitcounters.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 16,
	Field{Name: "infiniband.perf.portvlxmitwaitcounters.portvlxmitwait", Title: "VL Transmit Wait", Bit: 32, Bits: 16},
))}

var swPortVLCongestionSpec = Spec{ID: HdrSwPortVLCongestion, Name: "infiniband.perf.swportvlcongestion", Title: "Switch Port VL Congestion", Len: 36, Fields: concat([]Field{
	{Name: "infiniband.perf.swportvlcongestion.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.swportvlcongestion.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 16,
	Field{Name: "infiniband.perf.swportvlcongestion.swportvlcongestion", Title: "VL Congestion", Bit: 32, Bits: 16},
))}

var portXmitDataSLSpec = Spec{ID: HdrPortXmitDataSL, Name: "infiniband.perf.portxmitdatasl", Title: "Port Transmit Data per SL", Len: 68, Fields: concat([]Field{
	{Name: "infiniband.perf.portxmitdatasl.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portxmitdatasl.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 32,
	Field{Name: "infiniband.perf.portxmitdatasl.portxmitdatasl", Title: "Transmit Data SL", Bit: 32, Bits: 32},
))}

var portRcvDataSLSpec = Spec{ID: HdrPortRcvDataSL, Name: "infiniband.perf.portrcvdatasl", Title: "Port Receive Data per SL", Len: 68, Fields: concat([]Field{
	{Name: "infiniband.perf.portrcvdatasl.portselect", Title: "Port Select", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.perf.portrcvdatasl.counterselect", Title: "Counter Select", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 32,
	Field{Name: "infiniband.perf.portrcvdatasl.portrcvdatasl", Title: "Receive Data SL", Bit: 32, Bits: 32},
))}

func sampleStatusName(v uint64) string {
	switch v {
	case 0:
		return "Complete"
	case 1:
		return "Not Started"
	case 2:
		return "Running"
	}
	return ""
}
