package field

import (
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/rocecap/rocecap/internal/wire"
)

// byName builds the list once, when it is first asked for: a program that only
// counts CRCs never pays for it.
var byName = sync.OnceValue(buildRegistry)

func buildRegistry() map[string]*Ref {
	list := make(map[string]*Ref)
	for _, spec := range wire.Specs() {
		addHeader(list, spec)
	}
	for _, either := range eithers {
		addEither(list, either)
	}
	for _, table := range [][]Ref{derived, parts, nvme} {
		for i := range table {
			list[table[i].Name] = &table[i]
		}
	}
	return list
}

// addHeader enters a header and its fields. A header that is one field under
// its own name is entered once, with the field's kind.
func addHeader(list map[string]*Ref, spec *wire.Spec) {
	if !namesItself(spec) {
		add(list, &Ref{Name: spec.Name, Title: spec.Title, Kind: Bytes}, source{header: spec.ID})
	}
	for i := range spec.Fields {
		f := &spec.Fields[i]
		ref := refOf(f)
		add(list, &ref, source{header: spec.ID, field: f})
	}
}

func namesItself(spec *wire.Spec) bool {
	return slices.ContainsFunc(spec.Fields, func(f wire.Field) bool { return f.Name == spec.Name })
}

// add enters a field, or one more place for a field that several headers have.
func add(list map[string]*Ref, ref *Ref, src source) {
	if known := list[ref.Name]; known != nil {
		known.sources = append(known.sources, src)
		return
	}
	ref.sources = []source{src}
	list[ref.Name] = ref
}

// eithers are the names that stand for one or the other field: a source or a
// destination, say.
var eithers = []struct{ name, title, src, dst string }{
	{"eth.addr", "Source or Destination Address", "eth.dst", "eth.src"},
	{"ip.addr", "Source or Destination Address", "ip.src", "ip.dst"},
	{"ip.version", "IP version", "ip.version", "ipv6.version"},
	{"ipv6.addr", "Source or Destination Address", "ipv6.src", "ipv6.dst"},
	{"udp.port", "Source or Destination Port", "udp.srcport", "udp.dstport"},
	{"tcp.port", "Source or Destination Port", "tcp.srcport", "tcp.dstport"},
	{"infiniband.gid", "Source or Destination GID", "infiniband.grh.sgid", "infiniband.grh.dgid"},
}

func addEither(list map[string]*Ref, e struct{ name, title, src, dst string }) {
	src, dst := list[e.src], list[e.dst]
	if src == nil || dst == nil {
		return
	}
	both := *src
	both.Name, both.Title = e.name, e.title
	both.sources = append(slices.Clone(src.sources), dst.sources...)
	list[e.name] = &both
}

// All returns every field, in order of name.
func All() []*Ref {
	list := byName()
	all := make([]*Ref, 0, len(list))
	for _, ref := range list {
		all = append(all, ref)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Name < all[j].Name })
	return all
}

// Lookup returns the field with the given name, nil when there is none.
func Lookup(name string) *Ref { return byName()[name] }

// Nearest returns the known name that is most like the given one, "" when none
// is near: what a typo probably meant.
func Nearest(name string) string {
	name = strings.ToLower(name)
	best, bestDistance := "", len(name)/3+1
	for _, ref := range All() {
		if d := distance(name, ref.Name, bestDistance); d < bestDistance {
			best, bestDistance = ref.Name, d
		}
	}
	return best
}

// NoSuch is the message for a name that no field has.
func NoSuch(name string) string {
	if near := Nearest(name); near != "" {
		return name + ": no such field; did you mean " + near + "?"
	}
	return name + ": no such field; `rocecap fields` lists them"
}

// distance is the number of single-character edits between a and b, or limit
// when it is not less than that.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diagonal, row[j+1] = row[j+1], min(diagonal+cost, row[j]+1, row[j+1]+1)
		}
	}
	return min(row[len(b)], limit)
}

var typeNames = [...]string{
	Uint: "uint", Bool: "bool", Bytes: "bytes", MAC: "mac", IPv4: "ipv4", IPv6: "ipv6",
	EUI64: "eui64", Text: "text", Time: "time", Span: "seconds", None: "present",
}

// TypeName says what sort of value the field has, with its width in bits.
func (r *Ref) TypeName() string {
	name := typeNames[r.Kind]
	if r.Kind == Uint && r.bits > 0 {
		name += strconv.Itoa(r.bits)
	}
	return name
}
