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
	ack := func(psn int) crafted {
		return crafted{op: wire.OpAcknowledge, psn: psn, set: nak("0x1f")}
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
			only(1), ack(1), only(2), {op: wire.OpReadResponseOnly, psn: 2, payload: 8},
		}, ResponseUnasked, 4},
		{"a request long after a fatal NAK", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: nak("0x62")}, {op: wire.OpSendOnly, psn: 2, payload: 8, after: time.Second},
		}, AfterFatal, 3},
		{"a request that was on its way", []crafted{
			only(1), {op: wire.OpAcknowledge, psn: 1, set: nak("0x62")}, only(2),
		}, Kinds, 0},
		{"an acknowledgement long after a fatal NAK", []crafted{
			only(1), only(2), {op: wire.OpAcknowledge, psn: 1, set: nak("0x61")}, {op: wire.OpAcknowledge, psn: 2, set: nak("0x1f"), after: time.Second},
		}, AfterFatal, 4},
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
