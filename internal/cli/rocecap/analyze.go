package rocecap

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/page"
	"github.com/rocecap/rocecap/internal/track/pause"
	"github.com/rocecap/rocecap/internal/track/survey"
	"github.com/rocecap/rocecap/internal/wire"
)

// analyzeOptions are the flags of `rocecap analyze`.
type analyzeOptions struct {
	streams Streams

	filter   string
	qps      []string
	hosts    []string
	json     bool
	list     int
	decodeAs []string
	colour   string
	annotate string
	html     string
	speed    linkSpeed
	messages bool
	findings bool
}

func newAnalyze(s Streams) *cobra.Command {
	o := &analyzeOptions{streams: s, speed: pause.DefaultSpeed}
	cmd := &cobra.Command{
		Use:   "analyze FILE...",
		Short: "Say what happened to every queue pair and message: loss, retransmissions and why, latency",
		Long: `analyze passes over a capture once and says which queue pairs talk to each
other, what they ask, how long it takes, what was lost, and what was sent again
and why. First comes a summary with the worst findings, then a part for each
conversation. rocecap explain CODE tells what a finding means.

The two directions of a conversation are joined by the CM exchange if it was
captured, else by the PSNs that answers carry. Where the packets do not tell
whether the network or the capture lost something, the finding says so.

--findings lists every finding too: its packet, the PSNs, and what led to it.

--messages lists every message, the first 131072 that end: its packets, PSNs,
rkey and address, what completed it and after what time, and what was sent again.

Where packets are marked for congestion, analyze says whether CNPs answer and
whether the sender slows down; of PAUSE and PFC frames, who pauses whom and for
how long, which needs the speed of the links (--link-speed), and whether times in
which nothing came were paused.

Each connection that CM made, or tried to make, has its time line: what both ends
said and agreed on, why it was refused, and where they did not keep to it.

Of iWARP, which runs over TCP, each connection has a part too: its messages, what
is wrong with their order, bounds, markers and CRCs, why an end gave up, and what
TCP sent again. Other TCP segments are counted.`,
		Example: `  rocecap analyze pcaps/rc_loss_send.pcap.gz
  rocecap analyze --json pcaps/rc_loss_read.pcap.gz
  rocecap analyze --messages pcaps/py_mixed.pcap
  rocecap analyze --qp 0x16 pcaps/many_qps.pcap.gz
  rocecap analyze --html loss.html pcaps/rc_loss_write.pcap.gz`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	f.StringVarP(&o.filter, "display-filter", "Y", "", "follow only packets that match `FILTER`, in tshark's syntax")
	f.StringArrayVar(&o.qps, "qp", nil, "list only conversations with queue pair `NUMBER` (repeatable)")
	f.StringArrayVar(&o.hosts, "host", nil, "list only conversations with `ADDRESS` (repeatable)")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each file, complete")
	f.BoolVar(&o.findings, "findings", false, "list every finding, with its packet, PSNs and cause")
	f.BoolVar(&o.messages, "messages", false, "list every message, with its packets, PSNs, rkey, address and completion")
	f.IntVarP(&o.list, "list", "n", 20, "list at most `N` conversations; 0 is the summary alone")
	f.StringArrayVarP(&o.decodeAs, "decode-as", "d", nil, "take a UDP port as RoCEv2: `udp.port==N,infiniband`")
	f.StringVar(&o.html, "html", "", "write what was found to `FILE`, a page for a browser with a diagram of each conversation")
	f.StringVar(&o.annotate, "annotate", "", "write the packets to `FILE.pcapng`, with the findings as comments")
	f.Var(&o.speed, "link-speed", "take links to run at `BIT/S`, such as 25G, to tell how long pauses are")
	f.StringVar(&o.colour, "color", "auto", "colour the text: `WHEN` is auto, always or never")
	return cmd
}

// analyzePlan is what the flags mean.
type analyzePlan struct {
	filter   *filter.Filter
	overrule *overrule
	qps      []uint32
	hosts    []netip.Addr
	speed    linkSpeed
	messages bool
	findings bool
	style    *analysis.Style
	annotate string           // file for the packets with their findings
	events   *analysis.Events // of the file that is annotated
	html     string           // file for the page
	page     *page.Page       // what is written there
}

func (o *analyzeOptions) plan() (*analyzePlan, error) {
	p := &analyzePlan{speed: o.speed, annotate: o.annotate, html: o.html, messages: o.messages, findings: o.findings}
	var err error
	if p.overrule, err = parseOverrules(o.decodeAs); err != nil {
		return nil, err
	}
	if o.filter != "" {
		if p.filter, err = filter.Compile(o.filter); err != nil {
			return nil, err
		}
	}
	for _, text := range o.qps {
		qp, err := strconv.ParseUint(text, 0, 24)
		if err != nil {
			return nil, fmt.Errorf("--qp %s: want the number of a queue pair, such as 0x11", text)
		}
		p.qps = append(p.qps, uint32(qp))
	}
	for _, text := range o.hosts {
		host, err := parseHost(text)
		if err != nil {
			return nil, fmt.Errorf("--host %s: want an IP address, a GID, or a LID as LID 4", text)
		}
		p.hosts = append(p.hosts, host)
	}
	if o.list < 0 {
		return nil, fmt.Errorf("-n %d: the number is not negative", o.list)
	}
	coloured, err := o.coloured()
	p.style = analysis.NewStyle(coloured)
	return p, err
}

// parseHost reads an address as analyze prints it.
func parseHost(text string) (netip.Addr, error) {
	if number, ok := strings.CutPrefix(strings.ToUpper(text), "LID "); ok {
		lid, err := strconv.ParseUint(number, 0, 16)
		return wire.LIDAddr(uint16(lid)), err
	}
	host, err := netip.ParseAddr(text)
	return host.Unmap(), err
}

func (o *analyzeOptions) coloured() (bool, error) {
	switch o.colour {
	case "auto":
		return o.streams.Coloured(), nil
	case "always", "never":
		return o.colour == "always", nil
	}
	return false, fmt.Errorf("--color %s: want auto, always or never", o.colour)
}

// run analyzes each file. Of a damaged one, everything before the fault is told.
func (o *analyzeOptions) run(files []string) error {
	// What is followed lives long: the heap shall not become twice that. Packets
	// make no garbage, so that collecting it earlier costs little.
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	if len(files) == 0 {
		return errors.New("analyze: which capture file? - is the standard input")
	}
	p, err := o.plan()
	if err != nil {
		return err
	}
	if o.annotate != "" {
		if err := mayAnnotate(o.annotate, files); err != nil {
			return err
		}
	}
	if o.html != "" {
		if err := mayWriteHTML(o.html, files); err != nil {
			return err
		}
	}
	var failed error
	for i, name := range files {
		report, err := p.analyze(o.streams, name)
		failed = errors.Join(failed, err)
		if report == nil {
			continue
		}
		if i > 0 && !o.json {
			fmt.Fprintln(o.streams.Out)
		}
		failed = errors.Join(failed, o.print(p, report))
		if o.html != "" {
			failed = errors.Join(failed, writeHTML(o.html, p.page))
		}
		if o.annotate != "" {
			failed = errors.Join(failed, p.write(o.streams, name, err != nil))
		}
	}
	return failed
}

func (o *analyzeOptions) print(p *analyzePlan, r *analysis.Report) error {
	if o.json {
		return r.WriteJSON(o.streams.Out)
	}
	text := analysis.Text{Style: p.style, Conversations: o.list}
	return text.Write(o.streams.Out, r)
}

// pass passes over a capture and gives what its packets say, in order.
func (p *analyzePlan) pass(reader *capfile.Reader, take func(j *job) error) error {
	s := &scan{
		// A filter may ask for what packets mean together.
		reader: reader, overrule: p.overrule, stateless: p.filter == nil, records: recordsPerFacts,
		newHandler: func() handler { return &finder{filter: p.filter} }, take: take,
	}
	return s.run()
}

// analyze passes over one capture; the report covers everything before an error.
func (p *analyzePlan) analyze(streams Streams, name string) (*analysis.Report, error) {
	reader, err := capfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	progress := startProgress(streams, reader)
	defer progress.stop()
	report := &analysis.Report{File: name, QPs: p.qps, Hosts: p.hosts}
	tracker := survey.NewTracker()
	tracker.Pauses.Speed = int64(p.speed)
	tracker.Conversations.Closed, tracker.Streams.Closed = report.Add, report.AddStream
	tracker.Connections.Closed = report.AddConnection
	if p.annotate != "" {
		p.events = &analysis.Events{}
		tracker.Conversations.Report, tracker.Streams.Report = p.events.Add, p.events.AddStream
		tracker.Pauses.Report = p.events.AddPause
		tracker.Connections.Report = p.events.AddConnect
	}
	if p.messages {
		report.Messages = &analysis.Messages{Chosen: report.Chosen}
		report.Messages.Listen(tracker.Conversations)
	}
	if p.findings {
		report.ListFindings(tracker)
	}
	if p.html != "" {
		p.page = newPage(report, tracker)
	}
	err = p.pass(reader, func(j *job) error {
		tracker.Take(&j.facts)
		return nil
	})
	tracker.Finish()
	report.Finish(tracker)
	report.Source.Drops = dropsOf(reader.Interfaces())
	if err != nil {
		report.Source.Fault = strings.TrimPrefix(err.Error(), name+": ")
	}
	if p.annotate != "" {
		p.events.AddMismatches(tracker.Mismatches())
	}
	return report, err
}

// dropsOf is what the interfaces of a capture have counted as dropped.
func dropsOf(interfaces []capfile.Interface) (drops []analysis.Drops) {
	for _, i := range interfaces {
		if s := &i.Stats; s.Dropped.Known || s.OSDropped.Known {
			drops = append(drops, analysis.Drops{Interface: i.Name, Packets: s.Dropped.N + s.OSDropped.N})
		}
	}
	return drops
}
