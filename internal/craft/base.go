package craft

import (
	"fmt"
	"slices"
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

// bases are those of packets with a BTH.
var bases = [...]Base{
	{"rocev2", "RoCEv2 over IPv4", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrUDP}},
	{"rocev2-ipv6", "RoCEv2 over IPv6", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv6, wire.HdrUDP}},
	{"rocev1", "RoCEv1", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrGRH}},
	{"ib", "native InfiniBand", wire.LinkIB, []wire.HeaderID{wire.HdrLRH}},
	{"ib-grh", "native InfiniBand with a GRH", wire.LinkIB, []wire.HeaderID{wire.HdrLRH, wire.HdrGRH}},
}

// iwarpBases are those of a TCP stream's units.
var iwarpBases = [...]Base{
	{"iwarp", "iWARP over IPv4", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv4, wire.HdrTCP}},
	{"iwarp-ipv6", "iWARP over IPv6", wire.LinkEthernet, []wire.HeaderID{wire.HdrEthernet, wire.HdrIPv6, wire.HdrTCP}},
}

// Bases returns what a packet can be based on.
func Bases() []Base { return slices.Concat(bases[:], iwarpBases[:]) }

// NewRecipe returns a packet of an opcode in a base, with every field at its
// default.
func NewRecipe(base string, op wire.Opcode) (*Recipe, error) { return operationOf(op).In(base) }

// ParseOpcode finds an opcode by its number or by its name: "rc write-only",
// "UD SEND Only Immediate", "cnp". Small words and a hyphen count for nothing.
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
		switch w {
		case "rdma", "with", "and", "data":
		default:
			words = append(words, w)
		}
	}
	return strings.Join(words, " ")
}

// Find finds a field of the innermost layer that has it, by its whole filter
// name; f is nil when none has.
func (r *Recipe) Find(name string) (layer int, f *wire.Field) {
	for i := len(r.Layers) - 1; i >= 0; i-- {
		if f := FullField(r.Layers[i].ID, name); f != nil {
			return i, f
		}
	}
	return 0, nil
}

// Put sets a field of the innermost layer that has it.
func (r *Recipe) Put(name, value string) error {
	i, f := r.Find(name)
	if f == nil {
		return fmt.Errorf("no header of the packet has a field %s", name)
	}
	s, err := ParseSetting(f, value)
	if err != nil {
		return err
	}
	r.Layers[i].Put(s)
	return nil
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
