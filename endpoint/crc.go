package endpoint

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

const opcodeFlush = wire.BaseRC + wire.OpFlush

// doubled computes the ICRC that Linux rxe gives FLUSH requests: its transport
// headers are summed a second time, unmasked, because the payload that it sums
// after the headers begins at the BTH for a packet that has none (rxe_icrc_hdr
// and rxe_icrc_generate in drivers/infiniband/sw/rxe/rxe_icrc.c).
type doubled struct {
	scratch []byte
}

// sum is for a packet without ICRC whose BTH is at so many bytes.
func (d *doubled) sum(h *icrc.Hasher, form icrc.Form, packet []byte, bth int) uint32 {
	d.scratch = append(append(d.scratch[:0], packet...), packet[bth:]...)
	return h.Sum(form, d.scratch)
}

// checker says whether received packets' ICRCs are to be accepted.
type checker struct {
	policy ICRC
	hasher icrc.Hasher
	sum    doubled
}

func (c *checker) accepts(f *wire.Frame) bool {
	if c.policy == AnyICRC {
		return true
	}
	verdict, _, received := c.hasher.Judge(f)
	if verdict == icrc.Good || c.policy != RxeFlushICRC {
		return verdict == icrc.Good
	}
	if op, _ := f.Opcode(); verdict != icrc.Bad || op != opcodeFlush {
		return false
	}
	form := icrc.RoCEv2IPv4
	if f.L4-f.Net == wire.IPv6Len {
		form = icrc.RoCEv2IPv6
	}
	return c.sum.sum(&c.hasher, form, f.Data[f.Net:f.ICRC], f.BTH-f.Net) == received
}
