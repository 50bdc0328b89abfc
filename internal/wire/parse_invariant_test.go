package wire_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// maxOffset is beyond every offset: each of the headers can lie 65535 bytes
// behind the one before it.
const maxOffset = wire.MaxHeaders * 0x10000

// checkFrame checks what is true of every frame, whatever its bytes are.
func checkFrame(t testing.TB, f *wire.Frame) {
	t.Helper()
	for _, h := range f.Headers() {
		if h.Off < 0 || h.Off > maxOffset || h.Len <= 0 {
			t.Fatalf("%s: header %d lies at %d+%d", shown(f), h.ID, h.Off, h.Len)
		}
		if b := f.Bytes(h); len(b) > int(h.Len) || len(b) != max(0, min(int(h.Len), len(f.Data)-int(h.Off))) {
			t.Fatalf("%s: header %d+%d has %d bytes of %d", shown(f), h.Off, h.Len, len(b), len(f.Data))
		}
	}
	for name, off := range map[string]int{
		"Net": f.Net, "L4": f.L4, "BTH": f.BTH, "ICRC": f.ICRC, "VCRC": f.VCRC, "End": f.End, "Payload": f.Payload,
	} {
		if off < -1 || off > maxOffset {
			t.Fatalf("%s: %s is %d", shown(f), name, off)
		}
	}
	if f.PayloadLen < 0 || f.Pad < 0 || f.Pad > 3 || f.Payload < 0 || f.End < 0 {
		t.Fatalf("%s: payload %d+%d, pad %d, end %d", shown(f), f.Payload, f.PayloadLen, f.Pad, f.End)
	}
	if f.ICRC >= 0 {
		checkTransport(t, f)
	}
	readFields(f)
}

func checkTransport(t testing.TB, f *wire.Frame) {
	t.Helper()
	behind := f.Payload + f.PayloadLen + f.Pad
	if f.BTH < 0 || f.Payload < f.BTH || behind > f.ICRC || f.End != f.ICRC+wire.ICRCLen || f.ICRC < f.BTH+wire.BTHLen {
		t.Fatalf("%s: BTH %d, payload %d+%d+%d, end %d", shown(f), f.BTH, f.Payload, f.PayloadLen, f.Pad, f.End)
	}
	whole := len(f.View(wire.HdrBTH)) == wire.BTHLen && f.Problems&wire.ProblemShort == 0
	if whole && behind != f.ICRC {
		t.Fatalf("%s: nothing accounts for the bytes from %d to %d", shown(f), behind, f.ICRC)
	}
}

// readFields reads every field of every header and says how many there were.
func readFields(f *wire.Frame) (n int) {
	for _, h := range f.Headers() {
		b, spec := f.Bytes(h), wire.SpecOf(h.ID)
		for i := range spec.Fields {
			field := &spec.Fields[i]
			if !field.Present(b) {
				continue
			}
			n++
			if field.Kind == wire.Uint || field.Kind == wire.Bool {
				v := field.Value(b)
				if field.Names != nil {
					_ = field.Names(v)
				}
			}
			_ = field.Raw(b)
		}
	}
	return n
}

// grows lists the headers that are known by another name, or to be longer, once
// more of them is captured.
func grows(id wire.HeaderID) bool {
	switch id {
	case wire.HdrIPv4, wire.HdrTCP, wire.HdrGRE, wire.HdrERSPAN3, wire.HdrGeneve, wire.HdrARP, wire.HdrMACControl,
		wire.HdrIPv6HopOpts, wire.HdrIPv6DestOpts, wire.HdrIPv6Routing:
		return true
	}
	return id >= wire.HdrMAD
}

// checkCut checks the parse of a frame cut at n bytes against that of all of it.
// A header of which no byte was captured is there because another announces it;
// its own first byte may say that it is something else.
func checkCut(t testing.TB, whole, cut *wire.Frame, n int) {
	t.Helper()
	for _, h := range cut.Headers() {
		some, all := int(h.Off) < n, int(h.Off+h.Len) <= n
		if !some || !all && (grows(h.ID) || h.ID == wire.HdrTrailer) {
			continue
		}
		if !slices.Contains(whole.Headers(), h) {
			t.Fatalf("cut at %d of %d: %s\nhas header %d at %d+%d, not in the whole\n%s", n, len(whole.Data), shown(cut), h.ID, h.Off, h.Len, shown(whole))
		}
	}
	for _, part := range [][2]int{{cut.Net, whole.Net}, {cut.L4, whole.L4}, {cut.BTH, whole.BTH}, {cut.ICRC, whole.ICRC}} {
		if part[0] != part[1] && part[0] >= 0 && cut.BTH >= 0 {
			t.Fatalf("cut at %d: an offset is %d, in the whole it is %d\n%s\n%s", n, part[0], part[1], shown(cut), shown(whole))
		}
	}
	if len(cut.View(wire.HdrBTH)) < wire.BTHLen {
		return
	}
	if cut.Payload != whole.Payload || cut.PayloadLen != whole.PayloadLen || cut.Pad != whole.Pad || cut.Proto != whole.Proto ||
		cut.End != whole.End || cut.ICRC != whole.ICRC || cut.VCRC != whole.VCRC {
		t.Fatalf("cut at %d of %d:\n%s\nis not what the whole is:\n%s", n, len(whole.Data), shown(cut), shown(whole))
	}
}

// checkEveryCut parses a frame cut at each of its lengths. The slices end where
// the cut is, so that reading beyond it panics.
func checkEveryCut(t testing.TB, link wire.LinkType, data []byte, wireLen int) {
	t.Helper()
	var whole, cut wire.Frame
	whole.Parse(link, data, wireLen)
	checkFrame(t, &whole)
	for n := range len(data) {
		cut.Parse(link, slices.Clip(bytes.Clone(data[:n])), max(wireLen, len(data)))
		checkFrame(t, &cut)
		if link != wire.LinkIPoIB || n >= wire.GRHLen+wire.IPoIBLen { // which form it is cannot be told before
			checkCut(t, &whole, &cut, n)
		}
		if n < wire.SLLLen {
			cut.Parse(link, slices.Clip(bytes.Clone(data[:n])), 0)
			checkFrame(t, &cut)
		}
	}
}

func TestEveryPrefixOfHandBuiltFrames(t *testing.T) {
	for _, c := range handBuilt() {
		data := unhex(t, c.frame)
		t.Run(c.name, func(t *testing.T) { checkEveryCut(t, c.link, data, 0) })
	}
}

// eachFrame calls do with every frame of a capture or of a file of hex lines.
func eachFrame(t testing.TB, path string, do func(link wire.LinkType, data []byte, wireLen int)) {
	t.Helper()
	if filepath.Ext(path) != ".hex" {
		eachRecord(t, path, func(_ int, rec *capfile.Record) { do(rec.Link, rec.Data, rec.WireLen) })
		return
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		if line := strings.TrimSpace(lines.Text()); line != "" && line[0] != '#' {
			do(wire.LinkEthernet, unhex(t, line), 0)
		}
	}
}

// layout tells frames apart that Parse walks differently.
func layout(f *wire.Frame) string {
	var b strings.Builder
	for _, h := range f.Headers() {
		b.WriteByte(byte(h.ID))
		b.WriteByte(byte(h.Len))
	}
	return shown(f)[:2] + b.String()
}

// Every frame is parsed cut at each of its lengths; of those that have the same
// headers of the same lengths, what the first one's cuts hold is checked too.
func TestEveryPrefixOfTheCorpus(t *testing.T) {
	seen := map[string]bool{}
	frames := 0
	for _, file := range testneed.Captures(t) {
		eachFrame(t, file, func(link wire.LinkType, data []byte, wireLen int) {
			var f wire.Frame
			f.Parse(link, data, wireLen)
			checkFrame(t, &f)
			frames++
			if key := layout(&f); !seen[key] {
				seen[key] = true
				checkEveryCut(t, link, data, wireLen)
				return
			}
			for n := range data { // the slice ends at the cut: reading on would panic
				f.Parse(link, data[:n:n], len(data))
			}
		})
	}
	if frames < 1000 || len(seen) < 100 {
		t.Errorf("%d frames of %d kinds: the corpus is not all there", frames, len(seen))
	}
	t.Logf("%d frames, %d kinds cut at every length", frames, len(seen))
}

func TestParseOverwritesAllOfAFrame(t *testing.T) {
	var used wire.Frame
	for _, c := range handBuilt() {
		var fresh wire.Frame
		c.parse(t, &fresh)
		c.parse(t, &used)
		if a, b := shown(&fresh), shown(&used); a != b || fresh.Net != used.Net || fresh.L4 != used.L4 || fresh.BTH != used.BTH ||
			fresh.End != used.End || fresh.Payload != used.Payload || fresh.WireLen != used.WireLen || fresh.Link != used.Link {
			t.Errorf("%s: a fresh Frame holds\n%s, one used before\n%s", c.name, a, b)
		}
	}
}

func TestParseDoesNotAllocate(t *testing.T) {
	type frame struct {
		link wire.LinkType
		data []byte
	}
	var mix []frame
	for _, c := range handBuilt() {
		mix = append(mix, frame{c.link, unhex(t, c.frame)})
	}
	var f wire.Frame
	if n := testing.AllocsPerRun(20, func() {
		for i := range mix {
			f.Parse(mix[i].link, mix[i].data, 0)
			f.Interpret(wire.UpperNVMe)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
