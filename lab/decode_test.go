//go:build linux

package lab

import (
	"context"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/tcpstream"
	"github.com/rocecap/rocecap/internal/wire"
)

// converse runs a server in guest 2 and a client in guest 1, and returns what
// they sent each other as the packets of a capture. The client starts when the
// command listens succeeds in guest 2.
func converse(t *testing.T, l *Lab, filter, server, listens, client string) ([]frame, string) {
	t.Helper()
	capture := l.Capture(t, mainBridge, filter)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	s := l.Peer(2).Start(t, server)
	l.Peer(2).MustRun(ctx, t, "until "+listens+"; do sleep 0.1; done")
	out, err := l.Peer(1).Run(ctx, client)
	if err != nil {
		t.Fatalf("%s: %v\n%s\nand the server:\n%s", client, err, out, s.Output())
	}
	file := capture.Stop(t)
	s.Stop() // some servers stay after their client
	return decode(t, file), out
}

const (
	pingpongListens = "ss -Hltn | grep -q ':18515 '"
	rpingListens    = "rdma resource show cm_id | grep -q 'state LISTEN.*:7174 '"
	clientWaits     = "true" // it tries until the server listens
)

// rping is the command of one end, "-s" or "-c". It is tried until it succeeds:
// sometimes the server misses that the first Send has come, and both ends wait.
func rping(end, server string) string {
	return "for i in $(seq 20); do timeout 8 rping " + end + " -a " + server + " -C 3 && exit 0; sleep 0.5; done; exit 1"
}

type frame struct {
	wire.Frame
	verdict icrc.Verdict
}

func decode(t *testing.T, file string) []frame {
	t.Helper()
	records, err := read(file)
	if err != nil {
		t.Fatal(err)
	}
	frames := make([]frame, len(records))
	var h icrc.Hasher
	for i, r := range records {
		f := &frames[i]
		f.Parse(r.Link, r.Data, r.WireLen)
		f.verdict, _, _ = h.Judge(&f.Frame)
		if f.Problems != 0 {
			t.Errorf("packet %d has problems: %v", i+1, f.Problems)
		}
	}
	return frames
}

// opcodes counts the RoCE packets of each opcode, and checks their ICRCs. What
// is sent twice counts once: a guest on a busy machine retransmits.
func opcodes(t *testing.T, frames []frame) map[string]int {
	t.Helper()
	type packet struct {
		from netip.Addr
		op   wire.Opcode
		qp   uint32
		psn  wire.PSN
	}
	seen := map[packet]bool{}
	count := map[string]int{}
	for i := range frames {
		bth := wire.BTH(frames[i].View(wire.HdrBTH))
		if len(bth) < wire.BTHLen {
			continue
		}
		op := bth.Opcode()
		if p := (packet{wire.IPv4Header(frames[i].View(wire.HdrIPv4)).Src(), op, bth.DestQP(), bth.PSN()}); !seen[p] {
			seen[p] = true
			count[op.String()]++
		}
		if frames[i].verdict != icrc.Good {
			t.Errorf("packet %d, %v: ICRC is %v", i+1, op, frames[i].verdict)
		}
	}
	t.Log(count)
	return count
}

func wantAtLeast(t *testing.T, got, want map[string]int) {
	t.Helper()
	for name, n := range want {
		if got[name] < n {
			t.Errorf("%d of %s, want at least %d", got[name], name, n)
		}
	}
}

func TestLabPingpongDecodesWithGoodICRCs(t *testing.T) {
	l := Up(t, 2)
	const command = "ibv_rc_pingpong -d rxe0 -g 1 -n 10 -s 3000 "
	frames, _ := converse(t, l, "udp port 4791", command, pingpongListens, command+l.Peer(2).IP4.String())
	// 3000 bytes are three packets at the path MTU of 1024, ten times each way.
	want := map[string]int{"RC SEND First": 20, "RC SEND Middle": 20, "RC SEND Last": 20, "RC Acknowledge": 20}
	if diff := cmp.Diff(want, opcodes(t, frames)); diff != "" {
		t.Errorf("packets of each opcode (-want +got):\n%s", diff)
	}
}

func TestLabRpingOverRoCEDecodes(t *testing.T) {
	l := Up(t, 2)
	server := l.Peer(2).IP4.String()
	frames, _ := converse(t, l, "udp port 4791", rping("-s", server), rpingListens, rping("-c", server))
	wantAtLeast(t, opcodes(t, frames), map[string]int{
		"RC SEND Only": 9, "RC RDMA READ Request": 3, "RC RDMA WRITE Only": 3, "UD SEND Only": 5,
	})
}

func TestLabRpingOverIWARPDecodesToUnits(t *testing.T) {
	l := Up(t, 2)
	for i := 1; i <= 2; i++ {
		l.Peer(i).WithoutRxe(patience(t), t)
	}
	server := l.Peer(2).IP4.String()
	frames, _ := converse(t, l, "tcp port 7174", rping("-s", server), rpingListens, rping("-c", server))
	got := units(t, frames)
	t.Log(got)
	wantAtLeast(t, got, map[string]int{
		"MPA Request": 1, "MPA Reply": 1, "Send": 9, "Write": 3, "Read Request": 3, "Read Response": 3,
	})
}

// units counts the iWARP units by name, and checks their CRCs.
func units(t *testing.T, frames []frame) map[string]int {
	t.Helper()
	tracker := iwarp.NewTracker(iwarp.DefaultLimits())
	count := map[string]int{}
	take := func(pdus []*iwarp.PDU) {
		for _, p := range pdus {
			name := p.Kind.String()
			if op, ok := p.Opcode(); ok {
				name = op.String()
			}
			count[name]++
			if len(p.Issues) != 0 || p.Problems != 0 || p.Missing != 0 || p.CRC == iwarp.CRCBad {
				t.Errorf("%s in packet %d: CRC %v, issues %v, problems %v, %d bytes missing",
					name, p.Last, p.CRC, p.Issues, p.Problems, p.Missing)
			}
		}
	}
	for i := range frames {
		f := &frames[i].Frame
		tcp := wire.TCP(f.View(wire.HdrTCP))
		if len(tcp) < wire.TCPMinLen {
			continue
		}
		ip := wire.IPv4Header(f.View(wire.HdrIPv4))
		take(tracker.Segment(iwarp.Packet{
			Number: uint64(i + 1),
			Src:    netip.AddrPortFrom(ip.Src(), tcp.SrcPort()), Dst: netip.AddrPortFrom(ip.Dst(), tcp.DstPort()),
			Seq: tcp.Seq(), Ack: tcp.Ack(), Flags: tcpstream.Flags(tcp.Flags()),
			Payload: f.PayloadBytes(), WireLen: f.PayloadLen, Offset: f.Payload,
		}))
	}
	take(tracker.Flush())
	return count
}

// Two captures of one bridge end in their own time, and neither holds a mark.
func TestLabCaptureHoldsAllThatWasSentAndNoMarks(t *testing.T) {
	l := Up(t, 2)
	outer := l.Capture(t, mainBridge, "")
	inner := l.Capture(t, mainBridge, "icmp")
	l.Peer(1).MustRun(patience(t), t, "ping -c 5 -i 0.01 "+l.Peer(2).IP4.String())
	for _, c := range []*Capture{inner, outer} {
		icmp := 0
		records, err := read(c.Stop(t))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if strings.Contains(string(r.Data), anyMark) {
				t.Error("a mark is in the capture")
			}
			if len(r.Data) > 23 && r.Data[12] == 8 && r.Data[13] == 0 && r.Data[23] == 1 {
				icmp++
			}
		}
		if icmp != 10 {
			t.Errorf("%d ICMP packets, want 5 requests and 5 replies", icmp)
		}
	}
}

func TestLabVerbsPeerRunsItsCases(t *testing.T) {
	l := Up(t, 2)
	const command = "python3 /mnt/lab/verbs_peer.py "
	server := l.Peer(2).IP4.String()
	for _, c := range []struct {
		name string
		want map[string]int
		says string // the client
	}{
		{"imm", map[string]int{"RC RDMA WRITE Last Immediate": 5, "RC SEND Only Immediate": 5}, "send IBV_WC_SUCCESS"},
		{"badrkey", map[string]int{"RC RDMA WRITE First": 1, "RC Acknowledge": 1}, "send IBV_WC_REM_ACCESS_ERR"},
		{"atomicwrite", map[string]int{"RC ATOMIC WRITE": 1}, "send IBV_WC_SUCCESS"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frames, out := converse(t, l, "udp port 4791", command+"server "+c.name, clientWaits,
				command+"client "+c.name+" "+server)
			wantAtLeast(t, opcodes(t, frames), c.want)
			if !strings.Contains(out, c.says) {
				t.Errorf("the client says %q, want %q", out, c.says)
			}
		})
	}
}
