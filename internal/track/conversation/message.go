package conversation

import (
	"github.com/rocecap/rocecap/internal/wire"
)

// Op is the kind of a message, as a work request has it.
type Op uint8

// The operations.
const (
	Send Op = iota
	Write
	Read
	Atomic
	AtomicWrite
	Flush
	Ops // how many there are
)

var opNames = [Ops]string{"SEND", "WRITE", "READ", "ATOMIC", "ATOMIC WRITE", "FLUSH"}

// String returns the operation's name.
func (o Op) String() string { return opNames[o] }

func opOf(op wire.Opcode) Op {
	switch op.Operation() {
	case wire.OpWriteFirst, wire.OpWriteMiddle, wire.OpWriteLast, wire.OpWriteLastImmediate, wire.OpWriteOnly, wire.OpWriteOnlyImmediate:
		return Write
	case wire.OpReadRequest:
		return Read
	case wire.OpCompareSwap, wire.OpFetchAdd:
		return Atomic
	case wire.OpAtomicWrite:
		return AtomicWrite
	case wire.OpFlush:
		return Flush
	}
	return Send
}

// answered reports whether the operation ends with a response of its own
// instead of an acknowledgement.
func (o Op) answered() bool { return o != Send && o != Write }

// message is one that is not complete yet, or not all before it are.
type message struct {
	first, end wire.PSN // end is one past the last PSN that is known
	op         Op
	headed     bool // its first packet was seen
	tailed     bool // its last packet was seen
	unsized    bool // a READ whose span is not known, for want of the path MTU or of its length
	again      bool // some of it was sent again
	partial    bool // some of it was not captured
	untimed    bool // when it was complete is not known
	done       bool
	packet     int   // its first packet
	time       int64 // of that
	lastTime   int64 // of the last packet
	bytes      int64
	got        int64 // payload of its response
	// What has a response of its own: the PSN behind what was seen of it, and
	// when the last of it came, if the requester may not have got all before.
	base     wire.PSN // where its response begins: at first, or where it was asked for again
	next     wire.PSN
	lack     wire.PSN // the first response that is missing
	lacking  int      // the packet that shows it, 0 when none is
	heard    wire.PSN // one past the last response that was seen at all
	answered bool
	answer   int64 // when the last of it was seen, 0 for never
	facts
}

// cut reports whether it is a READ whose length was not captured. One of no bytes
// has a span that is known.
func (m *message) cut() bool { return m.unsized && m.bytes == 0 }

// maxOpen bounds how many messages of a direction are followed at a time; the
// oldest is given up when there are more.
const maxOpen = 1024

// messages are those that are open, in the order of their PSNs, and what all of
// a direction have in common.
type messages struct {
	list   []message
	head   int
	volume volume
	asked  Asked
	reads  bool // some of them were READs
	calls  bool // some of them have a response of their own
}

func (l *messages) open() []message { return l.list[l.head:] }

// at returns the last message that begins at or before a PSN, -1 for none.
func (l *messages) at(psn wire.PSN) int {
	open := l.open()
	if last := len(open) - 1; last >= 0 && !psn.Less(open[last].first) {
		return last
	}
	low, high := 0, len(open)
	for low < high {
		if mid := (low + high) / 2; psn.Less(open[mid].first) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low - 1
}

// covering returns the message that a PSN belongs to, nil when it is not known.
func (l *messages) covering(psn wire.PSN) *message {
	i := l.at(psn)
	if i < 0 || !psn.Less(l.open()[i].end) {
		return nil
	}
	return &l.open()[i]
}

// add gives a packet that was not seen before its place in a message, and
// returns that message. The PSNs behind it may have been seen already.
func (l *messages) add(p *Packet, n int, sized bool) *message {
	info, op := p.Opcode.Info(), opOf(p.Opcode)
	i := l.at(p.PSN)
	if head := begins(info.Place); head || !l.extends(i, p) {
		i++
		l.insert(i, message{
			first: p.PSN, end: p.PSN, op: op, headed: head, unsized: !sized,
			packet: p.Number, time: p.Time, base: p.PSN, next: p.PSN, heard: p.PSN,
		})
		l.volume.messages++
		l.reads, l.calls = l.reads || op == Read, l.calls || op.answered()
	}
	m := &l.open()[i]
	m.end = p.PSN.Add(n)
	m.lastTime = p.Time
	m.tailed = m.tailed || ends(info.Place)
	m.take(p, info)
	l.asked.take(p, op, info)
	size := bytesOf(p, op)
	m.bytes += size
	if !m.done {
		l.volume.bytes += size
	}
	l.volume.payload += int64(p.Payload)
	l.join(i)
	return m
}

func bytesOf(p *Packet, op Op) int64 {
	switch op {
	case Read:
		return int64(p.DMALen)
	case Atomic:
		return atomicBytes
	}
	return int64(p.Payload)
}

// extends reports whether a MIDDLE or LAST packet goes on with message i.
func (l *messages) extends(i int, p *Packet) bool {
	if i < 0 {
		return false
	}
	m := &l.open()[i]
	return m.end == p.PSN && !m.tailed && m.op == opOf(p.Opcode)
}

// join makes one message of two when the packet between them has come.
func (l *messages) join(i int) {
	open := l.open()
	if i+1 >= len(open) {
		return
	}
	m, rest := &open[i], &open[i+1]
	if m.tailed || rest.headed || rest.first != m.end || rest.op != m.op {
		return
	}
	l.merge(i)
}

// merge makes one message of two pieces.
func (l *messages) merge(i int) {
	m, rest := &l.open()[i], &l.open()[i+1]
	l.volume.join(m, rest)
	m.facts.join(&rest.facts)
	m.end, m.tailed, m.lastTime = rest.end, rest.tailed, rest.lastTime
	m.bytes += rest.bytes
	m.again = m.again || rest.again
	m.partial = m.partial || rest.partial
	l.list = append(l.list[:l.head+i+1], l.list[l.head+i+2:]...)
}

func (l *messages) insert(i int, m message) {
	if l.head > 0 && len(l.list) == cap(l.list) {
		l.list = append(l.list[:0], l.list[l.head:]...)
		l.head = 0
	}
	if i == len(l.open()) {
		l.list = append(l.list, m)
		return
	}
	l.list = append(l.list, message{})
	open := l.open()
	copy(open[i+1:], open[i:])
	open[i] = m
}

// awaited returns the first message whose response the requester waits for.
func (l *messages) awaited() *message {
	open := l.open()
	for i := range open {
		if !open[i].done && open[i].op.answered() {
			return &open[i]
		}
	}
	return nil
}

// want is the response that the requester waits for, as far as it is known.
func (m *message) want() wire.PSN {
	switch {
	case m.lacking > 0:
		return m.lack
	case m.answered:
		return m.base
	}
	return m.next
}

// drop takes away the messages in front that are done.
func (l *messages) drop() {
	for l.head < len(l.list) && l.list[l.head].done {
		l.head++
	}
	if l.head == len(l.list) {
		l.list, l.head = l.list[:0], 0
	}
}
