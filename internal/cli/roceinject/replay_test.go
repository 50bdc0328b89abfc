package roceinject_test

import (
	"bytes"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// replayed runs `roceinject replay` and returns its exit code and what it says.
func replayed(args ...string) (code int, out, errors string) {
	var stdout, stderr bytes.Buffer
	code = roceinject.Main(append([]string{"replay"}, args...), cli.Streams{Out: &stdout, Err: &stderr})
	return code, stdout.String(), stderr.String()
}

// rcPacket builds an RC packet between the hosts 10.0.0.1, with QP 0x11, and
// 10.0.0.2, with QP 0x22. words are opcode, PSN and FIELD=VALUE or data=TEXT.
func rcPacket(t testing.TB, fromFirst bool, text string) []byte {
	t.Helper()
	words := strings.Fields(text)
	op, err := craft.ParseOpcode("rc " + words[0])
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		t.Fatal(err)
	}
	settings := [][2]string{{"ip.src", "10.0.0.1"}, {"ip.dst", "10.0.0.2"}, {"infiniband.bth.destqp", "0x22"}}
	if !fromFirst {
		settings = [][2]string{{"ip.src", "10.0.0.2"}, {"ip.dst", "10.0.0.1"}, {"infiniband.bth.destqp", "0x11"}}
	}
	settings = append(settings, [2]string{"infiniband.bth.psn", words[1]})
	for _, w := range words[2:] {
		name, value, _ := strings.Cut(w, "=")
		if name == "data" {
			r.Payload = []byte(value)
			continue
		}
		settings = append(settings, [2]string{"infiniband." + name, value})
	}
	for _, s := range settings {
		if err := r.Put(s[0], s[1]); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	return img.Data
}

// conversation is a recording of two hosts, a millisecond between packets; "> "
// is what the first one sent.
func conversation(t testing.TB, lines ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "recorded.pcap")
	w, err := capfile.Create(name, capfile.Interface{Link: wire.LinkEthernet, FCSLen: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		data := rcPacket(t, line[0] == '>', line[2:])
		rec := capfile.Record{Data: data, WireLen: len(data), Time: 1e9 + int64(i)*1e6, HasTime: true, Interface: -1, Link: wire.LinkEthernet, FCSLen: -1}
		if err := w.Write(&rec); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReplayWithoutRulesCopiesACapture(t *testing.T) {
	for _, name := range []string{"rc_pingpong.pcap", "rping_rxe.pcap", "many_qps.pcap.gz", "iw_rping.pcap"} {
		in := filepath.Join(testneed.Pcaps(t), name)
		out := filepath.Join(t.TempDir(), "out.pcap")
		if code, _, errors := replayed(in, "-w", out); code != 0 || errors != "" {
			t.Fatalf("%s: exit code %d, %s", name, code, errors)
		}
		want, got := roceinject.CaptureOf(t, in), roceinject.CaptureOf(t, out)
		if len(want) != len(got) {
			t.Fatalf("%s: %d frames became %d", name, len(want), len(got))
		}
		for i := range want {
			if !bytes.Equal(want[i].Data, got[i].Data) || want[i].Time != got[i].Time || want[i].WireLen != got[i].WireLen {
				t.Errorf("%s: record %d changed", name, i+1)
			}
		}
	}
}

func TestReplayChangesAWholeConversation(t *testing.T) {
	in := filepath.Join(testneed.Pcaps(t), "rping_rxe.pcap")
	out := filepath.Join(t.TempDir(), "out.pcapng")
	code, said, errors := replayed(in, "-w", out, "--map", "ip:10.77.0.2=10.1.1.1", "--map", "ip:10.77.0.3=10.1.1.2",
		"--map", "qp:0x19@10.77.0.2=0x100", "--map", "qp:0x19@10.77.0.3=0x200",
		"--map", "psn:0x19@10.77.0.2=0x500", "--map", "psn:0x19@10.77.0.3=+1", "--map", "va:0x55e935c7d000+0x1000=0x7f0000000000", "--map", "rkey:0xa01=0x77")
	if code != 0 || errors != "" {
		t.Fatalf("exit code %d, %s%s", code, said, errors)
	}
	var f wire.Frame
	var before wire.Frame
	var h icrc.Hasher
	first, firstAnswer := true, true
	old := roceinject.CaptureOf(t, in)
	for i, rec := range roceinject.CaptureOf(t, out) {
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		if v, _, _ := h.Judge(&f); v != icrc.Good {
			t.Errorf("record %d: the ICRC is %v", i+1, v)
		}
		bth := wire.BTH(f.View(wire.HdrBTH))
		src, dst := f.Addresses()
		if !strings.HasPrefix(src.String(), "10.1.1.") || !strings.HasPrefix(dst.String(), "10.1.1.") {
			t.Errorf("record %d: from %v to %v", i+1, src, dst)
		}
		if req := f.View(wire.HdrCMReq); req != nil {
			m := wire.CMReq(req)
			if m.LocalQPN() != 0x100 || m.StartingPSN() != 0x500 || m.PrimaryPath().LocalGID().Unmap() != src {
				t.Errorf("record %d: the request names QP %#x, PSN %#x, GID %v", i+1, m.LocalQPN(), m.StartingPSN(), m.PrimaryPath().LocalGID())
			}
			if p := wire.CMIPPrivate(f.View(wire.HdrCMIPPrivate)); p.Src() != src || p.Dst() != dst {
				t.Errorf("record %d: the request is from %v to %v", i+1, p.Src(), p.Dst())
			}
		}
		if rep := f.View(wire.HdrCMRep); rep != nil && wire.CMRep(rep).LocalQPN() != 0x200 {
			t.Errorf("record %d: the reply names QP %#x", i+1, wire.CMRep(rep).LocalQPN())
		}
		if bth.DestQP() == 1 {
			continue
		}
		before.Parse(old[i].Link, old[i].Data, old[i].WireLen)
		was := wire.BTH(before.View(wire.HdrBTH))
		toFirst := dst.String() == "10.1.1.1"
		if want := map[bool]uint32{true: 0x100, false: 0x200}[toFirst]; bth.DestQP() != want {
			t.Errorf("record %d: to QP %#x", i+1, bth.DestQP())
		}
		// The stream to the first host's QP begins with 0x500, and so do the
		// answers, which that host sends; the other moves by one.
		response := bth.Opcode().Info().Response
		moved := bth.PSN().Diff(was.PSN())
		if toFirst != response {
			if first {
				first = false
				if bth.PSN() != 0x500 {
					t.Errorf("record %d: the first PSN is %#x", i+1, bth.PSN())
				}
			}
		} else if firstAnswer = false; moved != 1 {
			t.Errorf("record %d: PSN moved by %d", i+1, moved)
		}
	}
	if first || firstAnswer {
		t.Error("there were not both streams")
	}
}

func TestReplayTakesOneSide(t *testing.T) {
	in := conversation(t, "> send-only 1 data=a", "< acknowledge 1", "> send-only 2 data=b")
	out := filepath.Join(t.TempDir(), "out.pcap")
	if code, said, errors := replayed(in, "-w", out, "--as", "10.0.0.1", "--timing", "2x"); code != 0 || said != "wrote 2 packets, 0 of them changed\n" {
		t.Fatalf("exit code %d, %s%s", code, said, errors)
	}
	got := roceinject.CaptureOf(t, out)
	if len(got) != 2 || !bytes.Equal(got[1].Data, rcPacket(t, true, "send-only 2 data=b")) || got[1].Time-got[0].Time != 1e6 {
		t.Errorf("%+v", got)
	}
}

func TestReplayKnowsASideByItsMACAddress(t *testing.T) {
	in := filepath.Join(testneed.Pcaps(t), "rc_pingpong.pcap")
	out := filepath.Join(t.TempDir(), "out.pcap")
	mac := wire.Ethernet(roceinject.CaptureOf(t, in)[0].Data).Src()
	if code, said, errors := replayed(in, "-w", out, "--as", net.HardwareAddr(mac[:]).String()); code != 0 {
		t.Fatalf("exit code %d, %s%s", code, said, errors)
	}
	got := roceinject.CaptureOf(t, out)
	if len(got) == 0 || len(got) == len(roceinject.CaptureOf(t, in)) {
		t.Errorf("%d frames", len(got))
	}
	for i, rec := range got {
		if wire.Ethernet(rec.Data).Src() != mac {
			t.Errorf("frame %d is another's", i+1)
		}
	}
}

func TestReplaySaysWhichRuleConcernsNothing(t *testing.T) {
	in := conversation(t, "> send-only 1", "< acknowledge 1")
	_, _, errors := replayed(in, "-w", filepath.Join(t.TempDir(), "out.pcap"), "--map", "qp:0x33=1", "--map", "qp:0x22=1", "--map", "psn:0x44=+1")
	want := "roceinject: --map qp:0x33=1: no frame has it\nroceinject: --map psn:0x44=+1: no frame has it\n"
	if diff := cmp.Diff(want, errors); diff != "" {
		t.Error(diff)
	}
}

func TestReplayRefuses(t *testing.T) {
	twins := conversation(t, "> send-only 1", "> send-only 1 bth.destqp=0x23", "< acknowledge 1")
	in := conversation(t, "> send-only 1", "< acknowledge 1")
	out := filepath.Join(t.TempDir(), "out.pcap")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{in}, "replay where to?"},
		{[]string{in, "-i", "x", "-w", out}, "exclude each other"},
		{[]string{in, "-w", out, "--react"}, "go with -i"},
		{[]string{in, "-w", out, "--rate", "1kpps"}, "go with -i"},
		{[]string{in, "-i", "x", "--react"}, "--as ADDRESS"},
		{[]string{in, "-i", "x", "--react", "--as", "10.0.0.1", "--timeout", "0s"}, "--timeout"},
		{[]string{in, "-w", out, "--as", "me"}, "--as me: want an IP address"},
		{[]string{in, "-w", out, "--map", "qp=1"}, "--map qp=1: want KIND:OLD=NEW"},
		{[]string{in, "-w", out, "--pair", "1=2"}, "--pair 1=2: want QPN@ADDRESS"},
		{[]string{in, "-w", out, "--timing", "fast"}, "--timing fast: want keep, or a factor such as 2x or 0.5x, or max"},
		{nil, "which capture?"},
		{[]string{in, in, "-w", out}, "one word too many"},
		{[]string{"-", "-w", out, "--map", "psn:1=2"}, "read the capture twice"},
		{[]string{in + "x", "-w", out}, "no such file"},
		{[]string{in, "-w", out, "--as", "10.0.0.3"}, "no frame"},
		{[]string{in, "-i", "nosuch0"}, "nosuch0"},
		{[]string{in, "-w", in}, "written over"},
		{[]string{twins, "-w", out, "--map", "psn:0x22=+1"}, "say it with --pair"},
	} {
		code, _, errors := replayed(c.args...)
		if code != 2 || !strings.Contains(errors, c.want) {
			t.Errorf("%v: exit code %d, %s", c.args, code, errors)
		}
		if _, err := os.Stat(out); err == nil {
			t.Fatalf("%v: has written a file", c.args)
		}
	}
}
