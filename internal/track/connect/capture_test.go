package connect_test

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/wire"
)

// follow follows the connections of a capture.
func follow(t *testing.T, name string) (list []*connect.Connection, told []connect.Event) {
	t.Helper()
	r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	track := connect.NewTracker(connect.Limit)
	track.Closed = func(c *connect.Connection) { list = append(list, c) }
	track.Report = func(_ *connect.Connection, e connect.Event) { told = append(told, e) }
	var f wire.Frame
	number, now := 0, int64(0)
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range batch.Records {
			number++
			now = rec.Time
			f.Parse(rec.Link, rec.Data, rec.WireLen)
			m := connect.Message{Number: number, Time: rec.Time}
			m.Src, m.Dst = f.Addresses()
			if m.Read(&f) {
				track.Take(&m)
			}
		}
		batch.Release()
	}
	track.Finish(now)
	slices.SortFunc(list, func(a, b *connect.Connection) int { return a.Messages[0].Number - b.Messages[0].Number })
	return list, told
}

// line is a connection in one line: its outcome, queue pairs and messages.
func line(c *connect.Connection) string {
	b := fmt.Sprintf("%v QP %#x %#x:", c.Outcome, c.Ends[0].QPN, c.Ends[1].QPN)
	for i := range c.Messages {
		m := &c.Messages[i]
		b += fmt.Sprintf(" %d %v from %d", m.Number, m.Attribute, m.Sender)
	}
	return b
}

func TestConnectionsOfCaptures(t *testing.T) {
	for _, test := range []struct {
		file  string
		kinds []connect.Kind
		lines []string
	}{
		{"cm_reject.pcap", []connect.Kind{connect.Rejected}, []string{"refused QP 0x23 0x0: 1 REQ from 0 2 REJ from 1"}},
		{"rping_rxe.pcap", nil, []string{"disconnected QP 0x19 0x19: 1 REQ from 0 2 REP from 1 3 RTU from 0 40 DREQ from 0 41 DREP from 1"}},
		{"ucmatose.pcap", nil, []string{
			"disconnected QP 0x21 0x21: 1 REQ from 0 3 REP from 1 5 RTU from 0 31 DREQ from 1 32 DREP from 0",
			"disconnected QP 0x22 0x22: 2 REQ from 0 4 REP from 1 6 RTU from 0 33 DREQ from 1 34 DREP from 0",
		}},
		{"udaddy.pcap", nil, []string{"resolved QP 0x0 0x20: 1 SIDR REQ from 0 2 SIDR REP from 1"}},
		{"ud_pingpong.pcap", nil, nil}, // its ends tell each other by TCP
		{"ud_ipv6.pcap", nil, nil},
	} {
		list, told := follow(t, test.file)
		var lines []string
		for _, c := range list {
			lines = append(lines, line(c))
		}
		if !slices.Equal(lines, test.lines) {
			t.Errorf("%s:\n%s\nwant\n%s", test.file, strings.Join(lines, "\n"), strings.Join(test.lines, "\n"))
		}
		var kinds []connect.Kind
		for _, e := range told {
			kinds = append(kinds, e.Kind)
		}
		if !slices.Equal(kinds, test.kinds) {
			t.Errorf("%s: told %v, want %v", test.file, kinds, test.kinds)
		}
	}
}

func TestEachConnectionOfNVMeIsDisconnected(t *testing.T) {
	list, told := follow(t, "nvme_rdma.pcap.gz")
	if len(list) == 0 || len(told) != 0 {
		t.Fatalf("%d connections, told %v", len(list), told)
	}
	for _, c := range list {
		if c.Outcome != connect.Disconnected || c.Request() == nil || c.Reply() == nil || len(c.Request().Private()) == 0 {
			t.Error(line(c))
		}
	}
}

// compared are tshark's fields for what the views of package wire read.
var compared = []struct {
	field string
	of    uint16
	read  func(b []byte) uint64
}{
	{"infiniband.cm.req", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).LocalCommID()) }},
	{"infiniband.cm.req.serviceid", wire.CMAttrReq, func(b []byte) uint64 { return wire.CMReq(b).ServiceID() }},
	{"infiniband.cm.req.localqpn", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).LocalQPN()) }},
	{"infiniband.cm.req.startpsn", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).StartingPSN()) }},
	{"infiniband.cm.req.responderres", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).ResponderResources()) }},
	{"infiniband.cm.req.initdepth", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).InitiatorDepth()) }},
	{"infiniband.cm.req.remoteresptout", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).RemoteResponseTimeout()) }},
	{"infiniband.cm.req.retrcount", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).RetryCount()) }},
	{"infiniband.cm.req.rnrretrcount", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).RNRRetryCount()) }},
	{"infiniband.cm.req.pppmtu", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).PathMTU()) }},
	{"infiniband.cm.req.prim_localacktout", wire.CMAttrReq, func(b []byte) uint64 { return uint64(wire.CMReq(b).PrimaryPath().LocalACKTimeout()) }},
	{"infiniband.cm.rep", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).LocalCommID()) }},
	{"infiniband.cm.rep.localqpn", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).LocalQPN()) }},
	{"infiniband.cm.rep.startpsn", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).StartingPSN()) }},
	{"infiniband.cm.rep.respres", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).ResponderResources()) }},
	{"infiniband.cm.rep.initdepth", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).InitiatorDepth()) }},
	{"infiniband.cm.rep.rnrretrcount", wire.CMAttrRep, func(b []byte) uint64 { return uint64(wire.CMRep(b).RNRRetryCount()) }},
	{"infiniband.cm.rej.reason", wire.CMAttrRej, func(b []byte) uint64 { return uint64(wire.CMRej(b).Reason()) }},
	{"infiniband.cm.rej.msgrej", wire.CMAttrRej, func(b []byte) uint64 { return uint64(wire.CMRej(b).MessageRejected()) }},
	{"infiniband.cm.req.remoteqpneecn", wire.CMAttrDreq, func(b []byte) uint64 { return uint64(wire.CMDreq(b).RemoteQPN()) }},
}

// TestWhatMessagesSayAgreesWithTshark reads the same captures with tshark: which
// packets hold which message of which transaction, and what they say.
func TestWhatMessagesSayAgreesWithTshark(t *testing.T) {
	tshark := testneed.Tool(t, "tshark")
	values := 0
	for _, name := range []string{"cm_reject.pcap", "rping_rxe.pcap", "ucmatose.pcap", "udaddy.pcap", "nvme_rdma.pcap.gz"} {
		args := []string{"-r", filepath.Join(testneed.Pcaps(t), name), "-Y", "infiniband.mad.mgmtclass == 7", "-T", "fields", "-E", "occurrence=f"}
		for _, f := range []string{"frame.number", "infiniband.mad.attributeid", "infiniband.mad.transactionid"} {
			args = append(args, "-e", f)
		}
		for _, f := range compared {
			args = append(args, "-e", f.field)
		}
		out, err := exec.Command(tshark, args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		rows := map[int][]string{}
		for row := range strings.Lines(string(out)) {
			cells := strings.Split(strings.TrimSuffix(row, "\n"), "\t")
			rows[int(number(t, cells[0]))] = cells[1:]
		}
		list, _ := follow(t, name)
		for _, c := range list {
			for i := range c.Messages {
				m := &c.Messages[i]
				cells := rows[m.Number]
				if cells == nil || number(t, cells[0]) != uint64(m.Attribute) || number(t, cells[1]) != m.Transaction {
					t.Fatalf("%s, packet %d: %v of transaction %#x, tshark has %q", name, m.Number, m.Attribute, m.Transaction, cells)
				}
				delete(rows, m.Number)
				for j, f := range compared {
					if f.of != uint16(m.Attribute) {
						continue
					}
					values++
					if got, want := f.read(m.Body()), number(t, cells[2+j]); got != want {
						t.Errorf("%s, packet %d: %s is %#x, tshark has %#x", name, m.Number, f.field, got, want)
					}
				}
			}
		}
		if len(rows) != 0 {
			t.Errorf("%s: tshark has messages in packets that are not followed: %v", name, rows)
		}
	}
	if values == 0 {
		t.Error("nothing was compared")
	}
	t.Logf("%d values agree", values)
}

func number(t *testing.T, text string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
