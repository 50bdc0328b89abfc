package roceinject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/peer/perftest"
	"github.com/rocecap/rocecap/internal/peer/pingpong"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/transport/qp"
)

func TestPeerRefusesWhatCannotBe(t *testing.T) {
	for _, test := range []struct{ args, want string }{
		{"pingpong xrc -i lo --ip 10.0.0.9", `no ping-pong "xrc"`},
		{"pingpong rc --ip 10.0.0.9", "on which interface?"},
		{"pingpong rc -i lo", "which address is the endpoint's own?"},
		{"pingpong rc -i lo --ip 10.0.0.9 -m 1500", "--mtu 1500"},
		{"pingpong rc -i lo --ip 10.0.0.9 -n 0", "at least 1"},
		{"pingpong srq -i lo --ip 10.0.0.9 -q 20 -r 10", "--rx-depth"},
		{"pingpong rc -i lo --ip 10.0.0.x", "--ip 10.0.0.x"},
		{"pingpong rc -i lo --ip 10.0.0.9 --mac 00:11", "--mac 00:11"},
		{"pingpong rc -i lo --ip 10.0.0.9 --vlan 5000", "--vlan 5000"},
		{"pingpong rc -i lo --ip 10.0.0.9 --gateway x", "--gateway"},
		{"pingpong rc -i lo --ip 10.0.0.9 --timeout 32", "--timeout 32"},
		{"pingpong rc -i lo --ip 10.0.0.9 --retry 8", "--retry"},
		{"pingpong rc -i lo --ip 10.0.0.9 --policy nice", "no such decision"},
		{"pingpong rc -i lo --ip 10.0.0.9 --policy replay=maybe", "memory|refuse|altered"},
		{"pingpong rc -i lo --ip 10.0.0.9 --policy ack-every=x", "ack-every=x"},
		{"pingpong rc", "on which interface?"},
		{"perftest send", "which test? send, write, read or atomic"},
		{"pingpong", "which ping-pong?"},
		{"pingpong rc a b", `"b" is one word too many`},
		{"fly", `no mode "fly"`},
		{"", "peer of what?"},
		{"pingpong rc -i lo --ip 10.0.0.9 -s 0", "at least 1"},
		{"pingpong rc -i lo --ip 10.0.0.9 -r 1000000000", "at most"},
		{"pingpong srq -i lo --ip 10.0.0.9 -q 1000000 -r 1000000", "at most"},
		{"pingpong rc -i lo --ip 10.0.0.9 --deadline -1s", "no negative time"},
		{"pingpong rc -i lo --ip 10.0.0.9 --linger -1s", "no negative time"},
		{"pingpong rc -i lo --ip 10.0.0.9 --mac ff:ff:ff:ff:ff:ff", "one machine"},
		{"pingpong rc -i lo --ip 10.0.0.9 --mac 01:00:5e:00:00:01", "one machine"},
		{"pingpong rc -i lo --ip 224.0.0.1", "no machine can have"},
		{"pingpong rc -i lo --ip 0.0.0.0", "no machine can have"},
		{"pingpong rc -i lo --ip ff02::1", "no machine can have"},
		{"pingpong rc -i lo --ip 10.0.0.255", "in its subnet of /24"},
		{"pingpong rc -i lo --ip 10.0.0.16/28", "in its subnet of /28"},
		{"pingpong rc -i lo --ip 10.0.0.9 --vlan 5:3x", "--vlan 5:3x"},
		{"pingpong rc -i lo --ip 10.0.0.9 --vlan 5:", "--vlan 5:"},
		{"pingpong rc -i lo --ip 10.0.0.9 --policy credits=maybe", "true or false"},
		{"perftest write bw -i lo --ip 10.0.0.9 -s 0", "1 byte"},
		{"perftest write bw -i lo --ip 10.0.0.9 -n 0", "at least 1"},
		{"perftest write bw -i lo --ip 10.0.0.9 -q 100000000", "at most"},
		{"perftest write bw -i lo --ip 10.0.0.9 -x 1", "--gid-index 1"},
		{"perftest write bw -i lo --ip 10.0.0.9 -R -c UC", "RC alone"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2", "--qpn N"},
		{"raw -i lo --ip 10.0.0.9 --gid x --qpn 5", "--gid x"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 0x1000000", "24 bits"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 --own-psn 0x1000000", "24 bits"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 --memory 99999999999999", "1 GiB"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 -r 100000000", "receives"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 read=-1", "want a length"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 swap=1", "no number"},
		{"perftest fly bw -i lo --ip 10.0.0.9", `no test of "fly"`},
		{"perftest send it -i lo --ip 10.0.0.9", "bw or lat"},
		{"perftest write bw -c UD -i lo --ip 10.0.0.9", "UD has SEND alone"},
		{"perftest send bw -c XX -i lo --ip 10.0.0.9", "--connection XX"},
		{"perftest atomic bw -A ADD -i lo --ip 10.0.0.9", "--atomic_type ADD"},
		{"perftest send bw -m 1000 -i lo --ip 10.0.0.9", "--mtu 1000"},
		{"raw -i lo --ip 10.0.0.9", "who is the other side?"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --type xx", "--type xx"},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 fly=1", `no operation "fly=1"`},
		{"raw -i lo --ip 10.0.0.9 --gid 10.0.0.2 --qpn 5 send=xyz", "hexadecimal"},
	} {
		var out bytes.Buffer
		err := runPeer(strings.Fields(test.args), cli.Streams{Out: &out, Err: &out})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.args, err, test.want)
		}
	}
}

func TestPolicyIsSetByName(t *testing.T) {
	policy, icrc, err := parsePolicies([]string{
		"silent-duplicates", "repeat-nak=true", "credits=false", "replay=altered", "read-gap=wait", "max-unacked=0x10", "icrc=any",
	})
	if err != nil {
		t.Fatal(err)
	}
	if !policy.SilentDuplicates || !policy.RepeatNak || policy.Credits || policy.Replay != qp.ReplayAltered ||
		policy.ReadGap != qp.ReadGapWait || policy.MaxUnacked != 16 || icrc != endpoint.AnyICRC {
		t.Errorf("%+v, ICRC %d", policy, icrc)
	}
}

func TestPolicyRxeIsChangedByWhatFollows(t *testing.T) {
	policy, icrc, err := parsePolicies([]string{"rxe", "clear-migreq=false"})
	if err != nil {
		t.Fatal(err)
	}
	if !policy.DefaultPKey || !policy.LongSendOperational || policy.ClearMigReq || icrc != endpoint.RxeFlushICRC {
		t.Errorf("%+v, ICRC %d", policy, icrc)
	}
}

// TestOnlyTheFlagsGivenChangeAttributes because by rdma_cm the ends agree on the
// others.
func TestOnlyTheFlagsGivenChangeAttributes(t *testing.T) {
	var o peerDevice
	f := pflag.NewFlagSet("peer", pflag.ContinueOnError)
	o.register(f)
	if err := f.Parse([]string{"--retry", "3"}); err != nil {
		t.Fatal(err)
	}
	a := endpoint.Attributes{Timeout: 19, RetryCount: 5, RNRRetry: 4, PathMTU: 4096}
	o.attributes(0)(&a)
	if a.Timeout != 19 || a.RetryCount != 3 || a.RNRRetry != 4 || a.PathMTU != 4096 {
		t.Errorf("%+v", a)
	}
}

func TestPolicyHelpNamesEveryDecisionOnce(t *testing.T) {
	_, _, err := parsePolicies([]string{"help"})
	seen := map[string]bool{}
	for _, d := range policyTable() {
		if seen[d.name] || !strings.Contains(err.Error(), "\n  "+d.name) {
			t.Errorf("%s is there twice, or not in\n%v", d.name, err)
		}
		seen[d.name] = true
	}
}

// TestTheEndOfTheTimeIsToldAsSuch whatever it broke: what waited for it has words
// of its own.
func TestTheEndOfTheTimeIsToldAsSuch(t *testing.T) {
	why := errors.New("not done after 1s")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	other := errors.New("other")
	for _, test := range []struct {
		ctx       context.Context
		err, want error
	}{
		{ended, fmt.Errorf("read: %w", os.ErrDeadlineExceeded), why},
		{ended, fmt.Errorf("recv: %w", context.DeadlineExceeded), why},
		{ended, context.Canceled, why},
		{ended, other, other},
		{ended, nil, nil},
		{t.Context(), os.ErrDeadlineExceeded, os.ErrDeadlineExceeded},
		{t.Context(), context.DeadlineExceeded, context.DeadlineExceeded},
	} {
		if got := cause(test.ctx, test.err); got != test.want {
			t.Errorf("%v: %v, want %v", test.err, got, test.want)
		}
	}
	if _, err := (&peerTCP{listen: "127.0.0.1"}).meet(ended, nil); err != why {
		t.Errorf("waiting for a client: %v, want %v", err, why)
	}
}

func TestOwnAddressHasAUsualSubnet(t *testing.T) {
	for text, want := range map[string]string{
		"10.0.0.9": "10.0.0.9/24", "fd00::9": "fd00::9/64", "10.0.0.9/16": "10.0.0.9/16", "fd00::9/120": "fd00::9/120",
	} {
		if got, err := parseOwnAddress(text); err != nil || got.String() != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestVLANMayHaveAPriority(t *testing.T) {
	for text, want := range map[string]endpoint.VLAN{"7": {ID: 7}, "7:3": {ID: 7, Priority: 3}} {
		if got, err := parseVLAN(text); err != nil || *got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"x", "4096", "7:8", "-1"} {
		if got, err := parseVLAN(text); err == nil {
			t.Errorf("%s: %v", text, got)
		}
	}
}

func TestPerftestLinesAreTheOriginals(t *testing.T) {
	var out bytes.Buffer
	page := perftestPage{out: &out, test: &perftest.Test{Options: perftest.Options{Verb: perftest.Read, Latency: true, Client: true}}}
	page.address("local", perftest.Destination{
		OutReads: 0x80, QPN: 0x2a, PSN: 0x11c2a, RKey: 0xc56, VAddr: 0x55c673c70000, GID: netip.MustParseAddr("10.77.0.2"),
	})
	page.bandwidth(perftest.Report{Size: 65536, Iterations: 10, Peak: 12.47, Average: 11.16, Rate: 0.000179})
	page.latency(perftest.Latency{
		Size: 2, Iterations: 10, Min: 1822.79, Max: 6505.01, Typical: 3215.39, Average: 3124.99, Dev: 892.09,
		Percentile99: 6505.01, Percentile999: 6505.01,
	})
	want := " local address: LID 0000 QPN 0x002a PSN 0x11c2a OUT 0x80 RKey 0x000c56 VAddr 0x0055c673c70000\n" +
		" GID: 00:00:00:00:00:00:00:00:00:00:255:255:10:77:00:02\n" +
		" 65536      10               12.47              11.16  \t\t     0.000179\n" + perftestRule +
		" 2       10          1822.79        6505.01      3215.39  \t       3124.99     \t892.09 \t\t6505.01 \t\t6505.01\n" + perftestRule
	if out.String() != want {
		t.Errorf("printed\n%q\nwant\n%q", out.String(), want)
	}
}

func TestFaultIsARuleOrAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte("seed: 5\nrules:\n  - drop: true\n  - duplicate: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for text, rules := range map[string]int{"{drop: true, probability: 0.5}": 1, " {match: {op: ack}, nth: 3, drop: true}": 1, file: 2} {
		if c, err := readFault(text); err != nil || len(c.Rules) != rules {
			t.Errorf("%s: %d rules, %v", text, len(c.Rules), err)
		}
	}
	for _, text := range []string{"{fly: true}", "{", "no/such/file"} {
		if _, err := readFault(text); err == nil {
			t.Errorf("%s: no error", text)
		}
	}
}

// TestFaultsActOnBothWays plays over a link that loses, repeats, delays and
// reorders, and counts that each rule acted.
func TestFaultsActOnBothWays(t *testing.T) {
	config := fault.Config{Seed: 1}
	for _, text := range []string{
		"{match: {direction: forward}, probability: 0.1, drop: true}",
		"{match: {direction: backward}, probability: 0.1, drop: true}",
		"{match: {direction: forward}, probability: 0.1, duplicate: 1}",
		"{match: {direction: backward}, probability: 0.1, duplicate: 2}",
		"{match: {direction: forward}, probability: 0.1, delay: 3ms}",
		"{match: {direction: backward}, probability: 0.1, delay: 3ms}",
	} {
		one, err := readFault(text)
		if err != nil {
			t.Fatal(err)
		}
		config.Rules = append(config.Rules, one.Rules...)
	}
	engine := fault.NewEngine(config)
	left, right := simnet.Pair(4200)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	a, b := net.Pipe()
	context.AfterFunc(ctx, func() { _, _ = a.Close(), b.Close() })
	other := make(chan error, 1)
	go func() {
		_, err := playOver(ctx, right, "10.0.0.2/24", b, false)
		other <- err
	}()
	result, err := playOver(ctx, newFaultLink(left, engine), "10.0.0.1/24", a, true)
	cancel() // the server may wait for an acknowledgement that was lost
	<-other
	if err != nil || result.Bad > 0 {
		t.Errorf("%d bad messages, %v", result.Bad, err)
	}
	for i, c := range engine.RuleCounts() {
		if c.Acted[0]+c.Acted[1] == 0 {
			t.Errorf("rule %d did nothing: %+v", i+1, c)
		}
	}
}

// playOver plays one side of an RC ping-pong over a link.
func playOver(ctx context.Context, link endpoint.Link, address string, conn net.Conn, client bool) (r pingpong.Result, err error) {
	dev, err := endpoint.Open(endpoint.Options{Link: link, Seed: 1, Addresses: []netip.Prefix{netip.MustParsePrefix(address)}})
	if err != nil {
		return r, err
	}
	defer dev.Close()
	game, err := pingpong.New(dev, pingpong.Options{
		Type: endpoint.RC, QPs: 1, Size: 5000, Iterations: 50, RxDepth: 10, Client: client, Check: true,
		Change: func(a *endpoint.Attributes) { a.PathMTU, a.Timeout = 1024, 10 },
	})
	if err != nil {
		return r, err
	}
	meeting := pingpong.Meeting{
		Conn: conn, Client: client, Local: game.Local(),
		Connect: func(remote []pingpong.Address) error { return game.Connect(ctx, remote) },
	}
	if err := meeting.Run(); err != nil {
		return r, err
	}
	if r, err = game.Run(ctx); err != nil {
		return r, fmt.Errorf("%s: %w", address, err)
	}
	if !client { // the client may not have got the last acknowledgement
		<-ctx.Done()
	}
	return r, nil
}
