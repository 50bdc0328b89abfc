// Package conversation says what happened between pairs of queue pairs: which
// packets were lost, came late or were missed by the capture, what was sent
// again and why, which messages there were and how long each took.
//
// It is pure and passes over a capture once: Tracker.Packet takes the packets
// in the order of the capture, Tracker.Finish ends it. What it keeps grows with
// the conversations that are open, up to a limit, and not with the packets; a
// packet that brings nothing new costs no allocation.
//
// # What it sees, and what it cannot
//
// A capture is taken at a point between requester and responder. A request that
// was lost before that point is a hole in the PSNs; one that was lost behind it
// is seen, and asked for again. A hole that the responder acknowledges without
// having been sent again is the capture's own. Where the packets do not tell,
// the verdict says so (Unresolved), instead of the likelier of two.
//
// A requester that numbers its packets (RFC 791, identification) shows by it which
// packet was overtaken, which was sent again, and how many were sent in between.
// Without such numbers that reading is taken which supposes fewer losses: a
// requester that is silent for long, and then goes on where it was, has paused.
//
// RC and XRC are followed in both directions. UC has no acknowledgements: a
// hole is never judged, only filled. UD and RD packets are counted, with the
// messages that they are.
package conversation
