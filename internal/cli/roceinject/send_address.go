package roceinject

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

const macLen = 6

// macs are the addresses of --smac and --dmac, nil where they are not given.
func (o *recipeFlags) macs() (smac, dmac []byte, err error) {
	for _, m := range []struct {
		flag, field string
		to          *[]byte
	}{{"smac", "eth.src", &smac}, {"dmac", "eth.dst", &dmac}} {
		value, err := o.flags.GetString(m.flag)
		if err != nil || value == "" {
			continue
		}
		s, err := craft.ParseSetting(craft.FieldOf(wire.HdrEthernet, m.field), value)
		if err != nil {
			return nil, nil, fmt.Errorf("--%s: %w", m.flag, err)
		}
		*m.to = s.Raw
	}
	return smac, dmac, nil
}

// hardware sets the addresses of --smac and --dmac in a script's recipe.
func (o *recipeFlags) hardware(r *craft.Recipe) error {
	smac, dmac, err := o.macs()
	if err != nil || len(r.Layers) == 0 || r.Layers[0].ID != wire.HdrEthernet {
		return err
	}
	putMAC(r, "eth.src", smac)
	putMAC(r, "eth.dst", dmac)
	return nil
}

func putMAC(r *craft.Recipe, field string, mac []byte) {
	if len(mac) == macLen {
		r.Layers[0].Put(craft.Setting{Field: craft.FieldOf(wire.HdrEthernet, field), Raw: mac})
	}
}

// addressing gives packets the addresses that their recipe leaves open and that
// follow from the interface: as the kernel would for a datagram.
type addressing struct {
	link  *nic.Link
	ask   bool // whether the network may be asked
	known map[netip.Addr]host.MAC
}

func (a *addressing) fill(ctx context.Context, r *craft.Recipe) error {
	if len(r.Layers) == 0 || r.Layers[0].ID != wire.HdrEthernet {
		return nil
	}
	eth := &r.Layers[0]
	if setting(eth, "eth.src") == nil {
		putMAC(r, "eth.src", a.link.MAC())
	}
	ip := outerIP(r)
	if ip < 0 {
		return nil
	}
	name := wire.SpecOf(r.Layers[ip].ID).Name
	to := setting(&r.Layers[ip], name+".dst")
	if to == nil {
		return nil
	}
	dst, _ := netip.AddrFromSlice(to.Raw)
	if setting(&r.Layers[ip], name+".src") == nil {
		if err := a.source(ctx, &r.Layers[ip], name+".src", dst); err != nil {
			return err
		}
	}
	if setting(eth, "eth.dst") != nil || !a.ask {
		return nil
	}
	if ip > 1 {
		return fmt.Errorf("the MAC address of %s cannot be asked for inside a VLAN: give --dmac", dst)
	}
	mac, err := a.resolve(ctx, dst)
	if err != nil {
		return fmt.Errorf("%w; --dmac gives a MAC address", err)
	}
	putMAC(r, "eth.dst", mac[:])
	return nil
}

// source sets the address that the kernel would send from.
func (a *addressing) source(ctx context.Context, l *craft.Layer, field string, dst netip.Addr) error {
	hop, err := host.NextHop(ctx, dst, a.link.Index())
	if errors.Is(err, host.ErrNoRoute) {
		return nil
	}
	if err != nil {
		return err
	}
	if hop.Source.IsValid() && hop.Source.Is4() == dst.Is4() {
		l.Put(craft.Setting{Field: craft.FieldOf(l.ID, field), Raw: hop.Source.AsSlice()})
	}
	return nil
}

// resolve asks for a MAC address, once for each destination.
func (a *addressing) resolve(ctx context.Context, dst netip.Addr) (host.MAC, error) {
	if mac, ok := a.known[dst]; ok {
		return mac, nil
	}
	// The link that sends cannot receive the answer.
	link, err := nic.Open(nic.Options{Interface: a.link.Name(), IgnoreOutgoing: true})
	if err != nil {
		return host.MAC{}, err
	}
	mac, err := host.Resolve(ctx, link, host.Question{}, dst)
	if a.known == nil {
		a.known = make(map[netip.Addr]host.MAC)
	}
	a.known[dst] = mac
	return mac, errors.Join(err, link.Close())
}

// outerIP is the layer of the outermost IP header, when it lies in Ethernet or
// VLAN tags alone; -1 when there is none.
func outerIP(r *craft.Recipe) int {
	for i := 1; i < len(r.Layers); i++ {
		switch r.Layers[i].ID {
		case wire.HdrIPv4, wire.HdrIPv6:
			return i
		case wire.HdrVLAN, wire.HdrServiceVLAN:
		default:
			return -1
		}
	}
	return -1
}

// setting is what a layer sets a field to, nil when it does not.
func setting(l *craft.Layer, field string) *craft.Setting {
	i := slices.IndexFunc(l.Set, func(s craft.Setting) bool { return s.Field.Name == field && !s.Auto })
	if i < 0 {
		return nil
	}
	return &l.Set[i]
}
