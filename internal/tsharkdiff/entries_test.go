package tsharkdiff

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// The patterns of the fields that several entries are about.
const (
	// behindBTH are the fields behind the BTH, and of what tshark takes for a
	// vendor's.
	behindBTH = `infiniband\.(reth|rdeth|deth|aeth|atomiceth|atomicacketh|immdt|ieth|payload|vendor|invariant|variant).*|data\..*`
	// payload are the names of the payload.
	payload = `infiniband\.payload|data\.(data|len)`
	// inPayload are the fields of what tshark can see in a payload.
	inPayload = `(arp|eth|ip|ipv6|udp|tcp|infiniband\.rwh)(\..*)?`
	iWARP     = `iwarp_.*|data\..*`
)

// entries are the known differences. The first that covers a difference
// counts; the narrow ones come first.
var entries = []entry{
	{reason: "Protocols and header nodes as values", fields: `.*`, when: func(d *difference) bool {
		return (d.kind == "P" || d.kind == "FT_NONE") && !d.missing() && !d.extra() && !strings.HasPrefix(d.field, "_ws.")
	}},
	{reason: "Expert information", fields: `_ws\.expert.*`, when: always},
	{reason: "Interface of an ERF record", fields: `frame\.interface_id`, when: func(d *difference) bool {
		return d.extra() && d.in("erf")
	}},
	{reason: "FCS that nothing announced", fields: `eth\.(fcs|trailer)`, when: func(d *difference) bool {
		return d.own("eth.trailer") != "" && d.own("eth.fcs") == "" && "0x"+d.own("eth.trailer") == d.their("eth.fcs")
	}},
	{reason: "Trailer behind RoCEv1", fields: `eth\.trailer`, when: func(d *difference) bool {
		return d.missing() && d.in("eth:ethertype:infiniband")
	}},

	{reason: "Immediate data and R_Key listed twice", fields: `infiniband\.(immdt|ieth)`, when: func(d *difference) bool {
		return d.theirs == d.ours+aggregator+d.ours
	}},
	{reason: "Congestion notification packets", fields: behindBTH, when: isCNP},
	{reason: "XRC packets", fields: behindBTH, when: opcodeIn(0xA0, 0xBF)},
	{reason: "FLUSH and ATOMIC WRITE", fields: behindBTH, before: version{4, 4}, when: opcodeIn(0x1C, 0x1D)},
	{reason: "FLUSH and ATOMIC WRITE", fields: `infiniband\.feth.*`, since: version{4, 4}, when: opcodeIn(0x1C, 0x1C)},
	{reason: "RD packets", fields: `infiniband\.bth|` + behindBTH, when: opcodeIn(0x40, 0x5F)},
	{reason: "Opcodes that have no meaning", fields: behindBTH, when: isUndefined},
	{reason: "UD SEND with immediate data", fields: behindBTH, when: opcodeIn(0x65, 0x65)},
	{reason: "BTH that is not all there", fields: `infiniband\.bth.*`, when: func(d *difference) bool {
		return d.missing() && d.packet.malformed && d.own("infiniband.bth.psn") == ""
	}},
	{reason: "Packets that the capture cut", fields: payload, when: func(d *difference) bool {
		return d.missing() && d.own("frame.len") != d.own("frame.cap_len")
	}},
	{reason: "InfiniBand in ERF without VCRC", fields: `infiniband\.(invariant|variant)\.crc`, when: func(d *difference) bool {
		return d.in("erf:infiniband") && d.own("infiniband.variant.crc") == ""
	}},
	{reason: "Link-level flow-control packets", fields: `infiniband_link.*`, when: func(d *difference) bool {
		return d.missing() && d.packet.malformed
	}},

	{reason: "NVMe completions", fields: `nvme\.cqe\.dword[01]`, when: func(d *difference) bool {
		return d.missing() && d.in(":nvme-rdma")
	}},
	{reason: "NVMe queue in a CM REQ", fields: `nvme-rdma\.cm\.req\..*`, when: func(d *difference) bool {
		return d.missing() && hasCMReq(d)
	}},
	{reason: "IPoIB header under another name", fields: `ipoib.*`, when: func(d *difference) bool {
		return d.missing() && d.own("ipoib.type") == d.their("infiniband.rwh.etype")
	}, beside: true},
	{reason: "Guessed payload", fields: inPayload, when: func(d *difference) bool {
		return hasGuess(d) && (d.extra() || strings.HasPrefix(d.theirs, d.ours+aggregator))
	}},
	{reason: "Guessed payload", fields: payload, when: hasGuess},
	{reason: "Short SENDs called malformed", fields: `infiniband\.invariant\.crc`, when: func(d *difference) bool {
		return d.missing() && d.packet.malformed && d.in(":infiniband:rpcordma")
	}},
	{reason: "Guessed payload that is not shown", fields: payload, when: func(d *difference) bool {
		return d.missing() && strings.HasSuffix(d.packet.protocols, "infiniband") && wire.Opcode(d.opcode()).Operation() <= wire.OpSendOnlyInvalidate
	}},
	{reason: "NVMe data", fields: payload, when: func(d *difference) bool {
		return d.missing() && d.in(":nvme-rdma")
	}},
	{reason: "Payload under one name", fields: `infiniband\.payload`, when: func(d *difference) bool {
		return d.missing() && strings.HasPrefix(d.their("data.data"), d.ours)
	}},
	{reason: "Pad bytes", fields: `data\.(data|len)`, when: func(d *difference) bool {
		return number(d.their("data.len"))-number(d.own("data.len")) == number(d.own("infiniband.bth.padcnt")) &&
			strings.HasPrefix(d.their("data.data"), d.own("data.data"))
	}},
	{reason: "TCP payload", fields: `data\..*`, when: func(d *difference) bool {
		return d.extra() && d.their("tcp.len") == d.their("data.len")
	}},

	{reason: "CRC of a management datagram", fields: `infiniband\.invariant\.crc`, when: func(d *difference) bool {
		return d.missing() && d.own("infiniband.mad.mgmtclass") != ""
	}},
	{reason: "Direction of a directed-route SMP", fields: `infiniband\.smpdirected\.d`, when: func(d *difference) bool {
		return number(d.ours) == 1 && number(d.theirs) == 0
	}, beside: true},
	{reason: "Flow label and packet rate of a CM REQ", fields: `infiniband\.cm\.req\.prim_(flowlabel|reserved0|pktrate)`, when: hasCMReq},
	{reason: "SAP bit of a CM REQ", fields: `infiniband\.cm\.req\.alt_reserved1`, when: func(d *difference) bool {
		return strings.HasPrefix(d.theirs, d.ours+aggregator)
	}},
	{reason: "GIDs of zeros in a CM REQ", fields: `infiniband\.cm\.req\.prim_(local|remote)gid(_ipv4)?`, when: func(d *difference) bool {
		return d.ours == "::" || d.theirs == "0.0.0.0"
	}},
	{reason: "Private data of rdma_cm without an IP version", fields: `infiniband\.cm\.req\.ip_cm\.[sd]ip6`, when: func(d *difference) bool {
		return d.extra() && number(d.own("infiniband.cm.req.ip_cm.ipv")) == 0
	}},
	{reason: "Private data of a SIDR REQ", fields: `infiniband\.cm\.req\.ip_cm.*`, when: func(d *difference) bool {
		return d.missing() && d.own("infiniband.mad.attributeid") == "0x0017"
	}},

	{reason: "Two names of an FPDU's CRC", fields: `iwarp_mpa\.crc(_check)?`, when: func(d *difference) bool {
		return d.missing() && (d.ours == d.their("iwarp_mpa.crc") || d.ours == d.their("iwarp_mpa.crc_check"))
	}},
	{reason: "MPA revision 2", fields: `iwarp_mpa\.(res|privatedata)`, before: version{4, 6}, when: func(d *difference) bool {
		return d.own("iwarp_mpa.rev") == "2" && !strings.HasSuffix(d.packet.protocols, ":tcp")
	}},
	{reason: "Reserved word of RDMAP", fields: `iwarp_rdma\.reserved`, when: func(d *difference) bool {
		op := number(d.own("iwarp_rdma.opcode"))
		return d.missing() && d.their("iwarp_rdma.opcode") != "" && op >= int(wire.RDMAPImmediate)
	}},
	{reason: "Several FPDUs in a segment", fields: iWARP, when: func(d *difference) bool {
		return strings.Contains(d.own("iwarp_mpa.ulpdulength"), aggregator) && d.in(":iwarp_mpa")
	}},
	{reason: "iWARP markers", fields: `data\.data`, when: func(d *difference) bool {
		return d.own("iwarp_mpa.markers") != "" && d.own("data.len") == d.their("data.len")
	}},
	{reason: "Guessed payload", fields: `data\..*`, when: func(d *difference) bool {
		return d.missing() && d.in(":iwarp_ddp_rdmap:rpcordma")
	}},
	{reason: "iWARP Sends put together", fields: `data\.data`, when: func(d *difference) bool {
		return strings.HasSuffix(d.theirs, d.ours) && number(d.own("iwarp_ddp.mo")) > 0
	}},
	{reason: "iWARP Sends put together", fields: `data\.len`, when: func(d *difference) bool {
		return !d.missing() && number(d.theirs) == number(d.own("iwarp_ddp.mo"))+number(d.ours)
	}},
	{reason: "iWARP Sends put together", fields: `data\..*`, when: func(d *difference) bool {
		return d.missing() && d.own("iwarp_ddp.last_flag") == "0"
	}},
	{reason: "Guessed payload that is not shown", fields: `data\..*`, when: func(d *difference) bool {
		return d.missing() && strings.HasSuffix(d.packet.protocols, ":iwarp_ddp_rdmap") && number(d.own("iwarp_rdma.opcode")) >= int(wire.RDMAPSend)
	}},
	{reason: "FPDU behind an MPA reply", fields: iWARP, when: func(d *difference) bool {
		return d.missing() && d.own("iwarp_mpa.rep") != "" && d.own("iwarp_mpa.ulpdulength") != ""
	}},
	{reason: "iWARP without its start", fields: iWARP, when: func(d *difference) bool {
		return !d.in(":iwarp_mpa") && (d.missing() || d.in("tcp:data"))
	}},
}

func always(*difference) bool { return true }

func isCNP(d *difference) bool { return d.opcode() == 0x80 || d.opcode() == 0x81 }

func opcodeIn(low, high int) func(d *difference) bool {
	return func(d *difference) bool { return low <= d.opcode() && d.opcode() <= high }
}

func isUndefined(d *difference) bool {
	op := d.opcode()
	return op >= 0 && !wire.Opcode(op).Info().Defined()
}

func hasCMReq(d *difference) bool { return d.own("infiniband.cm.req.prim_flowlabel") != "" }

var guess = regexp.MustCompile(`:infiniband(:|\.)(ethertype|eoib|rpcordma|smc|smb_direct)`)

// hasGuess reports whether tshark took the payload for a protocol.
func hasGuess(d *difference) bool { return guess.MatchString(d.packet.protocols) }

// number reads a value as tshark prints numbers, -1 when there is none.
func number(value string) int {
	n, err := strconv.ParseInt(value, 0, 64)
	if err != nil {
		return -1
	}
	return int(n)
}
