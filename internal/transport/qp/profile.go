package qp

// Rxe is the Policy of Linux's soft RoCE: where it does otherwise than the
// default, as its source in drivers/infiniband/sw/rxe has it (rxe_resp.c,
// rxe_req.c, rxe_comp.c) and captures show. Not in it is the ICRC of its FLUSH
// requests, which is not the queue pair's.
func Rxe() Policy {
	return Policy{
		RecycleDepth:        true, // the replay store is a ring without a limit
		ClearMigReq:         true,
		DefaultPKey:         true,
		IgnoreUnknown:       true, // the check of the type drops them first
		LongSendOperational: true,
		InfiniteRetry7:      true,
		AcceptGhostAck:      true, // check_psn
		FatalReserved:       true, // check_ack
		ReadGap:             ReadGapWait,
	}
}
