package page

import (
	"encoding/base64"
	"encoding/binary"

	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// kind is what a packet is in the diagram.
type kind uint8

// The kinds; the page has the same numbers.
const (
	kindRequest kind = iota
	kindResponse
	kindAck
	kindNak
	kindRNR
	kindCNP
	kindOther // an opcode that is not defined
	kinds     // how many there are
)

// flags are what else the diagram shows of a packet; the page has the same bits.
type flags uint8

const (
	flagEnd   flags = 1 << iota // it is from end 1
	flagOld                     // a PSN that was there, or one before it that is not
	flagCE                      // marked by congestion
	flagBad                     // a wrong ICRC
	flagFound                   // a finding shows in it
	flagFar                     // its PSN is far from all others
)

// mark is a packet in the diagram.
type mark struct {
	time     int64
	number   int32
	psn      wire.PSN
	size     uint32 // payload bytes, or how many a READ asks for
	wire     uint32 // bytes of the frame, and of those left out before it
	kind     kind
	flags    flags
	opcode   wire.Opcode
	syndrome wire.Syndrome
}

func markOf(p *conversation.Packet, end int) mark {
	m := mark{
		time: p.Time, number: int32(p.Number), psn: p.PSN, size: uint32(p.Payload), wire: uint32(p.WireLen),
		kind: kindOf(p), opcode: p.Opcode, syndrome: p.Syndrome,
	}
	if p.Opcode.Operation() == wire.OpReadRequest {
		m.size = p.DMALen
	}
	if end == 1 {
		m.flags |= flagEnd
	}
	if p.CE {
		m.flags |= flagCE
	}
	if p.Trust != conversation.Trusted {
		m.flags |= flagBad
	}
	return m
}

func kindOf(p *conversation.Packet) kind {
	info := p.Opcode.Info()
	switch {
	case info.Service == wire.CNP:
		return kindCNP
	case !info.Defined():
		return kindOther
	case !info.Response:
		return kindRequest
	case p.Opcode.Operation() != wire.OpAcknowledge:
		return kindResponse
	}
	switch p.Syndrome.Kind() {
	case wire.Ack:
		return kindAck
	case wire.RNRNak:
		return kindRNR
	}
	return kindNak
}

func (m *mark) end() int { return int(m.flags & flagEnd) }

// asker is the end whose PSNs the packet has: a request's sender, a response's
// receiver, and who is to slow down.
func (m *mark) asker() int {
	if m.kind == kindRequest || m.kind == kindOther {
		return m.end()
	}
	return 1 - m.end()
}

// class is 1 of packets that people look for, 0 of those that nothing happened
// to.
func (m *mark) class() int {
	if m.flags&^flagEnd != 0 || m.kind >= kindNak {
		return 1
	}
	return 0
}

// far is how far apart PSNs of one queue pair may be: twice the longest READ.
const far = 1 << 22

// level turns the PSNs of one end's requests into heights in the diagram, which
// do not wrap.
type level struct {
	begun bool
	psn   wire.PSN
	y     int64
}

// of is the height of a packet. One whose PSN cannot be is drawn where the
// others are.
func (l *level) of(m *mark) int64 {
	if m.kind == kindCNP {
		return l.y
	}
	if !l.begun {
		l.begun, l.psn = m.flags&flagBad == 0, m.psn
	}
	ahead := m.psn.Diff(l.psn)
	if ahead > far || ahead < -far {
		m.flags |= flagFar
		return l.y
	}
	y := l.y + int64(ahead)
	if m.flags&flagBad == 0 {
		l.psn, l.y = m.psn, y
	}
	return y
}

// encode writes marks column by column, each value as its difference to the
// one before it in zigzag varints, in base64: page.js reads it back.
func encode(marks []mark, began int64) string {
	heights := make([]int64, len(marks))
	var levels [2]level
	for i := range marks {
		heights[i] = levels[marks[i].asker()].of(&marks[i])
	}
	var b []byte
	for _, column := range []func(i int) int64{
		func(i int) int64 { return int64(marks[i].number) },
		func(i int) int64 { return marks[i].time - began },
		func(i int) int64 { return heights[i] },
		func(i int) int64 { return int64(marks[i].psn) },
		func(i int) int64 { return int64(marks[i].size) },
		func(i int) int64 { return int64(marks[i].wire) },
		func(i int) int64 { return int64(marks[i].kind) },
		func(i int) int64 { return int64(marks[i].flags) },
		func(i int) int64 { return int64(marks[i].opcode) },
		func(i int) int64 { return int64(marks[i].syndrome) },
	} {
		previous := int64(0)
		for i := range marks {
			value := column(i)
			b = binary.AppendVarint(b, value-previous)
			previous = value
		}
	}
	return base64.StdEncoding.EncodeToString(b)
}
