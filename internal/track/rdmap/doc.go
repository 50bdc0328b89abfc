// Package rdmap follows iWARP connections: TCP segments in the order of the
// capture go in, and what became of the messages of either end comes out.
//
// Package iwarp cuts the TCP streams into FPDUs. Here each FPDU is put into the
// message that it belongs to, by the queues of DDP (RFC 5041), the operations of
// RDMAP (RFC 5040, RFC 7306) and what the start-up frames of MPA agreed on (RFC
// 5044, RFC 6581); and the segments are followed as TCP: what was sent again,
// what came late, who closed the window. Where bytes are missing in the capture
// nothing is judged that they could explain.
//
// It is pure: segments in, results and events out, with a bound on connections,
// on all that is remembered of each, and on what is remembered of all together.
package rdmap
