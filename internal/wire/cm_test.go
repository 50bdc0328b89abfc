package wire

import (
	"encoding/hex"
	"net/netip"
	"testing"
)

func accGID[H ~[]byte](field string, get func(H) netip.Addr, set func(H, netip.Addr)) accessor {
	return accessor{
		field:  field,
		getRaw: func(h []byte) []byte { return get(H(h)).AsSlice() },
		setRaw: func(h, v []byte) { set(H(h), netip.AddrFrom16([16]byte(v))) },
	}
}

// via makes an accessor of a path one of the REQ that the path is in.
func via(path func(CMReq) CMPath, a accessor) accessor {
	in := func(h []byte) []byte { return path(CMReq(h)) }
	if a.get == nil {
		return accessor{
			field:  a.field,
			getRaw: func(h []byte) []byte { return a.getRaw(in(h)) },
			setRaw: func(h, v []byte) { a.setRaw(in(h), v) },
		}
	}
	return accessor{
		field: a.field,
		get:   func(h []byte) uint64 { return a.get(in(h)) },
		set:   func(h []byte, v uint64) { a.set(in(h), v) },
	}
}

func pathAccessors(prefix string, path func(CMReq) CMPath) []accessor {
	return []accessor{
		via(path, accNum(prefix+"locallid", CMPath.LocalLID, CMPath.SetLocalLID)),
		via(path, accNum(prefix+"remotelid", CMPath.RemoteLID, CMPath.SetRemoteLID)),
		via(path, accGID(prefix+"localgid", CMPath.LocalGID, CMPath.SetLocalGID)),
		via(path, accGID(prefix+"remotegid", CMPath.RemoteGID, CMPath.SetRemoteGID)),
		via(path, accNum(prefix+"flowlabel", CMPath.FlowLabel, CMPath.SetFlowLabel)),
		via(path, accNum(prefix+"pktrate", CMPath.PacketRate, CMPath.SetPacketRate)),
		via(path, accNum(prefix+"tfcclass", CMPath.TrafficClass, CMPath.SetTrafficClass)),
		via(path, accNum(prefix+"hoplim", CMPath.HopLimit, CMPath.SetHopLimit)),
		via(path, accNum(prefix+"sl", CMPath.SL, CMPath.SetSL)),
		via(path, accFlag(prefix+"subnetlocal", CMPath.SubnetLocal, CMPath.SetSubnetLocal)),
		via(path, accNum(prefix+"localacktout", CMPath.LocalACKTimeout, CMPath.SetLocalACKTimeout)),
	}
}

func TestCMReqAccessors(t *testing.T) {
	list := []accessor{
		accNum("infiniband.cm.req", CMReq.LocalCommID, CMReq.SetLocalCommID),
		accNum("infiniband.cm.req.vendorid", CMReq.VendorID, CMReq.SetVendorID),
		accNum("infiniband.cm.req.serviceid", CMReq.ServiceID, CMReq.SetServiceID),
		accNum("infiniband.cm.req.localcaguid", CMReq.LocalCAGUID, CMReq.SetLocalCAGUID),
		accNum("infiniband.cm.req.localqkey", CMReq.LocalQKey, CMReq.SetLocalQKey),
		accNum("infiniband.cm.req.localqpn", CMReq.LocalQPN, CMReq.SetLocalQPN),
		accNum("infiniband.cm.req.responderres", CMReq.ResponderResources, CMReq.SetResponderResources),
		accNum("infiniband.cm.req.localeecn", CMReq.LocalEECN, CMReq.SetLocalEECN),
		accNum("infiniband.cm.req.initdepth", CMReq.InitiatorDepth, CMReq.SetInitiatorDepth),
		accNum("infiniband.cm.req.remoteeecn", CMReq.RemoteEECN, CMReq.SetRemoteEECN),
		accNum("infiniband.cm.req.remoteresptout", CMReq.RemoteResponseTimeout, CMReq.SetRemoteResponseTimeout),
		accNum("infiniband.cm.req.transpsvctype", CMReq.TransportType, CMReq.SetTransportType),
		accFlag("infiniband.cm.req.e2eflowctrl", CMReq.FlowControl, CMReq.SetFlowControl),
		accNum("infiniband.cm.req.startpsn", CMReq.StartingPSN, func(m CMReq, p PSN) { m.SetStartingPSN(p) }),
		accNum("infiniband.cm.req.localresptout", CMReq.LocalResponseTimeout, CMReq.SetLocalResponseTimeout),
		accNum("infiniband.cm.req.retrcount", CMReq.RetryCount, CMReq.SetRetryCount),
		accNum("infiniband.cm.req.pkey", CMReq.PKey, CMReq.SetPKey),
		accNum("infiniband.cm.req.pppmtu", CMReq.PathMTU, CMReq.SetPathMTU),
		accFlag("infiniband.cm.req.rdcexist", CMReq.RDCExists, CMReq.SetRDCExists),
		accNum("infiniband.cm.req.rnrretrcount", CMReq.RNRRetryCount, CMReq.SetRNRRetryCount),
		accNum("infiniband.cm.req.maxcmretr", CMReq.MaxCMRetries, CMReq.SetMaxCMRetries),
		accFlag("infiniband.cm.req.srq", CMReq.SRQ, CMReq.SetSRQ),
		accNum("infiniband.cm.req.ext_transport", CMReq.ExtendedTransport, CMReq.SetExtendedTransport),
	}
	list = append(list, pathAccessors("infiniband.cm.req.prim_", CMReq.PrimaryPath)...)
	list = append(list, pathAccessors("infiniband.cm.req.alt_", CMReq.AlternatePath)...)
	checkAccessors(t, &cmReqSpec, CMMessageLen, nil, list,
		"infiniband.cm.req.serviceid.prefix", "infiniband.cm.req.serviceid.protocol", "infiniband.cm.req.serviceid.dport",
		"infiniband.cm.req.prim_localgid_ipv4", "infiniband.cm.req.prim_remotegid_ipv4",
		"infiniband.cm.req.prim_reserved0", "infiniband.cm.req.prim_reserved1", "infiniband.cm.req.prim_reserved2",
		"infiniband.cm.req.alt_reserved0", "infiniband.cm.req.alt_reserved1", "infiniband.cm.req.sapsupported", "infiniband.cm.req.private")
}

func TestCMRepAccessors(t *testing.T) {
	checkAccessors(t, &cmRepSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.rep", CMRep.LocalCommID, CMRep.SetLocalCommID),
		accNum("infiniband.cm.rep.remotecommid", CMRep.RemoteCommID, CMRep.SetRemoteCommID),
		accNum("infiniband.cm.rep.localqkey", CMRep.LocalQKey, CMRep.SetLocalQKey),
		accNum("infiniband.cm.rep.localqpn", CMRep.LocalQPN, CMRep.SetLocalQPN),
		accNum("infiniband.cm.rep.localeecn", CMRep.LocalEECN, CMRep.SetLocalEECN),
		accNum("infiniband.cm.rep.startpsn", CMRep.StartingPSN, func(m CMRep, p PSN) { m.SetStartingPSN(p) }),
		accNum("infiniband.cm.rep.respres", CMRep.ResponderResources, CMRep.SetResponderResources),
		accNum("infiniband.cm.rep.initdepth", CMRep.InitiatorDepth, CMRep.SetInitiatorDepth),
		accNum("infiniband.cm.rep.tgtackdelay", CMRep.TargetACKDelay, CMRep.SetTargetACKDelay),
		accNum("infiniband.cm.rep.failoveracc", CMRep.FailoverAccepted, CMRep.SetFailoverAccepted),
		accFlag("infiniband.cm.rep.e2eflowctrl", CMRep.FlowControl, CMRep.SetFlowControl),
		accNum("infiniband.cm.rep.rnrretrcount", CMRep.RNRRetryCount, CMRep.SetRNRRetryCount),
		accFlag("infiniband.cm.rep.srq", CMRep.SRQ, CMRep.SetSRQ),
		accNum("infiniband.cm.rep.localcaguid", CMRep.LocalCAGUID, CMRep.SetLocalCAGUID),
	}, "infiniband.cm.rep.vendorid_h", "infiniband.cm.rep.vendorid_m", "infiniband.cm.rep.vendorid_l",
		"infiniband.cm.rep.reserved", "infiniband.cm.rep.private")
}

func TestAccessorsOfShortCMMessages(t *testing.T) {
	checkAccessors(t, &cmMraSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.mra.localcommid", CMMra.LocalCommID, CMMra.SetLocalCommID),
		accNum("infiniband.cm.mra.remotecommid", CMMra.RemoteCommID, CMMra.SetRemoteCommID),
		accNum("infiniband.cm.mra.msgmraed", CMMra.Message, CMMra.SetMessage),
		accNum("infiniband.cm.mra.servicetimeout", CMMra.ServiceTimeout, CMMra.SetServiceTimeout),
	}, "infiniband.cm.mra.private")
	checkAccessors(t, &cmRejSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.rej.localcommid", CMRej.LocalCommID, CMRej.SetLocalCommID),
		accNum("infiniband.cm.rej.remotecommid", CMRej.RemoteCommID, CMRej.SetRemoteCommID),
		accNum("infiniband.cm.rej.msgrej", CMRej.MessageRejected, CMRej.SetMessageRejected),
		accNum("infiniband.cm.rej.rejinfolen", CMRej.InfoLength, CMRej.SetInfoLength),
		accNum("infiniband.cm.rej.reason", CMRej.Reason, CMRej.SetReason),
	}, "infiniband.cm.rej.reserved0", "infiniband.cm.rej.reserved1", "infiniband.cm.rej.ari", "infiniband.cm.rej.private")
	checkAccessors(t, &cmRtuSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.rtu.localcommid", CMRtu.LocalCommID, CMRtu.SetLocalCommID),
		accNum("infiniband.cm.rtu.remotecommid", CMRtu.RemoteCommID, CMRtu.SetRemoteCommID),
	}, "infiniband.cm.rtu.private")
	checkAccessors(t, &cmDreqSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.dreq.localcommid", CMDreq.LocalCommID, CMDreq.SetLocalCommID),
		accNum("infiniband.cm.dreq.remotecommid", CMDreq.RemoteCommID, CMDreq.SetRemoteCommID),
		accNum("infiniband.cm.req.remoteqpneecn", CMDreq.RemoteQPN, CMDreq.SetRemoteQPN),
	}, "infiniband.cm.dreq.private")
	checkAccessors(t, &cmDrepSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.drsp.localcommid", CMDrep.LocalCommID, CMDrep.SetLocalCommID),
		accNum("infiniband.cm.drsp.remotecommid", CMDrep.RemoteCommID, CMDrep.SetRemoteCommID),
	}, "infiniband.cm.drsp.private")
	checkAccessors(t, &cmAprSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.apr.localcommid", CMApr.LocalCommID, CMApr.SetLocalCommID),
		accNum("infiniband.cm.apr.remotecommid", CMApr.RemoteCommID, CMApr.SetRemoteCommID),
		accNum("infiniband.cm.apr.infolen", CMApr.InfoLength, CMApr.SetInfoLength),
		accNum("infiniband.cm.apr.status", CMApr.Status, CMApr.SetStatus),
	}, "infiniband.cm.apr.info", "infiniband.cm.apr.private")
}

func TestCMSidrAccessors(t *testing.T) {
	checkAccessors(t, &cmSidrReqSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.sidrreq.requestid", CMSidrReq.RequestID, CMSidrReq.SetRequestID),
		accNum("infiniband.cm.sidrreq.pkey", CMSidrReq.PKey, CMSidrReq.SetPKey),
		accNum("infiniband.cm.sidrreq.serviceid", CMSidrReq.ServiceID, CMSidrReq.SetServiceID),
	}, "infiniband.cm.sidrreq.serviceid.prefix", "infiniband.cm.sidrreq.serviceid.protocol",
		"infiniband.cm.sidrreq.serviceid.dport", "infiniband.cm.sidrreq.private")
	checkAccessors(t, &cmSidrRepSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.sidrrep.requestid", CMSidrRep.RequestID, CMSidrRep.SetRequestID),
		accNum("infiniband.cm.sidrrep.status", CMSidrRep.Status, CMSidrRep.SetStatus),
		accNum("infiniband.cm.sidrrep.infolen", CMSidrRep.InfoLength, CMSidrRep.SetInfoLength),
		accNum("infiniband.cm.sidrrep.qpn", CMSidrRep.QPN, CMSidrRep.SetQPN),
		accNum("infiniband.cm.sidrrep.serviceid", CMSidrRep.ServiceID, CMSidrRep.SetServiceID),
		accNum("infiniband.cm.sidrrep.qkey", CMSidrRep.QKey, CMSidrRep.SetQKey),
	}, "infiniband.cm.sidrrep.vendorid_h", "infiniband.cm.sidrrep.vendorid_l", "infiniband.cm.sidrrep.info", "infiniband.cm.sidrrep.private")
}

func TestCMLapAccessors(t *testing.T) {
	checkAccessors(t, &cmLapSpec, CMMessageLen, nil, []accessor{
		accNum("infiniband.cm.lap.localcommid", CMLap.LocalCommID, CMLap.SetLocalCommID),
		accNum("infiniband.cm.lap.remotecommid", CMLap.RemoteCommID, CMLap.SetRemoteCommID),
		accNum("infiniband.cm.lap.remoteqpneecn", CMLap.RemoteQPN, CMLap.SetRemoteQPN),
		accNum("infiniband.cm.lap.remoteresptout", CMLap.RemoteResponseTimeout, CMLap.SetRemoteResponseTimeout),
		accNum("infiniband.cm.lap.alt_locallid", CMLap.LocalLID, CMLap.SetLocalLID),
		accNum("infiniband.cm.lap.alt_remotelid", CMLap.RemoteLID, CMLap.SetRemoteLID),
		accGID("infiniband.cm.lap.alt_localgid", CMLap.LocalGID, CMLap.SetLocalGID),
		accGID("infiniband.cm.lap.alt_remotegid", CMLap.RemoteGID, CMLap.SetRemoteGID),
		accNum("infiniband.cm.lap.alt_flowlabel", CMLap.FlowLabel, CMLap.SetFlowLabel),
		accNum("infiniband.cm.lap.alt_tfcclass", CMLap.TrafficClass, CMLap.SetTrafficClass),
		accNum("infiniband.cm.lap.alt_hoplim", CMLap.HopLimit, CMLap.SetHopLimit),
		accNum("infiniband.cm.lap.alt_pktrate", CMLap.PacketRate, CMLap.SetPacketRate),
		accNum("infiniband.cm.lap.alt_sl", CMLap.SL, CMLap.SetSL),
		accFlag("infiniband.cm.lap.alt_subnetlocal", CMLap.SubnetLocal, CMLap.SetSubnetLocal),
		accNum("infiniband.cm.lap.alt_localacktout", CMLap.LocalACKTimeout, CMLap.SetLocalACKTimeout),
	}, "infiniband.cm.lap.private")
}

func TestCMIPPrivateAccessors(t *testing.T) {
	ipv6 := func(h []byte) { h[1] = 0x60 | h[1]&0x0F }
	list := []accessor{
		accNum("infiniband.cm.req.ip_cm.majv", CMIPPrivate.MajorVersion, CMIPPrivate.SetMajorVersion),
		accNum("infiniband.cm.req.ip_cm.minv", CMIPPrivate.MinorVersion, CMIPPrivate.SetMinorVersion),
		accNum("infiniband.cm.req.ip_cm.ipv", CMIPPrivate.IPVersion, CMIPPrivate.SetIPVersion),
		accNum("infiniband.cm.req.ip_cm.sport", CMIPPrivate.SrcPort, CMIPPrivate.SetSrcPort),
		accGID("infiniband.cm.req.ip_cm.sip6", CMIPPrivate.Src, CMIPPrivate.SetSrc),
		accGID("infiniband.cm.req.ip_cm.dip6", CMIPPrivate.Dst, CMIPPrivate.SetDst),
	}
	checkAccessors(t, &cmIPPrivateSpec, 92, ipv6, list,
		"infiniband.cm.req.ip_cm.reserved", "infiniband.cm.req.ip_cm.sip4", "infiniband.cm.req.ip_cm.dip4", "infiniband.cm.req.ip_cm.private")
}

func TestCMIPPrivatePutsIPv4InTheLastFourBytes(t *testing.T) {
	h := CMIPPrivate(make([]byte, CMIPPrivateLen))
	for i := range h {
		h[i] = 0xFF
	}
	src, dst := netip.MustParseAddr("10.77.0.2"), netip.MustParseAddr("192.0.2.9")
	h.SetIPVersion(4)
	h.SetSrc(src)
	h.SetDst(dst)
	if h.Src() != src || h.Dst() != dst {
		t.Errorf("addresses %v and %v, want %v and %v", h.Src(), h.Dst(), src, dst)
	}
	if got := hex.EncodeToString(h[4:36]); got != "0000000000000000000000000a4d0002000000000000000000000000c0000209" {
		t.Errorf("addresses %s", got)
	}
	h.SetIPVersion(5)
	if h.Src().IsValid() || h.Dst().IsValid() {
		t.Errorf("IP version 5 has the addresses %v and %v", h.Src(), h.Dst())
	}
}

func TestCMPrivateDataEndsWithTheMessage(t *testing.T) {
	m := mad(t, recordedNVMeReq)[MADHeaderLen:]
	h := CMIPPrivate(CMReq(m).PrivateData())
	if got := hex.EncodeToString(h.PrivateData()[:8]); len(h.PrivateData()) != 56 || got != "0000000020001f00" {
		t.Errorf("%d bytes that begin %s", len(h.PrivateData()), got)
	}
	for _, got := range [][]byte{
		CMReq(m[:CMReqLen]).PrivateData(), CMRep(m[:CMRepLen]).PrivateData(), CMRej(m[:CMRejLen]).PrivateData(),
		CMRtu(m[:CMRtuLen]).PrivateData(), CMDreq(m[:3]).PrivateData(), CMSidrRep(m[:0]).PrivateData(),
	} {
		if got != nil {
			t.Errorf("a message without private data has %x", got)
		}
	}
}

func TestCMServiceIDOfAnIPService(t *testing.T) {
	if id := CMIPServiceID(6, 7174); id != 0x0000000001061C06 {
		t.Errorf("service ID %#x", id)
	}
	if p, port, ok := ParseCMIPServiceID(0x0000000001111C06); p != 17 || port != 7174 || !ok {
		t.Errorf("protocol %d port %d ok %v", p, port, ok)
	}
	for _, id := range []uint64{0x1000000000000404, 0x0000000002061C06, 0x0000000101061C06, 0} {
		if _, _, ok := ParseCMIPServiceID(id); ok {
			t.Errorf("%#x passes for an rdma_cm service", id)
		}
	}
}

func TestCMVendorIDsThatAreSplit(t *testing.T) {
	rep := CMRep(make([]byte, CMMessageLen))
	rep.SetVendorID(0x0002C9)
	if rep.VendorID() != 0x0002C9 || rep[15] != 0x00 || rep[19] != 0x02 || rep[23] != 0xC9 {
		t.Errorf("REP %x", rep[:CMRepLen])
	}
	sidr := CMSidrRep(make([]byte, CMMessageLen))
	sidr.SetVendorID(0x123456)
	if sidr.VendorID() != 0x123456 || sidr[6] != 0x12 || sidr[7] != 0x34 || sidr[11] != 0x56 {
		t.Errorf("SIDR_REP %x", sidr[:CMSidrRepLen])
	}
}

func TestCMRejInfoIsAsLongAsItSays(t *testing.T) {
	m := CMRej(make([]byte, CMMessageLen))
	copy(m[12:], "why")
	m.SetInfoLength(3)
	if got := string(m.Info()); got != "why" {
		t.Errorf("info %q", got)
	}
	m.SetInfoLength(127)
	if got := len(m.Info()); got != 72 {
		t.Errorf("info of %d bytes", got)
	}
}

func TestPathGIDsAreShownAsIPv4WhenTheyMapIt(t *testing.T) {
	b := mad(t, recordedReq)
	CMReq(b[MADHeaderLen:]).PrimaryPath().SetRemoteGID(netip.MustParseAddr("fe80::1"))
	got := shownFields(b)
	for name, want := range map[string]string{
		"infiniband.cm.req.prim_localgid_ipv4":  "10.77.0.2",
		"infiniband.cm.req.prim_localgid":       "",
		"infiniband.cm.req.prim_remotegid_ipv4": "",
		"infiniband.cm.req.prim_remotegid":      "fe80::1",
	} {
		if got[name] != want {
			t.Errorf("%s = %q, want %q", name, got[name], want)
		}
	}
	CMReq(b[MADHeaderLen:]).PrimaryPath().SetRemoteGID(netip.MustParseAddr("10.0.0.1"))
	if s := shownFields(b)["infiniband.cm.req.prim_remotegid_ipv4"]; s != "10.0.0.1" {
		t.Errorf("an IPv4 address became %q", s)
	}
}

func TestMADAccessors(t *testing.T) {
	checkAccessors(t, &madSpec, MADHeaderLen, nil, []accessor{
		accNum("infiniband.mad.baseversion", MAD.BaseVersion, MAD.SetBaseVersion),
		accNum("infiniband.mad.mgmtclass", MAD.MgmtClass, MAD.SetMgmtClass),
		accNum("infiniband.mad.classversion", MAD.ClassVersion, MAD.SetClassVersion),
		accNum("infiniband.mad.method", MAD.Method, MAD.SetMethod),
		accNum("infiniband.mad.status", MAD.Status, MAD.SetStatus),
		accNum("infiniband.mad.classspecific", MAD.ClassSpecific, MAD.SetClassSpecific),
		accNum("infiniband.mad.transactionid", MAD.TransactionID, MAD.SetTransactionID),
		accNum("infiniband.mad.attributeid", MAD.AttributeID, MAD.SetAttributeID),
		accNum("infiniband.mad.attributemodifier", MAD.AttributeModifier, MAD.SetAttributeModifier),
	}, "infiniband.smpdirected.d", "infiniband.smpdirected.smpstatus", "infiniband.smpdirected.hoppointer", "infiniband.smpdirected.hopcount",
		"infiniband.mad.status.classspecific", "infiniband.mad.status.code", "infiniband.mad.status.redirect", "infiniband.mad.status.busy")
}

func TestRMPPAccessors(t *testing.T) {
	list := []accessor{
		accNum("infiniband.rmpp.rmppversion", RMPP.Version, RMPP.SetVersion),
		accNum("infiniband.rmpp.rmpptype", RMPP.Type, RMPP.SetType),
		accNum("infiniband.rmpp.rresptime", RMPP.ResponseTime, RMPP.SetResponseTime),
		accNum("infiniband.rmpp.rmppflags", RMPP.Flags, RMPP.SetFlags),
		accNum("infiniband.rmpp.rmppstatus", RMPP.Status, RMPP.SetStatus),
		accNum("infiniband.rmpp.data1", RMPP.Data1, RMPP.SetData1),
		accNum("infiniband.rmpp.data2", RMPP.Data2, RMPP.SetData2),
	}
	checkAccessors(t, &rmppSpec, RMPPLen, func(h []byte) { h[1] = RMPPStop }, list,
		"infiniband.rmpp.segmentnumber", "infiniband.rmpp.payloadlength", "infiniband.rmpp.newwindowlast")
}
