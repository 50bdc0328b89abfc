package conversation

import (
	"net/netip"

	"github.com/rocecap/rocecap/internal/wire"
)

// Joined says why two streams are taken for the directions of one conversation.
type Joined uint8

// The reasons.
const (
	NotJoined   Joined = iota // only one direction is known
	ByAgreement               // answers carry the PSNs of what was asked in the other stream, and of no other
	ByCM                      // a CM exchange names both queue pairs
)

// End is one side of a conversation.
type End struct {
	Addr netip.Addr
	QPN  uint32
	// Known is false when the queue pair's number was not seen: nothing went
	// there.
	Known bool

	Packets int
	Bytes   int64 // of whole frames
	CE      int   // packets it sent that were marked by congestion
	CNPs    int   // congestion notifications it sent
	Corrupt int   // packets it sent with a wrong ICRC
	// Mistake explains the wrong ICRC of the last packet that has one and is
	// explained.
	Mistake string
	// Strange is how many packets it sent that have nothing to do with what was
	// seen: answers to nothing, or PSNs out of every order.
	Strange    int
	Congestion Congestion
	// Asks is what it requests of the other end.
	Asks Direction
}

// Conversation is what two queue pairs have to do with each other. Of UD and RD
// it is the packets from one address to one queue pair.
type Conversation struct {
	Service     wire.Service
	Joined      Joined
	Agreements  int // answers that agree with what was asked
	First, Last int // packets
	Began       int64
	Ended       int64
	AckTimeout  uint8 // the setting that a CM REQ names, 0 for none
	// Evicted says that it had to be given up, because too many were open.
	Evicted bool
	Ends    [2]End

	held      int // bytes, when it was weighed last
	halves    [2]*half
	answering bool // nothing of it asks for anything so far
	beside    [orders]neighbours
}

// half is the packets that one end sends: a stream to one queue pair.
type half struct {
	conversation *Conversation
	end          int // which of the ends sends it
	key          key
	place
}

// key is what the packets of a half have in common.
type key struct {
	src, dst netip.Addr
	qpn      uint32
}

func (h *half) sender() *End   { return &h.conversation.Ends[h.end] }
func (h *half) receiver() *End { return &h.conversation.Ends[1-h.end] }

// Packets is how many packets both ends have sent.
func (c *Conversation) Packets() int { return c.Ends[0].Packets + c.Ends[1].Packets }

// serve sets the transport service.
func (c *Conversation) serve(s wire.Service) {
	c.Service = s
	for i := range c.Ends {
		c.Ends[i].Asks.reliable = s == wire.RC || s == wire.XRC
		c.Ends[i].Asks.other = &c.Ends[1-i].Asks
	}
}

func (c *Conversation) close(until int64) {
	c.Ends[0].Asks.end(until)
	c.Ends[1].Asks.end(until)
}
