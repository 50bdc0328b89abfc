package roceinject

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/netio/host"
)

// Subnets of addresses that are given without a length.
const (
	usualIPv4Subnet = 24
	usualIPv6Subnet = 64
)

// peerDevice are the flags of the RDMA device that all modes of peer have.
type peerDevice struct {
	streams cli.Streams

	iface     string
	addresses []string
	gateways  []string
	mac       string
	vlan      string
	seed      uint64
	record    string
	policies  []string
	faults    []string
	yesReally bool

	timeout, retry, rnrRetry uint8 // with verbs' meaning
	given                    func(flag string) bool
	deadline, linger         time.Duration
	json                     bool

	file *os.File // of --record
}

func (o *peerDevice) register(f *pflag.FlagSet) {
	o.given = f.Changed
	f.StringVarP(&o.iface, "interface", "i", "", "send and receive on `INTERFACE`")
	f.StringArrayVar(&o.addresses, "ip", nil, "be `ADDRESS[/LENGTH]`, IPv4 or IPv6 (repeatable; /24 or /64 without a length)")
	f.StringArrayVar(&o.gateways, "gateway", nil, "reach other subnets by `ADDRESS` (once for IPv4 and IPv6)")
	f.StringVar(&o.mac, "mac", "", "have the MAC address `MAC` (default: made from the interface's)")
	f.StringVar(&o.vlan, "vlan", "", "be in VLAN `ID[:PRIORITY]`")
	f.Uint64Var(&o.seed, "seed", 0, "draw queue pair numbers, PSNs and keys from `N` (default: a random one)")
	f.StringVar(&o.record, "record", "", "write everything sent and received to the pcapng `FILE`")
	f.StringArrayVar(&o.policies, "policy", nil, "decide otherwise: `NAME[=VALUE]` (repeatable; --policy help lists them)")
	f.StringArrayVar(&o.faults, "fault", nil, "impair what is sent (forward) and received (backward): `RULE` as in a bridge's rules, or a file of them (repeatable)")
	f.Uint8Var(&o.timeout, "timeout", 14, "wait 4.096 us x 2^`CODE` for an acknowledgement; 0 waits for ever, or by rdma_cm as the peer says (default there)")
	f.Uint8Var(&o.retry, "retry", 7, "send `N` times again")
	f.Uint8Var(&o.rnrRetry, "rnr-retry", 7, "send `N` times again to a peer that is not ready; 7 is without end")
	f.DurationVar(&o.deadline, "deadline", 0, "give up after `DURATION` (default: never)")
	f.DurationVar(&o.linger, "linger", 500*time.Millisecond, "answer late retransmissions for `DURATION` after the end")
	f.BoolVar(&o.json, "json", false, "print one JSON object at the end")
	f.BoolVar(&o.yesReally, "yes-really", false, "use an interface that carries a default route")
}

// attributes changes those of a queue pair as the flags say. The defaults are the
// endpoint's own, or by rdma_cm what the ends agree on.
func (o *peerDevice) attributes(mtu int) func(*endpoint.Attributes) {
	return func(a *endpoint.Attributes) {
		for flag, change := range map[string]func(){
			"timeout":   func() { a.Timeout = o.timeout },
			"retry":     func() { a.RetryCount = o.retry },
			"rnr-retry": func() { a.RNRRetry = o.rnrRetry },
		} {
			if o.given(flag) {
				change()
			}
		}
		if mtu != 0 {
			a.PathMTU = mtu
		}
	}
}

// check refuses what no device can be made of.
func (o *peerDevice) check() error {
	switch {
	case o.iface == "":
		return errors.New("on which interface? -i INTERFACE")
	case len(o.addresses) == 0:
		return errors.New("which address is the endpoint's own? --ip ADDRESS, one that the kernel does not have")
	case o.timeout > 31:
		return fmt.Errorf("--timeout %d: want a code of 0 to 31", o.timeout)
	case o.retry > 7 || o.rnrRetry > 7:
		return errors.New("--retry and --rnr-retry: want 0 to 7")
	case o.deadline < 0 || o.linger < 0:
		return errors.New("--deadline and --linger: want no negative time")
	}
	return nil
}

// during makes the device, runs something with it, until --deadline at most, and
// closes it.
func (o *peerDevice) during(ctx context.Context, run func(context.Context, *endpoint.Device) error) error {
	ctx, cancel := o.limit(ctx)
	defer cancel()
	dev, err := o.open(ctx)
	if err != nil {
		return err
	}
	return errors.Join(run(ctx, dev), o.close(ctx, dev))
}

// limit is the context of a run: it ends at --deadline.
func (o *peerDevice) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.deadline == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.deadline, fmt.Errorf("not done after %v (--deadline)", o.deadline))
}

// cause is err, or, when the run's context ended, why it did.
func cause(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	for _, end := range []error{context.DeadlineExceeded, context.Canceled, os.ErrDeadlineExceeded} { // the last one of TCP
		if errors.Is(err, end) {
			return context.Cause(ctx)
		}
	}
	return err
}

// open makes the device, if that is safe.
func (o *peerDevice) open(ctx context.Context) (*endpoint.Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	options, err := o.options()
	if err != nil {
		return nil, err
	}
	if err := o.safe(ctx, options.Addresses); err != nil {
		return nil, err
	}
	if err := o.impair(&options); err != nil {
		return nil, err
	}
	if o.record != "" {
		if o.file, err = os.Create(o.record); err != nil {
			return nil, errors.Join(err, closeLink(options.Link))
		}
		options.Record = o.file
	}
	dev, err := endpoint.Open(options)
	if err != nil {
		return nil, errors.Join(err, o.closeRecord())
	}
	return dev, nil
}

func closeLink(l endpoint.Link) error {
	if l == nil {
		return nil
	}
	return l.Close()
}

// close ends the device, after what may still be asked of it, and the recording.
func (o *peerDevice) close(ctx context.Context, dev *endpoint.Device) error {
	linger := time.NewTimer(o.linger)
	defer linger.Stop()
	select {
	case <-linger.C:
	case <-ctx.Done():
	}
	return errors.Join(dev.Close(), o.closeRecord())
}

func (o *peerDevice) closeRecord() error {
	if o.file == nil {
		return nil
	}
	return o.file.Close()
}

func (o *peerDevice) options() (p endpoint.Options, err error) {
	p = endpoint.Options{Interface: o.iface, Seed: o.seed}
	for _, text := range o.addresses {
		prefix, err := parseOwnAddress(text)
		if err != nil {
			return p, err
		}
		p.Addresses = append(p.Addresses, prefix)
	}
	for _, text := range o.gateways {
		gateway, err := netip.ParseAddr(text)
		if err != nil {
			return p, fmt.Errorf("--gateway %s: want an IP address", text)
		}
		p.Gateways = append(p.Gateways, gateway)
	}
	if o.mac != "" {
		const group = 1 // bit of the first byte: it is no machine's own
		if p.MAC, err = net.ParseMAC(o.mac); err != nil || len(p.MAC) != macLen || p.MAC[0]&group != 0 {
			return p, fmt.Errorf("--mac %s: want the MAC address of one machine", o.mac)
		}
	}
	if p.VLAN, err = parseVLAN(o.vlan); err != nil {
		return p, err
	}
	p.Policy, p.ICRC, err = parsePolicies(o.policies)
	return p, err
}

func parseOwnAddress(text string) (netip.Prefix, error) {
	prefix, err := netip.ParsePrefix(text)
	if err != nil {
		addr, err := netip.ParseAddr(text)
		if err != nil {
			return netip.Prefix{}, fmt.Errorf("--ip %s: want ADDRESS or ADDRESS/LENGTH", text)
		}
		length := usualIPv6Subnet
		if addr.Is4() {
			length = usualIPv4Subnet
		}
		prefix = netip.PrefixFrom(addr, length)
	}
	if !isOneMachine(prefix) {
		return netip.Prefix{}, fmt.Errorf("--ip %s: no machine can have that address in its subnet of /%d", text, prefix.Bits())
	}
	return prefix, nil
}

// isOneMachine reports whether an address is one that a machine can have: no
// group, and neither the first nor the last of an IPv4 subnet, which are the
// subnet itself and its broadcast (RFC 1122, 3.2.1.3).
func isOneMachine(p netip.Prefix) bool {
	addr := p.Addr()
	if addr.IsMulticast() || addr.IsUnspecified() || addr == netip.AddrFrom4([4]byte{255, 255, 255, 255}) {
		return false
	}
	const pairOfHosts = 31 // RFC 3021: both are hosts
	if !addr.Is4() || p.Bits() >= pairOfHosts {
		return true
	}
	a := addr.As4()
	host := binary.BigEndian.Uint32(a[:]) << p.Bits()
	return host != 0 && host != math.MaxUint32<<p.Bits()
}

func parseVLAN(text string) (*endpoint.VLAN, error) {
	if text == "" {
		return nil, nil
	}
	idText, priorityText, both := strings.Cut(text, ":")
	if !both {
		priorityText = "0"
	}
	id, err := strconv.ParseUint(idText, 0, 12)
	priority, bad := strconv.ParseUint(priorityText, 0, 3)
	if err != nil || bad != nil {
		return nil, fmt.Errorf("--vlan %s: want ID or ID:PRIORITY, at most 4095 and 7", text)
	}
	return &endpoint.VLAN{ID: uint16(id), Priority: uint8(priority)}, nil
}

// safe refuses an interface that the machine's own traffic needs, and addresses
// that the kernel would answer for too.
func (o *peerDevice) safe(ctx context.Context, own []netip.Prefix) error {
	l, err := host.LinkByName(ctx, o.iface)
	if err != nil {
		return fmt.Errorf("interface %w", err)
	}
	routed, err := host.CarriesDefaultRoute(ctx, l.Index)
	if err != nil {
		return err
	}
	if routed && !o.yesReally {
		return fmt.Errorf("interface %s carries a default route: what is sent there reaches the network that this machine lives on; --yes-really uses it all the same", o.iface)
	}
	kernel, err := host.Addresses(ctx)
	if err != nil {
		return err
	}
	for _, k := range kernel {
		for _, mine := range own {
			if k.Prefix.Addr() == mine.Addr() {
				return fmt.Errorf("--ip %s is the kernel's own: it would answer too, and refuse the packets", mine.Addr())
			}
		}
	}
	return nil
}
