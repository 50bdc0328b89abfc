package rocecap

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
)

// decodeOptions are the flags of `rocecap decode`.
type decodeOptions struct {
	streams Streams

	files    []string
	tree     bool
	hex      bool
	format   string
	fields   []string
	settings []string // -E
	filter   string
	count    int
	time     string
	write    string
	decodeAs []string
	colour   string
}

func newDecode(s Streams) *cobra.Command {
	o := &decodeOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "decode FILE...",
		Short: "Print what every packet of a capture is",
		Long: `decode prints a line for each packet: number, time, source, destination,
protocol, and what the packet is and carries. A wrong ICRC is said at the end of
the line, with the mistake that reproduces it where one is known.

FILE is a pcap, pcapng, ERF or Sniffer file, plain or compressed; - is the
standard input. Everything before a fault in the file is printed; then the error names
record and byte, and the exit code is 2.

The payload of a SEND is data, unless a CM exchange in the capture or
--decode-as says what it is.`,
		Example: `  rocecap decode pcaps/rc_pingpong.pcap
  rocecap decode -V -c 1 pcaps/py_flush.pcap
  rocecap decode -Y 'infiniband.aeth.syndrome.opcode == 3' pcaps/rc_loss_write.pcap.gz
  rocecap decode -T fields -e frame.number -e infiniband.bth.psn pcaps/write_bw.pcap
  rocecap decode -T json pcaps/cm_reject.pcap
  rocecap decode --decode-as 0x11=nvme capture.pcapng`,
		RunE: func(_ *cobra.Command, args []string) error {
			o.files = append(o.files, args...)
			return o.run()
		},
	}
	f := cmd.Flags()
	f.StringArrayVarP(&o.files, "read", "r", nil, "read `FILE`, as an argument does")
	f.BoolVarP(&o.tree, "verbose", "V", false, "print every field, with its bytes and bits")
	f.BoolVarP(&o.hex, "hex", "x", false, "print the bytes, with the field under each")
	f.StringVarP(&o.format, "type", "T", "text", "output `FORMAT`: text, fields, json (an object a line) or yaml (for roceinject craft)")
	f.StringArrayVarP(&o.fields, "field", "e", nil, "with -T fields, print `NAME` (repeatable; see rocecap fields)")
	f.StringArrayVarP(&o.settings, "setting", "E", nil, "with -T fields, set `OPTION=VALUE`: header, separator, aggregator, occurrence, quote")
	f.StringVarP(&o.filter, "display-filter", "Y", "", "print only packets that match `FILTER`, in tshark's syntax")
	f.IntVarP(&o.count, "count", "c", 0, "stop after reading `N` packets")
	f.StringVarP(&o.time, "time", "t", "r", "time `FORMAT`: r relative, a absolute, ad with date, d delta, e epoch, u UTC, ud with date")
	f.StringVarP(&o.write, "write", "w", "", "write the packets to `FILE` instead (pcapng, or pcap by its name; .gz, .zst; - is stdout)")
	f.StringArrayVarP(&o.decodeAs, "decode-as", "d", nil, "take payload to a QP as a protocol: `QP=PROTO` (data, nvme, nvme-admin, ipoib), or udp.port==N,infiniband")
	f.StringVar(&o.colour, "color", "auto", "colour the lines: `WHEN` is auto, always or never")
	return cmd
}

// run decodes each file in turn. A fault in one does not keep the others from
// being decoded.
func (o *decodeOptions) run() error {
	if len(o.files) == 0 {
		return errors.New("decode: which capture file? - is the standard input")
	}
	plan, err := o.plan()
	if err != nil {
		return err
	}
	if o.write != "" {
		if plan.sink, err = newSink(o.write, o.files); err != nil {
			return err
		}
	}
	var failed error
	for i, name := range o.files {
		if len(o.files) > 1 && o.format == "text" && plan.sink == nil {
			title(o.streams.Out, name, i)
		}
		if err := plan.decode(name); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if plan.sink != nil {
		failed = errors.Join(failed, plan.sink.close())
	}
	return failed
}

// title separates the outputs of several captures, as head and tail do.
func title(w io.Writer, name string, i int) {
	if i > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "==> %s <==\n", name)
}

// plan is what the flags mean.
type plan struct {
	options  *decodeOptions
	filter   *filter.Filter // nil matches all
	overrule *overrule
	print    func() printer // one for each worker
	records  int            // of a job
	header   []byte
	sink     *sink // nil: print
}

// printer turns a packet into text.
type printer interface {
	Append(dst []byte, p *packet.Packet) []byte
}

func (o *decodeOptions) plan() (*plan, error) {
	p := &plan{options: o, records: recordsPerJob}
	if o.tree || o.hex || o.format == "json" || o.format == "yaml" {
		p.records = recordsPerLongJob
	}
	var err error
	if p.overrule, err = parseOverrules(o.decodeAs); err != nil {
		return nil, err
	}
	if o.filter != "" {
		if p.filter, err = filter.Compile(o.filter); err != nil {
			return nil, err
		}
	}
	if o.count < 0 {
		return nil, fmt.Errorf("-c %d: the count is not negative", o.count)
	}
	if len(o.fields)+len(o.settings) > 0 && o.format != "fields" {
		return nil, errors.New("-e and -E need -T fields")
	}
	palette, err := o.palette()
	if err != nil {
		return nil, err
	}
	when, err := timeFormat(o.time)
	if err != nil {
		return nil, err
	}
	switch o.format {
	case "text":
		p.print = func() printer { return o.textPrinter(when, palette) }
	case "json":
		p.print = func() printer { return text.JSON{} }
	case "yaml":
		p.print = func() printer { return text.YAML{} }
	case "fields":
		return p, p.columns()
	default:
		return nil, fmt.Errorf("-T %s: the formats are text, fields, json and yaml", o.format)
	}
	return p, nil
}

func (p *plan) columns() error {
	if len(p.options.fields) == 0 {
		return errors.New("-T fields needs at least one -e NAME")
	}
	columns, err := text.NewColumns(p.options.fields)
	if err != nil {
		return err
	}
	for _, setting := range p.options.settings {
		if err := columns.Option(setting); err != nil {
			return err
		}
	}
	p.header = columns.AppendHeader(nil)
	p.print = func() printer { return columns.Clone() }
	return nil
}

func (o *decodeOptions) palette() (*text.Palette, error) {
	switch o.colour {
	case "auto":
		return text.NewPalette(o.streams.Coloured()), nil
	case "always":
		return text.NewPalette(true), nil
	case "never":
		return text.NewPalette(false), nil
	}
	return nil, fmt.Errorf("--color %s: want auto, always or never", o.colour)
}

func timeFormat(name string) (text.TimeFormat, error) {
	formats := map[string]text.TimeFormat{
		"r": text.Relative, "a": text.Absolute, "ad": text.Date, "d": text.Delta,
		"e": text.Epoch, "u": text.UTC, "ud": text.UTCDate,
	}
	if f, ok := formats[name]; ok {
		return f, nil
	}
	return 0, fmt.Errorf("-t %s: the time formats are r, a, ad, d, e, u and ud", name)
}

// textPrinter prints a line, a tree, a dump, or several of them.
func (o *decodeOptions) textPrinter(when text.TimeFormat, palette *text.Palette) printer {
	var list printers
	if !o.tree {
		list = append(list, &text.Line{Time: when, Palette: palette})
	} else {
		list = append(list, &text.Tree{Palette: palette})
	}
	if o.hex {
		list = append(list, &text.Hex{Palette: palette})
	}
	return list
}

type printers []printer

func (list printers) Append(dst []byte, p *packet.Packet) []byte {
	for _, each := range list {
		dst = each.Append(dst, p)
	}
	return dst
}

// decode prints or writes one capture.
func (p *plan) decode(name string) error {
	reader, err := capfile.Open(name)
	if err != nil {
		return err
	}
	defer reader.Close()
	progress := startProgress(p.options.streams, reader)
	defer progress.stop()
	out := p.options.streams.Out
	if p.sink == nil && len(p.header) > 0 {
		if _, err := out.Write(p.header); err != nil {
			return err
		}
		p.header = nil
	}
	s := &scan{
		reader: reader, limit: p.options.count, overrule: p.overrule, records: p.records,
		newHandler: func() handler { return &decoder{plan: p, print: p.print()} },
	}
	s.take = func(j *job) error {
		if p.sink != nil {
			return p.sink.write(reader, j.matched)
		}
		_, err := out.Write(j.out)
		return err
	}
	return s.run()
}

// decoder is one worker's part of a decode.
type decoder struct {
	plan    *plan
	print   printer
	scratch filter.Scratch
}

func (d *decoder) handle(j *job, p *packet.Packet, rec *capfile.Record) {
	if d.plan.filter != nil && !d.plan.filter.Match(p, &d.scratch) {
		return
	}
	if d.plan.sink != nil {
		j.matched = append(j.matched, rec)
		return
	}
	j.out = d.print.Append(j.out, p)
}
