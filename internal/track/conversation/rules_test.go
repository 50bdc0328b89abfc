package conversation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/wire"
)

// bthAt is where the BTH lies in a RoCEv2 frame over IPv4.
const bthAt = wire.EthernetLen + wire.IPv4MinLen + wire.UDPLen

// crafted is one packet of a conversation that is made to break a rule.
type crafted struct {
	op      wire.Opcode
	psn     int
	payload int
	set     []string       // field, value, field, value
	raw     func(b []byte) // changes the BTH
	after   time.Duration  // 1 us if 0
	trust   Trust
}

// play lets a tracker see packets: requests to QP 0x12, answers to QP 0x11.
func play(t *testing.T, list []crafted) (told []Event) {
	t.Helper()
	track := NewTracker(DefaultLimits())
	track.Report = func(_ *Conversation, _ int, e Event) { told = append(told, e) }
	now := int64(0)
	for i, c := range list {
		r, err := craft.NewRecipe("rocev2", c.op)
		if err != nil {
			t.Fatal(err)
		}
		set := []string{"infiniband.bth.psn", fmt.Sprint(c.psn), "infiniband.bth.destqp", "0x12"}
		if c.op.Info().Response {
			set = []string{"infiniband.bth.psn", fmt.Sprint(c.psn), "infiniband.bth.destqp", "0x11", "ip.src", "192.0.2.2", "ip.dst", "192.0.2.1"}
		}
		set = append(set, c.set...)
		for j := 0; j < len(set); j += 2 {
			if err := r.Put(set[j], set[j+1]); err != nil {
				t.Fatal(err)
			}
		}
		r.Payload = make([]byte, c.payload)
		img, err := craft.Build(r)
		if err != nil {
			t.Fatal(err)
		}
		if c.raw != nil {
			c.raw(img.Data[bthAt:])
		}
		now += max(int64(c.after), 1000)
		var f wire.Frame
		f.Parse(r.Link, img.Data, img.WireLen)
		p := Packet{Number: i + 1, Time: now, Trust: c.trust}
		if !p.Read(&f) {
			t.Fatalf("packet %d is not read", i+1)
		}
		p.Mistake = "one"
		track.Packet(&p)
	}
	track.Finish()
	return told
}

func TestWhatBreaksARuleIsNamed(t *testing.T) {
	length := func(n string) []string { return []string{"infiniband.reth.dmalen", n} }
	nak := func(code string) []string { return []string{"infiniband.aeth.syndrome", code} }
	only := func(psn int) crafted { return crafted{op: wire.OpSendOnly, psn: psn, payload: 8} }
	// Messages are numbered as their PSNs are.
	counts := func(msn int) []string {
		return []string{"infiniband.aeth.syndrome", "0x1f", "infiniband.aeth.msn", fmt.Sprint(msn)}
	}
	ack := func(psn int) crafted { return crafted{op: wire.OpAcknowledge, psn: psn, set: counts(psn)} }
	credits := func(psn int, code string) crafted {
		return crafted{op: wire.OpAcknowledge, psn: psn, set: append(counts(psn), nak(code)...)}
	}
	later := func(c crafted, after time.Duration) crafted { c.after = after; return c }
	const datagram = wire.BaseUD + wire.OpSendOnly
	// The other way round: the responder asks, and the requester answers.
	back := crafted{op: wire.OpSendOnly, psn: 500, set: []string{"infiniband.bth.destqp", "0x11", "ip.src", "192.0.2.2", "ip.dst", "192.0.2.1"}}
	answer := crafted{op: wire.OpAcknowledge, psn: 500, set: append(counts(1), "infiniband.bth.destqp", "0x12", "ip.src", "192.0.2.1", "ip.dst", "192.0.2.2")}
	rnr := crafted{op: wire.OpAcknowledge, psn: 1, set: nak("0x21")} // 10 us
	retry := crafted{op: wire.OpSendOnly, psn: 1, payload: 8, after: 20 * time.Microsecond}
	silent := func(psn int) crafted {
		c := only(psn)
		c.raw = func(b []byte) { wire.BTH(b).SetAckReq(false) }
		return c
	}
	for _, test := range []struct {
		name   string
		list   []crafted
		kind   Kind // Kinds: nothing
		packet int
	}{
		{"a right WRITE", []crafted{
			{op: wire.OpWriteFirst, psn: 1, payload: 1024, set: length("2049")},
			{op: wire.OpWriteMiddle, psn: 2, payload: 1024},
			{op: wire.OpWriteLast, psn: 3, payload: 1},
		}, Kinds, 0},
		{"FIRST is no path MTU", []crafted{{op: wire.OpSendFirst, psn: 1, payload: 1000}}, SizeWrong, 1},
		{"MIDDLE is not the path MTU", []crafted{
			{op: wire.OpSendFirst, psn: 1, payload: 1024}, {op: wire.OpSendMiddle, psn: 2, payload: 512},
		}, SizeWrong, 2},
		{"LAST is empty", []crafted{
			{op: wire.OpSendFirst, psn: 1, payload: 256}, {op: wire.OpSendLast, psn: 2},
		}, SizeWrong, 2},
		{"LAST is longer than the path MTU", []crafted{
			{op: wire.OpSendFirst, psn: 1, payload: 256}, {op: wire.OpSendLast, psn: 2, payload: 257},
		}, SizeWrong, 2},
		{"an ONLY is longer than any path MTU", []crafted{{op: wire.OpSendOnly, psn: 1, payload: 4097}}, SizeWrong, 1},
		{"a READ response is no path MTU", []crafted{
			{op: wire.OpReadRequest, psn: 1, set: length("2048")}, {op: wire.OpReadResponseFirst, psn: 1, payload: 1000},
		}, SizeWrong, 2},
		{"a WRITE is shorter than its RETH says", []crafted{
			{op: wire.OpWriteFirst, psn: 1, payload: 256, set: length("300")}, {op: wire.OpWriteLast, psn: 2, payload: 43},
		}, LengthWrong, 2},
		{"a WRITE goes on beyond what its RETH says", []crafted{
			{op: wire.OpWriteFirst, psn: 1, payload: 256, set: length("300")}, {op: wire.OpWriteMiddle, psn: 2, payload: 256},
		}, LengthWrong, 2},
		{"an ONLY is longer than its RETH says", []crafted{{op: wire.OpWriteOnly, psn: 1, payload: 8, set: length("7")}}, LengthWrong, 1},
		{"MIDDLE without FIRST", []crafted{only(1), {op: wire.OpSendMiddle, psn: 2, payload: 256}}, OpcodeOrder, 2},
		{"a message within a message", []crafted{{op: wire.OpSendFirst, psn: 1, payload: 256}, only(2)}, OpcodeOrder, 2},
		{"a SEND goes on as a WRITE", []crafted{
			{op: wire.OpSendFirst, psn: 1, payload: 256}, {op: wire.OpWriteLast, psn: 2, payload: 8},
		}, OpcodeOrder, 2},
		{"the first that is captured is a MIDDLE", []crafted{{op: wire.OpSendMiddle, psn: 2, payload: 256}}, Kinds, 0},
		{"reserved bits beside BECN", []crafted{{op: wire.OpSendOnly, psn: 1, raw: func(b []byte) { b[4] |= 1 }}}, ReservedBits, 1},
		{"reserved bits beside AckReq", []crafted{{op: wire.OpSendOnly, psn: 1, raw: func(b []byte) { b[8] |= 0x40 }}}, ReservedBits, 1},
		{"FECN, BECN and AckReq are not reserved", []crafted{{op: wire.OpSendOnly, psn: 1, raw: func(b []byte) { b[4] |= 0xC0; b[8] |= 0x80 }}}, Kinds, 0},
		{"another version", []crafted{{op: wire.OpSendOnly, psn: 1, raw: func(b []byte) { wire.BTH(b).SetTVer(1) }}}, VersionUnknown, 1},
		{"another P_Key", []crafted{only(1), {op: wire.OpSendOnly, psn: 2, raw: func(b []byte) { wire.BTH(b).SetPKey(0x8001) }}}, PKeyChanged, 2},
		{"another migration state", []crafted{
			only(1), {op: wire.OpSendOnly, psn: 2, raw: func(b []byte) { h := wire.BTH(b); h.SetMigReq(!h.MigReq()) }},
		}, MigReqChanged, 2},
		{"an acknowledgement of what never comes", []crafted{only(1), ack(1), only(2), ack(3)}, AckBeyond, 4},
		{"a READ response to a SEND", []crafted{
			only(1), ack(1), only(2), {op: wire.OpReadResponseOnly, psn: 2, payload: 8, set: counts(2)},
		}, ResponseUnasked, 4},
		{"a request long after a fatal NAK", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: nak("0x62")}, {op: wire.OpSendOnly, psn: 2, payload: 8, after: time.Second},
		}, AfterFatal, 3},
		{"a request that was on its way", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: nak("0x62")}, only(2),
		}, Kinds, 0},
		{"an acknowledgement long after a fatal NAK", []crafted{
			only(1), only(2), {op: wire.OpAcknowledge, psn: 1, set: nak("0x61")}, later(ack(2), time.Second),
		}, AfterFatal, 4},
		{"a request within the time of the other end's answers after a fatal NAK", []crafted{
			only(1), ack(1), back, later(answer, 5*time.Millisecond),
			only(2),
			{op: wire.OpAcknowledge, psn: 2, set: append(counts(1), nak("0x62")...)},
			later(only(3), 6*time.Millisecond),
		}, Kinds, 0},
		{"a request after twice that time", []crafted{
			only(1), ack(1), back, later(answer, 5*time.Millisecond),
			only(2),
			{op: wire.OpAcknowledge, psn: 2, set: append(counts(1), nak("0x62")...)},
			later(only(3), 40*time.Millisecond),
		}, AfterFatal, 7},
		{"an acknowledgement behind a fatal NAK, after more than the answers' time", []crafted{
			only(1), ack(1), only(2), only(3), {op: wire.OpAcknowledge, psn: 2, set: append(counts(1), nak("0x61")...)}, later(ack(3), 100*time.Microsecond),
		}, AfterFatal, 6},
		{"a pad count beyond the payload", []crafted{{op: wire.OpSendOnly, psn: 1, raw: func(b []byte) { b[1] |= 0x30 }}}, PadWrong, 1},
		{"a FIRST with pad bytes", []crafted{{op: wire.OpSendFirst, psn: 1, payload: 256, raw: func(b []byte) { b[1] |= 0x10 }}}, PadWrong, 1},
		{"an acknowledgement with a pad count", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: counts(1), raw: func(b []byte) { b[1] |= 0x10 }},
		}, PadWrong, 2},
		{"pad bytes that are 0", []crafted{{op: wire.OpSendOnly, psn: 1, payload: 7}}, Kinds, 0},
		{"pad bytes that are not 0", []crafted{{op: wire.OpSendOnly, psn: 1, payload: 7, raw: func(b []byte) { b[wire.BTHLen+7] = 0xA5 }}}, PadSet, 1},
		{"another Q_Key to a queue pair", []crafted{
			{op: datagram, payload: 8}, {op: datagram, payload: 8, set: []string{"infiniband.deth.q_key", "0x22"}},
		}, QKeyChanged, 2},
		{"another Q_Key to another queue pair", []crafted{
			{op: datagram, payload: 8}, {op: datagram, payload: 8, set: []string{"infiniband.deth.q_key", "0x22", "infiniband.bth.destqp", "0x13"}},
		}, Kinds, 0},
		{"another Q_Key than QP 1 has", []crafted{{op: datagram, payload: 8, set: []string{"infiniband.bth.destqp", "1", "infiniband.deth.q_key", "0x11111111"}}}, QKeyQP1, 1},
		{"another partition to a datagram's queue pair", []crafted{
			{op: datagram, payload: 8}, {op: datagram, payload: 8, set: []string{"infiniband.bth.p_key", "0x8001"}},
		}, PKeyChanged, 2},
		{"a full and a limited member to a datagram's queue pair", []crafted{
			{op: datagram, payload: 8}, {op: datagram, payload: 8, set: []string{"infiniband.bth.p_key", "0x7fff"}},
		}, Kinds, 0},
		{"reserved bits of a datagram", []crafted{{op: datagram, payload: 8, raw: func(b []byte) { b[4] |= 1 }}}, ReservedBits, 1},
		{"another version of UC", []crafted{{op: wire.BaseUC + wire.OpSendOnly, psn: 1, raw: func(b []byte) { wire.BTH(b).SetTVer(1) }}}, VersionUnknown, 1},
		{"another P_Key of XRC", []crafted{
			{op: wire.BaseXRC + wire.OpSendOnly, psn: 1}, {op: wire.BaseXRC + wire.OpSendOnly, psn: 2, raw: func(b []byte) { wire.BTH(b).SetPKey(0x8001) }},
		}, PKeyChanged, 2},
		{"another P_Key of an answer", []crafted{
			only(1), ack(1), only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(2), raw: func(b []byte) { wire.BTH(b).SetPKey(0x8001) }},
		}, PKeyChanged, 4},
		{"a timeout of a requester that never asks", []crafted{silent(1), later(silent(1), time.Second)}, AckReqNever, 2},
		{"a timeout of a requester that asks", []crafted{only(1), later(only(1), time.Second)}, Kinds, 0},
		{"an acknowledgement of long ago", []crafted{
			only(1), ack(1), only(2), ack(2), only(3), ack(3), later(only(4), time.Second), ack(4), later(only(5), time.Second), ack(5), ack(1),
		}, AckGhost, 11},
		{"an acknowledgement of the one before", []crafted{
			only(1), ack(1), only(2), ack(2), only(3), ack(3), later(only(4), time.Second), ack(4), later(only(5), time.Second), ack(4), ack(5),
		}, Kinds, 0},
		{"an acknowledgement of a request of long ago that came again", []crafted{
			only(1), ack(1), only(2), ack(2), only(3), ack(3), later(only(4), time.Second), ack(4), later(only(5), time.Second), ack(5), only(1), ack(1),
		}, Kinds, 0},
		{"an MSN that goes back", []crafted{
			only(1), ack(1), only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(0)},
		}, MSNRegress, 4},
		{"an MSN that runs over", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: counts(0xFFFFFF)}, only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(0)},
		}, Kinds, 0},
		{"an MSN that counts more than was sent", []crafted{
			only(1), ack(1), only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(3)},
		}, MSNWrong, 4},
		{"an MSN that counts less than is acknowledged", []crafted{
			only(1), ack(1), only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(1)},
		}, MSNWrong, 4},
		{"an MSN behind a message that was not captured", []crafted{
			only(1), ack(1), only(3), ack(3), only(4), ack(4),
		}, Kinds, 0},
		{"a SEND beyond the credits", []crafted{only(1), credits(1, "0"), only(2), only(3)}, CreditBeyond, 4},
		{"a SEND within the credits", []crafted{only(1), credits(1, "1"), only(2), only(3)}, Kinds, 0},
		{"a WRITE needs no credit", []crafted{
			only(1), credits(1, "0"), only(2), {op: wire.OpWriteOnly, psn: 3, payload: 8, set: length("8")},
		}, Kinds, 0},
		{"a WRITE with immediate needs one", []crafted{
			only(1), credits(1, "0"), only(2), {op: wire.OpWriteOnlyImmediate, psn: 3, payload: 8, set: length("8")},
		}, CreditBeyond, 4},
		{"a SEND behind WRITEs that use no credit", []crafted{
			only(1), credits(1, "1"),
			{op: wire.OpWriteOnly, psn: 2, payload: 8, set: length("8")},
			{op: wire.OpWriteOnly, psn: 3, payload: 8, set: length("8")},
			only(4), only(5),
		}, Kinds, 0},
		{"one more SEND behind them", []crafted{
			only(1), credits(1, "1"), {op: wire.OpWriteOnly, psn: 2, payload: 8, set: length("8")}, only(3), only(4), only(5),
		}, CreditBeyond, 6},
		{"a SEND within credits that were told before a message was missed", []crafted{
			only(1), credits(1, "3"), only(2), only(4), credits(4, "0"), only(5), only(6), only(7), only(8),
		}, Kinds, 0},
		{"an MSN that is lower in an acknowledgement of the same PSN", []crafted{
			only(1), ack(1), only(2), ack(2), {op: wire.OpAcknowledge, psn: 2, set: counts(1)},
		}, MSNRegress, 5},
		{"an MSN that is wrong once", []crafted{
			only(1), ack(1), only(2), {op: wire.OpAcknowledge, psn: 2, set: counts(7)}, only(3), ack(3), only(4), ack(4),
		}, MSNWrong, 4},
		{"a READ response to a SEND that is acknowledged", []crafted{
			only(1), ack(1), only(2), ack(2), {op: wire.OpReadResponseOnly, psn: 2, payload: 8, set: counts(2)},
		}, ResponseUnasked, 5},
		{"a READ response that ends too soon", []crafted{
			{op: wire.OpReadRequest, psn: 1, set: length("3000")},
			{op: wire.OpReadResponseFirst, psn: 1, payload: 1024, set: counts(1)},
			{op: wire.OpReadResponseLast, psn: 2, payload: 952, set: counts(1)},
		}, OpcodeOrder, 3},
		{"a READ response that is too short", []crafted{
			{op: wire.OpReadRequest, psn: 1, set: length("2000")},
			{op: wire.OpReadResponseFirst, psn: 1, payload: 1024, set: counts(1)},
			{op: wire.OpReadResponseLast, psn: 2, payload: 900, set: counts(1)},
		}, LengthWrong, 3},
		{"a READ response that is as long as asked", []crafted{
			{op: wire.OpReadRequest, psn: 1, set: length("2000")},
			{op: wire.OpReadResponseFirst, psn: 1, payload: 1024, set: counts(1)},
			{op: wire.OpReadResponseLast, psn: 2, payload: 976, set: counts(1)},
		}, Kinds, 0},
		{"an acknowledgement of what is sent later", []crafted{only(1), ack(1), ack(3), only(2), only(3), ack(3)}, Kinds, 0},
		{"an acknowledgement of what nothing reaches", []crafted{only(1), ack(1), ack(9), only(2), ack(2)}, AckBeyond, 3},
		{"a NAK of what nothing reaches", []crafted{only(1), ack(1), {op: wire.OpAcknowledge, psn: 90, set: nak("0x60")}, only(2), ack(2)}, AckBeyond, 3},
		{"a reserved opcode", []crafted{only(1), {op: wire.OpSendOnly, psn: 2, payload: 8, raw: func(b []byte) { b[0] = 0x1F }}}, UnknownOpcode, 2},
		{"a manufacturer's opcode", []crafted{only(1), {op: wire.OpSendOnly, psn: 2, payload: 8, raw: func(b []byte) { b[0] = 0xC5 }}}, Kinds, 0},
		{"a SEND beyond credits that are told no longer", []crafted{
			only(1), credits(1, "0"), only(2), ack(2), only(3), only(4), only(5),
		}, Kinds, 0},
		{"a message that is refused five times", []crafted{only(1), rnr, retry, rnr, retry, rnr, retry, rnr, retry, rnr}, RNRStorm, 10},
		{"a message that is refused four times", []crafted{only(1), rnr, retry, rnr, retry, rnr, retry, rnr, retry, ack(1)}, Kinds, 0},
		{"a retry long after an RNR NAK", []crafted{only(1), rnr, later(retry, time.Second), ack(1)}, RNRLate, 3},
		{"a retry soon after an RNR NAK", []crafted{only(1), rnr, later(retry, time.Millisecond), ack(1)}, Kinds, 0},
		{"an ICRC that a mistake explains", []crafted{{op: wire.OpSendOnly, psn: 1, trust: Mistaken}}, IcrcMistake, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, e := range play(t, test.list) {
				if e.Kind >= IcrcMistake {
					got = append(got, fmt.Sprint(e.Kind, " ", e.Packet))
				}
			}
			var want []string
			if test.kind != Kinds {
				want = []string{fmt.Sprint(test.kind, " ", test.packet)}
			}
			if !slices.Equal(got, want) {
				t.Errorf("told %v, want %v", got, want)
			}
		})
	}
}

func TestThePadCountFitsThePayload(t *testing.T) {
	for _, test := range []struct {
		payload, pad int
		place        wire.Place
		problems     wire.Problem
		wrong        bool
	}{
		{0, 0, wire.PlaceOnly, 0, false},
		{5, 3, wire.PlaceLast, 0, false},
		{256, 0, wire.PlaceMiddle, 0, false},
		{7, 0, wire.PlaceOnly, 0, true},
		{7, 2, wire.PlaceOnly, 0, true},
		{255, 1, wire.PlaceFirst, 0, true},
		{255, 1, wire.PlaceMiddle, 0, true},
		{0, 0, wire.PlaceOnly, wire.ProblemPad, true},
	} {
		f := wire.Frame{PayloadLen: test.payload, Pad: test.pad, Problems: test.problems}
		if got := padOf(&f, test.place); got != test.wrong {
			t.Errorf("%+v: wrong is %v", test, got)
		}
	}
}
