package fault

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/wire"
)

// fate is what becomes of one frame.
type fate struct {
	rules   []int // that act on it
	data    []byte
	drop    bool
	copies  int
	delay   time.Duration
	reorder int
	answers []Out
	// spoiled says that a rule has left the ICRC wrong, which no later one is to
	// undo.
	spoiled bool
}

func label(i int, name string) string {
	if name == "" {
		return "rule " + strconv.Itoa(i+1)
	}
	return name
}

// act does what the rules say and queues what comes of it.
func (e *Engine) act(fate *fate, now time.Time, p packet) {
	fate.data = bytes.Clone(p.Data)
	for _, i := range fate.rules {
		e.apply(fate, i, p)
	}
	note := e.Note()
	count := &e.traffic[p.direction]
	if fate.drop {
		count.Dropped++
	} else {
		at := now.Add(fate.delay)
		e.queue.add(item{out: Out{p.direction, fate.data, note}, at: at, after: fate.reorder})
		for range fate.copies {
			count.Injected++
			e.queue.add(item{out: Out{p.direction, bytes.Clone(fate.data), note}, at: at, after: fate.reorder})
		}
	}
	for _, a := range fate.answers {
		e.traffic[a.Direction].Injected++
		e.queue.add(item{out: a, at: now})
	}
}

func (e *Engine) apply(fate *fate, i int, p packet) {
	do := &e.rules[i].Do
	var done []string
	if do.changes() {
		done = append(done, e.change(fate, do)...)
	}
	if do.Drop {
		fate.drop = true
		done = append(done, "dropped")
	}
	if do.Duplicate > 0 {
		fate.copies += do.Duplicate
		done = append(done, fmt.Sprintf("duplicated %d times", do.Duplicate))
	}
	if do.Delay > 0 {
		fate.delay += do.Delay
		done = append(done, fmt.Sprintf("delayed by %v", do.Delay))
	}
	if do.Reorder > 0 {
		fate.reorder = max(fate.reorder, do.Reorder)
		done = append(done, fmt.Sprintf("held until %d have overtaken it", do.Reorder))
	}
	if do.Answer.Given {
		done = append(done, e.answer(fate, i, p))
	}
	e.log(i, strings.Join(done, ", "))
}

// change does a rule's changes to the copy of the frame. Earlier rules may have
// changed it, so that it is parsed anew.
func (e *Engine) change(fate *fate, do *Actions) (done []string) {
	f, data := &e.edited, fate.data
	f.Parse(wire.LinkEthernet, data, len(data))
	bth := wire.BTH(f.View(wire.HdrBTH))
	if do.CE && markCE(f) {
		done = append(done, "marked CE")
	}
	if do.FECN && len(bth) == wire.BTHLen {
		bth.SetFECN(true)
		done = append(done, "FECN set")
	}
	if do.BECN && len(bth) == wire.BTHLen {
		bth.SetBECN(true)
		done = append(done, "BECN set")
	}
	for i := range do.Set {
		done = append(done, "set "+do.Set[i].Name+do.Set[i].apply(f))
	}
	f.Parse(wire.LinkEthernet, data, len(data))
	switch {
	case fate.spoiled:
	case len(do.Set) > 0:
		e.seal(f)
	case do.FECN || do.BECN: // which the ICRC does not cover
		sealChecksums(f)
	}
	if do.Corrupt.Given {
		c := do.Corrupt.Value
		c.Seal = c.Seal && !fate.spoiled
		done = append(done, e.corrupt(f, c))
		fate.spoiled = !c.Seal
	}
	return done
}

func (e *Engine) corrupt(f *wire.Frame, c Corrupt) string {
	payload := f.PayloadBytes()
	if c.Byte >= len(payload) {
		return "no payload left to corrupt"
	}
	payload[c.Byte] ^= c.XOR
	what := fmt.Sprintf("payload byte %d xor 0x%02x, ICRC ", c.Byte, c.XOR)
	if !c.Seal {
		return what + "left wrong"
	}
	e.seal(f)
	return what + "made right"
}

// seal makes the ICRC of a changed frame right, if there is one and a rule says
// what it covers, and the checksums.
func (e *Engine) seal(f *wire.Frame) {
	_ = e.hasher.PatchFrame(f) // an error leaves the ICRC as it is
	sealChecksums(f)
}

// sealChecksums makes the checksums of IP, UDP and TCP right. A UDP checksum of
// 0 stays: the sender made none.
func sealChecksums(f *wire.Frame) {
	headers := f.Headers()
	for i := len(headers) - 1; i >= 0; i-- {
		h := f.Whole(headers[i])
		switch {
		case h == nil:
		case headers[i].ID == wire.HdrIPv4:
			wire.IPv4Header(h).SetChecksum(wire.IPv4Checksum(h))
		case headers[i].ID == wire.HdrUDP:
			udp, at := wire.UDP(h), int(headers[i].Off)
			src, dst := addressesBefore(f, i)
			if end := at + udp.Length(); udp.Checksum() != 0 && src != nil && udp.Length() >= wire.UDPLen && end <= len(f.Data) {
				udp.SetChecksum(wire.UDPChecksum(src, dst, f.Data[at:end]))
			}
		case headers[i].ID == wire.HdrTCP:
			src, dst := addressesBefore(f, i)
			if src != nil && f.End <= len(f.Data) {
				wire.TCP(h).SetChecksum(wire.TCPChecksum(src, dst, f.Data[headers[i].Off:f.End]))
			}
		}
	}
}

// addressesBefore are those of the IP header in front of header i.
func addressesBefore(f *wire.Frame, i int) (src, dst []byte) {
	for i--; i >= 0; i-- {
		h := f.Headers()[i]
		b := f.Whole(h)
		switch {
		case b == nil:
		case h.ID == wire.HdrIPv4:
			a := wire.IPv4Header(b).Addresses()
			return a[:4], a[4:]
		case h.ID == wire.HdrIPv6:
			a := wire.IPv6Header(b).Addresses()
			return a[:16], a[16:]
		}
	}
	return nil, nil
}

// network is the innermost whole header with an ECN field.
func (p packet) network() wire.Header { return networkOf(p.Frame) }

func networkOf(f *wire.Frame) wire.Header {
	headers := f.Headers()
	for i := len(headers) - 1; i >= 0; i-- {
		switch headers[i].ID {
		case wire.HdrIPv4, wire.HdrIPv6, wire.HdrGRH:
			if f.Whole(headers[i]) != nil {
				return headers[i]
			}
		}
	}
	return wire.Header{}
}

// markCE sets both ECN bits (RFC 3168, 5). The ICRC does not cover them, and an
// IPv4 checksum stays right or as wrong as it was: the sum changes by what the
// word does (RFC 1624, equation 3).
func markCE(f *wire.Frame) bool {
	h := networkOf(f)
	b := f.Bytes(h)
	switch h.ID {
	case wire.HdrIPv4:
		ip := wire.IPv4Header(b)
		before := ip.TOS()
		ip.SetECN(wire.ECNCE)
		sum := uint32(^ip.Checksum()) + uint32(^uint16(before)) + uint32(ip.TOS())
		sum = sum&0xFFFF + sum>>16
		sum = sum&0xFFFF + sum>>16
		ip.SetChecksum(^uint16(sum))
	case wire.HdrIPv6:
		wire.IPv6Header(b).SetECN(wire.ECNCE)
	case wire.HdrGRH:
		grh := wire.GRH(b)
		grh.SetTClass(grh.TClass() | wire.ECNCE)
	default:
		return false
	}
	return true
}

// find returns the innermost header that has the field, and the field; nil when
// none does.
func (s *Edit) find(f *wire.Frame) ([]byte, *wire.Field) {
	headers := f.Headers()
	for i := len(headers) - 1; i >= 0; i-- {
		for _, in := range s.In {
			if in.Header != headers[i].ID {
				continue
			}
			if h := f.Bytes(headers[i]); in.Field.Bits > 0 && in.Field.Present(h) {
				return h, in.Field
			}
		}
	}
	return nil, nil
}

// apply sets the field; the text says to what, or why not.
func (s *Edit) apply(f *wire.Frame) string {
	h, field := s.find(f)
	switch {
	case field == nil:
		return ": gone"
	case s.Raw != nil:
		copy(field.Raw(h), s.Raw)
		return fmt.Sprintf(" to %x", s.Raw)
	}
	field.SetValue(h, s.Num)
	return fmt.Sprintf(" to 0x%x", s.Num)
}
