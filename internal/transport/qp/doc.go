// Package qp is the queue pair: requester, responder and completer of the RC,
// UC, UD and XRC transport services (IBTA vol. 1, chapters 9 to 11), as a pure
// state machine. It knows neither clock nor network: time is an argument,
// packets are byte slices from the BTH to the pad, and what a packet travels in
// (Ethernet, IP, UDP, ICRC) is the caller's.
//
// The caller serialises. After each call it takes what has become ready: Emit
// until it returns 0, then Completion until there is none, because what is sent
// may thereby be complete, and Deadline for the time of the next Advance.
// Packets that arrived together are best all given to Receive before Emit is
// asked, because acknowledgements of the same message are then one packet.
//
// A queue pair does by default what the standard says. A Policy changes single
// decisions in which devices differ, or are to be tested with.
//
// Not here: reliable datagrams, alternate paths and migration to them, fast
// registration as a work request, and selective retransmission.
package qp
