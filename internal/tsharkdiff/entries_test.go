package tsharkdiff

import (
	"regexp"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// entries are the known differences. The first that covers a difference
// counts, so that the narrow ones come first.
var entries = []entry{
	{reason: "Protocols and header nodes as values", fields: `.*`, when: func(d *difference) bool {
		return (d.kind == "P" || d.kind == "FT_NONE") && !d.missing() && !d.extra() && !strings.HasPrefix(d.field, "_ws.")
	}},
	{reason: "Expert information", fields: `_ws\.expert.*`, when: always},

	{reason: "Immediate data and R_Key listed twice", fields: `infiniband\.(immdt|ieth)`, when: func(d *difference) bool {
		return d.theirs == d.ours+aggregator+d.ours
	}},
	{reason: "Congestion notification packets", fields: transport, when: isCNP},
	{reason: "XRC packets", fields: transport, when: opcodeIn(0xA0, 0xBF)},
	{reason: "FLUSH and ATOMIC WRITE", fields: transport, before: version{4, 4}, when: func(d *difference) bool {
		return d.opcode() == 0x1C || d.opcode() == 0x1D
	}},
	{reason: "RD packets", fields: `infiniband\.(bth|rdeth|deth|payload|reth|aeth|invariant).*|data\..*`, when: opcodeIn(0x40, 0x5F)},
	{reason: "Opcodes that have no meaning", fields: transport, when: isUndefined},
	{reason: "BTH that the capture cuts", fields: `infiniband\.bth.*`, when: func(d *difference) bool {
		return d.missing() && d.packet.malformed && d.own("infiniband.bth.psn") == ""
	}},

	{reason: "Guessed payload", fields: guessed, when: hasGuess},
	{reason: "Payload under one name", fields: `infiniband\.payload`, when: func(d *difference) bool {
		return d.missing() && (strings.HasPrefix(d.their("data.data"), d.ours) || hasGuess(d) || d.packet.malformed)
	}},
}

func always(*difference) bool { return true }

// transport are the fields behind the BTH, and those of what tshark takes for
// a vendor's.
const transport = `infiniband\.(reth|rdeth|deth|aeth|atomiceth|atomicacketh|immdt|ieth|payload|vendor|invariant|variant).*|data\..*`

// guessed are the fields of what tshark can see in a payload.
const guessed = `(arp|eth|ip|ipv6|udp|tcp|data|infiniband\.rwh|infiniband\.payload|infiniband\.invariant)(\..*)?`

func isCNP(d *difference) bool { return d.opcode() == 0x80 || d.opcode() == 0x81 }

func opcodeIn(low, high int) func(d *difference) bool {
	return func(d *difference) bool { return low <= d.opcode() && d.opcode() <= high }
}

func isUndefined(d *difference) bool {
	op := d.opcode()
	return op >= 0 && !wire.Opcode(op).Info().Defined()
}

// hasGuess reports whether tshark took the payload for a protocol.
func hasGuess(d *difference) bool {
	return regexp.MustCompile(`:infiniband(:|\.)(ethertype|eoib|rpcordma|smc|smb_direct)`).MatchString(d.packet.protocols)
}
