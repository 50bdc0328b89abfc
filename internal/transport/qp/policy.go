package qp

import "github.com/rocecap/rocecap/internal/wire"

// Policy holds the decisions in which devices differ, or that the standard
// leaves open. The zero value is the default: what the standard says or, where
// it is silent, what most devices do.
type Policy struct {
	// Responder.

	// SilentDuplicates leaves duplicate SENDs and WRITEs unanswered unless they
	// ask for it (rdmavt). By default each is acknowledged (C9-105, rxe).
	SilentDuplicates bool
	// Replay says from what a duplicate READ is answered.
	Replay Replay
	// StrictReplay answers a duplicate READ only if it ends where the original
	// did (rdmavt); by default any part of it is read again.
	StrictReplay bool
	// RecycleDepth lets a READ or atomic beyond the agreed depth take the place
	// of the oldest (rxe). By default it is an invalid request (C9-149).
	RecycleDepth bool
	// Credits advertises the number of receive requests that are posted;
	// by default ACKs carry code 31, no limit.
	Credits bool
	// ClearMigReq sends packets with the migration bit 0 (rxe); by default it is
	// 1, the path's state being migrated (IBTA 17.2.8).
	ClearMigReq bool
	// DefaultPKey sends responses with P_Key 0xFFFF (rxe) instead of the queue
	// pair's.
	DefaultPKey bool
	// RepeatNak sends a NAK for every packet behind a gap. By default one is
	// sent, and then none until an expected packet has come.
	RepeatNak bool
	// IgnoreUnknown drops packets of an operation that the service does not
	// have (rxe). By default the RC responder says invalid request.
	IgnoreUnknown bool
	// LongSendOperational answers a SEND that is longer than the receive request
	// with a NAK "remote operational error", and ends the request in a local
	// operation error (rxe). By default it is an invalid request (class C) and a
	// local length error.
	LongSendOperational bool
	// NakInvalidate answers a SEND with invalidate of a bad key with a NAK
	// (irdma); by default there is none (class J, IBTA 9.9.3).
	NakInvalidate bool
	// ExtraAck sends an acknowledgement of earlier SENDs and WRITEs before a
	// READ or atomic response, which old Mellanox requesters need.
	ExtraAck bool
	// EchoCongestion sets BECN in acknowledgements of packets with FECN (hfi1).
	EchoCongestion bool

	// Requester.

	// AckEvery is after how many packets of a long message an ACK is asked for;
	// 0 means 64. The last packet of a message always asks.
	AckEvery int
	// MaxUnacked is how many PSNs may be outstanding; 0 means 128.
	MaxUnacked int
	// HonourCredits holds back SENDs for which the responder has advertised no
	// receive request. By default they are sent, and may meet an RNR NAK.
	HonourCredits bool
	// InfiniteRetry7 takes a RetryCount of 7 for retries without end (rxe). By
	// default it is seven; an RNRRetry of 7 is always without end.
	InfiniteRetry7 bool
	// AcceptGhostAck lets an ACK beyond what was sent complete what is
	// outstanding (rxe). By default it is ignored (C9-122).
	AcceptGhostAck bool
	// FatalReserved takes a NAK of a reserved code for a remote operation error
	// (rxe). By default it is ignored.
	FatalReserved bool
	// ReadGap says what a gap in READ responses leads to.
	ReadGap ReadGap

	// Mutate, when not nil, may change a packet (BTH to pad) before Emit
	// returns it. It gives back the packet's length, which it may change up to
	// the capacity; 0 sends nothing.
	Mutate func(packet wire.Packet) int
}

// Replay says from what a duplicate READ is answered.
type Replay uint8

// The ways to answer a duplicate READ.
const (
	ReplayMemory  Replay = iota // memory is read again (C9-110)
	ReplayRefuse                // silence
	ReplayAltered               // the data with its first byte turned over, to test the requester
)

// ReadGap says what a gap in READ responses leads to.
type ReadGap uint8

// The reactions to a gap in READ responses.
const (
	ReadGapRestart ReadGap = iota // implied NAK: the rest is asked for again at once (C9-125)
	ReadGapWait                   // the timer asks again (rxe)
)
