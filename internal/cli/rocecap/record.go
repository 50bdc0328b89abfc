package rocecap

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/present/analysis"
)

// recordOptions are the flags of `rocecap record`.
type recordOptions struct {
	capture  captureOptions
	write    string
	rotate   []string
	count    int
	duration time.Duration
	triggers []string
	before   time.Duration
	after    time.Duration
	memory   int
	quiet    bool
	streams  Streams
}

func newRecord(s Streams) *cobra.Command {
	o := &recordOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "record -i NAME -w FILE",
		Short: "Write the RDMA traffic of interfaces to capture files, always or around findings",
		Long: `record writes what passes on interfaces to FILE, pcapng unless the name ends with
.pcap, compressed when it ends with .gz or .zst behind that. The kernel selects
RDMA traffic: RoCEv1, RoCEv2, PAUSE and PFC, and iWARP and tunnels when asked to.
Once a second what was captured is handed to the file, and always in whole
packets, so that the file can be read meanwhile, and after whatever ends record.

With -b the capture goes on in another file when one has so many kilobytes, lasts
so long, or has so many packets; files:N keeps the last N of them.

With --trigger packets are kept in memory, and written only around a finding:
--before and --after say for how long. A trigger is nak, rnr, timeout, resend,
icrc, cnp, ce, pause, cm, iwarp, error or warning, or a code that rocecap explain
lists; with -rate>N behind it, more than N of these in a second.

record needs the right CAP_NET_RAW. Ctrl-C ends it; then it says how many packets
were captured, and how many the kernel dropped.`,
		Example: `  rocecap record -i eth0 -w roce.pcapng
  rocecap record -i eth0 -w roce.pcapng.zst -b filesize:1000000 -b files:10
  rocecap record -i eth0 -w trouble.pcapng --trigger 'nak,timeout,cnp-rate>1000'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd.Context()) },
	}
	f := cmd.Flags()
	o.capture.flags(f)
	f.StringVarP(&o.write, "write", "w", "", "write to `FILE`; - is the standard output")
	f.StringArrayVarP(&o.rotate, "ring-buffer", "b", nil, "another file at `filesize:KB`, duration:SECONDS or packets:N; keep files:N (repeatable)")
	f.IntVarP(&o.count, "count", "c", 0, "end after `N` packets")
	f.DurationVarP(&o.duration, "duration", "a", 0, "end after `TIME`, such as 30s")
	f.StringArrayVar(&o.triggers, "trigger", nil, "write only around findings of these `KINDS` (repeatable)")
	f.DurationVar(&o.before, "before", 10*time.Second, "with --trigger: begin so long before a finding")
	f.DurationVar(&o.after, "after", 10*time.Second, "with --trigger: end so long after a finding")
	f.IntVar(&o.memory, "memory", 256, "with --trigger: keep at most `MIB` of packets in memory")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "say nothing but errors")
	return cmd
}

// flushEvery is how often what was captured is handed to the file.
const flushEvery = time.Second

func (o *recordOptions) run(ctx context.Context) error {
	if o.write == "" {
		return errors.New("record: which file? -w FILE")
	}
	r, err := o.recorder()
	if err != nil {
		return err
	}
	captured, err := o.capture.open()
	if err != nil {
		return fmt.Errorf("record: %w", err)
	}
	if err := o.streams.DropRights(); err != nil {
		return errors.Join(err, captured.close())
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if o.duration > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.duration)
		defer cancel()
	}
	r.captures, r.began = captured, time.Now()
	captured.down = func(name string) { o.say("interface %s is down; recording goes on when it is up again\n", name) }
	for _, i := range captured.describe() {
		if _, err := r.ring.AddInterface(i); err != nil {
			return err
		}
	}
	o.say("recording %s on %s; Ctrl-C ends it\n", r.what(), strings.Join(o.capture.interfaces, " and "))
	err = captured.run(ctx, flushEvery, r.take, r.tick)
	return errors.Join(err, r.finish(), captured.close())
}

func (o *recordOptions) say(format string, args ...any) {
	if !o.quiet {
		fmt.Fprintf(o.streams.Err, "rocecap: "+format, args...)
	}
}

func (o *recordOptions) recorder() (*recorder, error) {
	rotation, err := parseRotation(o.rotate)
	if err != nil {
		return nil, err
	}
	switch {
	case o.count < 0 || o.duration < 0 || o.before < 0 || o.after < 0:
		return nil, errors.New("record: counts and times are not negative")
	case o.memory < 1:
		return nil, fmt.Errorf("--memory %d: want at least a MiB", o.memory)
	}
	r := &recorder{options: o}
	if r.ring, err = capfile.NewRing(o.write, rotation); err != nil {
		return nil, fmt.Errorf("-w %s: %w", o.write, err)
	}
	if len(o.triggers) == 0 {
		return r, nil
	}
	if r.triggers, err = parseTriggers(o.triggers); err != nil {
		return nil, err
	}
	r.monitor = newMonitor()
	r.monitor.found = r.found
	r.backlog = &backlog{span: o.before, limit: o.memory << 20}
	return r, nil
}

// parseRotation reads the values of -b, which are tshark's.
func parseRotation(texts []string) (r capfile.Rotation, err error) {
	for _, text := range texts {
		name, value, _ := strings.Cut(text, ":")
		n, err := strconv.ParseFloat(value, 64)
		if err != nil || n <= 0 {
			return r, fmt.Errorf("-b %s: want a number above 0 behind the colon", text)
		}
		switch name {
		case "filesize":
			r.Bytes = int64(n * 1000)
		case "duration":
			r.Every = time.Duration(n * float64(time.Second))
		case "packets":
			r.Packets = int(n)
		case "files":
			r.Files = int(n)
		default:
			return r, fmt.Errorf("-b %s: want filesize:KB, duration:SECONDS, packets:N or files:N", text)
		}
	}
	return r, nil
}

// recorder writes what is captured.
type recorder struct {
	options  *recordOptions
	captures *captures
	ring     *capfile.Ring
	began    time.Time
	frame    nic.Frame // that is written; here, each packet takes no memory of its own
	record   capfile.Record
	written  int
	failed   bool // the file could not be written

	// With triggers:
	triggers []*trigger
	monitor  *monitor
	backlog  *backlog
	fired    *trigger // by the packet that was given to the monitor last
	why      string
	until    int64 // write until then
}

func (r *recorder) what() string {
	if r.triggers == nil {
		return "to " + r.options.write
	}
	return "around findings to " + r.options.write
}

// take writes or keeps the packets of a block.
func (r *recorder) take(place int, b *nic.Block) error {
	for b.Next(&r.frame) {
		r.record = recordOf(&r.frame, place)
		if err := r.one(&r.record); err != nil {
			return err
		}
	}
	return nil
}

func (r *recorder) one(rec *capfile.Record) error {
	if r.triggers == nil {
		return r.write(rec)
	}
	r.fired = nil
	r.monitor.take([]capfile.Record{*rec})
	if r.fired != nil {
		if rec.Time > r.until {
			r.options.say("%s: %s\n", r.fired.name, r.why)
		}
		r.until = rec.Time + int64(r.options.after)
		if err := r.backlog.take(rec.Time-int64(r.options.before), r.write); err != nil {
			return err
		}
	}
	if rec.Time <= r.until {
		return r.write(rec)
	}
	r.backlog.add(rec)
	return nil
}

// found looks whether a finding is one to record around.
func (r *recorder) found(f analysis.Found) {
	for _, t := range r.triggers {
		if t.fires(f.Kind, r.monitor.now) && r.fired == nil {
			r.fired = t
			_, r.why = f.Say()
		}
	}
}

func (r *recorder) write(rec *capfile.Record) error {
	if err := r.ring.Write(rec); err != nil {
		return r.fail(err)
	}
	if r.written++; r.written == r.options.count {
		return errEnough
	}
	return nil
}

// tick hands what was captured to the file.
func (r *recorder) tick(time.Time) error {
	r.count()
	if err := r.ring.Flush(); err != nil {
		return r.fail(err)
	}
	return nil
}

func (r *recorder) fail(err error) error {
	r.failed = true
	return fmt.Errorf("-w %s: %w", r.options.write, err)
}

// count gives the file the interfaces' counters.
func (r *recorder) count() {
	for i, s := range r.captures.statistics() {
		_ = r.ring.SetStatistics(i, capfile.Statistics{
			Received: capfile.Count(s.Received + s.Dropped), OSDropped: capfile.Count(s.Dropped), Delivered: capfile.Count(s.Received),
			Start: r.began.UnixNano(), End: time.Now().UnixNano(),
		})
	}
}

// finish completes the file, and says what there was.
func (r *recorder) finish() error {
	r.count()
	err := r.ring.Close()
	r.options.say("%s\n", r.captures.summary(r.written, "written"))
	if err == nil || r.failed {
		return nil // a file that could not be written says so once
	}
	return r.fail(err)
}
