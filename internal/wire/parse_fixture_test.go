package wire_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// eachRecord calls do with every frame of a capture, numbered from 1.
func eachRecord(t testing.TB, path string, do func(number int, rec *capfile.Record)) {
	t.Helper()
	r, err := capfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := 0
	for {
		batch, err := r.Next()
		if err != nil {
			break // the end; a damaged file is capfile's business
		}
		for i := range batch.Records {
			n++
			do(n, &batch.Records[i])
		}
		batch.Release()
	}
	if n == 0 {
		t.Errorf("%s: no frames", path)
	}
}

// fixtures lists the frames of the fixture captures as their generators make
// them: what each holds, and where its ICRC is.
var fixtures = map[string]string{
	"t": `
send_only_pad3        RoCEv2: eth ip udp bth payload pad icrc; qp 0x11 psn 1; payload 5 pad 3; icrc 62
cnp81                 RoCEv2: eth ip udp bth cnp icrc; qp 0x22 psn 1; icrc 70
cnp80                 RoCEv2: eth ip udp bth cnp icrc; qp 0x22 psn 1; icrc 70
xrc_send_only         RoCEv2: eth ip udp bth xrceth payload icrc; qp 0x11 psn 1; payload 8; icrc 66
xrc_write_only        RoCEv2: eth ip udp bth xrceth reth payload icrc; qp 0x11 psn 1; payload 8; icrc 82
rd_send_only          RoCEv2: eth ip udp bth rdeth deth payload icrc; qp 0x11 psn 1; payload 8; icrc 74
rc_flush              RoCEv2: eth ip udp bth feth reth icrc; qp 0x11 psn 1; icrc 74
rc_atomic_write       RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 8; icrc 78
fecn_becn             RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 58
ack                   RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58
rnr                   RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58
nak_psn               RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58
nak_6                 RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58; syndrome
badicrc               RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 58
zero_len_send_ethpad  RoCEv2: eth ip udp bth icrc eth.trailer; qp 0x11 psn 1; icrc 54
cmpswap               RoCEv2: eth ip udp bth atomiceth icrc; qp 0x11 psn 1; icrc 82
atomicack             RoCEv2: eth ip udp bth aeth atomicacketh icrc; qp 0x11 psn 1; icrc 66
v6_send               RoCEv2: eth ipv6 udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 78
write_only_imm        RoCEv2: eth ip udp bth reth immdt payload icrc; qp 0x11 psn 1; payload 4; icrc 78
read_req              RoCEv2: eth ip udp bth reth icrc; qp 0x11 psn 1; icrc 70
send_last_inv         RoCEv2: eth ip udp bth ieth payload icrc; qp 0x11 psn 1; payload 4; icrc 62
manuf_e0              RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 58; opcode
v1_send_pad1          RoCEv1: eth grh bth payload pad icrc; qp 0x11 psn 1; payload 3 pad 1; icrc 70
v1_vlan               RoCEv1: eth vlan grh bth payload pad icrc; qp 0x11 psn 1; payload 3 pad 1; icrc 74
v1_trailer4_fcs       RoCEv1: eth grh bth payload pad icrc eth.trailer; qp 0x11 psn 1; payload 3 pad 1; icrc 70
v2_vxlan              RoCEv2: eth ip udp vxlan eth ip udp bth payload icrc; qp 0x11 psn 1; payload 4; icrc 108
write_snap96          RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 1024; icrc 1094
`,
	"t4": `
write_payload_LE8     RoCEv2: eth ip udp bth reth payload icrc; qp 0x11 psn 1; payload 64; icrc 134
send_payload_LE8      RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 64; icrc 118
send_payload_0x0608LE RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 64; icrc 118
ud_payload_C0         RoCEv2: eth ip udp bth deth payload icrc; qp 0x11 psn 1; payload 64; icrc 126
write_mid_zero        RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 1024; icrc 1078
send_44B_01_2c        RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 44; icrc 98
send_16B_smbd         RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 20; icrc 74
readresp_only_0       RoCEv2: eth ip udp bth aeth icrc; qp 0x11 psn 1; icrc 58
write_only_0          RoCEv2: eth ip udp bth reth icrc; qp 0x11 psn 1; icrc 70
rd_resync_real        RoCEv2: eth ip udp bth rdeth deth icrc; qp 0x11 psn 1; icrc 66
tver1                 RoCEv2: eth ip udp bth payload icrc; qp 0x11 psn 1; payload 64; icrc 118; tver
short_bth_only8       RoCEv2: eth ip udp bth icrc; icrc 54; length
padcount_gt_payload   RoCEv2: eth ip udp bth icrc; qp 0x11 psn 1; icrc 54; pad
cm_mra                RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
cm_sidr_req           RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
cm_lap                RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
cm_spr                RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
perf_unknown          RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
cc_class21            RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
cm_req                RoCEv2: eth ip udp bth deth MAD icrc; qp 0x1 psn 1; payload 256; icrc 318
gre_ip                RoCEv2: eth ip gre ip udp bth cnp icrc; qp 0x22 psn 1; icrc 94
erspan2               RoCEv2: eth ip gre erspan eth ip udp bth cnp icrc; qp 0x22 psn 1; icrc 120
erspan3               RoCEv2: eth ip gre erspan eth ip udp bth cnp icrc; qp 0x22 psn 1; icrc 124
qinq                  RoCEv2: eth ieee8021ad vlan ip udp bth cnp icrc; qp 0x22 psn 1; icrc 78
mpls                  RoCEv2: eth mpls ip udp bth cnp icrc; qp 0x22 psn 1; icrc 74
geneve                RoCEv2: eth ip udp geneve eth ip udp bth cnp icrc; qp 0x22 psn 1; icrc 120
`,
	"t5": `
ib_rc_send            IB: lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 64; icrc 84 vcrc 88
ib_rc_send_novcrc     IB: lrh bth payload icrc; qp 0x11 psn 1; payload 64; icrc 84
ib_grh_ack            IB: lrh grh bth aeth icrc vcrc; qp 0x11 psn 1; icrc 64 vcrc 68
ib_ud_ipoib           IB: lrh bth deth payload icrc vcrc; qp 0x11 psn 1; payload 24; icrc 52 vcrc 56
ib_cnp80              IB: lrh bth cnp icrc vcrc; qp 0x11 psn 1; icrc 36 vcrc 40
smp_dr_nodeinfo       IB: lrh bth deth MAD icrc vcrc; qp 0x0 psn 1; payload 256; icrc 284 vcrc 288
raw_ethertype         raw: lrh rwh payload vcrc; payload 40 vcrc 52; version
raw_ipv6              raw: lrh ipv6 vcrc vcrc 48
`,
	"t6": `
erf21_ib_rc_send      IB: erf lrh bth payload icrc vcrc; qp 0x11 psn 1; payload 64; icrc 100 vcrc 104
erf21_ib_rc_send_novcrc IB: erf lrh bth payload icrc; qp 0x11 psn 1; payload 64; icrc 100
erf21_ib_grh_ack      IB: erf lrh grh bth aeth icrc vcrc; qp 0x11 psn 1; icrc 80 vcrc 84
erf21_ib_ud_ipoib     IB: erf lrh bth deth payload icrc vcrc; qp 0x11 psn 1; payload 24; icrc 68 vcrc 72
erf21_ib_cnp80        IB: erf lrh bth cnp icrc vcrc; qp 0x11 psn 1; icrc 52 vcrc 56
erf21_smp_dr_nodeinfo IB: erf lrh bth deth MAD icrc vcrc; qp 0x0 psn 1; payload 256; icrc 300 vcrc 304
erf21_no_vcrc         IB: erf lrh bth payload icrc; qp 0x11 psn 1; payload 64; icrc 100
erf25_flowctl         link: erf infiniband_link
erf2_eth_roce         RoCEv2: erf eth ip udp bth payload icrc; qp 0x11 psn 1; payload 64; icrc 136
`,
}

// withoutMAD writes MAD for the parts of a management datagram, which have tests
// of their own.
func withoutMAD(f *wire.Frame, line string) string {
	h, ok := f.Last(wire.HdrMAD)
	if !ok {
		return line
	}
	const first, last = " mad", " icrc"
	head, rest, _ := strings.Cut(line, first)
	_, tail, _ := strings.Cut(rest, last)
	if int(h.Off) != f.Payload {
		return "a datagram that is not the payload"
	}
	return head + " MAD" + last + tail
}

func TestParseOfFixtures(t *testing.T) {
	dir := filepath.Join(testneed.Pcaps(t), "fixtures")
	for file, table := range fixtures {
		lines := strings.Split(strings.TrimSpace(table), "\n")
		var f wire.Frame
		frames := 0
		eachRecord(t, filepath.Join(dir, file+".pcap"), func(number int, rec *capfile.Record) {
			name, want, _ := strings.Cut(lines[number-1], " ")
			frames++
			f.Parse(rec.Link, rec.Data, rec.WireLen)
			if got, want := withoutMAD(&f, shown(&f)), strings.TrimSpace(want); got != want {
				t.Errorf("%s %d %s:\ngot  %s\nwant %s", file, number, name, got, want)
			}
		})
		if frames != len(lines) {
			t.Errorf("%s: %d frames, %d lines", file, frames, len(lines))
		}
	}
}

// The iWARP captures are plain TCP to Parse; lengths are read here by hand from
// the bytes of their IPv4 headers without options.
func TestParseOfIWARPFixturesFindsTCP(t *testing.T) {
	for file, frames := range map[string]int{"iw": 62, "mk": 17} {
		n := 0
		var f wire.Frame
		eachRecord(t, filepath.Join(testneed.Pcaps(t), "fixtures", file+".pcap"), func(number int, rec *capfile.Record) {
			n++
			f.Parse(rec.Link, rec.Data, rec.WireLen)
			total := int(rec.Data[16])<<8 | int(rec.Data[17])
			header := int(rec.Data[46]>>4) * 4
			if f.Proto != wire.ProtoTCP || f.Problems != 0 || f.Net != 14 || f.L4 != 34 ||
				f.Payload != 34+header || f.PayloadLen != total-20-header || f.End != 14+total {
				t.Errorf("%s %d: %s, payload %d+%d, end %d", file, number, shown(&f), f.Payload, f.PayloadLen, f.End)
			}
		})
		if n != frames {
			t.Errorf("%s: %d frames, want %d", file, n, frames)
		}
	}
}
