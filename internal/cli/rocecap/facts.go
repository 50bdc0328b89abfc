package rocecap

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// finder is one worker's part of an analysis: it finds the facts of a job, which
// the trackers, of which there is one set for the capture, take in turn.
type finder struct {
	filter  *filter.Filter // nil matches all
	scratch filter.Scratch
}

func (f *finder) handle(j *job, p *packet.Packet, _ *capfile.Record) {
	if f.filter != nil && !f.filter.Match(p, &f.scratch) {
		return
	}
	fact := j.facts.Read(&p.Frame, survey.Stamp{Number: p.Number, Time: p.Time})
	if fact == nil {
		return
	}
	crc := p.CRC()
	fact.Trust, fact.Mistake = trust(crc), crc.Mistake
}

// trust is how far a packet is to be believed. A bit that was changed on the way is
// no mistake of its sender.
func trust(crc *packet.Judgement) conversation.Trust {
	switch {
	case crc.ICRC != icrc.Bad:
		return conversation.Trusted
	case crc.Mistake != "" && !crc.Flipped:
		return conversation.Mistaken
	}
	return conversation.Corrupt
}
