package rocecap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/offload"
	"github.com/rocecap/rocecap/internal/netio/rdmadev"
)

func newInterfaces(s Streams) *cobra.Command {
	asJSON := false
	cmd := &cobra.Command{
		Use:   "interfaces [NAME...]",
		Short: "List network interfaces, their RDMA devices, and what a capture there would see",
		Long: `interfaces lists the network interfaces of this machine with MTU, speed and
addresses, the RDMA devices behind them with their GIDs, and, marked with !, why
a capture there would lack RDMA traffic or show it otherwise than on the wire,
and what to do about it.`,
		Example: "  rocecap interfaces\n  rocecap interfaces --json eth0",
		RunE: func(_ *cobra.Command, names []string) error {
			list, err := sightOf(names)
			if err != nil {
				return fmt.Errorf("interfaces: %w", err)
			}
			if asJSON {
				return json.NewEncoder(s.Out).Encode(list)
			}
			_, err = s.Out.Write(appendSights(nil, list))
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON array with everything")
	return cmd
}

// sight is what is known of an interface before anything is captured there.
type sight struct {
	Name      string            `json:"name"`
	Up        bool              `json:"up"`      // switched on
	Carrier   bool              `json:"carrier"` // and connected
	MTU       int               `json:"mtu"`
	PathMTU   int               `json:"path_mtu"` // the largest that RoCE can use, 0 for none
	Speed     int               `json:"speed_mbit"`
	Kind      string            `json:"kind,omitempty"`
	Driver    string            `json:"driver,omitempty"`
	MAC       string            `json:"mac,omitempty"`
	Addresses []netip.Prefix    `json:"addresses"`
	Offloads  []offload.Offload `json:"offloads"`
	Devices   []rdmaDevice      `json:"rdma_devices"`
	Advice    []string          `json:"advice"`
}

// rdmaDevice is the part of an RDMA device that belongs to an interface.
type rdmaDevice struct {
	Name     string    `json:"name"`
	Type     string    `json:"type"`
	Firmware string    `json:"firmware,omitempty"`
	Software bool      `json:"software"`
	Port     int       `json:"port"`
	State    string    `json:"state"`
	Rate     string    `json:"rate"`
	GIDs     []rdmaGID `json:"gids"`
}

type rdmaGID struct {
	Index int        `json:"index"`
	GID   netip.Addr `json:"gid"`
	Type  string     `json:"type"`
}

// sightOf asks the machine about the interfaces of some names, or about all.
func sightOf(names []string) ([]sight, error) {
	ctx := context.Background()
	links, err := host.Links(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if !slices.ContainsFunc(links, func(l host.Link) bool { return l.Name == name }) {
			return nil, fmt.Errorf("%s: %w", name, host.ErrUnknownLink)
		}
	}
	addresses, err := host.Addresses(ctx)
	if err != nil {
		return nil, err
	}
	sys := os.DirFS("/sys")
	devices, err := rdmadev.Devices(sys)
	if err != nil {
		return nil, err
	}
	list := []sight{}
	for _, l := range links {
		if len(names) == 0 || slices.Contains(names, l.Name) {
			list = append(list, see(l, addresses, sys, devices))
		}
	}
	return list, nil
}

// see puts together what is known of one interface.
func see(l host.Link, addresses []host.Address, sys fs.FS, devices []rdmadev.Device) sight {
	s := sight{
		Name: l.Name, Up: l.Flags&net.FlagUp != 0, Carrier: l.Flags&net.FlagRunning != 0,
		MTU: l.MTU, PathMTU: pathMTU(l.MTU), Speed: rdmadev.Speed(sys, l.Name),
		Kind: l.Kind, Driver: rdmadev.Driver(sys, l.Name), MAC: l.MAC.String(),
		Addresses: []netip.Prefix{}, Offloads: []offload.Offload{}, Devices: rdmaOf(devices, l.Name),
	}
	for _, a := range addresses {
		if a.Link == l.Index {
			s.Addresses = append(s.Addresses, a.Prefix)
		}
	}
	// Not every driver can be asked.
	if on, err := offload.On(l.Name); err == nil {
		s.Offloads = append(s.Offloads, on...)
	}
	s.Advice = advise(&s)
	return s
}

// roceOverhead is what RoCE adds to a payload at most, as the kernel counts it:
// IPv6 or GRH, UDP, BTH, XRCETH, AtomicETH and ICRC (iboe_get_mtu).
const roceOverhead = 40 + 8 + 12 + 4 + 28 + 4

// pathMTU is the largest path MTU that fits into an interface's MTU.
func pathMTU(mtu int) int {
	for size := 4096; size >= 256; size /= 2 {
		if mtu-roceOverhead >= size {
			return size
		}
	}
	return 0
}

// rdmaOf lists the ports of RDMA devices with an entry for an interface.
func rdmaOf(devices []rdmadev.Device, netdev string) []rdmaDevice {
	list := []rdmaDevice{}
	for i := range devices {
		d := &devices[i]
		for _, p := range d.Ports {
			of := rdmaDevice{
				Name: d.Name, Type: d.Type, Firmware: d.Firmware, Software: d.Software(),
				Port: p.Number, State: p.State, Rate: p.Rate,
			}
			for _, g := range p.GIDs {
				if g.Netdev == netdev {
					of.GIDs = append(of.GIDs, rdmaGID{g.Index, g.GID, g.Type})
				}
			}
			if len(of.GIDs) > 0 {
				list = append(list, of)
			}
		}
	}
	return list
}

// whySilent says why nothing may be seen on an interface, a line for each reason.
func whySilent(name string) ([]string, error) {
	list, err := sightOf([]string{name})
	if errors.Is(err, host.ErrNotSupported) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return list[0].Advice, nil
}

// appendSights adds what a person reads.
func appendSights(dst []byte, list []sight) []byte {
	width := 0
	for i := range list {
		width = max(width, len(list[i].Name))
	}
	for i := range list {
		s := &list[i]
		dst = fmt.Appendf(dst, "%-*s  %s\n", width, s.Name, strings.Join(s.facts(), ", "))
		line := func(format string, args ...any) {
			dst = fmt.Appendf(dst, "%*s  "+format+"\n", append([]any{width, ""}, args...)...)
		}
		if len(s.Addresses) > 0 {
			line("%s", strings.Trim(fmt.Sprint(s.Addresses), "[]"))
		}
		for _, d := range s.Devices {
			kind := "firmware " + d.Firmware
			if d.Software {
				kind = "software"
			}
			line("%s port %d: %s, %s, %s", d.Name, d.Port, kind, d.State, d.Rate)
			for _, g := range d.GIDs {
				line("  GID %-3d %-10s %s", g.Index, g.Type, g.GID)
			}
		}
		for _, a := range s.Advice {
			line("! %s", a)
		}
	}
	return dst
}

// facts are the words of an interface's first line.
func (s *sight) facts() []string {
	state := "down"
	if s.Up {
		state = "up"
		if !s.Carrier {
			state = "no carrier"
		}
	}
	facts := []string{state, fmt.Sprintf("MTU %d", s.MTU)}
	if s.Speed > 0 {
		facts = append(facts, fmt.Sprintf("%g Gbit/s", float64(s.Speed)/1000))
	}
	for _, f := range []string{s.Kind, s.Driver, s.MAC} {
		if f != "" {
			facts = append(facts, f)
		}
	}
	return facts
}
