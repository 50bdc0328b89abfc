package host

import (
	"context"
	"fmt"
	"net/netip"
)

// LinkByName returns the link of a name.
func LinkByName(ctx context.Context, name string) (Link, error) {
	links, err := Links(ctx)
	if err != nil {
		return Link{}, err
	}
	for _, l := range links {
		if l.Name == name {
			return l, nil
		}
	}
	return Link{}, fmt.Errorf("%s: %w", name, ErrUnknownLink)
}

// CarriesDefaultRoute reports whether a default route uses a link, or a bridge
// that it is a port of, or a VLAN or tunnel over it. Frames injected there reach
// the network that the machine lives on.
func CarriesDefaultRoute(ctx context.Context, index int) (bool, error) {
	routed, err := DefaultRouteLinks(ctx)
	if err != nil {
		return false, err
	}
	links, err := Links(ctx)
	if err != nil {
		return false, err
	}
	return carries(links, routed, index), nil
}

// carries looks at a link and then at what lies above it. A link is looked at
// once, whatever the tables say.
func carries(links []Link, routed []int, index int) bool {
	use := map[int]bool{}
	for _, i := range routed {
		use[i] = true
	}
	seen := map[int]bool{}
	for todo := []int{index}; len(todo) > 0; todo = todo[1:] {
		at := todo[0]
		if seen[at] {
			continue
		}
		seen[at] = true
		if use[at] {
			return true
		}
		for _, l := range links {
			if l.Index == at && l.Master != 0 {
				todo = append(todo, l.Master)
			}
			if l.Lower == at {
				todo = append(todo, l.Index)
			}
		}
	}
	return false
}

// neighbour looks an address up in the kernel's table.
func neighbour(ctx context.Context, link int, ip netip.Addr) (MAC, bool, error) {
	table, err := Neighbours(ctx)
	if err != nil {
		return MAC{}, false, err
	}
	for _, n := range table {
		if n.Link == link && n.IP == ip {
			return n.MAC, true, nil
		}
	}
	return MAC{}, false, nil
}
