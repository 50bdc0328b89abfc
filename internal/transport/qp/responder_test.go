package qp

import (
	"encoding/binary"
	"fmt"
	"slices"
	"testing"

	"github.com/rocecap/rocecap/internal/transport/mr"
	"github.com/rocecap/rocecap/internal/wire"
)

// startingPSNs are beginnings at which a script of a few packets meets the wrap
// of the PSN at another place each, and one where it does not.
var startingPSNs = []wire.PSN{0, 0xFFFFF0, 0xFFFFFC, 0xFFFFFD, 0xFFFFFE, 0xFFFFFF, 0x7FFFFE}

func atEveryStart(t *testing.T, script func(rt *responderTest)) {
	for _, psn := range startingPSNs {
		t.Run(fmt.Sprintf("%#06x", psn), func(t *testing.T) {
			script(newResponderTest(t, func(s *setup) { s.RQPSN = psn }))
		})
	}
}

func TestSendIsPlacedAndAcknowledged(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		rt.step("one packet, 33 bytes, which need a pad")
		rt.post(7, 0, 100)
		rt.get(msg{op: wire.OpSendOnly, payload: data(33, 1), ack: true})
		rt.wantEvents(EventCommEstablished)
		rt.wantAck(0, 1)
		rt.wantSilence()
		rt.wantCompletion(Completion{ID: 7, Op: Receive, Bytes: 33})
		rt.wantBytes(rt.local, 0, data(33, 1))

		rt.step("three packets, acknowledged at the last")
		rt.post(8, 1000, 1000)
		whole := data(2*testMTU+9, 2)
		rt.get(msg{op: wire.OpSendFirst, psn: 1, payload: whole[:testMTU]})
		rt.get(msg{op: wire.OpSendMiddle, psn: 2, payload: whole[testMTU : 2*testMTU]})
		rt.wantSilence()
		rt.wantNoCompletion()
		rt.get(msg{op: wire.OpSendLastImmediate, psn: 3, payload: whole[2*testMTU:], imm: 0xCAFEF00D, ack: true, se: true})
		rt.wantAck(3, 2)
		rt.wantCompletion(Completion{
			ID: 8, Op: Receive, Bytes: uint32(len(whole)), HasImmediate: true, Immediate: 0xCAFEF00D, Solicited: true,
		})
		rt.wantBytes(rt.local, 1000, whole)

		rt.step("an ACK in the middle of a message counts no message")
		rt.post(9, 0, 1000)
		rt.get(msg{op: wire.OpSendFirst, psn: 4, payload: whole[:testMTU], ack: true})
		rt.wantAck(4, 2)
		rt.get(msg{op: wire.OpSendLast, psn: 5, payload: whole[:4], ack: true})
		rt.wantAck(5, 3)
		rt.wantCompletion(Completion{ID: 9, Op: Receive, Bytes: testMTU + 4})

		rt.step("nothing at all takes a receive request too")
		rt.post(10, 0, 0)
		rt.get(msg{op: wire.OpSendOnlyImmediate, psn: 6, imm: 5, ack: true})
		rt.wantAck(6, 4)
		rt.wantCompletion(Completion{ID: 10, Op: Receive, HasImmediate: true, Immediate: 5})
		rt.wantEvents()
	})
}

func TestWriteIsPlacedAndAcknowledged(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		whole := data(2*testMTU+9, 3)
		rt.get(msg{op: wire.OpWriteFirst, payload: whole[:testMTU], va: 8, size: len(whole)})
		rt.get(msg{op: wire.OpWriteMiddle, psn: 1, payload: whole[testMTU : 2*testMTU]})
		rt.get(msg{op: wire.OpWriteLast, psn: 2, payload: whole[2*testMTU:], ack: true, se: true})
		rt.wantAck(2, 1)
		rt.wantBytes(rt.remote, 8, whole)
		rt.wantNoCompletion()

		rt.step("with immediate, a receive request is used at the end")
		rt.get(msg{op: wire.OpWriteFirst, psn: 3, payload: whole[:testMTU], size: testMTU + 5})
		rt.post(1, 0, 0)
		rt.get(msg{op: wire.OpWriteLastImmediate, psn: 4, payload: whole[:5], imm: 77, ack: true, se: true})
		rt.wantAck(4, 2)
		rt.wantCompletion(Completion{
			ID: 1, Op: ReceiveWrite, Bytes: testMTU + 5, HasImmediate: true, Immediate: 77, Solicited: true,
		})
		rt.post(2, 0, 0)
		rt.get(msg{op: wire.OpWriteOnlyImmediate, psn: 5, payload: whole[:5], va: 8187, imm: 78, ack: true})
		rt.wantAck(5, 3)
		rt.wantBytes(rt.remote, 8187, whole[:5])
		rt.wantCompletion(Completion{ID: 2, Op: ReceiveWrite, Bytes: 5, HasImmediate: true, Immediate: 78})

		rt.step("no bytes, no key (C9-88)")
		rt.get(msg{op: wire.OpWriteOnly, psn: 6, rkey: 0xDEAD, va: 1 << 40, ack: true})
		rt.wantAck(6, 4)
	})
}

func TestReadIsAnsweredInPSNOrder(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		copy(rt.remote.mem, data(8192, 5))
		rt.step("a READ of three packets takes three PSNs")
		rt.get(msg{op: wire.OpReadRequest, va: 3, size: 2*testMTU + 9})
		rt.get(msg{op: wire.OpWriteOnly, psn: 3, va: 4096, payload: data(4, 1), ack: true})
		rt.get(msg{op: wire.OpReadRequest, psn: 4, va: 4096, size: 4})
		rt.wantRead(0, 1, rt.remote.mem[3:3+2*testMTU+9])
		rt.wantAck(3, 2)
		rt.wantRead(4, 3, data(4, 1))
		rt.step("no bytes, no key (C9-88)")
		rt.get(msg{op: wire.OpReadRequest, psn: 5, rkey: 0xDEAD, va: 1 << 40})
		rt.wantRead(5, 4, nil)
		rt.step("exactly two packets, the end of the region")
		rt.get(msg{op: wire.OpReadRequest, psn: 6, va: 8192 - 2*testMTU, size: 2 * testMTU})
		rt.wantRead(6, 5, rt.remote.mem[8192-2*testMTU:])
		rt.get(msg{op: wire.OpWriteOnly, psn: 8, payload: data(4, 1), ack: true})
		rt.wantAck(8, 6)
	})
}

func TestAtomics(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		word := rt.remote.mem[16:24]
		binary.NativeEndian.PutUint64(word, 41)
		value := func(want uint64) {
			t.Helper()
			if got := binary.NativeEndian.Uint64(word); got != want {
				t.Fatalf("memory holds %d, want %d", got, want)
			}
		}
		rt.get(msg{op: wire.OpFetchAdd, va: 16, swap: 1})
		rt.wantAtomic(0, 1, 41)
		value(42)
		rt.get(msg{op: wire.OpFetchAdd, psn: 1, va: 16, swap: ^uint64(0)})
		rt.wantAtomic(1, 2, 42)
		value(41)
		rt.get(msg{op: wire.OpCompareSwap, psn: 2, va: 16, cmp: 40, swap: 99})
		rt.wantAtomic(2, 3, 41)
		value(41)
		rt.get(msg{op: wire.OpCompareSwap, psn: 3, va: 16, cmp: 41, swap: 99})
		rt.wantAtomic(3, 4, 41)
		value(99)
		rt.step("behind a WRITE to the same place")
		rt.get(msg{op: wire.OpWriteOnly, psn: 4, va: 16, payload: make([]byte, 8)})
		rt.get(msg{op: wire.OpFetchAdd, psn: 5, va: 16, swap: 3})
		rt.wantAtomic(5, 6, 0)
		value(3)
	})
}

func TestFlushAndAtomicWriteAreAnsweredByAnEmptyReadResponse(t *testing.T) {
	atEveryStart(t, func(rt *responderTest) {
		rt.get(msg{op: wire.OpWriteOnly, va: 0, payload: data(64, 1)})
		rt.get(msg{op: wire.OpFlush, psn: 1, size: 64, plt: wire.FlushGlobal})
		rt.wantBytes(rt.remote, 0, data(64, 1))
		rt.wantRead(1, 2, nil)
		rt.step("of a whole region: address and length do not count")
		rt.get(msg{op: wire.OpFlush, psn: 2, va: 1 << 50, size: 1 << 30, plt: wire.FlushGlobal, sel: wire.FlushRegion})
		rt.wantRead(2, 3, nil)
		rt.get(msg{op: wire.OpFlush, psn: 3, plt: wire.FlushGlobal})
		rt.wantRead(3, 4, nil)
		rt.get(msg{op: wire.OpAtomicWrite, psn: 4, va: 8, payload: data(8, 9)})
		rt.wantRead(4, 5, nil)
		rt.wantBytes(rt.remote, 8, data(8, 9))
	})
}

// TestFatalFaults has the faults of class A and C, one in each request: the
// answer is a NAK of its PSN, then there is silence.
func TestFatalFaults(t *testing.T) {
	const (
		inv    = wire.NakInvalidRequest
		access = wire.NakRemoteAccess
		full   = testMTU
	)
	without := func(a mr.Access) func(s *setup) { return func(s *setup) { s.Access &^= a } }
	pad := func(n int) func(wire.Packet) wire.Packet {
		return func(p wire.Packet) wire.Packet {
			p.BTH().SetPadCount(n)
			return p
		}
	}
	around := func(p wire.Packet) wire.Packet {
		wire.RETH(p.View(wire.HdrRETH)).SetVA(^uint64(0) - 1023)
		return p
	}
	first := msg{op: wire.OpSendFirst, payload: data(full, 1)}
	firstWrite := msg{op: wire.OpWriteFirst, payload: data(full, 1), size: 2 * full}
	for _, tc := range []struct {
		name   string
		before *msg
		m      msg
		code   uint8
		setup  func(s *setup)
	}{
		{name: "SEND MIDDLE without FIRST", m: msg{op: wire.OpSendMiddle, payload: data(full, 1)}, code: inv},
		{name: "SEND LAST without FIRST", m: msg{op: wire.OpSendLast, payload: data(4, 1)}, code: inv},
		{name: "SEND LAST with immediate without FIRST", m: msg{op: wire.OpSendLastImmediate, payload: data(4, 1)}, code: inv},
		{name: "WRITE MIDDLE without FIRST", m: msg{op: wire.OpWriteMiddle, payload: data(full, 1)}, code: inv},
		{name: "WRITE LAST without FIRST", m: msg{op: wire.OpWriteLast, payload: data(4, 1)}, code: inv},
		{name: "SEND FIRST in a message", before: &first, m: msg{op: wire.OpSendFirst, payload: data(full, 1)}, code: inv},
		{name: "SEND ONLY in a message", before: &first, m: msg{op: wire.OpSendOnly, payload: data(4, 1)}, code: inv},
		{name: "WRITE ONLY in a WRITE", before: &firstWrite, m: msg{op: wire.OpWriteOnly, payload: data(4, 1)}, code: inv},
		{name: "WRITE MIDDLE in a SEND", before: &first, m: msg{op: wire.OpWriteMiddle, payload: data(full, 1)}, code: inv},
		{name: "SEND LAST in a WRITE", before: &firstWrite, m: msg{op: wire.OpSendLast, payload: data(4, 1)}, code: inv},
		{name: "READ in a SEND", before: &first, m: msg{op: wire.OpReadRequest, size: 4}, code: inv},
		{name: "CMP_SWAP in a WRITE", before: &firstWrite, m: msg{op: wire.OpCompareSwap}, code: inv},
		{name: "FLUSH in a WRITE", before: &firstWrite, m: msg{op: wire.OpFlush, plt: 1, size: 4}, code: inv},
		{name: "unknown operation", m: msg{op: 0x18}, code: inv},
		{name: "RESYNC", m: msg{op: wire.OpResync}, code: inv},

		{name: "FIRST too short", m: msg{op: wire.OpSendFirst, payload: data(full-4, 1)}, code: inv},
		{name: "FIRST too long", m: msg{op: wire.OpSendFirst, payload: data(full+4, 1)}, code: inv},
		{name: "MIDDLE too long", before: &first, m: msg{op: wire.OpSendMiddle, payload: data(2*full, 1)}, code: inv},
		{name: "FIRST with a pad", m: msg{op: wire.OpSendFirst, payload: data(full, 1), change: pad(1)}, code: inv},
		{name: "not padded to four bytes", m: msg{op: wire.OpSendOnly, payload: data(8, 1), change: func(p wire.Packet) wire.Packet { return p[:len(p)-2] }}, code: inv},
		{name: "READ with payload", m: msg{op: wire.OpReadRequest, size: 4, payload: data(4, 1)}, code: inv},
		{name: "READ with a pad", m: msg{op: wire.OpReadRequest, size: 4, payload: data(4, 1), change: pad(3)}, code: inv},
		{name: "atomic with payload", m: msg{op: wire.OpFetchAdd, payload: data(8, 1)}, code: inv},
		{name: "FLUSH with payload", m: msg{op: wire.OpFlush, plt: 1, size: 4, payload: data(4, 1)}, code: inv},
		{name: "LAST of nothing", before: &first, m: msg{op: wire.OpSendLast}, code: inv},
		{name: "LAST too long", before: &first, m: msg{op: wire.OpSendLast, payload: data(full+4, 1)}, code: inv},
		{name: "ONLY too long", m: msg{op: wire.OpSendOnly, payload: data(full+4, 1)}, code: inv},
		{name: "WRITE LAST of nothing", before: &firstWrite, m: msg{op: wire.OpWriteLast}, code: inv},
		{name: "WRITE ends short", before: &firstWrite, m: msg{op: wire.OpWriteLast, payload: data(full-4, 1)}, code: inv},
		{name: "WRITE ends late", before: &firstWrite, m: msg{op: wire.OpWriteMiddle, payload: data(full, 1)}, code: inv},
		{name: "WRITE ONLY shorter than RETH", m: msg{op: wire.OpWriteOnly, payload: data(60, 1), size: 64}, code: inv},
		{name: "WRITE ONLY longer than RETH", m: msg{op: wire.OpWriteOnly, payload: data(68, 1), size: 64}, code: inv},
		{name: "WRITE over 2^31", m: msg{op: wire.OpWriteFirst, payload: data(full, 1), size: 1<<31 + 1}, code: inv},
		{name: "WRITE of 2^32-1", m: msg{op: wire.OpWriteFirst, payload: data(full, 1), size: 1<<32 - 1}, code: inv},
		{name: "READ over 2^31", m: msg{op: wire.OpReadRequest, size: 1<<31 + 1}, code: inv},
		{name: "ATOMIC WRITE of 4 bytes", m: msg{op: wire.OpAtomicWrite, payload: data(4, 1)}, code: inv},
		{name: "ATOMIC WRITE of no bytes", m: msg{op: wire.OpAtomicWrite}, code: inv},
		{name: "ATOMIC WRITE of 16 bytes", m: msg{op: wire.OpAtomicWrite, payload: data(16, 1)}, code: inv},
		{name: "ATOMIC WRITE, RETH of 4", m: msg{op: wire.OpAtomicWrite, payload: data(8, 1), size: 4}, code: inv},
		{name: "ATOMIC WRITE misaligned", m: msg{op: wire.OpAtomicWrite, payload: data(8, 1), va: 4}, code: inv},
		{name: "atomic misaligned by 1", m: msg{op: wire.OpFetchAdd, va: 1}, code: inv},
		{name: "atomic misaligned by 2", m: msg{op: wire.OpFetchAdd, va: 2}, code: inv},
		{name: "atomic misaligned by 4", m: msg{op: wire.OpCompareSwap, va: 4}, code: inv},
		{name: "FLUSH of a reserved selectivity", m: msg{op: wire.OpFlush, plt: 1, sel: 2, size: 4}, code: inv},
		{name: "FLUSH for nothing", m: msg{op: wire.OpFlush, size: 4}, code: inv},

		{name: "QP without WRITE", m: msg{op: wire.OpWriteOnly, payload: data(4, 1)}, code: inv, setup: without(mr.RemoteWrite)},
		{name: "QP without READ", m: msg{op: wire.OpReadRequest, size: 4}, code: inv, setup: without(mr.RemoteRead)},
		{name: "QP without atomics", m: msg{op: wire.OpFetchAdd}, code: inv, setup: without(mr.RemoteAtomic)},
		{name: "QP without FLUSH", m: msg{op: wire.OpFlush, plt: 1, size: 4}, code: inv, setup: without(mr.FlushGlobal)},
		{name: "ATOMIC WRITE, QP without WRITE", m: msg{op: wire.OpAtomicWrite, payload: data(8, 1)}, code: inv, setup: without(mr.RemoteWrite)},
		{name: "READ, depth 0", m: msg{op: wire.OpReadRequest, size: 4}, code: inv, setup: func(s *setup) { s.MaxDestRdAtomic = 0 }},
		{name: "atomic, depth 0", m: msg{op: wire.OpFetchAdd}, code: inv, setup: func(s *setup) { s.MaxDestRdAtomic = 0 }},

		{name: "WRITE, unknown key", m: msg{op: wire.OpWriteOnly, payload: data(4, 1), rkey: 0xFFFFFFFF}, code: access},
		{name: "WRITE below the region", m: msg{op: wire.OpWriteOnly, payload: data(4, 1), va: ^uint64(0)}, code: access},
		{name: "WRITE beyond the region", m: msg{op: wire.OpWriteOnly, payload: data(4, 1), va: 8189}, code: access},
		{name: "WRITE FIRST, whole beyond the region", m: msg{op: wire.OpWriteFirst, payload: data(full, 1), size: 8193}, code: access},
		{name: "WRITE around 2^64", m: msg{op: wire.OpWriteFirst, payload: data(full, 1), size: 2048, change: around}, code: access},
		{name: "READ, unknown key", m: msg{op: wire.OpReadRequest, size: 4, rkey: 0xFFFFFFFF}, code: access},
		{name: "READ beyond the region", m: msg{op: wire.OpReadRequest, size: 8193}, code: access},
		{name: "READ of 2^31", m: msg{op: wire.OpReadRequest, size: 1 << 31}, code: access},
		{name: "READ around 2^64", m: msg{op: wire.OpReadRequest, size: 2048, change: around}, code: access},
		{name: "atomic, unknown key", m: msg{op: wire.OpFetchAdd, rkey: 0xFFFFFFFF}, code: access},
		{name: "atomic beyond the region", m: msg{op: wire.OpFetchAdd, va: 8192}, code: access},
		{name: "FLUSH, unknown key, no bytes", m: msg{op: wire.OpFlush, rkey: 0xFFFFFFFF, plt: 1}, code: access},
		{name: "FLUSH beyond the region", m: msg{op: wire.OpFlush, size: 8193, plt: 1}, code: access},
		{name: "FLUSH to persistence", m: msg{op: wire.OpFlush, size: 8, plt: 2}, code: access, setup: func(s *setup) { s.Access |= mr.FlushPersistent }},
		{name: "FLUSH whole, unknown key", m: msg{op: wire.OpFlush, rkey: 0xFFFFFFFF, sel: 1, plt: 1}, code: access},
		{name: "ATOMIC WRITE, unknown key", m: msg{op: wire.OpAtomicWrite, payload: data(8, 1), rkey: 0xFFFFFFFF}, code: access},
	} {
		t.Run(tc.name, func(t *testing.T) {
			rt := newResponderTest(t, tc.setup)
			rt.post(1, 0, 4096)
			rt.post(2, 0, 4096)
			var before []byte
			if tc.before != nil {
				rt.get(*tc.before)
				tc.m.psn++
			}
			before = slices.Clone(rt.remote.mem)
			rt.get(tc.m)
			rt.wantFatal(tc.code, tc.m.psn, 0)
			rt.wantBytes(rt.remote, 0, before)
			rt.wantCompletion(Completion{ID: 1, Status: FlushError})
			rt.wantCompletion(Completion{ID: 2, Status: FlushError})
			rt.wantNoCompletion()
			rt.step("nothing more is answered or executed")
			rt.get(tc.m)
			rt.get(msg{op: wire.OpWriteOnly, psn: tc.m.psn + 1, payload: data(4, 9), ack: true})
			rt.wantSilence()
			rt.wantBytes(rt.remote, 0, before)
		})
	}
}
