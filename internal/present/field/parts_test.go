package field

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/wire"
)

// texts prints all values of a field of the packet.
func texts(t *testing.T, p *packet.Packet, name string) []string {
	t.Helper()
	ref := Lookup(name)
	if ref == nil {
		t.Fatalf("%s: no such field", name)
	}
	var got []string
	for _, v := range ref.Append(nil, p) {
		got = append(got, string(ref.AppendText(nil, v)))
	}
	return got
}

func wantFields(t *testing.T, p *packet.Packet, want map[string][]string) {
	t.Helper()
	for name, values := range want {
		if diff := cmp.Diff(values, texts(t, p, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// ipv4Frame is an Ethernet frame of one IPv4 packet with the given payload, and
// of the bytes that follow the packet.
func ipv4Frame(proto byte, payload []byte, trailing ...byte) []byte {
	total := wire.IPv4MinLen + len(payload)
	ip := []byte{0x45, 0, byte(total >> 8), byte(total), 0, 1, 0, 0, 64, proto, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2}
	wire.IPv4Header(ip).SetChecksum(wire.IPv4Checksum(ip))
	return bytes.Join([][]byte{{2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 8, 0}, ip, payload, trailing}, nil)
}

func parsed(link wire.LinkType, frame []byte, fcs int) *packet.Packet {
	p := &packet.Packet{Interface: -1, FCSLen: fcs}
	p.Parse(link, frame, 0)
	return p
}

var udpDatagram = []byte{0, 9, 0, 10, 0, 11, 0, 0, 'a', 'b', 'c'}

func TestTrailerIsSplitIntoPaddingTrailerAndFCS(t *testing.T) {
	zeros := make([]byte, minEthernet-wire.EthernetLen-wire.IPv4MinLen-len(udpDatagram))
	fcs := []byte{1, 2, 3, 4}
	for _, c := range []struct {
		name     string
		trailing []byte
		fcsLen   int
		want     map[string][]string
	}{
		{"nothing", nil, -1, map[string][]string{"eth.padding": nil, "eth.trailer": nil, "eth.fcs": nil}},
		{"padding", zeros, -1, map[string][]string{"eth.padding": {"000000000000000000000000000000"}, "eth.trailer": nil, "eth.fcs": nil}},
		{"padding and FCS", append(zeros[:len(zeros):len(zeros)], fcs...), 4, map[string][]string{
			"eth.padding": {"000000000000000000000000000000"}, "eth.trailer": nil, "eth.fcs": {"0x01020304"},
		}},
		{"nothing says FCS", fcs, -1, map[string][]string{"eth.padding": nil, "eth.trailer": {"01020304"}, "eth.fcs": nil}},
		{"not zeros", []byte{0, 7}, 0, map[string][]string{"eth.padding": nil, "eth.trailer": {"0007"}, "eth.fcs": nil}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wantFields(t, parsed(wire.LinkEthernet, ipv4Frame(17, udpDatagram, c.trailing...), c.fcsLen), c.want)
		})
	}
}

// Nothing in a PAUSE frame says where its pad ends.
func TestFCSOfAFrameOfUnknownLengthIsItsLastFourBytes(t *testing.T) {
	pause := append([]byte{1, 0x80, 0xc2, 0, 0, 1, 2, 0, 0, 0, 0, 0xa, 0x88, 8, 0, 1, 0xff, 0xff}, make([]byte, 42)...)
	pause = append(pause, 1, 2, 3, 4)
	wantFields(t, parsed(wire.LinkEthernet, pause, 4), map[string][]string{"eth.fcs": {"0x01020304"}, "eth.trailer": nil, "eth.padding": nil})
	wantFields(t, parsed(wire.LinkEthernet, pause, -1), map[string][]string{"eth.fcs": nil})
}

func TestERFRecordIsNotCountedInTheFrameLength(t *testing.T) {
	frame := ipv4Frame(17, udpDatagram, 1, 2, 3, 4)
	record := append([]byte{0, 0, 0, 0, 0, 0, 0, 0, wire.ERFTypeEthernet, 4, 0, 0, 0, 0, 0, byte(len(frame)), 0, 0}, frame...)
	wantFields(t, parsed(wire.LinkERF, record, -1), map[string][]string{
		"frame.len": {"49"}, "frame.cap_len": {"49"}, "eth.fcs": {"0x01020304"}, "eth.trailer": nil,
	})
	wantFields(t, parsed(wire.LinkERF, record[:40], -1), map[string][]string{"frame.len": {"49"}, "frame.cap_len": {"22"}})
}

func TestPayloadsOfUDPAndTCP(t *testing.T) {
	wantFields(t, parsed(wire.LinkEthernet, ipv4Frame(17, udpDatagram), -1), map[string][]string{
		"udp.payload": {"616263"}, "tcp.len": nil, "data.data": nil,
	})
	cut := parsed(wire.LinkEthernet, ipv4Frame(17, udpDatagram)[:43], -1)
	wantFields(t, cut, map[string][]string{"udp.payload": {"61"}})

	tcp := make([]byte, wire.TCPMinLen, wire.TCPMinLen+2)
	tcp[12] = 5 << 4
	wantFields(t, parsed(wire.LinkEthernet, ipv4Frame(6, append(tcp, 'x', 'y')), -1), map[string][]string{
		"tcp.len": {"2"}, "tcp.payload": {"7879"}, "udp.payload": nil,
	})
	wantFields(t, parsed(wire.LinkEthernet, ipv4Frame(6, tcp), -1), map[string][]string{"tcp.len": {"0"}})
}

func TestDataIsPayloadWithoutPad(t *testing.T) {
	wantFields(t, vxlanSend(), map[string][]string{"data.data": {"41424344"}, "data.len": {"4"}})
}

func TestIPChecksumIsJudged(t *testing.T) {
	frame := ipv4Frame(17, udpDatagram)
	wantFields(t, parsed(wire.LinkEthernet, frame, -1), map[string][]string{"ip.checksum.status": {"1"}})
	frame[wire.EthernetLen+8]--
	wantFields(t, parsed(wire.LinkEthernet, frame, -1), map[string][]string{"ip.checksum.status": {"0"}})
	wantFields(t, parsed(wire.LinkEthernet, frame[:wire.EthernetLen+16], -1), map[string][]string{"ip.checksum.status": nil})
}

func TestMarkersAreFieldsThoughTheyAreTakenOut(t *testing.T) {
	p := parsed(wire.LinkEthernet, ipv4Frame(17, udpDatagram), -1)
	p.PDUs = []*iwarp.PDU{{Kind: iwarp.FPDU, Markers: []iwarp.Marker{{Bytes: [4]byte{0, 0, 1, 0x84}}, {Bytes: [4]byte{2, 2, 3, 4}}}}}
	wantFields(t, p, map[string][]string{
		"iwarp_mpa.markers": {"00000184", "02020304"}, "iwarp_mpa.marker_res": {"0x0000", "0x0202"}, "iwarp_mpa.marker_fpduptr": {"388", "772"},
	})
}

// The transport headers of a SEND to QP 0x11, and of a UD SEND to QP 1.
var (
	rcSend = []byte{0x04, 0x40, 0xff, 0xff, 0, 0, 0, 0x11, 0, 0, 0, 1}
	udSend = []byte{0x64, 0, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 1, 0x80, 1, 0, 0, 0, 0, 0, 1}
)

// roceFrame is a RoCEv2 packet with an ICRC of zeros.
func roceFrame(transport, payload []byte) []byte {
	length := wire.UDPLen + len(transport) + len(payload) + wire.ICRCLen
	udp := []byte{0xc0, 0, 0x12, 0xb7, byte(length >> 8), byte(length), 0, 0}
	return ipv4Frame(17, bytes.Join([][]byte{udp, transport, payload, {0, 0, 0, 0}}, nil))
}

// nvmeSend is a RoCEv2 SEND whose payload is taken as an NVMe capsule.
func nvmeSend(capsule []byte, as wire.Upper) *packet.Packet {
	p := parsed(wire.LinkEthernet, roceFrame(rcSend, capsule), -1)
	p.Frame.Interpret(as)
	return p
}

func TestNVMeStatusIsSplit(t *testing.T) {
	response := make([]byte, wire.NVMeResponseLen)
	response[14], response[15] = 0x05, 0xC3 // do not retry, more, type 1, code 0x82
	wantFields(t, nvmeSend(response, wire.UpperNVMe), map[string][]string{
		"nvme.cqe.status": {"0xc305"}, "nvme.cqe.status.sc": {"0x0082"}, "nvme.cqe.status.sct": {"0x0001"},
		"nvme.cqe.status.crd": {"0x0000"}, "nvme.cqe.status.m": {"1"}, "nvme.cqe.status.dnr": {"1"},
	})
}

func TestOpcodeMeansAnotherCommandOnQueue0(t *testing.T) {
	command := make([]byte, wire.NVMeCommandLen)
	command[0], command[40], command[48] = 0x02, 0x70, 7
	wantFields(t, nvmeSend(command, wire.UpperNVMe), map[string][]string{
		"nvme.cmd.opc": {"0x02"}, "nvme.cmd.slba": {"0x0000000000000070"}, "nvme.cmd.nlb": {"8"},
	})
	wantFields(t, nvmeSend(command, wire.UpperNVMeAdmin), map[string][]string{
		"nvme.cmd.opc": {"0x02"}, "nvme.cmd.slba": nil, "nvme.cmd.nlb": nil,
	})
	command[0], command[4], command[42] = 0x7f, 0x01, 3
	for _, as := range []wire.Upper{wire.UpperNVMe, wire.UpperNVMeAdmin} {
		wantFields(t, nvmeSend(command, as), map[string][]string{
			"nvme.cmd.opc": nil, "nvme.fabrics.cmd.fctype": {"0x01"}, "nvme.fabrics.cmd.connect.qid": {"3"},
			"nvme.fabrics.cmd.prop_get_set.offset": nil,
		})
	}
}

func TestCMRequestNamesItsNVMeQueue(t *testing.T) {
	const nvme = 0x01061144 // rdma_cm, TCP, port 4420
	for _, c := range []struct {
		service uint64
		want    []string
	}{{nvme, []string{"3"}}, {nvme + 1, nil}} {
		mad := make([]byte, wire.MADLen)
		h := wire.MAD(mad)
		h.SetBaseVersion(1)
		h.SetMgmtClass(wire.ClassCM)
		h.SetClassVersion(2)
		h.SetMethod(3)
		h.SetAttributeID(wire.CMAttrReq)
		body := mad[wire.MADHeaderLen:]
		wire.CMReq(body).SetServiceID(c.service)
		body[wire.CMReqLen+wire.CMIPPrivateLen+2] = 3
		wantFields(t, parsed(wire.LinkEthernet, roceFrame(udSend, mad), -1), map[string][]string{"nvme-rdma.cm.req.qid": c.want})
	}
}

func TestDatagramIsShownWhole(t *testing.T) {
	mad := make([]byte, wire.MADLen)
	mad[0], mad[255] = 1, 0xee
	frame := roceFrame(udSend, mad)
	whole := texts(t, parsed(wire.LinkEthernet, frame, -1), "infiniband.mad")
	if len(whole) != 1 || len(whole[0]) != 2*wire.MADLen || whole[0][510:] != "ee" {
		t.Errorf("infiniband.mad = %q", whole)
	}
	data := texts(t, parsed(wire.LinkEthernet, frame, -1), "infiniband.mad.data")
	if len(data) != 1 || len(data[0]) != 2*(wire.MADLen-wire.MADHeaderLen) {
		t.Errorf("infiniband.mad.data = %q", data)
	}
	cut := texts(t, parsed(wire.LinkEthernet, frame[:100], -1), "infiniband.mad")
	if len(cut) != 1 || len(cut[0]) != 2*(100-62) {
		t.Errorf("cut: infiniband.mad = %q", cut)
	}
}
