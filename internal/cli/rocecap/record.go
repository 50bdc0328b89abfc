package rocecap

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
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
were captured, and how many the kernel and the interface dropped.`,
		Example: `  rocecap record -i eth0 -w roce.pcapng
  rocecap record -i eth0 -w roce.pcapng.zst -b filesize:1000000 -b files:10
  rocecap record -i eth0 -w trouble.pcapng --trigger 'nak,timeout,cnp-rate>1000'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range [...]string{"before", "after", "memory"} {
				if cmd.Flags().Changed(name) && len(o.triggers) == 0 {
					return fmt.Errorf("record: --%s is for --trigger", name)
				}
			}
			return o.run(cmd.Context())
		},
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

// flushEvery is how often what was captured is handed to the file. The kernel keeps
// it for half a second before, at most (nic.DefaultBlockTimeout).
const flushEvery = 500 * time.Millisecond

func (o *recordOptions) run(ctx context.Context) error {
	if o.write == "" {
		return errors.New("record: which file? -w FILE")
	}
	if o.write == "-" && o.streams.OutTTY {
		return errors.New("record: -w -: the standard output is a terminal")
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
	if r.triggers != nil {
		defer boundMemory(o.memory << 20)()
	}
	r.captures, r.began = captured, time.Now()
	captured.down = func(name string) { o.say("interface %s is down; recording goes on when it is up again\n", name) }
	for _, name := range captured.unstamped(&o.capture) {
		o.say("interface %s stamps no frames: their times are the kernel's\n", name)
	}
	for _, i := range captured.describe() {
		if _, err := r.ring.AddInterface(i); err != nil {
			return errors.Join(err, captured.close())
		}
	}
	// A named pipe waits for its reader here, and can be interrupted.
	if err := r.ring.Open(); err != nil {
		return errors.Join(r.fail(err), captured.close())
	}
	ctx, stop := interruptible(ctx, o.duration)
	defer stop()
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
	case rotation.Files > 0 && rotation.Bytes == 0 && rotation.Every == 0 && rotation.Packets == 0:
		return nil, fmt.Errorf("-b files:%d: at which size, time or number of packets does another file begin?", rotation.Files)
	case o.count < 0 || o.duration < 0 || o.before < 0 || o.after < 0:
		return nil, errors.New("record: counts and times are not negative")
	}
	if err := checkMemory(o.memory); err != nil {
		return nil, err
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
		switch name {
		case "filesize":
			err = rotateAt(&r.Bytes, value, 1000)
		case "duration":
			err = rotateAt(&r.Every, value, float64(time.Second))
		case "packets":
			err = rotateAt(&r.Packets, value, 1)
		case "files":
			err = rotateAt(&r.Files, value, 1)
		default:
			err = errors.New("want filesize:KB, duration:SECONDS, packets:N or files:N")
		}
		if err != nil {
			return r, fmt.Errorf("-b %s: %w", text, err)
		}
	}
	return r, nil
}

// maxRotation is more than any of the limits needs to be, and fits into each.
const maxRotation = 1 << 53

// rotateAt reads a limit, in so many of which it is counted.
func rotateAt[N ~int | ~int64](to *N, text string, unit float64) error {
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(n > 0) || n*unit > maxRotation: // NaN is not above 0
		return errors.New("want a number above 0 behind the colon")
	case unit == 1 && n != math.Trunc(n):
		return errors.New("want a whole number behind the colon")
	}
	*to = N(max(1, n*unit))
	return nil
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
	why      analysis.Found
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
			_, text := r.why.Say()
			r.options.say("%s: %s\n", r.fired.name, text)
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
			r.fired, r.why = t, f
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
		_ = r.ring.SetStatistics(i, fileStatistics(&s, r.began, time.Now()))
	}
}

// fileStatistics are an interface's counts as a pcapng file has them: isb_ifrecv and
// isb_ifdrop are the interface's own, isb_filteraccept, isb_osdrop and isb_usrdeliv
// the kernel's of the capture (draft-ietf-opsawg-pcapng section 4.6).
func fileStatistics(s *nic.CaptureStats, began, now time.Time) capfile.Statistics {
	n := capfile.Statistics{
		Accepted: capfile.Count(s.Received + s.Dropped), OSDropped: capfile.Count(s.Dropped), Delivered: capfile.Count(s.Received),
		Start: began.UnixNano(), End: now.UnixNano(),
	}
	if s.Told {
		n.Received, n.Dropped = capfile.Count(s.InterfaceCame), capfile.Count(s.InterfaceDropped)
	}
	return n
}

// finish completes the file, and says what there was.
func (r *recorder) finish() error {
	r.count()
	err := r.ring.Close()
	what := "written"
	if r.failed || err != nil {
		what = "captured, of which not all could be written"
	}
	r.options.say("%s\n", r.captures.summary(r.written, what))
	if err == nil || r.failed {
		return nil // a file that could not be written says so once
	}
	return r.fail(err)
}
