package rocecap

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/prefilter"
	"github.com/rocecap/rocecap/internal/wire"
)

// captureOptions are the flags of commands that listen to interfaces.
type captureOptions struct {
	interfaces []string
	snapLen    int
	selective  bool
	bpf        string
	all        bool
	udpPorts   []string
	tcpPorts   []string
	tcp        bool
	tunnels    bool
	buffer     int
	hardware   bool
}

func (o *captureOptions) flags(f *pflag.FlagSet) {
	f.StringArrayVarP(&o.interfaces, "interface", "i", nil, "listen to interface `NAME` (repeatable); rocecap interfaces lists them")
	f.IntVarP(&o.snapLen, "snaplen", "s", 0, "keep at most `N` bytes of each frame; 0 keeps all")
	f.BoolVarP(&o.selective, "no-promiscuous-mode", "p", false, "do not listen to frames to other MAC addresses")
	f.StringVar(&o.bpf, "bpf", "", "capture what `EXPR` passes, compiled by tcpdump, instead of RDMA traffic")
	f.BoolVar(&o.all, "all", false, "capture all traffic instead of RDMA traffic")
	f.StringArrayVar(&o.udpPorts, "udp-port", nil, "capture UDP port `N` as RoCEv2 too (repeatable)")
	f.StringArrayVar(&o.tcpPorts, "iwarp-port", nil, "capture the TCP connections with port `N`, for iWARP (repeatable)")
	f.BoolVar(&o.tcp, "iwarp", false, "capture all TCP connections, for iWARP")
	f.BoolVar(&o.tunnels, "tunnels", false, "capture VXLAN, Geneve, GRE, ERSPAN, IP in IP and MPLS, for RDMA inside")
	f.IntVarP(&o.buffer, "buffer-size", "B", 0, "use `MIB` of memory for frames that were not read yet (128)")
	f.BoolVar(&o.hardware, "hardware-time", false, "take the times of an interface that stamps frames")
}

// maxSnapLen is longer than any frame; asking for more asks for all of each.
const maxSnapLen = 1 << 18

// check looks whether interfaces and numbers make sense.
func (o *captureOptions) check() error {
	if len(o.interfaces) == 0 {
		return errors.New("which interface? -i NAME; rocecap interfaces lists them")
	}
	for i, name := range o.interfaces {
		if slices.Contains(o.interfaces[:i], name) {
			return fmt.Errorf("-i %s: is given twice", name)
		}
	}
	if o.snapLen < 0 || o.buffer < 0 {
		return errors.New("-s and -B are not negative")
	}
	if o.snapLen >= maxSnapLen {
		o.snapLen = 0
	}
	return nil
}

// unknown says more of a name that is no interface's but means something to other
// programs.
func unknown(name string, err error) error {
	if errors.Is(err, nic.ErrUnknownInterface) && (name == "any" || strings.Contains(name, ",")) {
		return fmt.Errorf("%w: give -i for each", err)
	}
	return err
}

// open begins to listen.
func (o *captureOptions) open() (*captures, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	traffic, err := o.traffic()
	if err != nil {
		return nil, err
	}
	c := &captures{snapLen: o.snapLen}
	for _, name := range o.interfaces {
		program, err := o.program(name, traffic)
		if err != nil {
			return nil, errors.Join(err, c.close())
		}
		options := nic.CaptureOptions{
			Interface: name, Promiscuous: !o.selective, SnapLen: o.snapLen, RingBytes: o.buffer << 20, Filter: program,
		}
		if o.hardware {
			options.Clock = nic.HardwareClock
		}
		one, err := nic.OpenCapture(options)
		if err != nil {
			return nil, errors.Join(unknown(name, err), c.close())
		}
		c.list = append(c.list, one)
	}
	c.filter = o.filterText()
	return c, nil
}

// program is what the kernel decides by, nil for everything.
func (o *captureOptions) program(name string, t prefilter.Traffic) ([]bpf.RawInstruction, error) {
	switch {
	case o.all:
		return nil, nil
	case o.bpf != "":
		return prefilter.Compile(o.bpf, name)
	}
	return prefilter.RDMA(t)
}

func (o *captureOptions) traffic() (t prefilter.Traffic, err error) {
	if o.bpf != "" && o.all {
		return t, errors.New("--bpf and --all exclude each other")
	}
	t.TCP, t.Encapsulated = o.tcp, o.tunnels
	if t.UDPPorts, err = ports("--udp-port", o.udpPorts); err != nil {
		return t, err
	}
	t.TCPPorts, err = ports("--iwarp-port", o.tcpPorts)
	return t, err
}

func ports(flag string, texts []string) (list []uint16, err error) {
	for _, text := range texts {
		n, err := strconv.ParseUint(text, 10, 16)
		if err != nil || n == 0 {
			return nil, fmt.Errorf("%s %s: want a port from 1 to 65535", flag, text)
		}
		list = append(list, uint16(n))
	}
	return list, nil
}

// filterText says in the capture which traffic it has.
func (o *captureOptions) filterText() string {
	switch {
	case o.all:
		return ""
	case o.bpf != "":
		return o.bpf
	}
	return "RDMA"
}

// captures are the interfaces that are listened to.
type captures struct {
	list    []*nic.Capture
	filter  string
	snapLen int
	down    func(name string) // told of interfaces that were switched off
}

// describe says what the interfaces are.
func (c *captures) describe() (list []capfile.Interface) {
	for _, one := range c.list {
		list = append(list, capfile.Interface{
			Name: one.Name(), Filter: c.filter, Link: wire.LinkEthernet, SnapLen: uint32(c.snapLen), FCSLen: -1,
			Comment: "times of the " + one.Clock().String() + " clock",
		})
	}
	return list
}

// unstamped are the interfaces that were to stamp frames and do not.
func (c *captures) unstamped(o *captureOptions) (names []string) {
	for _, one := range c.list {
		if o.hardware && one.Clock() != nic.HardwareClock {
			names = append(names, one.Name())
		}
	}
	return names
}

// statistics are the kernel's counts of each interface so far.
func (c *captures) statistics() []nic.CaptureStats {
	list := make([]nic.CaptureStats, len(c.list))
	for i, one := range c.list {
		// After a fault the last counts are given.
		list[i], _ = one.Stats()
	}
	return list
}

// summary says how many packets there were.
func (c *captures) summary(n int, what string) string {
	var all nic.CaptureStats
	for _, s := range c.statistics() {
		all.Received += s.Received
		all.Dropped += s.Dropped
		all.InterfaceDropped += s.InterfaceDropped
		all.Told = all.Told || s.Told
	}
	text := fmt.Sprintf("%d packets %s, %d received by the filter, %d dropped by the kernel", n, what, all.Received+all.Dropped, all.Dropped)
	switch {
	case !all.Told:
		return text
	case len(c.list) > 1:
		return text + fmt.Sprintf(", %d by the interfaces", all.InterfaceDropped)
	}
	return text + fmt.Sprintf(", %d by the interface", all.InterfaceDropped)
}

// arrival is what a reader got.
type arrival struct {
	place int // which interface
	block *nic.Block
	err   error
}

// maxArrivals is how many blocks wait to be taken; the others stay in the ring.
const maxArrivals = 4

// run hands on what comes, and says regularly what time it is, until the context
// ends or an interface fails; then what has come before that is handed on.
func (c *captures) run(ctx context.Context, every time.Duration, take func(place int, b *nic.Block) error, tick func(time.Time) error) error {
	arrivals := make(chan arrival, maxArrivals)
	for i, one := range c.list {
		for _, r := range one.Readers() {
			go func() {
				for {
					b, err := r.Next(time.Time{})
					arrivals <- arrival{i, b, err}
					if err != nil && !errors.Is(err, nic.ErrDown) {
						return
					}
				}
			}()
		}
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	done := ctx.Done()
	var failed error
	for open := len(c.list); open > 0; {
		select {
		case a := <-arrivals:
			switch {
			case errors.Is(a.err, nic.ErrDown):
				c.down(c.list[a.place].Name())
			case a.err != nil:
				open--
				if !errors.Is(a.err, nic.ErrStopped) && failed == nil {
					failed = fmt.Errorf("interface %s: %w", c.list[a.place].Name(), a.err)
					c.stop()
				}
			default:
				// What an interface had before it failed is still handed on.
				if failed == nil || errors.Is(failed, nic.ErrGone) {
					if err := take(a.place, a.block); err != nil {
						failed = err
						c.stop()
					}
				}
				a.block.Release()
			}
		case now := <-ticker.C:
			if err := tick(now); err != nil && failed == nil {
				failed = err
				c.stop()
			}
		case <-done:
			done = nil
			c.stop()
		}
	}
	if errors.Is(failed, errEnough) {
		return nil
	}
	return failed
}

// stop lets nothing more in. An interface that fails so has failed already.
func (c *captures) stop() {
	for _, one := range c.list {
		_ = one.Stop()
	}
}

func (c *captures) close() error {
	var errs []error
	for _, one := range c.list {
		errs = append(errs, one.Close())
	}
	return errors.Join(errs...)
}

// interruptible is a context that a signal ends, or a duration, 0 for none. A second
// signal ends the program at once: what it writes to may be stuck. Who runs it by nohup
// does not want it to end with the terminal.
func interruptible(ctx context.Context, duration time.Duration) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(ctx, signals...)
	context.AfterFunc(ctx, stop)
	if duration == 0 {
		return ctx, stop
	}
	ctx, cancel := context.WithTimeout(ctx, duration)
	return ctx, func() { cancel(); stop() }
}
