package roceinject

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// sendWith runs `roceinject send` and returns what it prints.
func sendWith(ctx context.Context, args ...string) (out string, err error) {
	var stdout bytes.Buffer
	root := newRoot(cli.Streams{In: strings.NewReader(""), Out: &stdout, Err: io.Discard})
	root.SetArgs(append([]string{"send"}, args...))
	err = root.ExecuteContext(ctx)
	return stdout.String(), err
}

// written runs `roceinject send -w` and returns what is in the file.
func written(t *testing.T, args ...string) []capfile.Record {
	t.Helper()
	name := filepath.Join(t.TempDir(), "out.pcap")
	if out, err := sendWith(t.Context(), append(args, "-w", name)...); err != nil {
		t.Fatalf("send %q: %v\n%s", args, err, out)
	}
	return CaptureOf(t, name)
}

// CaptureOf reads a capture file.
func CaptureOf(t testing.TB, name string) (all []capfile.Record) {
	t.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range batch.Records {
			rec.Data = bytes.Clone(rec.Data)
			all = append(all, rec)
		}
		batch.Release()
	}
}

func dataOf(records []capfile.Record) (list [][]byte) {
	for _, r := range records {
		list = append(list, r.Data)
	}
	return list
}

// createWith writes records to a new capture file.
func createWith(t testing.TB, name string, records ...capfile.Record) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := capfile.Create(path, capfile.Interface{Link: records[0].Link, FCSLen: records[0].FCSLen})
	if err != nil {
		t.Fatal(err)
	}
	for i := range records {
		records[i].Interface, records[i].HasTime = -1, true
		if err := w.Write(&records[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

const countingScript = `
- sequence:
    - op: rc write-only
      set: {infiniband.bth.psn: {start: 0xfffffe}}
      payload: {text: hello}
      repeat: 3
    - op: cnp
  repeat: 2
`

func scriptFile(t testing.TB, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "script.yaml")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestSendMakesWhatCraftMakes(t *testing.T) {
	file := scriptFile(t, countingScript)
	for _, args := range [][]string{
		{"rc", "write-only", "--count", "7", "--step", "infiniband.bth.psn=3", "--step", "infiniband.bth.opcode=1"},
		{"ud", "send-only", "--base", "rocev2-ipv6", "--vlan", "5", "--icrc", "flip:3", "--payload", "text:hi"},
		{"-f", file},
	} {
		crafted := filepath.Join(t.TempDir(), "craft.pcap")
		root := newRoot(cli.Streams{Out: io.Discard, Err: io.Discard})
		root.SetArgs(append(append([]string{"craft"}, args...), "-w", crafted))
		if err := root.Execute(); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(dataOf(CaptureOf(t, crafted)), dataOf(written(t, args...))); d != "" {
			t.Errorf("%q: %s", args, d)
		}
	}
}

// psnsOf are the PSNs of frames, -1 where there is none.
func psnsOf(frames [][]byte) (list []int) {
	var f wire.Frame
	for _, data := range frames {
		f.Parse(wire.LinkEthernet, data, len(data))
		psn := -1
		if f.BTH >= 0 && len(f.View(wire.HdrBTH)) > 0 && wire.BTH(f.View(wire.HdrBTH)).Opcode().Service() != wire.CNP {
			psn = int(wire.BTH(f.View(wire.HdrBTH)).PSN())
		}
		list = append(list, psn)
	}
	return list
}

func TestCountAndLoopSayHowMuchIsSent(t *testing.T) {
	file := scriptFile(t, countingScript)
	once := []int{0xfffffe, 0xffffff, 0, -1, 1, 2, 3, -1}
	twice := append(append([]int{}, once...), 4, 5, 6, -1, 7, 8, 9, -1) // counters go on
	for _, c := range []struct {
		args []string
		want []int
	}{
		{[]string{"-f", file}, once},
		{[]string{"-f", file, "--loop", "2"}, twice},
		{[]string{"-f", file, "--count", "3"}, once[:3]},
		{[]string{"-f", file, "--count", "10"}, twice[:10]},
		{[]string{"-f", file, "--count", "10", "--loop", "1"}, once},
		{[]string{"-f", file, "--count", "16", "--loop", "forever"}, twice},
		{[]string{"rc", "send-only", "--psn", "5"}, []int{5}},
		{[]string{"rc", "send-only", "--psn", "5", "--loop", "3", "--step", "infiniband.bth.psn=-1"}, []int{5, 4, 3}},
		{[]string{"rc", "send-only", "--count", "2"}, []int{0, 0}},
	} {
		if d := cmp.Diff(c.want, psnsOf(dataOf(written(t, c.args...)))); d != "" {
			t.Errorf("%q: %s", c.args, d)
		}
	}
}

func TestAFileHasTheTimesOfTheSchedule(t *testing.T) {
	recorded := createWith(t, "in.pcap",
		capfile.Record{Data: make([]byte, 60), WireLen: 60, Time: 5000, Link: wire.LinkEthernet, FCSLen: -1},
		capfile.Record{Data: make([]byte, 60), WireLen: 60, Time: 5600, Link: wire.LinkEthernet, FCSLen: -1},
		capfile.Record{Data: make([]byte, 60), WireLen: 60, Time: 9000, Link: wire.LinkEthernet, FCSLen: -1})
	opcode := []string{"rc", "ack", "--count", "3"} // of 62 bytes
	for _, c := range []struct {
		args []string
		want []int64
	}{
		{opcode, []int64{0, 100_000, 200_000}},
		{append(opcode, "--rate", "1Mpps"), []int64{0, 1000, 2000}},
		{append(opcode, "--rate", "496Mbps"), []int64{0, 1000, 2000}},
		{append(opcode, "--rate", "1kpps", "--burst", "2"), []int64{0, 0, 2_000_000}},
		{append(opcode, "--rate", "max"), []int64{0, 1000, 2000}},
		{[]string{"-r", recorded, "--timing", "keep"}, []int64{0, 600, 4000}},
		{[]string{"-r", recorded, "--timing", "2x"}, []int64{0, 300, 2000}},
		{[]string{"-r", recorded, "--timing", "0.5x", "--loop", "2"}, []int64{0, 1200, 8000, 8000, 9200, 16000}},
	} {
		var got []int64
		for _, r := range written(t, c.args...) {
			got = append(got, r.Time)
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%q: %s", c.args, d)
		}
	}
}

func TestACaptureIsSentAsItIs(t *testing.T) {
	name := filepath.Join(testneed.Pcaps(t), "py_mixed.pcap")
	want := dataOf(CaptureOf(t, name))
	if d := cmp.Diff(want, dataOf(written(t, "-r", name))); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(append(want, want...), dataOf(written(t, "-r", name, "--loop", "2"))); d != "" {
		t.Error(d)
	}
	for _, frame := range dataOf(written(t, "-r", name, "--dmac", "02:00:00:00:00:aa", "--smac", "02:00:00:00:00:bb", "--count", "5")) {
		eth := wire.Ethernet(frame)
		if eth.Dst() != [6]byte{2, 0, 0, 0, 0, 0xaa} || eth.Src() != [6]byte{2, 0, 0, 0, 0, 0xbb} {
			t.Errorf("addresses %x %x", eth.Dst(), eth.Src())
		}
	}
}

// A capture too large to be kept is read again for every pass.
func TestACaptureThatIsNotKeptIsReadAgain(t *testing.T) {
	c := newCaptured(filepath.Join(testneed.Pcaps(t), "py_mixed.pcap"), nil, nil, false)
	var passes [2][]int
	for i := range passes {
		for {
			f, err := c.next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			passes[i] = append(passes[i], f.length)
		}
		if err := c.again(); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(passes[0], passes[1]); d != "" || len(passes[0]) == 0 {
		t.Errorf("%d frames, then %s", len(passes[0]), d)
	}
	if err := c.close(); err != nil {
		t.Error(err)
	}
}

func TestWhatCannotBeSentIsSkippedAndTold(t *testing.T) {
	whole := bytes.Repeat([]byte{7}, 60)
	cut := createWith(t, "cut.pcap",
		capfile.Record{Data: whole, WireLen: 60, Link: wire.LinkEthernet, FCSLen: -1},
		capfile.Record{Data: whole[:30], WireLen: 60, Link: wire.LinkEthernet, FCSLen: -1})
	out, err := sendWith(t.Context(), "-r", cut, "-w", filepath.Join(t.TempDir(), "o.pcap"))
	if err != nil || !strings.Contains(out, "sent 1 packets, 60 bytes") || !strings.Contains(out, "skipped 1 cut short when captured") {
		t.Errorf("%v\n%s", err, out)
	}
	native := scriptFile(t, "- {base: ib, op: rc send-only}\n- {op: rc send-only, snap: 20}\n")
	out, err = sendWith(t.Context(), "-f", native, "--loop", "forever", "-w", filepath.Join(t.TempDir(), "o.pcap"))
	if err == nil || !strings.Contains(out, "skipped 1 not Ethernet, 1 cut short") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestAFrameCheckSequenceIsLeftToTheInterface(t *testing.T) {
	name := createWith(t, "fcs.pcapng", capfile.Record{Data: bytes.Repeat([]byte{7}, 64), WireLen: 64, Link: wire.LinkEthernet, FCSLen: 4})
	got := written(t, "-r", name)
	if len(got) != 1 || len(got[0].Data) != 60 || got[0].WireLen != 60 {
		t.Errorf("sent %d frames, the first %+v", len(got), got[:min(1, len(got))])
	}
}

func TestADryRunPrintsEveryField(t *testing.T) {
	args := []string{"rc", "write-only", "--count", "3", "--step", "infiniband.bth.psn=1"}
	var want []byte
	p := packet.Packet{Interface: -1}
	for i, rec := range written(t, args...) {
		p.Number = i + 1
		p.Parse(rec.Link, rec.Data, rec.WireLen)
		want = (&text.Tree{Palette: text.NewPalette(false)}).Append(want, &p)
	}
	out, err := sendWith(t.Context(), append(args, "--dry-run")...)
	if err != nil || out != string(want) {
		t.Errorf("%v: %s", err, cmp.Diff(string(want), out))
	}
	out, err = sendWith(t.Context(), "rc", "write-only", "--loop", "forever", "--dry-run")
	if err != nil || strings.Count(out, "Frame ") != 1 {
		t.Errorf("a dry run of what goes on for ever: %v\n%s", err, out)
	}
}

// A crafted packet is looked at alone, a captured one within its connection.
func TestADryRunPrintsIWARPUnits(t *testing.T) {
	for _, test := range []struct {
		args  []string
		units int
	}{
		{[]string{"iwarp", "send", "--payload", "text:hello", "--count", "3"}, 3},
		{[]string{"-r", filepath.Join(testneed.Pcaps(t), "iw_rping.pcap"), "--count", "10"}, 3}, // after MPA's start-up
	} {
		out, err := sendWith(t.Context(), append(test.args, "--dry-run")...)
		if got := strings.Count(out, "\niWARP FPDU, "); err != nil || got != test.units {
			t.Errorf("%q: %d units, want %d, %v", test.args, got, test.units, err)
		}
	}
}

// TestSendDoesNotWriteOverTheCaptureThatItReads as it once did.
func TestSendDoesNotWriteOverTheCaptureThatItReads(t *testing.T) {
	name := createWith(t, "in.pcap", capfile.Record{Data: make([]byte, 60), WireLen: 60, Link: wire.LinkEthernet, FCSLen: -1, Interface: -1})
	before := CaptureOf(t, name)
	if _, err := sendWith(t.Context(), "-r", name, "-w", name); err == nil || !strings.Contains(err.Error(), "written over") {
		t.Errorf("error %v", err)
	}
	if after := CaptureOf(t, name); len(after) != len(before) {
		t.Errorf("%d records of %d are left", len(after), len(before))
	}
}

// TestARefusalIsToldOnce though the run ends with it, too.
func TestARefusalIsToldOnce(t *testing.T) {
	o := &sendOptions{streams: cli.Streams{Out: io.Discard}}
	s := &sending{}
	down := errors.New("the interface is down")
	s.tally.refuse(1, down)
	if err := o.report(s, errors.Join(down, nil)); err == nil || strings.Count(err.Error(), down.Error()) != 1 {
		t.Errorf("%v", err)
	}
	if err := o.report(s, nil); !errors.Is(err, down) {
		t.Errorf("%v", err)
	}
}

func TestSendRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "send what?"},
		{"rc send-only", "send where to?"},
		{"rc send-only -f x -w y", "exclude each other"},
		{"-r x -f x -w y", "exclude each other"},
		{"rc send-only -i x -w y", "-i and -w exclude"},
		{"rc send-only -w y --timing keep", "only a capture has times"},
		{"-r x -w y --timing keep --rate 5", "exclude each other"},
		{"-r x -w y --timing keep --burst 5", "exclude each other"},
		{"-r x -w y --timing fast", "--timing fast"},
		{"-r x -w y --qp 5", "--qp describes a packet of an opcode"},
		{"-f x -w y --step infiniband.bth.psn=1", "--step describes"},
		{"-r x -w y --dmac 1", "--dmac"},
		{"rc send-only -w y --rate soon", "--rate soon"},
		{"rc send-only -w y --loop often", "--loop often"},
		{"rc send-only -w y --loop 0", "--loop 0"},
		{"rc send-only -w y --count 0", "--count 0"},
		{"rc send-only -w y --burst 0", "--burst 0"},
		{"rc send-only -w y --senders 0", "--senders 0"},
		{"rc nonsense -w y", "no opcode"},
		{"-r no-such-file -w y", "no-such-file"},
		{"-f no-such-file -w y", "no-such-file"},
		{"rc send-only -w no/such/folder/y", "no/such/folder"},
	} {
		t.Run(c.args, func(t *testing.T) {
			t.Chdir(t.TempDir())
			if _, err := sendWith(t.Context(), strings.Fields(c.args)...); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want one with %q", err, c.want)
			}
		})
	}
}

// countdown ends a context after so many frames.
type countdown struct {
	source
	left   int
	cancel func()
}

func (c *countdown) next() (frame, error) {
	if c.left--; c.left == 0 {
		c.cancel()
	}
	return c.source.next()
}

func TestAnInterruptEndsAWriteToAFile(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	o := &sendOptions{streams: cli.Streams{Out: io.Discard, Err: io.Discard}}
	s := &sending{clock: &fileClock{}, pace: &steady{rate: defaultRate(), burst: 1}}
	src := newCaptured(filepath.Join(testneed.Pcaps(t), "py_mixed.pcap"), nil, nil, true)
	s.source = &countdown{src, 500, cancel}
	name := filepath.Join(t.TempDir(), "o.pcap")
	w, err := capfile.Create(name, capfile.Interface{Link: wire.LinkEthernet, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	s.sink = &fileSink{tally: &s.tally, out: w, place: make([]byte, 1<<16)}
	if err := errors.Join(o.watched(ctx, s), w.Close()); err != nil {
		t.Fatal(err)
	}
	if n := len(CaptureOf(t, name)); n < 400 || n > 500+flushEvery || !strings.Contains(s.summary(), "sent "+strconv.Itoa(n)+" packets") {
		t.Errorf("%d packets written, reported as\n%s", n, s.summary())
	}
}
