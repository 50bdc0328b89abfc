package rocecap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/present/metrics"
)

// liveOptions are the flags of `rocecap live`.
type liveOptions struct {
	capture  captureOptions
	read     string
	speed    float64
	filter   string
	interval time.Duration
	duration time.Duration
	json     bool
	plain    bool
	metrics  string
	keep     time.Duration
	memory   int
	streams  Streams
}

// captureFlags say what is captured, and mean nothing to a file.
var captureFlags = [...]string{
	"snaplen", "no-promiscuous-mode", "bpf", "all", "udp-port", "iwarp-port", "iwarp", "tunnels", "buffer-size", "hardware-time",
}

func newLive(s Streams) *cobra.Command {
	o := &liveOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "live {-i NAME | -r FILE}",
		Short: "Watch the queue pairs on an interface: throughput, latency, loss, as they happen",
		Long: `live follows the RDMA traffic of interfaces, or of a capture that is played again
at its own speed. On a terminal it is a full screen; ? lists its keys. Elsewhere,
or with --plain, it prints a line for each interval and one for each finding, with
--json an object for each interval.

The kernel selects RDMA traffic: RoCEv1, RoCEv2, PAUSE and PFC, and iWARP and
tunnels when asked to. live needs the right CAP_NET_RAW for interfaces.

--metrics serves what was counted to Prometheus at http://ADDRESS/metrics.`,
		Example: `  rocecap live -i eth0
  rocecap live -i eth0 --json --metrics :9790
  rocecap live -r pcaps/rc_loss_send.pcap.gz`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range captureFlags {
				if cmd.Flags().Changed(name) && o.read != "" && len(o.capture.interfaces) == 0 {
					return fmt.Errorf("live: --%s is for interfaces; -Y chooses packets of a file", name)
				}
			}
			return o.run(cmd.Context())
		},
	}
	f := cmd.Flags()
	o.capture.flags(f)
	f.StringVarP(&o.read, "read-file", "r", "", "play `FILE` again instead of listening to interfaces")
	f.Float64Var(&o.speed, "speed", 1, "with -r: play `N` times as fast; 0 is as fast as it goes")
	f.StringVarP(&o.filter, "display-filter", "Y", "", "follow only packets that match `FILTER`, in tshark's syntax")
	f.DurationVar(&o.interval, "interval", time.Second, "length of an interval")
	f.DurationVarP(&o.duration, "duration", "a", 0, "end after `TIME`, such as 30s")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each interval")
	f.BoolVar(&o.plain, "plain", false, "print lines on a terminal, too")
	f.DurationVar(&o.keep, "keep", 2*time.Minute, "on a full screen: keep the packets of the last `TIME`, of which the key w writes those that match to a file")
	f.IntVar(&o.memory, "memory", 64, "keep them in at most `MIB` of memory")
	f.StringVar(&o.metrics, "metrics", "", "serve Prometheus at `ADDRESS`, such as :9790")
	return cmd
}

func (o *liveOptions) run(ctx context.Context) error {
	from, err := o.feed()
	if err != nil {
		return fmt.Errorf("live: %w", err)
	}
	m := newMonitor()
	if o.filter != "" {
		chosen, err := filter.Compile(o.filter)
		if err != nil {
			return err
		}
		m.follow(chosen)
	}
	v := &viewer{options: o, monitor: m, watch: newWatch(m), from: from}
	v.say = func(text string) { fmt.Fprintf(o.streams.Err, "rocecap: %s\n", text) }
	ctx, stop := interruptible(ctx, o.duration)
	defer stop()
	if o.metrics != "" {
		closeServer, err := v.serve()
		if err != nil {
			return err
		}
		defer closeServer()
	}
	if err := o.streams.DropRights(); err != nil {
		return err
	}
	if o.fullScreen() {
		defer boundMemory(o.memory << 20)()
		return v.screen(ctx)
	}
	defer boundMemory(0)()
	return v.lines(ctx)
}

// feed opens what packets come from.
func (o *liveOptions) feed() (feed, error) {
	switch {
	case o.interval < 10*time.Millisecond:
		return nil, fmt.Errorf("--interval %v: want at least 10ms", o.interval)
	case o.duration < 0:
		return nil, fmt.Errorf("--duration %v: is not negative", o.duration)
	case o.keep < 0:
		return nil, fmt.Errorf("--keep %v: is not negative", o.keep)
	case !(o.speed >= 0) || math.IsInf(o.speed, 0): // NaN is neither
		return nil, fmt.Errorf("--speed %g: want a number that is not negative", o.speed)
	case o.read != "" && len(o.capture.interfaces) > 0:
		return nil, errors.New("-i and -r exclude each other")
	}
	if err := checkMemory(o.memory); err != nil {
		return nil, err
	}
	if o.read == "" {
		c, err := o.capture.open()
		if err != nil {
			return nil, err
		}
		return &liveFeed{captures: c}, nil
	}
	reader, err := capfile.Open(o.read)
	if err != nil {
		return nil, err
	}
	return &fileFeed{reader: reader, speed: o.speed}, nil
}

// viewer shows what a feed gives.
type viewer struct {
	options *liveOptions
	monitor *monitor
	watch   *watch
	from    feed
	quiet   int  // intervals in which nothing has come
	told    bool // why that may be

	say        func(text string)
	interfaces []capfile.Interface // of what has come so far; the monitor's lock is for it
}

// lines prints a line or an object for each interval.
func (v *viewer) lines(ctx context.Context) error {
	out := v.options.streams.Out
	if l, ok := v.from.(*liveFeed); ok {
		v.say("watching " + strings.Join(v.options.capture.interfaces, " and ") + "; Ctrl-C ends it")
		defer func() { v.say(l.captures.summary(v.monitor.number, "followed")) }()
	}
	var line []byte
	return v.follow(ctx, func(s *live.Snapshot) error {
		line = line[:0]
		if v.options.json {
			var err error
			if line, err = s.AppendJSON(line); err != nil {
				return err
			}
		} else {
			for i := range s.Findings {
				line = s.Findings[i].Append(line)
			}
			line = s.Append(line)
			for _, i := range s.Interfaces {
				for _, why := range i.Silence {
					line = fmt.Appendf(line, "          nothing on %s yet: %s\n", i.Name, why)
				}
			}
		}
		_, err := out.Write(line)
		return err
	})
}

// follow hands on the snapshots of a feed until it ends.
func (v *viewer) follow(ctx context.Context, show func(*live.Snapshot) error) error {
	if l, ok := v.from.(*liveFeed); ok {
		l.captures.down = func(name string) { v.say("interface " + name + " is down") }
		for _, name := range l.captures.unstamped(&v.options.capture) {
			v.say("interface " + name + " stamps no frames: their times are the kernel's")
		}
		defer l.captures.close()
	}
	var failed error // to show
	see := func(s *live.Snapshot) error {
		v.describe(s)
		failed = show(s)
		return failed
	}
	err := v.from.run(ctx, v.interval(), func(records []capfile.Record) error {
		v.learn()
		v.monitor.take(records)
		return nil
	}, func(now int64) error { return see(v.watch.look(now)) })
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = nil
	}
	if at := v.from.end(); at > 0 && failed == nil {
		err = errors.Join(err, see(v.watch.end(at)))
	}
	return err
}

// patience is for how many intervals an interface is silent before live says why
// it may be.
const patience = 5

// describe adds what is known of the interfaces.
func (v *viewer) describe(s *live.Snapshot) {
	l, ok := v.from.(*liveFeed)
	if !ok {
		return
	}
	for i, n := range l.captures.statistics() {
		s.Interfaces = append(s.Interfaces, live.Interface{
			Name: l.captures.list[i].Name(), Received: n.Received, Dropped: n.Dropped, Lost: n.InterfaceDropped,
		})
	}
	if s.Total.Packets > 0 {
		v.quiet = 0
		return
	}
	if v.quiet++; v.quiet < patience || v.told {
		return
	}
	v.told = true
	for i := range s.Interfaces {
		// What cannot be found out is no reason to end.
		s.Interfaces[i].Silence, _ = whySilent(s.Interfaces[i].Name)
	}
}

// serve answers Prometheus.
func (v *viewer) serve() (closeServer func(), err error) {
	listener, err := net.Listen("tcp", v.options.metrics)
	if err != nil {
		return nil, fmt.Errorf("--metrics %s: %w", v.options.metrics, err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", metrics.Handler(v.sample))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = server.Serve(listener) }()
	fmt.Fprintf(v.options.streams.Err, "rocecap: metrics at http://%s/metrics\n", listener.Addr())
	return func() { _ = server.Close() }, nil
}

func (v *viewer) sample() metrics.Sample {
	s := v.monitor.sample()
	if l, ok := v.from.(*liveFeed); ok {
		for i, n := range l.captures.statistics() {
			s.Interfaces = append(s.Interfaces, metrics.Interface{
				Name: l.captures.list[i].Name(), Received: n.Received, Dropped: n.Dropped, Lost: n.InterfaceDropped,
			})
		}
	}
	return s
}
