package roceinject

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/impair"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

// The two cables of a test: left0 - in0, the bridge's first interface, and in1,
// its second, - right0.
var bridgeCables = [2][2]string{{"left0", "in0"}, {"right0", "in1"}}

// bridgeNamespace makes a namespace with the two cables, which carry nothing
// but what the test sends.
func bridgeNamespace(t testing.TB, mtu int) *nettest.Namespace {
	t.Helper()
	n := nettest.New(t)
	for _, c := range bridgeCables {
		n.IP(t, fmt.Sprintf("link add %s mtu %d type veth peer name %s mtu %d", c[0], mtu, c[1], mtu))
		for _, name := range c {
			n.IP(t, "link set "+name+" addrgenmode none")
			n.IP(t, "link set "+name+" up")
		}
		n.Ready(t, c[0])
		n.Ready(t, c[1])
	}
	return n
}

// bridged is a bridge at work and the two machines that it joins.
type bridged struct {
	left, right *nic.Link
	bridge      *bridge
	stop        func() // and wait until it has stopped
}

// startBridge bridges by rules; it writes the capture if a name is given.
func startBridge(t testing.TB, mtu int, rules, capture string) *bridged {
	t.Helper()
	config, err := impair.Parse([]byte(rules), compileFilter)
	if err != nil {
		t.Fatal(err)
	}
	n := bridgeNamespace(t, mtu)
	tb := &bridged{left: openIn(t, n, "left0"), right: openIn(t, n, "right0")}
	n.Do(t, func() {
		if tb.bridge, err = openBridge([2]string{"in0", "in1"}, fault.NewEngine(config)); err != nil {
			t.Fatal(err)
		}
	})
	if capture != "" {
		if tb.bridge.capture, err = createCapture(capture, [2]string{"in0", "in1"}); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- tb.bridge.run(ctx) }()
	stopped := false
	tb.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the bridge ended with: %v", err)
		}
		if tb.bridge.capture != nil {
			if err := tb.bridge.capture.close(tb.bridge.ends); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(tb.stop)
	return tb
}

func openIn(t testing.TB, n *nettest.Namespace, name string) *nic.Link {
	t.Helper()
	var link *nic.Link
	n.Do(t, func() {
		var err error
		if link, err = nic.Open(nic.Options{Interface: name, Promiscuous: true, IgnoreOutgoing: true}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = link.Close() })
	return link
}

func sendAll(t testing.TB, link *nic.Link, frames ...[]byte) {
	t.Helper()
	if _, err := link.Send(frames, time.Now().Add(10*time.Second)); err != nil {
		t.Fatal(err)
	}
}

// receiveAll waits for n frames.
func receiveAll(t testing.TB, link *nic.Link, n int) [][]byte {
	t.Helper()
	var frames [][]byte
	var batch nic.Batch
	for len(frames) < n {
		if err := link.Receive(&batch, time.Now().Add(10*time.Second)); err != nil {
			t.Fatalf("after %d of %d frames: %v", len(frames), n, err)
		}
		for _, f := range batch.Frames {
			frames = append(frames, bytes.Clone(f.Data))
		}
	}
	return frames
}

// frameOf crafts a frame; settings are FIELD=VALUE.
func frameOf(t testing.TB, base, op string, payload int, settings ...string) []byte {
	t.Helper()
	code, err := craft.ParseOpcode(op)
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe(base, code)
	if err != nil {
		t.Fatal(err)
	}
	r.Payload = bytes.Repeat([]byte{0xA5}, payload)
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		if err := r.Put(name, value); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data
}

// request is a packet to the right, to QP 0x11.
func request(t testing.TB, op string, psn int) []byte {
	t.Helper()
	return frameOf(t, "rocev2", op, 256, fmt.Sprintf("infiniband.bth.psn=%d", psn))
}

// writes is n RDMA WRITE messages of eight packets each, PSNs from 100.
func writes(t testing.TB, n int) (frames [][]byte) {
	t.Helper()
	for i := range 8 * n {
		op := "rc write-middle"
		switch i % 8 {
		case 0:
			op = "rc write-first"
		case 7:
			op = "rc write-last"
		}
		frames = append(frames, request(t, op, 100+i))
	}
	return frames
}

func psns(frames [][]byte) (list []int) {
	for _, data := range frames {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, data, len(data))
		psn := -1
		if bth := f.View(wire.HdrBTH); len(bth) == wire.BTHLen {
			psn = int(wire.BTH(bth).PSN())
		}
		list = append(list, psn)
	}
	return list
}

// tagWith puts an 802.1Q tag into a frame.
func tagWith(frame []byte, tci uint16) []byte {
	out := append([]byte{}, frame[:12]...)
	out = append(out, 0x81, 0x00, byte(tci>>8), byte(tci))
	return append(out, frame[12:]...)
}

func TestBridgePassesFramesUntouched(t *testing.T) {
	const mtu = 9000
	tb := startBridge(t, mtu, "rules: [{match: {qp: 0x999}, drop: true}]", "")
	plain := bytes.Repeat([]byte{0x5A}, mtu+wire.EthernetLen)
	copy(plain[12:], []byte{0x88, 0xb5}) // the EtherType for experiments
	frames := [][]byte{
		request(t, "rc write-only", 1),
		frameOf(t, "rocev2-ipv6", "ud send-only", 31),
		frameOf(t, "rocev1", "rc send-only", 1),
		tagWith(request(t, "rc send-only", 2), 0x6064),
		tagWith(plain, 0x0001),
		plain,
		plain[:60],
		append(request(t, "rc send-only", 3), 1, 2, 3, 4),
	}
	for _, way := range []struct {
		name     string
		from, to *nic.Link
	}{{"forward", tb.left, tb.right}, {"backward", tb.right, tb.left}} {
		t.Run(way.name, func(t *testing.T) {
			sendAll(t, way.from, frames...)
			if diff := cmp.Diff(frames, receiveAll(t, way.to, len(frames))); diff != "" {
				t.Errorf("sent and received (-sent +received):\n%s", diff)
			}
		})
	}
	tb.stop()
	for d := range fault.Backward + 1 {
		want := fault.Traffic{Received: uint64(len(frames)), Passed: uint64(len(frames))}
		if got := tb.bridge.engine.Traffic(d); got != want {
			t.Errorf("direction %d: %+v, want %+v", d, got, want)
		}
	}
}

func TestBridgeDropsOnePacketOnce(t *testing.T) {
	tb := startBridge(t, 1500, `
rules:
  - name: lose one
    match: {qp: 0x11, op: write, message: 3, psn: +5}
    times: 1
    drop: true
`, "")
	first := writes(t, 4)
	again := first[2*8+5:] // as a requester sends after the NAK
	sendAll(t, tb.left, first...)
	sendAll(t, tb.left, again...)
	got := psns(receiveAll(t, tb.right, len(first)-1+len(again)))
	want := append(psns(first[:21]), psns(first[22:])...)
	want = append(want, psns(again)...)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("PSNs that came through (-want +got):\n%s", diff)
	}
	tb.stop()
	var report bytes.Buffer
	tb.bridge.report(&report)
	wantReport := `in0 -> in1: 43 received, 42 passed untouched, 1 dropped, 0 injected, 42 sent
in1 -> in0: 0 received, 0 passed untouched, 0 dropped, 0 injected, 0 sent
lose one: in0 -> in1: 2 matched, 1 acted on
`
	if diff := cmp.Diff(wantReport, report.String()); diff != "" {
		t.Errorf("report (-want +got):\n%s", diff)
	}
}

func TestBridgeImpairs(t *testing.T) {
	good := func(want icrc.Verdict) func(*testing.T, [][]byte) {
		return func(t *testing.T, frames [][]byte) {
			if v, _, _ := icrc.Verify(frames[1]); v != want {
				t.Errorf("ICRC of the second frame is %v, want %v", v, want)
			}
		}
	}
	payloadChanged := func(t *testing.T, frames [][]byte) {
		if bytes.Equal(frames[1][70:], request(t, "rc send-only", 2)[70:]) {
			t.Error("the payload is unchanged")
		}
	}
	for _, test := range []struct {
		name, do string
		want     []int // PSNs
		checks   []func(*testing.T, [][]byte)
	}{
		{"duplicate", "duplicate: 2", []int{1, 2, 2, 2, 3}, nil},
		{"delay", "delay: 20ms", []int{1, 3, 2}, nil},
		{"reorder", "reorder: 1", []int{1, 3, 2}, nil},
		{"corrupt with the ICRC right", "corrupt: {byte: 20, xor: 0xff, icrc: right}", []int{1, 2, 3}, []func(*testing.T, [][]byte){good(icrc.Good), payloadChanged}},
		{"corrupt with the ICRC wrong", "corrupt: {byte: 20, bit: 3}", []int{1, 2, 3}, []func(*testing.T, [][]byte){good(icrc.Bad), payloadChanged}},
		{"rewrite", "set: {infiniband.bth.psn: 77}", []int{1, 77, 3}, []func(*testing.T, [][]byte){good(icrc.Good)}},
		{"mark", "mark: [ce, fecn, becn]", []int{1, 2, 3}, []func(*testing.T, [][]byte){good(icrc.Good), func(t *testing.T, frames [][]byte) {
			ip, bth := wire.IPv4Header(frames[1][14:34]), wire.BTH(frames[1][42:])
			if ip.ECN() != wire.ECNCE || !bth.FECN() || !bth.BECN() || ip.Checksum() != wire.IPv4Checksum(ip) {
				t.Errorf("ECN %d, FECN %v, BECN %v, checksum 0x%04x, computed 0x%04x",
					ip.ECN(), bth.FECN(), bth.BECN(), ip.Checksum(), wire.IPv4Checksum(ip))
			}
		}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			tb := startBridge(t, 1500, "rules: [{match: {psn: 2, direction: forward}, "+test.do+"}]", "")
			sendAll(t, tb.left, request(t, "rc send-only", 1), request(t, "rc send-only", 2), request(t, "rc send-only", 3))
			frames := receiveAll(t, tb.right, len(test.want))
			if diff := cmp.Diff(test.want, psns(frames)); diff != "" {
				t.Errorf("PSNs (-want +got):\n%s", diff)
			}
			for _, check := range test.checks {
				check(t, frames)
			}
		})
	}
}

func TestBridgeAnswers(t *testing.T) {
	for _, test := range []struct {
		answer   string
		op       wire.Opcode
		syndrome wire.Syndrome
		psn      wire.PSN
	}{
		{"cnp", wire.OpcodeRoCECNP, 0, 0},
		{"{nak: sequence}", wire.OpAcknowledge, 0x60, 101},
		{"{rnr: 14}", wire.OpAcknowledge, 0x2e, 101},
	} {
		t.Run(test.answer, func(t *testing.T) {
			tb := startBridge(t, 1500, "rules: [{match: {op: write}, times: 1, answer: "+test.answer+"}]", "")
			// The first request can't be answered: its sender's QP is not known
			// before the first acknowledgement.
			sendAll(t, tb.left, request(t, "rc write-only", 100))
			receiveAll(t, tb.right, 1)
			sendAll(t, tb.right, frameOf(t, "rocev2", "rc acknowledge", 0, "ip.src=192.0.2.2", "ip.dst=192.0.2.1",
				"infiniband.bth.destqp=0x22", "infiniband.bth.psn=100", "infiniband.aeth.msn=7"))
			receiveAll(t, tb.left, 1)
			sendAll(t, tb.left, tagWith(request(t, "rc write-only", 101), 0x0005))
			receiveAll(t, tb.right, 1)
			data := receiveAll(t, tb.left, 1)[0]
			var f wire.Frame
			f.Parse(wire.LinkEthernet, data, len(data))
			if f.View(wire.HdrBTH) == nil || f.View(wire.HdrVLAN) == nil {
				t.Fatalf("the answer is %x", data)
			}
			bth := wire.BTH(f.View(wire.HdrBTH))
			src, dst := f.Addresses()
			if bth.Opcode() != test.op || bth.DestQP() != 0x22 || bth.PSN() != test.psn || src.String() != "192.0.2.2" || dst.String() != "192.0.2.1" {
				t.Errorf("%v to QP 0x%x, PSN %d, from %v to %v", bth.Opcode(), bth.DestQP(), bth.PSN(), src, dst)
			}
			if aeth := wire.AETH(f.View(wire.HdrAETH)); len(aeth) > 0 && (aeth.Syndrome() != test.syndrome || aeth.MSN() != 7) {
				t.Errorf("syndrome 0x%02x, MSN %d", aeth.Syndrome(), aeth.MSN())
			}
			if v, _, _ := icrc.Verify(data); v != icrc.Good {
				t.Errorf("ICRC is %v", v)
			}
			if got, want := wire.Ethernet(data).Dst(), [6]byte{2, 0, 0, 0, 0, 1}; got != want {
				t.Errorf("sent to %x", got)
			}
		})
	}
}

// bridgeRecords reads a capture's frames, by interface, with their comments.
func bridgeRecords(t *testing.T, name string) (frames [2][]string) {
	t.Helper()
	for _, rec := range CaptureOf(t, name) {
		frames[rec.Interface] = append(frames[rec.Interface], fmt.Sprintf("%d %s", psns([][]byte{rec.Data})[0], rec.Comment))
	}
	return frames
}

func TestBridgeCapturesBothSides(t *testing.T) {
	name := filepath.Join(t.TempDir(), "both.pcapng")
	tb := startBridge(t, 1500, `
rules:
  - {name: lose, match: {psn: 2}, drop: true}
  - {name: twice, match: {filter: infiniband.bth.psn == 3}, duplicate: 1}
`, name)
	sendAll(t, tb.left, request(t, "rc send-only", 1), request(t, "rc send-only", 2), request(t, "rc send-only", 3))
	receiveAll(t, tb.right, 3)
	tb.stop()
	want := [2][]string{
		{"1 ", "2 lose: dropped", "3 twice: duplicated 1 times"},
		{"1 ", "3 twice: duplicated 1 times", "3 twice: duplicated 1 times"},
	}
	if diff := cmp.Diff(want, bridgeRecords(t, name)); diff != "" {
		t.Errorf("capture by interface (-want +got):\n%s", diff)
	}
	tshark := testneed.Tool(t, "tshark")
	out, err := exec.Command(tshark, "-r", name, "-T", "fields", "-e", "frame.interface_name", "-e", "infiniband.bth.psn", "-e", "frame.comment").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out); strings.Count(got, "in0\t") != 3 || strings.Count(got, "in1\t") != 3 || !strings.Contains(got, "in0\t2\tlose: dropped\n") {
		t.Errorf("tshark reads:\n%s", got)
	}
}

func TestBridgeCommand(t *testing.T) {
	dir := t.TempDir()
	rules := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(rules, []byte("rules: [{match: {op: cnp}, drop: true}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n := bridgeNamespace(t, 1500)
	run := func(args ...string) (code int, out, fault string) {
		var stdout, stderr bytes.Buffer
		n.Do(t, func() {
			code = Main(append([]string{"bridge"}, args...), cli.Streams{Out: &stdout, Err: &stderr})
		})
		return code, stdout.String(), stderr.String()
	}
	capture := filepath.Join(dir, "both.pcapng")
	code, out, fault := run("in0", "in1", "--rules", rules, "-w", capture, "--duration", "1ms")
	if code != 0 || !strings.Contains(out, "in1 -> in0: 0 received") || !strings.Contains(out, "rule 1: in0 -> in1: 0 matched, 0 acted on") {
		t.Errorf("exit code %d, output %q, errors %q", code, out, fault)
	}
	if _, err := os.Stat(capture); err != nil {
		t.Error(err)
	}
	n.IP(t, "address add 192.0.2.9/24 dev left0")
	n.IP(t, "route add default via 192.0.2.1 dev left0")
	for name, test := range map[string]struct {
		args []string
		want string
	}{
		"one interface twice":       {[]string{"in0", "in0"}, "two different interfaces"},
		"no such interface":         {[]string{"in0", "nowhere0"}, "nowhere0"},
		"a default route":           {[]string{"in0", "left0"}, "--yes-really"},
		"a capture without comment": {[]string{"in0", "in1", "-w", filepath.Join(dir, "x.pcap")}, ".pcapng"},
		"no rules file":             {[]string{"in0", "in1", "--rules", filepath.Join(dir, "none")}, "none"},
	} {
		if code, _, fault := run(test.args...); code != exitError || !strings.Contains(fault, test.want) {
			t.Errorf("%s: exit code %d, %q", name, code, fault)
		}
	}
}

// bridgedMachines joins two machines, which have addresses, by a bridge between
// two others.
func bridgedMachines(t testing.TB) (left, right *nettest.Namespace, b *bridge) {
	t.Helper()
	left, in0 := nettest.Pair(t)
	right, in1 := nettest.Pair(t)
	left.IP(t, "address add 192.0.2.1/24 dev "+nettest.LeftInterface)
	right.IP(t, "address add 192.0.2.2/24 dev "+nettest.LeftInterface)
	links := [2]*nic.Link{openIn(t, in0, nettest.RightInterface), openIn(t, in1, nettest.RightInterface)}
	b = joinLinks(links, fault.NewEngine(fault.Config{}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return left, right, b
}

// TestBridgeCarriesTCP shows that the kernels' own traffic comes through, whose
// checksums and segmentation a sender leaves to an interface that is none.
func TestBridgeCarriesTCP(t *testing.T) {
	left, right, _ := bridgedMachines(t)
	var listener net.Listener
	right.Do(t, func() {
		var err error
		if listener, err = net.Listen("tcp4", "192.0.2.2:7"); err != nil {
			t.Fatal(err)
		}
	})
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return // the dialling side fails
		}
		defer conn.Close()
		_, _ = io.Copy(conn, conn)
	}()
	var conn net.Conn
	left.Do(t, func() {
		var err error
		if conn, err = net.DialTimeout("tcp4", "192.0.2.2:7", 5*time.Second); err != nil {
			t.Fatal(err)
		}
	})
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	sent, got := bytes.Repeat([]byte("echo"), 1<<18), make([]byte, 1<<20)
	go func() { _, _ = conn.Write(sent) }() // what is missing is seen below
	if _, err := io.ReadFull(conn, got); err != nil || !bytes.Equal(got, sent) {
		t.Errorf("echo of %d bytes: %v", len(sent), err)
	}
}

func TestBridgeSkipsFramesThatAreTooLong(t *testing.T) {
	n := bridgeNamespace(t, 9000)
	n.IP(t, "link set in1 mtu 1500")
	left, right := openIn(t, n, "left0"), openIn(t, n, "right0")
	b := joinLinks([2]*nic.Link{openIn(t, n, "in0"), openIn(t, n, "in1")}, fault.NewEngine(fault.Config{}))
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- b.run(ctx) }()
	long := frameOf(t, "rocev2", "rc send-only", 4096, "infiniband.bth.psn=2")
	sendAll(t, left, request(t, "rc send-only", 1), long, request(t, "rc send-only", 3))
	if got := psns(receiveAll(t, right, 2)); !cmp.Equal(got, []int{1, 3}) {
		t.Errorf("PSNs %v, want 1 and 3", got)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	var report bytes.Buffer
	b.report(&report)
	if !strings.Contains(report.String(), "  1 not sent: too long for in1;") {
		t.Errorf("report:\n%s", report.String())
	}
}

func TestBridgeEndsWithItsInterface(t *testing.T) {
	n := bridgeNamespace(t, 1500)
	b := joinLinks([2]*nic.Link{openIn(t, n, "in0"), openIn(t, n, "in1")}, fault.NewEngine(fault.Config{}))
	ended := make(chan error, 1)
	go func() { ended <- b.run(context.Background()) }()
	n.IP(t, "link delete left0")
	if err := <-ended; (!errors.Is(err, nic.ErrDown) && !errors.Is(err, nic.ErrGone)) || !strings.Contains(err.Error(), "interface in0") {
		t.Errorf("the bridge ended with: %v", err)
	}
}

// interrupter sends this process an interrupt when the bridge says that it is
// at work.
type interrupter struct{ bytes.Buffer }

func (i *interrupter) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("bridging")) {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return 0, err
		}
	}
	return i.Buffer.Write(b)
}

func TestInterruptStopsTheBridgeAndItReports(t *testing.T) {
	n := bridgeNamespace(t, 1500)
	var out bytes.Buffer
	var progress interrupter
	n.Do(t, func() {
		if code := Main([]string{"bridge", "in0", "in1"}, cli.Streams{Out: &out, Err: &progress}); code != exitOK {
			t.Errorf("exit code %d: %s", code, progress.String())
		}
	})
	if !strings.Contains(progress.String(), "bridging in0 and in1") || !strings.Contains(out.String(), "in0 -> in1: 0 received") {
		t.Errorf("progress %q, report %q", progress.String(), out.String())
	}
}
