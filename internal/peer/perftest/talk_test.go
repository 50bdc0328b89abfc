package perftest

import (
	"bytes"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// A line that ib_read_bw sent in the lab.
const observedLine = "0000:0080:000026:1a923a:00000898:0000556e9b280000:00:00:00:00:00:00:00:00:00:00:ff:ff:0a:4d:00:02:00000000:\x00"

var observed = Destination{
	OutReads: 0x80, QPN: 0x26, PSN: 0x1a923a, RKey: 0x898, VAddr: 0x556e9b280000, GID: netip.MustParseAddr("::ffff:10.77.0.2"),
}

func TestDestinationIsPerftestsLine(t *testing.T) {
	if got := observed.Append(nil); string(got) != observedLine {
		t.Errorf("told as %q\nwant      %q", got, observedLine)
	}
	got, err := ParseDestination([]byte(observedLine))
	if err != nil || got != observed {
		t.Errorf("read as %+v, %v", got, err)
	}
}

// What ib_write_bw -R sent in the lab: the same in binary, but that the memory's
// address and key were others.
func TestBinaryDestinationIsPerftests(t *testing.T) {
	wire := []byte("" +
		"\x00\x00\x00\x00" + "\x00\x00\x00\x01" + "\x00\x00\x00\x3f" + "\x00\x10\xb8\xf5" + // LID, reads, QPN, PSN
		"\x00\x00\x1b\x62" + "\x00\x00\x00\x00" + "\x00\x00\x55\x75\x4f\xe4\x10\x00" + // key, nothing, address
		"\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x0a\x4d\x00\x03" + "\x00\x00\x00\x00" + "\x00\x00\x00\x00")
	want := Destination{
		OutReads: 1, QPN: 0x3f, PSN: 0x10b8f5, RKey: 0x1b62, VAddr: 0x55754fe41000, GID: netip.MustParseAddr("::ffff:10.77.0.3"),
	}
	got, err := ParseBinary(wire)
	if err != nil || got != want {
		t.Errorf("read as %+v, %v", got, err)
	}
	if again := want.AppendBinary(nil); !bytes.Equal(again, wire) {
		t.Errorf("told as % x", again)
	}
	for n := range wire {
		if _, err := ParseBinary(wire[:n]); err == nil {
			t.Errorf("%d bytes were enough", n)
		}
	}
}

func TestEveryPrefixOfADestinationIsRefused(t *testing.T) {
	for n := range len(observedLine) {
		if d, err := ParseDestination([]byte(observedLine[:n])); err == nil {
			t.Errorf("%q was read as %+v", observedLine[:n], d)
		}
	}
}

func TestWhatIsNoDestinationIsRefused(t *testing.T) {
	for _, change := range [][2]string{
		{"0000:0080", "0000.0080"},
		{"000026", "00002x"},
		{"1a923a", "-a923a"},
		{"556e9b28", "556e9b+8"},
		{"ff:ff:", "ff:fx:"},
		{":00000000:\x00", ":0000000g:\x00"},
		{":00000000:\x00", ":00000000;\x00"},
		{"0a:4d:00", "0a:4d:0:"},
	} {
		line := strings.Replace(observedLine, change[0], change[1], 1)
		if d, err := ParseDestination([]byte(line)); err == nil {
			t.Errorf("%q was read as %+v", line, d)
		}
	}
}

func FuzzParseDestination(f *testing.F) {
	f.Add([]byte(observedLine))
	f.Fuzz(func(t *testing.T, line []byte) {
		d, err := ParseDestination(line)
		if err != nil {
			return
		}
		again, err := ParseDestination(d.Append(nil))
		if err != nil || again != d {
			t.Errorf("%q: %+v became %+v, %v", line, d, again, err)
		}
	})
}

// script is a connection on which the peer says what was recorded. What is told
// to it is kept, with where the peer had got to.
type script struct {
	says io.Reader
	told []string
}

func (s *script) Read(b []byte) (int, error) { return s.says.Read(b) }

func (s *script) Write(b []byte) (int, error) {
	s.told = append(s.told, string(b))
	return len(b), nil
}

// recordedServer is what ib_read_bw -q 1 said as a server, up to the test.
const recordedServer = "6.24\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x00\x00\x10\x00" + "\x00\x00\x00\x40" + "5\x00" + observedLine

func TestTalkIsTheRecordedOne(t *testing.T) {
	conn := &script{says: strings.NewReader(recordedServer)}
	talk := &Talk{Conn: conn, Client: true}
	settings, err := talk.Agree(Settings{CycleBuffer: 64, CacheLine: 128, MTU: 1024})
	if err != nil {
		t.Fatal(err)
	}
	if want := (Settings{CycleBuffer: 4096, CacheLine: 128, MTU: 1024}); settings != want {
		t.Errorf("agreed on %+v, want %+v", settings, want)
	}
	remote, err := talk.Exchange([]Destination{observed})
	if err != nil || !slices.Equal(remote, []Destination{observed}) {
		t.Errorf("heard of %+v, %v", remote, err)
	}
	want := []string{
		"6.24\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", "\x00\x00\x00\x40", "\x00\x00\x00\x80", "3\x00", observedLine,
	}
	if !slices.Equal(conn.told, want) {
		t.Errorf("told %q\nwant %q", conn.told, want)
	}
	if talk.RemoteVersion != "6.24" {
		t.Errorf("the peer's version is %q", talk.RemoteVersion)
	}
}

func TestReportIsTheRecordedOne(t *testing.T) {
	says := "\x00\x00\x00\x00\x00\x01\x00\x00" + "\x00\x00\x00\x00\x00\x00\x00\x0a" +
		"@\x18\xf0\xd7\xa5\xd8\x10\xd8" + "@\x181V\x0cp\xee\xa2" + "?\x19^/\x01\xeb\xb6\x05"
	conn := &script{says: strings.NewReader(says)}
	r, err := (&Talk{Conn: conn}).SwapReports(Report{})
	if err != nil {
		t.Fatal(err)
	}
	// What the server printed of it: 65536 10 6.24 6.05 0.000097.
	if r.Size != 65536 || r.Iterations != 10 || int(r.Peak*100) != 623 || int(r.Average*100) != 604 || int(r.Rate*1e6) != 96 {
		t.Errorf("read as %+v", r)
	}
	again := &script{says: bytes.NewReader(make([]byte, len(says)))}
	if _, err := (&Talk{Conn: again}).SwapReports(r); err != nil || strings.Join(again.told, "") != says {
		t.Errorf("told as %q, %v", again.told, err)
	}
}

func TestTalkFailsWhenThePeerSaysLess(t *testing.T) {
	for n := range len(recordedServer) {
		talk := &Talk{Conn: &script{says: strings.NewReader(recordedServer[:n])}, Client: true}
		_, err := talk.Agree(Settings{MTU: 4096})
		if err == nil {
			_, err = talk.Exchange([]Destination{observed})
		}
		if err == nil {
			t.Fatalf("content with %q", recordedServer[:n])
		}
	}
}

func TestTalkRefusesOldVersionsAndOddMTUs(t *testing.T) {
	for _, test := range []struct {
		version string
		mtu     int
		bad     bool
	}{
		{"6.24", 4096, false}, {"5.70", 256, false}, {"5.60", 4096, true}, {"none", 4096, true}, {"6.24", 1500, true}, {"6.24", 8192, true},
	} {
		says := test.version + strings.Repeat("\x00", versionLen-len(test.version)) + recordedServer[versionLen:]
		talk := &Talk{Conn: &script{says: strings.NewReader(says)}, Client: true}
		if _, err := talk.Agree(Settings{MTU: test.mtu}); (err != nil) != test.bad {
			t.Errorf("version %q, MTU %d: %v", test.version, test.mtu, err)
		}
	}
}

func TestUnknownMTUOfThePeerIsIgnored(t *testing.T) {
	says := strings.Replace(recordedServer, "5\x00", "9\x00", 1)
	got, err := (&Talk{Conn: &script{says: strings.NewReader(says)}, Client: true}).Agree(Settings{MTU: 2048})
	if err != nil || got.MTU != 2048 {
		t.Errorf("agreed on %+v, %v", got, err)
	}
}

func TestTwoSidesAgree(t *testing.T) {
	a, b := net.Pipe()
	type end struct {
		settings Settings
		report   Report
		err      error
	}
	side := func(conn io.ReadWriter, client bool, mtu int) (e end) {
		talk := &Talk{Conn: conn, Client: client}
		if e.settings, e.err = talk.Agree(Settings{CycleBuffer: 4096, CacheLine: 64, MTU: mtu}); e.err != nil {
			return e
		}
		if e.err = talk.Sync(observed); e.err == nil {
			e.report, e.err = talk.SwapReports(Report{Size: uint64(mtu)})
		}
		return e
	}
	server := make(chan end)
	go func() { server <- side(b, false, 1024) }()
	got, other := side(a, true, 4096), <-server
	if got.err != nil || other.err != nil || got.settings != other.settings || got.settings.MTU != 1024 {
		t.Fatalf("client %+v, server %+v", got, other)
	}
	if got.report.Size != 1024 || other.report.Size != 4096 {
		t.Errorf("reports of %d and %d bytes", got.report.Size, other.report.Size)
	}
}
