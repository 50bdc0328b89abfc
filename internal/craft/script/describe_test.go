package script

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// described is the text of packet number of a capture.
func described(t *testing.T, name string, number int) string {
	t.Helper()
	r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
	if err != nil {
		t.Fatal(err)
	}
	batch, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	rec := &batch.Records[number-1]
	var f wire.Frame
	f.Parse(rec.Link, rec.Data, rec.WireLen)
	_, text := again(t, &f)
	batch.Release()
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	return text
}

func TestDescriptionsOfRecordedPacketsAreShort(t *testing.T) {
	for _, c := range []struct {
		capture string
		number  int
		want    string
	}{
		{"rc_pingpong.pcap", 1, `
- layers:
    - eth: {dst: '52:54:00:77:00:03', src: '52:54:00:77:00:02'}
    - ip: {id: 0xa285, src: 10.77.0.2, dst: 10.77.0.3}
    - udp: {srcport: 49441}
    - infiniband.bth: {opcode: RC SEND First, m: 0, psn: 12452082}
  payload: {size: 1024, fill: 0x7b}
`},
		// Bytes that no field says do not make the ICRC a matter of its own.
		{"cm_reject.pcap", 1, `
  raw:
    - {at: 152, bytes: "ffff"}
    - {at: 168, bytes: "ffff"}
`},
		// A segment that is one FPDU, from a stream without CRCs.
		{"iw_send_bw.pcap", 11, `
    - iwarp_mpa.fpdu
    - iwarp_ddp.untagged: {msn: 2}
    - iwarp_rdma: {opcode: Send}
  payload: "00001000"
  crc: 0x0
`},
		// One name for a field whose values only are called otherwise.
		{"cm_reject.pcap", 2, `
    - infiniband.mad: {mgmtclass: Communication Management, classversion: 0x2, method: Send, transactionid: 0x2b06e1c10, attributeid: 0x12}
    - infiniband.cm.rej: {remotecommid: 0x101c6eb0, reason: 0x8, tail: {size: 148}}
`},
	} {
		got := described(t, c.capture, c.number)
		if want := strings.TrimPrefix(c.want, "\n"); !strings.HasSuffix(got, want) || strings.HasPrefix(want, "-") && got != want {
			t.Errorf("%s %d:\n%s", c.capture, c.number, cmp.Diff(want, got))
		}
	}
}

// frameOf parses the one packet of a script.
func frameOf(t *testing.T, text string) *wire.Frame {
	t.Helper()
	return &build(t, text)[0]
}

func TestWhatFollowsIsListedOnlyWhereItIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"{op: rc send-only}": `
- layers: [eth, ip, udp, bth]
`,
		"{op: rc write-only, payload: {text: hello}, set: {ip.ttl: 3, udp.checksum: auto}}": `
- layers: [eth, ip: {ttl: 3}, udp: {checksum: auto}, bth, infiniband.reth]
  payload: "68656c6c6f"
`,
		"{op: rc send-only, payload: aa, set: {ip.checksum: 1, udp.checksum: 2}, icrc: 0}": `
- layers: [eth, ip: {checksum: 0x1}, udp: {checksum: 0x2}, bth]
  payload: "aa"
  icrc: 0x0
`,
		`{op: rc send-only, payload: aa, raw: [{at: 55, bytes: "0b0c0d"}], trailer: "01"}`: `
- layers: [eth, ip, udp, bth]
  payload: "aa"
  trailer: "01"
  raw: [{at: 55, bytes: "0b0c0d"}]
`,
		"{op: rc send-only, set: {udp.length: 99}, payload: aa, snap: 56}": `
- layers: [eth, ip, udp: {length: 99}, bth]
  payload: "aa"
  snap: 56
`,
	} {
		r, err := craft.Describe(frameOf(t, text))
		if err != nil {
			t.Fatal(err)
		}
		got := compact(r)
		if diff := cmp.Diff(strings.TrimPrefix(want, "\n"), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", text, diff)
		}
	}
}

// compact writes the layers in a line, without the opcode.
func compact(r *craft.Recipe) string {
	var names []string
	for i := range r.Layers {
		l := r.Layers[i]
		name := craft.LayerName(l.ID)
		if l.ID == wire.HdrBTH {
			name, l.Set = "bth", l.Set[1:]
		}
		var fields []string
		for _, s := range l.Set {
			fields = append(fields, craft.NameOf(l.ID, s.Field)+": "+s.Text())
		}
		if fields != nil {
			name += ": {" + strings.Join(fields, ", ") + "}"
		}
		names = append(names, name)
	}
	rest := *r
	rest.Layers = []craft.Layer{{ID: wire.HdrBTH}}
	text, err := Append(nil, &rest)
	if err != nil {
		return err.Error()
	}
	_, parts, _ := strings.Cut(string(text), "infiniband.bth\n")
	parts = strings.ReplaceAll(parts, "raw:\n    - {at: 55, bytes: \"0b0c0d\"}", "raw: [{at: 55, bytes: \"0b0c0d\"}]")
	return "- layers: [" + strings.Join(names, ", ") + "]\n" + parts
}

// FuzzText holds the same promise as craft.FuzzDescribe, through the text.
func FuzzText(f *testing.F) {
	for _, name := range []string{"rc send-only", "ud send-only", "cnp", "rc ack", "iwarp send", "iwarp write", "iwarp mpa-reply"} {
		op, err := craft.ParseOperation(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, base := range op.Bases() {
			r, err := op.In(base.Name)
			if err != nil {
				f.Fatal(err)
			}
			img, err := craft.Build(r)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint16(r.Link), img.Data, 0)
		}
	}
	f.Fuzz(func(t *testing.T, link uint16, data []byte, wireLen int) {
		var frame wire.Frame
		if frame.Parse(wire.LinkType(link), data, wireLen); frame.WireLen > 1<<16 || len(data) == 0 {
			return
		}
		if img, text := again(t, &frame); !bytes.Equal(img.Data, data) || img.WireLen != frame.WireLen {
			t.Fatalf("built %d of %d\n%x\nwas %d of %d\n%x\nfrom\n%s", len(img.Data), img.WireLen, img.Data, len(data), frame.WireLen, data, text)
		}
	})
}
