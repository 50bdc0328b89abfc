package qp

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func TestXRCAndSharedReceiveQueuesKeepThePromise(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(c *Config, a *Attributes)
	}{
		{"XRC", func(c *Config, _ *Attributes) {
			c.Type = XRCSend
			if c.Number == 2 {
				srq := NewSRQ(loopSRQ, c.PD, 32, 2)
				c.Type, c.MaxSend, c.FindSRQ = XRCRecv, 0, func(uint32) *SRQ { return srq }
			}
		}},
		{"a shared receive queue", func(c *Config, _ *Attributes) { c.SRQ = NewSRQ(loopSRQ, c.PD, 32, 2) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := range uint64(loopSeeds) {
				t.Logf("seed %d", seed)
				l := newLoop(t, seed, loopNet{drop: 50, duplicate: 50, reorder: 50}, test.change)
				l.run(60)
			}
		})
	}
}

// What UC delivers is a part of what was sent, in order, each message whole.
func TestUCDeliversWholeMessagesInOrder(t *testing.T) {
	const n = 300
	for seed := range uint64(loopSeeds) {
		l := newLoop(t, seed, loopNet{drop: 100}, func(c *Config, _ *Attributes) { c.Type = UC })
		a, b := l.sides[0], l.sides[1]
		last, got, sent := -1, 0, 0
		l.tell = func(s *side, c Completion) {
			if c.Status != Success {
				t.Fatalf("%+v", c)
			}
			if s == a {
				sent++
				return
			}
			buf := b.mem[loopBuffers+int(c.ID)%loopSlots*loopSlot:]
			number := int(binary.BigEndian.Uint32(buf))
			if number <= last || !bytes.Equal(buf[:c.Bytes], ucMessage(number)) {
				t.Fatalf("seed %d: message %d of %d bytes behind message %d", seed, number, c.Bytes, last)
			}
			last = number
			got++
		}
		for i := range n {
			for b.recvs-b.taken() < 32 {
				l.receive(b)
			}
			message := ucMessage(i)
			copy(a.mem, message)
			l.check(a.q.PostSend(l.now, WorkRequest{ID: uint64(i), Op: Send, SGL: l.sgl(a, 0, len(message))}))
			l.send(a) // before the memory changes
			l.step()
		}
		for l.step() {
		}
		if sent != n || got < n/4 || got == n {
			t.Errorf("seed %d: %d of %d sent, %d received", seed, sent, n, got)
		}
	}
}

// ucMessage is message i: its number, and bytes and a length that follow from it.
func ucMessage(i int) []byte {
	m := binary.BigEndian.AppendUint32(nil, uint32(i))
	for len(m) < 4+i*37%1500 {
		m = append(m, byte(i+len(m)))
	}
	return m
}
