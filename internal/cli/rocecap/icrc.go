package rocecap

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/wire"
)

// icrcOptions are the flags of `rocecap icrc`.
type icrcOptions struct {
	streams  Streams
	fix      bool
	write    string
	json     bool
	decodeAs []string
}

func newICRC(s Streams) *cobra.Command {
	o := &icrcOptions{streams: s}
	cmd := &cobra.Command{
		Use:   "icrc FILE...",
		Short: "Check the ICRC of every packet, say which mistake made a wrong one, or fix them",
		Long: `icrc counts the packets per verdict:

  good           the received ICRC is the computed one
  bad            it is not
  cut            the capture does not hold the whole packet
  not checkable  fragments, IP options: no rule says what is covered

For bad ones it says which known mistake reproduces the received value, by
sender. Native InfiniBand's VCRC is checked too. The exit code is 1 when a bad
one was found, 2 when the file is damaged.

--fix -w OUT writes the capture with right CRCs.`,
		Example: `  rocecap icrc pcaps/py_flush.pcap
  rocecap icrc --fix -w fixed.pcap pcaps/py_flush.pcap`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.fix, "fix", false, "write the capture to -w with right CRCs")
	f.StringVarP(&o.write, "write", "w", "", "the `FILE` that --fix writes")
	f.BoolVar(&o.json, "json", false, "print one JSON object for each file")
	f.StringArrayVarP(&o.decodeAs, "decode-as", "d", nil, "take a UDP port as RoCEv2: `udp.port==N,infiniband`")
	return cmd
}

func (o *icrcOptions) run(files []string) error {
	if len(files) == 0 {
		return errors.New("icrc: which capture file? - is the standard input")
	}
	if o.fix != (o.write != "") {
		return errors.New("icrc: --fix and -w go together")
	}
	overrule, err := parseOverrules(o.decodeAs)
	if err != nil {
		return err
	}
	var out *sink
	if o.fix {
		if out, err = newSink(o.write, files); err != nil {
			return err
		}
	}
	bad := false
	var failed error
	for _, name := range files {
		r, err := o.check(name, overrule, out)
		if r != nil {
			bad = bad || r.bad()
			failed = errors.Join(failed, o.print(name, r))
		}
		failed = errors.Join(failed, err)
	}
	if out != nil {
		failed = errors.Join(failed, out.close())
	}
	if failed == nil && bad {
		return errFound
	}
	return failed
}

// check counts one capture; the report covers everything before an error.
func (o *icrcOptions) check(name string, overrule *overrule, out *sink) (*report, error) {
	reader, err := capfile.Open(name)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	progress := startProgress(o.streams, reader)
	defer progress.stop()
	total := &report{}
	s := &scan{
		reader: reader, overrule: overrule, stateless: true, records: recordsPerJob,
		newHandler: func() handler { return &checker{fix: o.fix} },
	}
	s.take = func(j *job) error {
		total.merge(j.report)
		if out == nil {
			return nil
		}
		return out.write(reader, j.matched)
	}
	return total, s.run()
}

// checker is one worker's part of a check.
type checker struct {
	fix    bool
	hasher icrc.Hasher
}

func (c *checker) handle(j *job, p *packet.Packet, rec *capfile.Record) {
	if j.report == nil {
		j.report = &report{}
	}
	j.report.add(p)
	if c.fix {
		j.matched = append(j.matched, c.fixed(p, rec))
	}
}

// fixed returns the record with right CRCs: itself, or a copy when one was
// wrong.
func (c *checker) fixed(p *packet.Packet, rec *capfile.Record) *capfile.Record {
	crc := p.CRC()
	if crc.ICRC != icrc.Bad && crc.VCRC != icrc.Bad {
		return rec
	}
	right := *rec
	right.Data = append([]byte(nil), rec.Data...)
	var f wire.Frame
	f.RoCEPort = p.Frame.RoCEPort
	f.Parse(rec.Link, right.Data, rec.WireLen)
	if err := c.hasher.PatchFrame(&f); err != nil {
		return rec
	}
	return &right
}

func (o *icrcOptions) print(name string, r *report) error {
	if o.json {
		return printReportJSON(o.streams.Out, name, r)
	}
	return printReport(o.streams.Out, name, r)
}

func printReport(w io.Writer, name string, r *report) error {
	b := &strings.Builder{}
	rdma := r.packets - r.icrc[icrc.NotApplicable]
	fmt.Fprintf(b, "%s: %d packets, %d with an ICRC\n", name, r.packets, rdma)
	for v := icrc.Good; v <= icrc.NotCheckable; v++ {
		if r.icrc[v] > 0 || v <= icrc.Bad {
			fmt.Fprintf(b, "  %-14s %9d\n", v.String(), r.icrc[v])
		}
	}
	if good, bad := r.vcrc[icrc.Good], r.vcrc[icrc.Bad]; good+bad > 0 {
		fmt.Fprintf(b, "  %-14s %9d good, %d bad\n", "VCRC", good, bad)
	}
	for _, m := range r.sorted() {
		o := r.mistakes[m]
		fmt.Fprintf(b, "bad from %s: %d x %s (%s)\n", m.sender, o.count, m.what, numbers(o))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// numbers lists the first packets of a mistake.
func numbers(o *occurrence) string {
	if o.count == 1 {
		return fmt.Sprintf("packet %d", o.first[0])
	}
	text := "packets " + strings.Trim(strings.ReplaceAll(fmt.Sprint(o.first), " ", ", "), "[]")
	if o.count > len(o.first) {
		text += ", ..."
	}
	return text
}

func printReportJSON(w io.Writer, name string, r *report) error {
	type bad struct {
		Sender  string `json:"sender"`
		Mistake string `json:"mistake"`
		Count   int    `json:"count"`
		First   []int  `json:"first_packets"`
	}
	result := struct {
		File         string `json:"file"`
		Packets      int    `json:"packets"`
		Good         int    `json:"good"`
		Bad          int    `json:"bad"`
		Cut          int    `json:"cut"`
		NotCheckable int    `json:"not_checkable"`
		VCRCGood     int    `json:"vcrc_good"`
		VCRCBad      int    `json:"vcrc_bad"`
		Mistakes     []bad  `json:"mistakes"`
	}{
		name, r.packets, r.icrc[icrc.Good], r.icrc[icrc.Bad], r.icrc[icrc.Cut], r.icrc[icrc.NotCheckable],
		r.vcrc[icrc.Good], r.vcrc[icrc.Bad],
		[]bad{},
	}
	for _, m := range r.sorted() {
		o := r.mistakes[m]
		result.Mistakes = append(result.Mistakes, bad{m.sender, m.what, o.count, o.first})
	}
	return json.NewEncoder(w).Encode(result)
}
