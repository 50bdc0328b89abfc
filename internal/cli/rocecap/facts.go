package rocecap

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// facts are what the packets of a job say, in their order: workers find them,
// and the tracker, which is one for the capture, takes them in turn.
type facts struct {
	packets []conversation.Packet
	seen    int // packets that were looked at
	tcp     int // of which TCP's
	pause   int // PAUSE and PFC frames
	other   int // without RDMA headers, or cut before their end
}

func (f *facts) reset() { *f = facts{packets: f.packets[:0]} }

// finder is one worker's part of an analysis.
type finder struct {
	filter  *filter.Filter // nil matches all
	scratch filter.Scratch
}

func (f *finder) handle(j *job, p *packet.Packet, _ *capfile.Record) {
	if f.filter != nil && !f.filter.Match(p, &f.scratch) {
		return
	}
	j.facts.seen++
	list := j.facts.packets
	n := len(list)
	if n < cap(list) {
		list = list[:n+1]
	} else {
		list = append(list, conversation.Packet{})
	}
	fact := &list[n]
	if p.Frame.BTH < 0 || !fact.Read(&p.Frame) {
		j.facts.pass(&p.Frame)
		return
	}
	crc := p.CRC()
	fact.Number, fact.Time, fact.Trust, fact.Mistake = p.Number, p.Time, trust(crc), crc.Mistake
	j.facts.packets = list
}

// pass counts a packet that is not followed.
func (f *facts) pass(frame *wire.Frame) {
	switch frame.Proto {
	case wire.ProtoTCP:
		f.tcp++
	case wire.ProtoPause, wire.ProtoPFC:
		f.pause++
	default:
		f.other++
	}
}

func trust(crc *packet.Judgement) conversation.Trust {
	switch {
	case crc.ICRC != icrc.Bad:
		return conversation.Trusted
	case crc.Mistake != "":
		return conversation.Mistaken
	}
	return conversation.Corrupt
}
