package impair

import (
	"bytes"
	"errors"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/transport/fault"
	"github.com/rocecap/rocecap/internal/wire"
)

var errNoBTH = errors.New("the packet has no BTH of its own")

// Craft makes the answer to a packet. What lies around the BTH is the packet's,
// turned round.
func Craft(reply fault.Reply) ([]byte, error) {
	r, err := craft.Describe(reply.To)
	if err != nil {
		return nil, err
	}
	keep := -1
	for i, l := range r.Layers {
		if l.ID == wire.HdrBTH {
			keep = i
		}
	}
	bth := wire.BTH(reply.To.View(wire.HdrBTH))
	if keep < 0 || len(bth) < wire.BTHLen {
		return nil, errNoBTH
	}
	answer := craft.Recipe{Link: r.Link, Layers: r.Layers[:keep:keep], Pad: craft.AutoPad}
	for i := range answer.Layers {
		turn(&answer.Layers[i], reply.To.Bytes(reply.To.Headers()[i]))
	}
	answer.Layers = append(answer.Layers, transport(reply, bth)...)
	img, err := craft.Build(&answer)
	if err != nil {
		return nil, err
	}
	return img.Data, nil
}

// ends are the fields that say where a packet comes from and goes to.
var ends = [...]struct {
	id       wire.HeaderID
	src, dst string
}{
	{wire.HdrEthernet, "eth.src", "eth.dst"},
	{wire.HdrIPv4, "ip.src", "ip.dst"},
	{wire.HdrIPv6, "ipv6.src", "ipv6.dst"},
	{wire.HdrGRH, "infiniband.grh.sgid", "infiniband.grh.dgid"},
}

// turn exchanges the ends of a layer. Checksums that the packet's own contents
// gave are computed anew.
func turn(l *craft.Layer, h []byte) {
	for _, e := range ends {
		if e.id != l.ID {
			continue
		}
		src, dst := craft.FieldOf(l.ID, e.src), craft.FieldOf(l.ID, e.dst)
		l.Put(craft.Setting{Field: src, Raw: bytes.Clone(dst.Raw(h))})
		l.Put(craft.Setting{Field: dst, Raw: bytes.Clone(src.Raw(h))})
	}
	for i := range l.Set {
		if name := l.Set[i].Field.Name; name == "udp.checksum" || name == "ip.checksum" {
			l.Set[i].Auto = true
		}
	}
}

func transport(reply fault.Reply, to wire.BTH) []craft.Layer {
	bth := craft.Layer{ID: wire.HdrBTH}
	put := func(l *craft.Layer, field string, v uint64) {
		l.Put(craft.Setting{Field: craft.FieldOf(l.ID, field), Num: v})
	}
	put(&bth, "opcode", uint64(reply.Opcode))
	put(&bth, "p_key", uint64(to.PKey()))
	put(&bth, "destqp", uint64(reply.QP))
	put(&bth, "psn", uint64(reply.PSN))
	layers := []craft.Layer{bth}
	for _, id := range reply.Opcode.Info().Extended() {
		l := craft.Layer{ID: id}
		if id == wire.HdrAETH {
			put(&l, "syndrome", uint64(reply.Syndrome))
			put(&l, "msn", uint64(reply.MSN))
		}
		layers = append(layers, l)
	}
	return layers
}
