package craft

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"sync"

	"github.com/rocecap/rocecap/internal/wire"
)

// FieldOf finds a field of a layer by its filter name, or by what stands behind
// the layer's own name: "psn" is "infiniband.bth.psn" in a BTH. A layer that
// has a name several times has "name#2" and so on for the later ones.
func FieldOf(id wire.HeaderID, name string) *wire.Field {
	spec := wire.SpecOf(id)
	base, number := name, 1
	if i := strings.LastIndexByte(name, '#'); i > 0 {
		if n, err := strconv.Atoi(name[i+1:]); err == nil && n > 0 {
			base, number = name[:i], n
		}
	}
	for _, fits := range []func(full string) bool{
		func(full string) bool { return full == spec.Name+"."+base },
		func(full string) bool { return full == base },
		func(full string) bool { return strings.HasSuffix(full, "."+base) },
	} {
		n := number
		for i := range spec.Fields {
			if fits(spec.Fields[i].Name) {
				if n--; n == 0 {
					return &spec.Fields[i]
				}
			}
		}
	}
	return nil
}

// NameOf is the short name that FieldOf finds the field of a layer by.
func NameOf(id wire.HeaderID, f *wire.Field) string {
	spec := wire.SpecOf(id)
	number := 0
	for i := range spec.Fields {
		if spec.Fields[i].Name == f.Name {
			number++
		}
		if &spec.Fields[i] == f {
			break
		}
	}
	suffix := ""
	if number > 1 {
		suffix = "#" + strconv.Itoa(number)
	}
	for _, prefix := range []string{spec.Name + ".", sharedPrefix(spec.Name, f.Name)} {
		if short, ok := strings.CutPrefix(f.Name, prefix); ok && FieldOf(id, short+suffix) == f {
			return short + suffix
		}
	}
	return f.Name + suffix
}

// sharedPrefix is what two names have in common, up to the last dot in it.
func sharedPrefix(a, b string) string {
	n := 0
	for i := 0; i < min(len(a), len(b)) && a[i] == b[i]; i++ {
		if a[i] == '.' {
			n = i + 1
		}
	}
	return a[:n]
}

// layerNames names every header. Of headers that share a filter name, the later
// are "name#2" and so on.
var layerNames = sync.OnceValue(func() map[wire.HeaderID]string {
	names := make(map[wire.HeaderID]string)
	count := make(map[string]int)
	for _, spec := range wire.Specs() {
		if isPart(spec.ID) {
			continue
		}
		name := spec.Name
		if count[name]++; count[name] > 1 {
			name += "#" + strconv.Itoa(count[name])
		}
		names[spec.ID] = name
	}
	return names
})

// LayerName is the name that LayerByName finds a header by.
func LayerName(id wire.HeaderID) string { return layerNames()[id] }

// LayerByName finds a header by its filter name.
func LayerByName(name string) (wire.HeaderID, bool) {
	for id, n := range layerNames() {
		if n == name {
			return id, true
		}
	}
	return wire.HdrNone, false
}

// ParseSetting reads a field's value: a number, a name such as "RC SEND Only",
// an address, bytes in hexadecimal, or "auto".
func ParseSetting(f *wire.Field, text string) (Setting, error) {
	s := Setting{Field: f}
	if text == "auto" {
		s.Auto = true
		return s, nil
	}
	var err error
	switch f.Kind {
	case wire.Uint, wire.Bool:
		s.Num, err = parseNumber(f, text)
	case wire.MAC, wire.EUI64:
		s.Raw, err = parseMAC(text)
	case wire.IPv4, wire.IPv6:
		s.Raw, err = parseAddress(f, text)
	case wire.Text:
		s.Raw = make([]byte, max(f.Bits/8, len(text)))
		copy(s.Raw, text)
	default:
		s.Raw, err = hex.DecodeString(strings.NewReplacer(" ", "", ":", "").Replace(text))
	}
	if err != nil {
		return s, err
	}
	return s, checkWidth(&s)
}

func checkWidth(s *Setting) error {
	f := s.Field
	switch {
	case f.Kind == wire.Uint || f.Kind == wire.Bool:
		if !f.SetValue(make([]byte, (f.Bit+f.Bits+7)/8), s.Num) {
			return fmt.Errorf("%d does not fit the %d bits of %s", s.Num, f.Bits, f.Name)
		}
	case f.Bits > 0 && len(s.Raw) != f.Bits/8:
		return fmt.Errorf("%s has %d bytes, not %d", f.Name, f.Bits/8, len(s.Raw))
	}
	return nil
}

func parseNumber(f *wire.Field, text string) (uint64, error) {
	switch strings.ToLower(text) {
	case "true":
		return 1, nil
	case "false":
		return 0, nil
	}
	if n, err := strconv.ParseUint(text, 0, 64); err == nil {
		return n, nil
	}
	const searched = 16 // bits up to which names are looked for
	if f.Names != nil && f.Bits <= searched {
		for v := range uint64(1) << f.Bits {
			if strings.EqualFold(f.Names(v), text) {
				return v, nil
			}
		}
	}
	return 0, fmt.Errorf("%q is no value of %s", text, f.Name)
}

func parseMAC(text string) ([]byte, error) {
	a, err := net.ParseMAC(text)
	if err != nil {
		return nil, fmt.Errorf("%q is no hardware address", text)
	}
	return a, nil
}

func parseAddress(f *wire.Field, text string) ([]byte, error) {
	a, err := netip.ParseAddr(text)
	switch {
	case err != nil || f.Kind == wire.IPv4 && !a.Is4():
		return nil, fmt.Errorf("%q is no address for %s", text, f.Name)
	case f.Kind == wire.IPv4:
		return a.AsSlice(), nil
	}
	long := a.As16() // an IPv4 address becomes a GID
	return long[:], nil
}

// isText reports whether bytes are printable ASCII, with zeros behind, that is
// not read as something else.
func isText(b []byte) bool {
	b = bytes.TrimRight(b, "\x00")
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return string(b) != "auto"
}

// Text is the value as ParseSetting reads it.
func (s *Setting) Text() string {
	f := s.Field
	switch {
	case s.Auto:
		return "auto"
	case f.Kind == wire.Bool:
		return strconv.FormatUint(s.Num, 10)
	case f.Kind == wire.Uint:
		return s.numberText()
	case f.Kind == wire.MAC || f.Kind == wire.EUI64:
		return net.HardwareAddr(s.Raw).String()
	case f.Kind == wire.Text:
		return strings.TrimRight(string(s.Raw), "\x00")
	case f.Kind == wire.IPv4 || f.Kind == wire.IPv6:
		a, _ := netip.AddrFromSlice(s.Raw)
		return a.String()
	}
	return hex.EncodeToString(s.Raw)
}

// maxNamed is the number of bits up to which a value's name is written: where
// looking it up again is cheap.
const maxNamed = 8

func (s *Setting) numberText() string {
	if f := s.Field; f.Names != nil && f.Bits <= maxNamed {
		if name := f.Names(s.Num); name != "" {
			if n, err := parseNumber(f, name); err == nil && n == s.Num {
				return name
			}
		}
	}
	if s.Field.Base == wire.Hex {
		return fmt.Sprintf("0x%x", s.Num)
	}
	return strconv.FormatUint(s.Num, 10)
}
