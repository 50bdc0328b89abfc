package layers

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// frame is one captured frame.
type frame struct {
	file   string
	number int // in the file, from 1
	link   wire.LinkType
	data   []byte
	length int // on the wire
}

// parse gives what the project's own parser finds in the frame.
func (f frame) parse() *wire.Frame {
	w := new(wire.Frame)
	w.Parse(f.link, f.data, f.length)
	return w
}

// decoder is gopacket's name for the frame's link type; nil if it has none.
func (f frame) decoder() gopacket.Decoder {
	switch f.link {
	case wire.LinkEthernet:
		return layers.LinkTypeEthernet
	case wire.LinkIB:
		return LinkTypeInfiniBand
	case wire.LinkERF:
		return LinkTypeERF
	}
	return nil
}

// captured reads every frame of the captures at hand that gopacket has a first
// layer for.
func captured(t testing.TB) []frame {
	t.Helper()
	var all []frame
	for _, name := range testneed.Captures(t) {
		if base := filepath.Base(name); strings.Contains(base, ".pcap") {
			all = append(all, readCapture(t, name)...)
		}
	}
	return all
}

func readCapture(t testing.TB, name string) []frame {
	t.Helper()
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	var all []frame
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i, rec := range batch.Records {
			all = append(all, frame{
				file: filepath.Base(name), number: int(batch.First) + i,
				link: rec.Link, data: bytes.Clone(rec.Data), length: rec.WireLen,
			})
		}
		batch.Release()
	}
}

// beyond reports whether a frame has an outer header that gopacket itself does
// not follow (ERSPAN in GRE) or cannot write (Geneve).
func beyond(w *wire.Frame) bool {
	_, gre := w.Last(wire.HdrGRE)
	_, geneve := w.Last(wire.HdrGeneve)
	return gre || geneve
}

// wellFormed reports whether a frame is whole, makes sense, and is of a kind
// that this package decodes.
func wellFormed(w *wire.Frame) bool {
	switch w.Proto {
	case wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoIB, wire.ProtoIBLink, wire.ProtoPause, wire.ProtoPFC:
		return w.Problems == 0 && !w.Cut()
	}
	return false
}

func TestEveryWellFormedFrameIsWrittenBackAsItWasRead(t *testing.T) {
	checked := map[wire.Proto]int{}
	buf := gopacket.NewSerializeBuffer()
	for _, f := range captured(t) {
		w := f.parse()
		if !wellFormed(w) || f.decoder() == nil || beyond(w) {
			continue
		}
		packet := gopacket.NewPacket(f.data, f.decoder(), gopacket.Default)
		if fail := packet.ErrorLayer(); fail != nil {
			t.Fatalf("%s %d: %v", f.file, f.number, fail.Error())
		}
		if err := gopacket.SerializePacket(buf, gopacket.SerializeOptions{}, packet); err != nil {
			t.Fatalf("%s %d: %v", f.file, f.number, err)
		}
		checked[w.Proto]++
		got, want := trimmed(buf.Bytes(), w), trimmed(f.data, w)
		if !bytes.Equal(got, want) {
			t.Fatalf("%s %d:\nread  %x\nwrote %x\n%v", f.file, f.number, want, got, packet)
		}
	}
	t.Log("frames by protocol:", checked)
	for _, p := range []wire.Proto{wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoIB} {
		if checked[p] == 0 {
			t.Errorf("no frame of protocol %d was checked", p)
		}
	}
}

// trimmed cuts off what lies behind the packet: an Ethernet pad or an FCS.
func trimmed(data []byte, w *wire.Frame) []byte {
	end := max(w.End, w.VCRC+wire.VCRCLen)
	if w.End == 0 {
		last := w.Headers()[len(w.Headers())-1]
		if last.ID == wire.HdrTrailer {
			last = w.Headers()[len(w.Headers())-2]
		}
		end = int(last.Off + last.Len)
	}
	return data[:min(end, len(data))]
}

// headerOf is the counterpart of LayerTypeOf for every header of a RoCE or
// InfiniBand packet.
func headerOf(t gopacket.LayerType) wire.HeaderID {
	for id := wire.HdrRDETH; id <= wire.HdrCNP; id++ {
		if LayerTypeOf(id) == t {
			return id
		}
	}
	switch t {
	case LayerTypeLRH:
		return wire.HdrLRH
	case LayerTypeRWH:
		return wire.HdrRWH
	case LayerTypeGRH:
		return wire.HdrGRH
	case LayerTypeBTH:
		return wire.HdrBTH
	case LayerTypePad:
		return wire.HdrPad
	case LayerTypeICRC:
		return wire.HdrICRC
	case gopacket.LayerTypePayload:
		return wire.HdrPayload
	case LayerTypeMAD:
		return wire.HdrMAD
	case LayerTypeFlowControl:
		return wire.HdrFlowControl
	}
	return wire.HdrNone
}

func TestLayersAreTheHeadersThatTheFrameParserFinds(t *testing.T) {
	frames := 0
	for _, f := range captured(t) {
		w := f.parse()
		if w.BTH < 0 || f.decoder() == nil || beyond(w) || w.Problems&(wire.ProblemShort|wire.ProblemPad|wire.ProblemLength) != 0 {
			continue
		}
		var want, got []wire.HeaderID
		for _, h := range w.Headers() {
			whole := int(h.Off+h.Len) <= len(f.data)
			if (h.ID >= wire.HdrLRH && h.ID <= wire.HdrICRC || h.ID == wire.HdrMAD) && (whole || h.ID == wire.HdrPayload) {
				want = append(want, h.ID)
			}
		}
		for _, l := range gopacket.NewPacket(f.data, f.decoder(), gopacket.Default).Layers() {
			if id := headerOf(l.LayerType()); id != wire.HdrNone {
				got = append(got, id)
			}
		}
		frames++
		if !slices.Equal(got, want) {
			t.Errorf("%s %d: layers %v, headers %v", f.file, f.number, got, want)
		}
	}
	t.Log(frames, "frames compared")
	if frames == 0 {
		t.Error("no frame was compared")
	}
}

func TestNoPrefixOfAFramePanics(t *testing.T) {
	perKind := map[string]int{}
	for _, f := range captured(t) {
		if f.decoder() == nil {
			continue
		}
		op, _ := f.parse().Opcode()
		kind := f.file + op.String()
		if perKind[kind]++; perKind[kind] > 2 || len(f.data) > 600 {
			continue // more of the same would only take time
		}
		for n := range len(f.data) + 1 {
			packet := gopacket.NewPacket(f.data[:n:n], f.decoder(), gopacket.NoCopy)
			_ = packet.String()
			if stack := panicked(packet); stack != "" {
				t.Fatalf("%s %d cut to %d bytes:\n%s", f.file, f.number, n, stack)
			}
		}
	}
}

// panicked returns the stack of a panic in this project's code, "" for none and
// for one in gopacket's own decoders. The function that panicked is the first
// one below the call of panic.
func panicked(p gopacket.Packet) string {
	fail, ok := p.ErrorLayer().(*gopacket.DecodeFailure)
	if !ok {
		return ""
	}
	_, below, _ := strings.Cut(fail.Dump(), "\npanic(")
	for line := range strings.Lines(below) {
		if strings.HasPrefix(line, "github.com/") {
			if strings.HasPrefix(line, "github.com/rocecap/") {
				return fail.Dump()
			}
			return ""
		}
	}
	return ""
}

func TestACutFrameKeepsItsLastBytesInThePayload(t *testing.T) {
	checked := 0
	for _, f := range captured(t) {
		w := f.parse()
		if !wellFormed(w) || w.BTH < 0 || f.link == wire.LinkERF || w.PayloadLen < 8 || checked > 50 {
			continue
		}
		checked++
		packet := gopacket.NewPacket(f.data[:w.Payload+5], f.decoder(), gopacket.Default)
		if !packet.Metadata().Truncated {
			t.Errorf("%s %d: not marked as truncated", f.file, f.number)
		}
		if packet.Layer(LayerTypeICRC) != nil || packet.Layer(LayerTypePad) != nil {
			t.Errorf("%s %d: ICRC or Pad in a cut frame:\n%v", f.file, f.number, packet)
		}
		if app := packet.ApplicationLayer(); app != nil && len(app.Payload()) != 5 {
			t.Errorf("%s %d: payload of %d bytes, want 5", f.file, f.number, len(app.Payload()))
		}
	}
	if checked == 0 {
		t.Error("no frame was checked")
	}
}
