package packet

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/track/iwarp"
)

// AppendNotes adds what is wrong with, or unusual in, the packet, in words.
func (p *Packet) AppendNotes(dst []string) []string {
	dst = p.Frame.Problems.AppendTexts(dst)
	crc := p.CRC()
	switch crc.ICRC {
	case icrc.Bad:
		note := "ICRC is wrong"
		if crc.Mistake != "" {
			note += ": " + crc.Mistake
		}
		dst = append(dst, note)
	case icrc.Cut:
		dst = append(dst, "cut by the capture: ICRC not checkable")
	}
	if crc.VCRC == icrc.Bad {
		dst = append(dst, "VCRC is wrong")
	}
	for _, pdu := range p.PDUs {
		for _, issue := range pdu.Issues {
			dst = append(dst, issue.Text)
		}
	}
	return dst
}

// Noteworthy reports whether AppendNotes would add anything, without building
// the texts.
func (p *Packet) Noteworthy() bool {
	crc := p.CRC()
	if p.Frame.Problems != 0 || crc.ICRC == icrc.Bad || crc.ICRC == icrc.Cut || crc.VCRC == icrc.Bad {
		return true
	}
	for _, pdu := range p.PDUs {
		if len(pdu.Issues) > 0 {
			return true
		}
	}
	return false
}

// Judged reports whether an FPDU's CRC32c could be compared.
func Judged(pdu *iwarp.PDU) bool {
	return pdu.Kind == iwarp.FPDU && (pdu.CRC == iwarp.CRCGood || pdu.CRC == iwarp.CRCBad)
}
