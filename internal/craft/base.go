package craft

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// Base is what the transport headers of a packet lie in.
type Base struct {
	Name   string
	Title  string
	Link   wire.LinkType
	Layers []wire.HeaderID
}

// Bases lists the bases by name.
var bases = [...]Base{
	{"rocev2", "RoCEv2 over IPv4", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrUDP}},
	{"rocev2-ipv6", "RoCEv2 over IPv6", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv6, wire.HdrUDP}},
	{"rocev1", "RoCEv1", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrGRH}},
	{"ib", "native InfiniBand", wire.LinkIB, []wire.HeaderID{wire.HdrLRH}},
	{"ib-grh", "native InfiniBand with a GRH", wire.LinkIB, []wire.HeaderID{wire.HdrLRH, wire.HdrGRH}},
}

// Bases returns what a packet can be based on.
func Bases() []Base { return bases[:] }

// NewRecipe returns a packet of an opcode in a base, with every field at its
// default.
func NewRecipe(base string, op wire.Opcode) (*Recipe, error) {
	for _, b := range bases {
		if b.Name != base {
			continue
		}
		r := &Recipe{Link: b.Link, Pad: AutoPad}
		for _, id := range b.Layers {
			r.Layers = append(r.Layers, Layer{ID: id})
		}
		r.Layers = append(r.Layers, Layer{ID: wire.HdrBTH, Set: []Setting{{Field: FieldOf(wire.HdrBTH, "opcode"), Num: uint64(op)}}})
		for _, id := range op.Info().Extended() {
			r.Layers = append(r.Layers, Layer{ID: id})
		}
		return r, nil
	}
	var names []string
	for _, b := range bases {
		names = append(names, b.Name)
	}
	return nil, fmt.Errorf("no base %q; there are %s", base, strings.Join(names, ", "))
}

// ParseOpcode finds an opcode by its number or by its name: "rc write-only",
// "UD SEND Only Immediate", "cnp". The words RDMA and a hyphen count for
// nothing.
func ParseOpcode(text string) (wire.Opcode, error) {
	if s, err := ParseSetting(FieldOf(wire.HdrBTH, "opcode"), text); err == nil && !s.Auto {
		return wire.Opcode(s.Num), nil
	}
	want := plainName(text)
	for code := range 256 {
		if info := wire.Opcode(code).Info(); info.Defined() && plainName(info.Name) == want {
			return wire.Opcode(code), nil
		}
	}
	return 0, fmt.Errorf("no opcode %q; `rocecap opcodes` lists them", text)
}

var plainWords = strings.NewReplacer("-", " ", "_", " ", "immediate", "imm", "invalidate", "inv", "acknowledge", "ack")

func plainName(name string) string {
	var words []string
	for _, w := range strings.Fields(plainWords.Replace(strings.ToLower(name))) {
		if w != "rdma" && w != "with" {
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Put sets a field of the innermost layer that has it.
func (r *Recipe) Put(name, value string) error {
	for i := len(r.Layers) - 1; i >= 0; i-- {
		l := &r.Layers[i]
		f := FullField(l.ID, name)
		if f == nil {
			continue
		}
		s, err := ParseSetting(f, value)
		if err != nil {
			return err
		}
		l.Put(s)
		return nil
	}
	return fmt.Errorf("no header of the packet has a field %s", name)
}

// FullField finds a field of a layer by its whole filter name.
func FullField(id wire.HeaderID, name string) *wire.Field {
	if f := FieldOf(id, name); f != nil && strings.TrimRight(name, "#0123456789") == strings.TrimRight(f.Name, "#0123456789") {
		return f
	}
	return nil
}

// Put sets a field of the layer, or changes what it is set to.
func (l *Layer) Put(s Setting) {
	for i := range l.Set {
		if l.Set[i].Field == s.Field {
			l.Set[i] = s
			return
		}
	}
	l.Set = append(l.Set, s)
}

// Wrap puts layers in front of the packet's first one of the given id, behind
// the link header for VLAN tags.
func (r *Recipe) Wrap(at int, layers ...Layer) {
	r.Layers = append(r.Layers[:at:at], append(layers, r.Layers[at:]...)...)
}

// ParseCRC reads how a CRC is made: auto, none, wrong, swapped, flip:BIT, or its value.
func ParseCRC(text string) (CRC, error) {
	switch text {
	case "", "auto":
		return CRC{}, nil
	case "none":
		return CRC{Mode: CRCNone}, nil
	case "wrong":
		return CRC{Mode: CRCWrong}, nil
	case "swapped":
		return CRC{Mode: CRCSwapped}, nil
	}
	if digits, ok := strings.CutPrefix(text, "flip:"); ok {
		if n, err := strconv.ParseUint(digits, 10, 32); err == nil && n < 32 {
			return CRC{CRCFlip, uint32(n)}, nil
		}
	} else if n, err := strconv.ParseUint(text, 0, 32); err == nil {
		return CRC{CRCValue, uint32(n)}, nil
	}
	return CRC{}, fmt.Errorf("%q: want auto, none, wrong, swapped, flip:BIT with a bit from 0 to 31, or a value of 32 bits", text)
}

// Text is the CRC as ParseCRC reads it.
func (c CRC) Text() string {
	switch c.Mode {
	case CRCNone:
		return "none"
	case CRCWrong:
		return "wrong"
	case CRCSwapped:
		return "swapped"
	case CRCFlip:
		return fmt.Sprintf("flip:%d", c.Value)
	case CRCValue:
		return fmt.Sprintf("0x%x", c.Value)
	}
	return "auto"
}
