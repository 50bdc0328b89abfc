package wire

// Where the parts of a congestion control packet lie in the datagram: the log
// begins behind the CC_Key, the other attributes behind the log's first 32
// bytes (IBTA vol. 1, A10.4.2).
const (
	ccLogOff  = 32
	ccDataOff = 64
)

// CCLen is the length of the congestion control header.
const CCLen = 8

// CC is the congestion control header, behind the common header: the CC_Key
// (IBTA vol. 1, A10.4.2).
type CC []byte

// Key is the CC_Key.
func (h CC) Key() uint64 { return be.Uint64(h) }

// SetKey sets the CC_Key.
func (h CC) SetKey(v uint64) { be.PutUint64(h, v) }

var ccSpec = Spec{ID: HdrCC, Name: "infiniband.cc", Title: "Congestion Control", Len: CCLen, Fields: []Field{
	{Name: "infiniband.cc.cc_key", Title: "CC_Key", Base: Hex, Bits: 64},
}}

// The attributes (IBTA vol. 1, A10.4.3.3 to A10.4.3.10).

var congestionInfoSpec = Spec{ID: HdrCongestionInfo, Name: "infiniband.cc.congestioninfo", Title: "Congestion Info", Len: 3, Fields: []Field{
	{Name: "infiniband.cc.congestioninfo.congestioninfo", Title: "Congestion Info", Base: Hex, Bits: 16},
	{Name: "infiniband.cc.congestioninfo.controltablecap", Title: "Control Table Capacity", Bit: 16, Bits: 8},
}}

var congestionKeyInfoSpec = Spec{ID: HdrCongestionKeyInfo, Name: "infiniband.cc.congestionkeyinfo", Title: "Congestion Key Info", Len: 14, Fields: []Field{
	{Name: "infiniband.cc.congestionkeyinfo.cc_key", Title: "CC_Key", Base: Hex, Bits: 64},
	{Name: "infiniband.cc.congestionkeyinfo.protectbit", Title: "CC_Key Protect Bit", Base: Hex, Bit: 64, Bits: 1},
	{Name: "infiniband.cc.congestionkeyinfo.leaseperiod", Title: "CC_Key Lease Period", Bit: 80, Bits: 16},
	{Name: "infiniband.cc.congestionkeyinfo.violations", Title: "CC_Key Violations", Bit: 96, Bits: 16},
}}

// logTypeCA marks the congestion log of a channel adapter; a switch's log
// has type 1.
const logTypeCA = 2

var congestionLogSwitchSpec = Spec{ID: HdrCongestionLogSwitch, Name: "infiniband.cc.switchlog", Title: "Congestion Log (Switch)", Len: 220, Fields: concat([]Field{
	{Name: "infiniband.cc.congestionlog.logtype", Title: "Log Type", Base: Hex, Bits: 8, Names: logTypeName},
	{Name: "infiniband.cc.congestionlog.congestionflags", Title: "Congestion Flags", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.cc.congestionlog.eventcounter", Title: "Event Counter", Bit: 16, Bits: 16},
	{Name: "infiniband.cc.congestionlog.timestamp", Title: "Current Time Stamp", Bit: 32, Bits: 32},
	{Name: "infiniband.cc.congestionlog.portmap", Title: "Port Map", Kind: Bytes, Bit: 64, Bits: 256},
}, repeated(15, 96,
	Field{Name: "infiniband.cc.congestionlog.slid", Title: "Event Source LID", Base: Hex, Bit: 320, Bits: 16},
	Field{Name: "infiniband.cc.congestionlog.dlid", Title: "Event Destination LID", Base: Hex, Bit: 336, Bits: 16},
	Field{Name: "infiniband.cc.congestionlog.sl", Title: "Event Service Level", Bit: 352, Bits: 4},
	Field{Name: "infiniband.cc.congestionlog.eventtimestamp", Title: "Event Time Stamp", Bit: 384, Bits: 32},
))}

var congestionLogCASpec = Spec{ID: HdrCongestionLogCA, Name: "infiniband.cc.calog", Title: "Congestion Log (Channel Adapter)", Len: 220, Fields: concat([]Field{
	{Name: "infiniband.cc.congestionlog.logtype", Title: "Log Type", Base: Hex, Bits: 8, Names: logTypeName},
	{Name: "infiniband.cc.congestionlog.congestionflags", Title: "Congestion Flags", Base: Hex, Bit: 8, Bits: 8},
	{Name: "infiniband.cc.congestionlog.eventcounter", Title: "Event Counter", Bit: 16, Bits: 16},
	{Name: "infiniband.cc.congestionlog.eventmap", Title: "Threshold Congestion Event Map", Base: Hex, Bit: 32, Bits: 16},
	{Name: "infiniband.cc.congestionlog.timestamp", Title: "Current Time Stamp", Bit: 64, Bits: 32},
}, repeated(13, 128,
	Field{Name: "infiniband.cc.congestionlog.localqp", Title: "Event Local QP", Base: Hex, Bit: 96, Bits: 24},
	Field{Name: "infiniband.cc.congestionlog.remoteqp", Title: "Event Remote QP", Base: Hex, Bit: 128, Bits: 24},
	Field{Name: "infiniband.cc.congestionlog.sl", Title: "Event Service Level", Bit: 152, Bits: 4},
	Field{Name: "infiniband.cc.congestionlog.servicetype", Title: "Event Service Type", Base: Hex, Bit: 156, Bits: 4},
	Field{Name: "infiniband.cc.congestionlog.remotelid", Title: "Event Remote LID", Base: Hex, Bit: 160, Bits: 16},
	Field{Name: "infiniband.cc.congestionlog.eventtimestamp", Title: "Event Time Stamp", Bit: 192, Bits: 32},
))}

var switchCongestionSettingSpec = Spec{ID: HdrSwitchCongestionSetting, Name: "infiniband.cc.switchcongestionsetting", Title: "Switch Congestion Setting", Len: 76, Fields: []Field{
	{Name: "infiniband.cc.switchcongestionsetting.controlmap", Title: "Control Map", Base: Hex, Bits: 32},
	{Name: "infiniband.cc.switchcongestionsetting.victimmask", Title: "Victim Mask", Kind: Bytes, Bit: 32, Bits: 256},
	{Name: "infiniband.cc.switchcongestionsetting.creditmask", Title: "Credit Mask", Kind: Bytes, Bit: 288, Bits: 256},
	{Name: "infiniband.cc.switchcongestionsetting.threshold", Title: "Threshold", Bit: 544, Bits: 4},
	{Name: "infiniband.cc.switchcongestionsetting.packetsize", Title: "Packet Size", Bit: 552, Bits: 8},
	{Name: "infiniband.cc.switchcongestionsetting.csthreshold", Title: "Credit Starvation Threshold", Bit: 560, Bits: 4},
	{Name: "infiniband.cc.switchcongestionsetting.csreturndelay", Title: "Credit Starvation Return Delay", Base: Hex, Bit: 576, Bits: 16},
	{Name: "infiniband.cc.switchcongestionsetting.markingrate", Title: "Marking Rate", Bit: 592, Bits: 16},
}}

var switchPortCongestionSettingSpec = Spec{ID: HdrSwitchPortCongestionSetting, Name: "infiniband.cc.switchportcongestionsetting", Title: "Switch Port Congestion Setting", Len: 128, Fields: repeated(32, 32,
	Field{Name: "infiniband.cc.switchportcongestionsetting.valid", Title: "Valid", Base: Hex, Bits: 1},
	Field{Name: "infiniband.cc.switchportcongestionsetting.controltype", Title: "Control Type", Base: Hex, Bit: 1, Bits: 1, Names: controlTypeName},
	Field{Name: "infiniband.cc.switchportcongestionsetting.threshold", Title: "Threshold", Bit: 4, Bits: 4},
	Field{Name: "infiniband.cc.switchportcongestionsetting.packetsize", Title: "Packet Size", Bit: 8, Bits: 8},
	Field{Name: "infiniband.cc.switchportcongestionsetting.markingrate", Title: "Marking Rate or Return Delay", Bit: 16, Bits: 16},
)}

var caCongestionSettingSpec = Spec{ID: HdrCACongestionSetting, Name: "infiniband.cc.cacongestionsetting", Title: "CA Congestion Setting", Len: 132, Fields: concat([]Field{
	{Name: "infiniband.cc.cacongestionsetting.portcontrol", Title: "Port Control", Base: Hex, Bits: 16, Names: portControlName},
	{Name: "infiniband.cc.cacongestionsetting.controlmap", Title: "Control Map", Base: Hex, Bit: 16, Bits: 16},
}, repeated(16, 64,
	Field{Name: "infiniband.cc.cacongestionsetting.cctitimer", Title: "CCTI Timer", Bit: 32, Bits: 16},
	Field{Name: "infiniband.cc.cacongestionsetting.cctiincrease", Title: "CCTI Increase", Bit: 48, Bits: 8},
	Field{Name: "infiniband.cc.cacongestionsetting.triggerthreshold", Title: "Trigger Threshold", Bit: 56, Bits: 8},
	Field{Name: "infiniband.cc.cacongestionsetting.cctimin", Title: "CCTI Minimum", Bit: 64, Bits: 8},
))}

var congestionControlTableSpec = Spec{ID: HdrCongestionControlTable, Name: "infiniband.cc.congestioncontroltable", Title: "Congestion Control Table", Len: 132, Fields: concat([]Field{
	{Name: "infiniband.cc.congestioncontroltable.cctilimit", Title: "CCTI Limit", Bits: 16},
}, repeated(64, 16,
	Field{Name: "infiniband.cc.congestioncontroltable.shift", Title: "CCT Shift", Bit: 32, Bits: 2},
	Field{Name: "infiniband.cc.congestioncontroltable.multiplier", Title: "CCT Multiplier", Bit: 34, Bits: 14},
))}

var timeStampSpec = Spec{ID: HdrTimeStamp, Name: "infiniband.cc.timestamp", Title: "Time Stamp", Len: 4, Fields: []Field{
	{Name: "infiniband.cc.timestamp.value", Title: "Time Stamp (1.024 us)", Bits: 32},
}}

// ccAttribute names the header of a congestion control attribute
// (IBTA vol. 1, table A10.4.3), HdrNone for one that is not described. A
// congestion log begins elsewhere and is not among them.
func ccAttribute(attr uint16) HeaderID {
	switch attr {
	case 0x0001:
		return HdrClassPortInfo
	case 0x0011:
		return HdrCongestionInfo
	case 0x0012:
		return HdrCongestionKeyInfo
	case 0x0014:
		return HdrSwitchCongestionSetting
	case 0x0015:
		return HdrSwitchPortCongestionSetting
	case 0x0016:
		return HdrCACongestionSetting
	case 0x0017:
		return HdrCongestionControlTable
	case 0x0018:
		return HdrTimeStamp
	}
	return HdrNone
}

func ccAttributeName(attr uint16) string {
	switch attr {
	case 0x0001:
		return "ClassPortInfo"
	case 0x0002:
		return "Notice"
	case 0x0011:
		return "CongestionInfo"
	case 0x0012:
		return "CongestionKeyInfo"
	case 0x0013:
		return "CongestionLog"
	case 0x0014:
		return "SwitchCongestionSetting"
	case 0x0015:
		return "SwitchPortCongestionSetting"
	case 0x0016:
		return "CACongestionSetting"
	case 0x0017:
		return "CongestionControlTable"
	case 0x0018:
		return "TimeStamp"
	}
	return ""
}

func logTypeName(v uint64) string {
	switch v {
	case 1:
		return "Switch"
	case logTypeCA:
		return "Channel Adapter"
	}
	return ""
}

func controlTypeName(v uint64) string {
	if v == 1 {
		return "Credit Starvation"
	}
	return "Congestion Control"
}

func portControlName(v uint64) string {
	if v&1 == 1 {
		return "SL or Port Based"
	}
	return "QP Based"
}
