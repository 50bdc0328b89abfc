package wire

// Packet is what one queue pair sends to another: BTH, extended headers,
// payload and pad, without what it travels in and without ICRC. But for Valid,
// the methods are for packets that are valid.
type Packet []byte

// Valid reports whether the opcode is defined and all its headers and pad are
// there.
func (p Packet) Valid() bool {
	if len(p) < BTHLen {
		return false
	}
	info := p.Opcode().Info()
	return info.Defined() && len(p) >= info.HeaderLen()+p.BTH().PadCount()
}

// BTH is the packet's first header.
func (p Packet) BTH() BTH { return BTH(p[:BTHLen]) }

// Opcode is the BTH's.
func (p Packet) Opcode() Opcode { return Opcode(p[0]) }

// PSN is the BTH's.
func (p Packet) PSN() PSN { return p.BTH().PSN() }

// View returns an extended header, nil when the opcode has none of that kind.
func (p Packet) View(id HeaderID) []byte {
	off := BTHLen
	for _, ext := range p.Opcode().Info().Extended() {
		n := int(extendedLen[ext-HdrLRH])
		if ext == id {
			return p[off : off+n]
		}
		off += n
	}
	return nil
}

// Payload is what stands between the headers and the pad.
func (p Packet) Payload() []byte {
	return p[p.Opcode().Info().HeaderLen() : len(p)-p.BTH().PadCount()]
}
