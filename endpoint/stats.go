package endpoint

import "github.com/rocecap/rocecap/internal/netio/nic"

// Stats counts what a device did since Open. What was dropped is counted once,
// for the first reason in the order of the fields.
type Stats struct {
	SentFrames, SentBytes         uint64
	ReceivedFrames, ReceivedBytes uint64
	SentPackets                   uint64 // of queue pairs
	ReceivedPackets               uint64 // that came to a queue pair

	HookDropped  uint64 // by a hook, in either direction
	NotOurs      uint64 // to another MAC or IP address, or tagged otherwise
	NotRoCE      uint64 // neither RoCEv2 nor what a neighbour may ask
	Malformed    uint64 // lengths or headers that do not fit
	BadICRC      uint64
	UnknownQP    uint64
	WrongService uint64 // the opcode is not of the queue pair's type
	WrongAddress uint64 // not from the peer of a connected queue pair
	WrongPKey    uint64
	SendErrors   uint64 // times that the link did not take frames, one or a batch
	RingDropped  uint64 // frames that came to an interface faster than they were taken

	CNPsSent, CNPsReceived uint64
	MarkedReceived         uint64 // with CE
	NeighbourAnswers       uint64 // ARP and ND requests answered
	EchoAnswers            uint64
	EventsLost             uint64
}

// Stats returns the counts.
func (d *Device) Stats() Stats {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	if link, ok := d.link.(*nic.Link); ok {
		counts, _ := link.Stats() // those of before, when it is closed
		s.RingDropped = counts.Dropped
	}
	return s
}
