package roceinject

import (
	"fmt"
	"io"
	"strings"

	"github.com/rocecap/rocecap/internal/peer/perftest"
)

const perftestRule = "---------------------------------------------------------------------------------------\n"

const perftestWaiting = `
************************************
* Waiting for client to connect... *
************************************
`

// perftestPage prints what perftest's programs print, in their columns: there
// are scripts that read them.
type perftestPage struct {
	out    io.Writer
	device string
	test   *perftest.Test
	cm     bool
	quiet  bool
	err    error
}

func (p *perftestPage) printf(format string, args ...any) {
	if p.err == nil && !p.quiet {
		_, p.err = fmt.Fprintf(p.out, format, args...)
	}
}

// head prints what is known before the test.
func (p *perftestPage) head() {
	t := p.test
	p.printf(perftestRule)
	p.printf("                    %s\n", p.title())
	p.printf(" Dual-port       : OFF\t\tDevice         : %s\n", p.device)
	p.printf(" Number of qps   : %d\t\tTransport type : IB\n", t.QPs)
	p.printf(" Connection type : %s\t\tUsing SRQ      : OFF\n", t.Type)
	p.depths()
	p.printf(" Mtu             : %d[B]\n", t.MTU())
	p.printf(" Link type       : Ethernet\n")
	p.printf(" GID index       : %d\n", t.GID)
	if t.Verb == perftest.Read || t.Verb == perftest.Atomic {
		p.printf(" Outstand reads  : %d\n", t.OutReads)
	}
	if p.cm {
		p.printf(" rdma_cm QPs\t : ON\n Data ex. method : rdma_cm\n")
	} else {
		p.printf(" rdma_cm QPs\t : OFF\n Data ex. method : Ethernet\n")
	}
	p.printf(perftestRule)
	for _, d := range t.Local() {
		p.address("local", d)
	}
	for _, d := range t.Remote() {
		p.address("remote", d)
	}
	p.printf(perftestRule)
	switch {
	case p.answersAlone():
	case t.Latency:
		p.printf(" #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99%% percentile[usec]   99.9%% percentile[usec] \n")
	default:
		p.printf(" #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n")
	}
}

// answersAlone reports whether this side has nothing to measure, and so no table.
func (p *perftestPage) answersAlone() bool {
	t := p.test
	return t.Latency && !t.Client && (t.Verb == perftest.Read || t.Verb == perftest.Atomic)
}

func (p *perftestPage) title() string {
	verb := [...]string{
		perftest.Send: "Send", perftest.Write: "RDMA_Write", perftest.Read: "RDMA_Read", perftest.Atomic: "Atomic FETCH_AND_ADD",
	}[p.test.Verb]
	if p.test.Verb == perftest.Atomic && p.test.Swap {
		verb = "Atomic CMP_AND_SWAP"
	}
	switch {
	case p.test.Latency:
		return verb + " Latency Test"
	case p.test.Both:
		return verb + " Bidirectional BW Test"
	}
	return verb + " BW Test"
}

// depths prints those of the queues that are used.
func (p *perftestPage) depths() {
	t := p.test
	switch {
	case t.Latency && t.Client:
		p.printf(" TX depth        : 1\n")
	case t.Client || t.Both:
		p.printf(" TX depth        : %d\n", t.Depth(t.TxDepth))
	}
	if t.Verb == perftest.Send && (!t.Client || t.Both) {
		p.printf(" RX depth        : %d\n", t.Depth(t.RxDepth))
	}
	if !t.Latency {
		p.printf(" CQ Moderation   : %d\n", t.Moderation())
	}
}

func (p *perftestPage) address(side string, d perftest.Destination) {
	p.printf(" %s address: LID %s QPN %s PSN %s", side, cHex(uint64(d.LID), 4), cHex(uint64(d.QPN), 6), cHex(uint64(d.PSN), 6))
	switch verb := p.test.Verb; {
	case p.cm: // the original tells no more of them
	case verb == perftest.Read:
		p.printf(" OUT %s", cHex(uint64(d.OutReads), 4))
		fallthrough
	case verb == perftest.Write:
		p.printf(" RKey %s VAddr %s", cHex(uint64(d.RKey), 8), cHex(d.VAddr, 16))
	}
	p.printf("\n GID: ")
	for i, octet := range d.GID.As16() {
		if i > 0 {
			p.printf(":")
		}
		p.printf("%02d", octet)
	}
	p.printf("\n")
}

// cHex is a number as C's "%#0*x" has it: the prefix counts for the width, and
// zero has none.
func cHex(n uint64, width int) string {
	if n == 0 {
		return strings.Repeat("0", width)
	}
	return fmt.Sprintf("0x%0*x", width-2, n)
}

func (p *perftestPage) bandwidth(r perftest.Report) {
	p.printf(" %-7d    %-10d       %-7.2f            %-7.2f\t\t     %-7.6f\n", r.Size, r.Iterations, r.Peak, r.Average, r.Rate)
	p.printf(perftestRule)
}

func (p *perftestPage) latency(r perftest.Latency) {
	if p.answersAlone() {
		return
	}
	p.printf(" %-7d %-10d  %-7.2f        %-7.2f      %-7.2f  \t       %-7.2f     \t%-7.2f\t\t%-7.2f \t\t%-7.2f\n",
		r.Size, r.Iterations, r.Min, r.Max, r.Typical, r.Average, r.Dev, r.Percentile99, r.Percentile999)
	p.printf(perftestRule)
}
