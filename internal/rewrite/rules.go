// Package rewrite changes addresses, queue pairs, sequence numbers, keys and
// ports of captured frames in place, and keeps their checksums and CRCs as
// right, or as wrong, as they were.
package rewrite

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/internal/wire"
)

// Endpoint is a queue pair: its number, and the address of its host. In a rule
// the address may be left out, which means the queue pairs of that number on
// every host.
type Endpoint struct {
	Addr netip.Addr
	QPN  uint32
}

// String returns the endpoint as a rule writes it.
func (e Endpoint) String() string {
	s := fmt.Sprintf("0x%x", e.QPN)
	if e.Addr.IsValid() {
		s += "@" + e.Addr.String()
	}
	return s
}

// ParseEndpoint reads QPN or QPN@ADDRESS.
func ParseEndpoint(text string) (e Endpoint, err error) {
	number, addr, has := strings.Cut(text, "@")
	if has {
		if e.Addr, err = parseAddr(addr); err != nil {
			return e, err
		}
	}
	n, err := parseUint(number, qpnBits)
	e.QPN = uint32(n)
	return e, err
}

// entry is what a rule changes a value to.
type entry[V any] struct {
	to   V
	rule int // index into Rules.texts
}

// psnRule moves the PSNs of the packets to a queue pair.
type psnRule struct {
	absolute bool // the first PSN becomes value; else value is added
	value    int
}

// vaRule moves the addresses from from to last.
type vaRule struct {
	from, last, to uint64
}

// Rules are a set of rules, of which at most one concerns a value. The zero
// value is empty.
type Rules struct {
	texts []string
	mac   map[[6]byte]entry[[6]byte]
	ip    map[netip.Addr]entry[netip.Addr]
	qp    map[Endpoint]entry[uint32]
	psn   map[Endpoint]entry[psnRule]
	rkey  map[uint32]entry[uint32]
	port  map[uint16]entry[uint16]
	lid   map[uint16]entry[uint16]
	va    []entry[vaRule] // by from; they do not overlap
}

const (
	qpnBits  = 24
	psnBits  = 24
	rkeyBits = 32
	vaBits   = 64
	portBits = 16
	lidBits  = 16
)

// Add adds a rule, KIND:OLD=NEW:
//
//	mac:02:00:00:00:00:01=02:00:00:00:00:02
//	ip:10.0.0.1=10.0.0.2
//	qp:0x11=0x2a               on every host; qp:0x11@10.0.0.1=0x2a on one
//	psn:0x11=+1000             packets to QP 0x11; psn:0x11=0x500 the first one
//	rkey:0x1234=0x5678
//	va:0x1000=0x9000           and all above it; va:0x1000+0x100=0x9000 a range
//	port:49152=50000
//	lid:1=7
func (r *Rules) Add(text string) error {
	if err := r.add(text); err != nil {
		return fmt.Errorf("%s: %w", text, err)
	}
	r.texts = append(r.texts, text)
	return nil
}

func (r *Rules) add(text string) error {
	kind, rest, _ := strings.Cut(text, ":")
	from, to, ok := strings.Cut(rest, "=")
	if !ok {
		return errors.New("want KIND:OLD=NEW")
	}
	switch rule := len(r.texts); kind {
	case "mac":
		return put(&r.mac, from, to, rule, parseMAC, parseMAC)
	case "ip":
		if err := sameFamily(from, to); err != nil {
			return err
		}
		return put(&r.ip, from, to, rule, parseAddr, parseAddr)
	case "qp":
		return put(&r.qp, from, to, rule, ParseEndpoint, number[uint32](qpnBits))
	case "psn":
		return put(&r.psn, from, to, rule, ParseEndpoint, parsePSN)
	case "rkey":
		return put(&r.rkey, from, to, rule, number[uint32](rkeyBits), number[uint32](rkeyBits))
	case "port":
		return put(&r.port, from, to, rule, number[uint16](portBits), number[uint16](portBits))
	case "lid":
		return put(&r.lid, from, to, rule, number[uint16](lidBits), number[uint16](lidBits))
	case "va":
		return r.addVA(from, to, rule)
	}
	return fmt.Errorf("%q is no kind of rule: mac, ip, qp, psn, rkey, va, port and lid are", kind)
}

// put adds a rule for one value to the rules of its kind.
func put[K comparable, V any](m *map[K]entry[V], from, to string, rule int, key func(string) (K, error), value func(string) (V, error)) error {
	k, err := key(from)
	if err != nil {
		return err
	}
	v, err := value(to)
	if err != nil {
		return err
	}
	if _, twice := (*m)[k]; twice {
		return fmt.Errorf("there is a rule for %s already", from)
	}
	if *m == nil {
		*m = make(map[K]entry[V])
	}
	(*m)[k] = entry[V]{v, rule}
	return nil
}

// addVA adds a rule for a range of addresses. One without a length ends where
// the next one begins.
func (r *Rules) addVA(from, to string, rule int) error {
	start, length, has := strings.Cut(from, "+")
	v := vaRule{last: 1<<vaBits - 1}
	var err error
	if v.from, err = parseUint(start, vaBits); err != nil {
		return err
	}
	if v.to, err = parseUint(to, vaBits); err != nil {
		return err
	}
	if has {
		n, err := parseUint(length, vaBits)
		if err != nil {
			return err
		}
		if n == 0 || n-1 > v.last-v.from {
			return fmt.Errorf("a range of 0x%x bytes from 0x%x is empty or beyond the last address", n, v.from)
		}
		v.last = v.from + n - 1
	}
	at, twice := slices.BinarySearchFunc(r.va, v.from, func(e entry[vaRule], from uint64) int { return cmp.Compare(e.to.from, from) })
	if twice {
		return fmt.Errorf("there is a rule for %s already", start)
	}
	r.va = slices.Insert(r.va, at, entry[vaRule]{v, rule})
	for i := range r.va[1:] {
		r.va[i].to.last = min(r.va[i].to.last, r.va[i+1].to.from-1)
	}
	return nil
}

// HasPSN reports whether a rule moves PSNs: those need facts from the capture.
func (r *Rules) HasPSN() bool { return len(r.psn) > 0 }

// number returns the parser of an unsigned number of so many bits.
func number[T uint16 | uint32](bits int) func(string) (T, error) {
	return func(text string) (T, error) {
		n, err := parseUint(text, bits)
		return T(n), err
	}
}

func parseUint(text string, bits int) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, bits)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of %d bits", text, bits)
	}
	return n, nil
}

func parseMAC(text string) (a [6]byte, err error) {
	b, err := hex.DecodeString(strings.ReplaceAll(text, ":", ""))
	if err != nil || len(b) != len(a) || len(text) != len("00:00:00:00:00:00") {
		return a, fmt.Errorf("%q is no MAC address", text)
	}
	return [6]byte(b), nil
}

func parseAddr(text string) (netip.Addr, error) {
	a, err := netip.ParseAddr(text)
	if err != nil || a.Zone() != "" {
		return a, fmt.Errorf("%q is no IP address", text)
	}
	return a.Unmap(), nil
}

func sameFamily(from, to string) error {
	a, err := parseAddr(from)
	if err != nil {
		return err
	}
	b, err := parseAddr(to)
	if err == nil && a.Is4() != b.Is4() {
		err = errors.New("an IPv4 and an IPv6 address cannot stand for each other")
	}
	return err
}

func parsePSN(text string) (p psnRule, err error) {
	digits := strings.TrimLeft(text, "+-")
	n, err := parseUint(digits, psnBits)
	if err != nil || len(text)-len(digits) > 1 {
		return p, fmt.Errorf("%q is no PSN, nor a distance as in +1000 or -1000", text)
	}
	p = psnRule{absolute: digits == text, value: int(n)}
	if text[0] == '-' {
		p.value = -p.value
	}
	return p, nil
}

// shift is how far a rule moves the PSNs of a queue pair.
func (p psnRule) shift(first wire.PSN) int {
	if p.absolute {
		return wire.PSN(p.value).Diff(first)
	}
	return p.value
}
