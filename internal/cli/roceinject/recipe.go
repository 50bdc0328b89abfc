package roceinject

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/craft/script"
	"github.com/rocecap/rocecap/internal/wire"
)

// recipeFlags describe one packet on the command line.
type recipeFlags struct {
	flags    *pflag.FlagSet
	base     string
	set      []string
	step     []string
	payload  string
	pad      int
	crc      string
	icrc     string
	vcrc     string
	raw      []string
	edits    []string
	trailer  string
	vlans    []string
	vxlan    string
	src, dst string
}

// shorts are flags that stand for a field. Where iWARP has a field like one of
// InfiniBand's, a flag stands for either, by what the packet is.
var shorts = [...]struct{ flag, fields, help string }{
	{"smac", "eth.src", "source MAC address"},
	{"dmac", "eth.dst", "destination MAC address"},
	{"sport", "udp.srcport tcp.srcport", "source port"},
	{"dport", "udp.dstport tcp.dstport", "destination port"},
	{"seq", "tcp.seq_raw", "TCP sequence number"},
	{"ack", "tcp.ack_raw", "TCP acknowledgment number"},
	{"tos", "ip.dsfield", "IPv4 TOS"},
	{"ttl", "ip.ttl", "IPv4 TTL"},
	{"qp", "infiniband.bth.destqp", "destination QP"},
	{"psn", "infiniband.bth.psn", "packet sequence number"},
	{"pkey", "infiniband.bth.p_key", "partition key"},
	{"ackreq", "infiniband.bth.a", "acknowledge request, 0 or 1"},
	{"se", "infiniband.bth.se", "solicited event, 0 or 1"},
	{"migreq", "infiniband.bth.m", "MigReq, 0 or 1"},
	{"fecn", "infiniband.bth.fecn", "FECN, 0 or 1"},
	{"becn", "infiniband.bth.becn", "BECN, 0 or 1"},
	{"va", "infiniband.reth.va", "virtual address"},
	{"rkey", "infiniband.reth.r_key", "remote key"},
	{"len", "infiniband.reth.dmalen iwarp_rdma.rdmardsz", "DMA length, or size of an iWARP read"},
	{"swap", "infiniband.atomiceth.swapdt iwarp_rdma.atomic.swap_data", "value to swap in, or to add"},
	{"compare", "infiniband.atomiceth.cmpdt iwarp_rdma.atomic.compare_data", "value to compare with"},
	{"original", "infiniband.atomicacketh.origremdt iwarp_rdma.atomic.original_remote_data_value", "value before the operation"},
	{"imm", "infiniband.immdt.data iwarp_rdma.immediate.data", "immediate data"},
	{"inv", "infiniband.ieth.r_key iwarp_rdma.inval_stag", "remote key to invalidate"},
	{"qkey", "infiniband.deth.q_key", "queue key"},
	{"srcqp", "infiniband.deth.srcqp", "source QP"},
	{"srqn", "infiniband.xrceth.srqn", "XRC shared receive queue"},
	{"syndrome", "infiniband.aeth.syndrome", "AETH syndrome"},
	{"msn", "infiniband.aeth.msn iwarp_ddp.msn", "message sequence number"},
	{"stag", "iwarp_ddp.stag iwarp_rdma.srcstag iwarp_rdma.atomic.remote_stag", "iWARP steering tag of the remote buffer"},
	{"to", "iwarp_ddp.tagged_offset iwarp_rdma.srcto iwarp_rdma.atomic.remote_tagged_offset", "iWARP tagged offset in the remote buffer"},
	{"qn", "iwarp_ddp.qn", "iWARP queue number"},
	{"mo", "iwarp_ddp.mo", "iWARP message offset"},
	{"last", "iwarp_ddp.last_flag", "last segment of an iWARP message, 0 or 1"},
}

func (o *recipeFlags) register(f *pflag.FlagSet) {
	o.flags = f
	f.StringVar(&o.base, "base", "", "what the packet lies in: `BASE` is "+baseNames()+" (default rocev2, or iwarp)")
	f.StringVar(&o.src, "src", "", "source `ADDRESS`: IP or GID, or LID in ib")
	f.StringVar(&o.dst, "dst", "", "destination `ADDRESS`")
	for _, s := range shorts {
		f.String(s.flag, "", s.help+" (`VALUE` of "+strings.ReplaceAll(s.fields, " ", ", ")+")")
	}
	f.StringArrayVar(&o.set, "set", nil, "set a field: `FIELD=VALUE`, by filter name (repeatable)")
	f.StringArrayVar(&o.step, "step", nil, "make a field count from packet to packet: `FIELD=N`")
	f.StringVar(&o.payload, "payload", "", "payload: `BYTES` in hexadecimal, text:TEXT, zero:N or @FILE")
	f.IntVar(&o.pad, "pad", craft.AutoPad, "`N` pad bytes behind the payload, whatever PadCnt says")
	f.StringVar(&o.crc, "crc", "auto", "the CRC of an iWARP FPDU: `HOW` as in --icrc")
	f.StringVar(&o.icrc, "icrc", "auto", "the ICRC: `HOW` is auto, none, wrong, swapped, flip:BIT or a value")
	f.StringVar(&o.vcrc, "vcrc", "auto", "the VCRC of native InfiniBand: `HOW` as in --icrc")
	f.StringArrayVar(&o.raw, "raw", nil, "replace bytes before checksums and CRCs: `OFFSET=BYTES`")
	f.StringArrayVar(&o.edits, "edit", nil, "replace bytes when all is computed: `OFFSET=BYTES`")
	f.StringVar(&o.trailer, "trailer", "", "`BYTES` behind the packet, such as an FCS")
	f.StringArrayVar(&o.vlans, "vlan", nil, "put the packet into VLAN `ID` (repeatable, outermost first)")
	f.StringVar(&o.vxlan, "vxlan", "", "put the packet into VXLAN `VNI`")
}

// describesPacket refuses flags that describe a packet where it comes from a file,
// but for those that go with files too.
func describesPacket(flags *pflag.FlagSet, but ...string) (err error) {
	own := pflag.NewFlagSet("", pflag.ContinueOnError)
	new(recipeFlags).register(own)
	flags.Visit(func(f *pflag.Flag) {
		if !slices.Contains(but, f.Name) && own.Lookup(f.Name) != nil && err == nil {
			err = fmt.Errorf("--%s describes a packet of an opcode; it does not go with one of a file", f.Name)
		}
	})
	return err
}

func baseNames() string {
	var names []string
	for _, b := range craft.Bases() {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

// item makes the script's item that the flags say, a packet made once.
func (o *recipeFlags) item(opcode string) (*script.Item, error) {
	op, err := craft.ParseOperation(opcode)
	if err != nil {
		return nil, err
	}
	r, err := op.In(o.base)
	if err != nil {
		return nil, err
	}
	for _, step := range []func(*craft.Recipe) error{o.bytes, o.addresses, o.fields, o.wrap, o.seal} {
		if err := step(r); err != nil {
			return nil, err
		}
	}
	item := &script.Item{Recipe: r, Repeat: 1}
	for _, s := range o.step {
		c, err := counter(r, s)
		if err != nil {
			return nil, err
		}
		item.Counters = append(item.Counters, c)
	}
	return item, nil
}

// fields sets what the short flags and --set say.
func (o *recipeFlags) fields(r *craft.Recipe) error {
	for _, s := range shorts {
		if !o.flags.Changed(s.flag) {
			continue
		}
		value, err := o.flags.GetString(s.flag)
		if err != nil {
			return err
		}
		if err := r.Put(fieldOf(r, s.fields), value); err != nil {
			return fmt.Errorf("--%s: %w", s.flag, err)
		}
	}
	for _, s := range o.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok {
			return fmt.Errorf("--set %s: want FIELD=VALUE", s)
		}
		if err := r.Put(name, value); err != nil {
			return fmt.Errorf("--set %s: %w", s, err)
		}
	}
	return nil
}

// fieldOf is the first of a flag's fields that the packet has.
func fieldOf(r *craft.Recipe, fields string) string {
	names := strings.Fields(fields)
	for _, name := range names {
		if _, f := r.Find(name); f != nil {
			return name
		}
	}
	return names[0]
}

// addresses sets source and destination of the base's own kind.
func (o *recipeFlags) addresses(r *craft.Recipe) error {
	for _, a := range []struct{ flag, text, end string }{{"src", o.src, "src"}, {"dst", o.dst, "dst"}} {
		if a.text == "" {
			continue
		}
		if err := r.Put(addressField(r, a.text, a.end), a.text); err != nil {
			return fmt.Errorf("--%s: %w", a.flag, err)
		}
	}
	return nil
}

func addressField(r *craft.Recipe, text, end string) string {
	short := end[:1]
	has := func(id wire.HeaderID) bool {
		for _, l := range r.Layers {
			if l.ID == id {
				return true
			}
		}
		return false
	}
	_, notIP := netip.ParseAddr(text)
	switch {
	case has(wire.HdrIPv4):
		return "ip." + end
	case has(wire.HdrIPv6):
		return "ipv6." + end
	case has(wire.HdrGRH) && notIP == nil:
		return "infiniband.grh." + short + "gid"
	}
	return "infiniband.lrh." + short + "lid"
}

func (o *recipeFlags) bytes(r *craft.Recipe) (err error) {
	if r.Payload, err = payload(o.payload); err != nil {
		return fmt.Errorf("--payload: %w", err)
	}
	if r.Trailer, err = payload(o.trailer); err != nil {
		return fmt.Errorf("--trailer: %w", err)
	}
	r.Pad = o.pad
	if r.Raw, err = edits("raw", o.raw); err != nil {
		return err
	}
	r.Edits, err = edits("edit", o.edits)
	return err
}

// edits reads the OFFSET=BYTES of a flag.
func edits(flag string, list []string) (edits []craft.Edit, err error) {
	for _, e := range list {
		at, data, _ := strings.Cut(e, "=")
		off, err := strconv.ParseUint(at, 0, 16)
		b, bad := payload(data)
		if err != nil || bad != nil || len(b) == 0 {
			return nil, fmt.Errorf("--%s %s: want OFFSET=BYTES", flag, e)
		}
		edits = append(edits, craft.Edit{Off: int(off), Bytes: b})
	}
	return edits, nil
}

// maxZeros bounds zero:N; no packet is longer.
const maxZeros = 1 << 16

// readBytes reads a file that becomes a part of a packet. It is not read further
// than any packet reaches.
func readBytes(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	const most = 1 << 20
	content, err := io.ReadAll(io.LimitReader(file, most+1))
	if err == nil && len(content) > most {
		err = fmt.Errorf("%s: more than %d bytes", name, most)
	}
	return content, err
}

// payload reads bytes as the flags give them.
func payload(text string) ([]byte, error) {
	switch {
	case strings.HasPrefix(text, "@"):
		return readBytes(text[1:])
	case strings.HasPrefix(text, "text:"):
		return []byte(text[5:]), nil
	case strings.HasPrefix(text, "zero:"):
		n, err := strconv.ParseUint(text[5:], 0, 32)
		if err != nil || n > maxZeros {
			return nil, fmt.Errorf("%q: want a number up to %d", text, maxZeros)
		}
		return make([]byte, n), nil
	}
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		return nil, fmt.Errorf("%q: want hexadecimal bytes, text:TEXT, zero:N or @FILE", text)
	}
	return b, nil
}

// wrap puts the packet into VXLAN and VLANs.
func (o *recipeFlags) wrap(r *craft.Recipe) error {
	if len(o.vlans) > 0 && r.Layers[0].ID != wire.HdrEthernet {
		return fmt.Errorf("--vlan: %s has no Ethernet header", o.base)
	}
	if o.vxlan != "" {
		if r.Layers[0].ID != wire.HdrEthernet {
			return fmt.Errorf("--vxlan: %s has no Ethernet header", o.base)
		}
		vni, err := craft.ParseSetting(craft.FieldOf(wire.HdrVXLAN, "vni"), o.vxlan)
		if err != nil {
			return fmt.Errorf("--vxlan: %w", err)
		}
		r.Wrap(0, craft.Layer{ID: wire.HdrEthernet}, craft.Layer{ID: wire.HdrIPv4}, craft.Layer{ID: wire.HdrUDP},
			craft.Layer{ID: wire.HdrVXLAN, Set: []craft.Setting{vni}})
	}
	for i, text := range o.vlans {
		id, err := craft.ParseSetting(craft.FieldOf(wire.HdrVLAN, "id"), text)
		if err != nil {
			return fmt.Errorf("--vlan: %w", err)
		}
		r.Wrap(1+i, craft.Layer{ID: wire.HdrVLAN, Set: []craft.Setting{id}})
	}
	return nil
}

func (o *recipeFlags) seal(r *craft.Recipe) (err error) {
	if r.CRC, err = craft.ParseCRC(o.crc); err != nil {
		return fmt.Errorf("--crc: %w", err)
	}
	if r.ICRC, err = craft.ParseCRC(o.icrc); err != nil {
		return fmt.Errorf("--icrc: %w", err)
	}
	if r.VCRC, err = craft.ParseCRC(o.vcrc); err != nil {
		return fmt.Errorf("--vcrc: %w", err)
	}
	return nil
}

// counter reads FIELD=N; the field begins at its value in the recipe.
func counter(r *craft.Recipe, text string) (craft.Counter, error) {
	name, step, _ := strings.Cut(text, "=")
	n, err := strconv.ParseInt(step, 0, 64)
	if err != nil {
		return craft.Counter{}, fmt.Errorf("--step %s: want FIELD=N", text)
	}
	i, f := r.Find(name)
	switch {
	case f == nil:
		return craft.Counter{}, fmt.Errorf("--step %s: no header of the packet has that field", text)
	case !craft.CanCount(f):
		return craft.Counter{}, fmt.Errorf("--step %s: %s cannot count", text, f.Name)
	}
	start, err := builtValue(r, i, f)
	return craft.Counter{Layer: i, Field: f, Start: start, Step: uint64(n)}, err
}

// builtValue is what a field of layer i is in the packet.
func builtValue(r *craft.Recipe, i int, f *wire.Field) (uint64, error) {
	img, err := craft.Build(r)
	if err != nil {
		return 0, err
	}
	return f.Value(img.Data[img.Layers[i].Off:]), nil
}
