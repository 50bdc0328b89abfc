package qp

import (
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// What captures of rxe against rxe show: the requester is told of an operational
// error, and so is the receiver.
func TestRxeTakesALongSendForAnErrorOfItsOwn(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Policy = Rxe() })
	rt.post(1, 0, 64)
	rt.get(msg{op: wire.OpSendOnly, payload: data(100, 1), ack: true})
	rt.wantFatal(wire.NakRemoteOperation, 0, 0)
	rt.wantCompletion(Completion{ID: 1, Status: LocalOperationError})
}

func TestRxeDropsALongUCSendAsOthersDo(t *testing.T) {
	rt := newResponderTest(t, func(s *setup) { s.Type, s.Policy = UC, Rxe() })
	rt.post(1, 0, 64)
	rt.get(msg{op: wire.OpSendOnly, payload: data(100, 1)})
	rt.wantNoCompletion()
	if rt.q.State() == Error {
		t.Error("the queue pair has ended")
	}
}
