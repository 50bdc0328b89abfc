package rocecap

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// flowOptions are the flags of `rocecap flow`.
type flowOptions struct {
	choice  analyzeOptions
	first   int
	around  int
	count   int
	streams Streams
}

func newFlow(s Streams) *cobra.Command {
	o := &flowOptions{streams: s, choice: analyzeOptions{streams: s}}
	cmd := &cobra.Command{
		Use:   "flow FILE",
		Short: "Draw the packets of one conversation as a ladder, with what was found in them",
		Long: `flow draws the packets between two queue pairs: a column for each, an arrow for
each packet, and below it the findings of rocecap analyze that show in it. The
time is since the begin of the conversation, the delta since the packet before. Flow
control frames between them are drawn where they stop something, or release it.

--qp, --host and --first choose the conversation; when several are left, flow
lists them. --around chooses the one that has a packet, and draws what is before it
and behind it. The file is read twice, so that it cannot be the standard input.`,
		Example: `  rocecap flow --qp 0x13 pcaps/rc_loss_send.pcap.gz
  rocecap flow --around 395 pcaps/rc_loss_send.pcap.gz
  rocecap flow --qp 0x19 -c 10 pcaps/rping_rxe.pcap`,
		RunE: func(_ *cobra.Command, args []string) error { return o.run(args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.choice.qps, "qp", nil, "the conversation with queue pair `NUMBER`")
	f.StringArrayVar(&o.choice.hosts, "host", nil, "the conversation with `ADDRESS`")
	f.IntVar(&o.first, "first", 0, "the conversation whose first packet is `NUMBER`")
	f.IntVar(&o.around, "around", 0, "the conversation that has packet `NUMBER`, and only 10 packets before it and behind it, or -c")
	f.IntVarP(&o.count, "count", "c", 0, "stop after `N` packets of the conversation")
	f.StringArrayVarP(&o.choice.decodeAs, "decode-as", "d", nil, "take a UDP port as RoCEv2: `udp.port==N,infiniband`")
	f.StringVar(&o.choice.colour, "color", "auto", "colour the text: `WHEN` is auto, always or never")
	return cmd
}

func (o *flowOptions) run(files []string) error {
	if len(files) != 1 || files[0] == "-" {
		return errors.New("flow: want one capture file, which is read twice")
	}
	if o.count < 0 || o.around < 0 {
		return fmt.Errorf("-c %d, --around %d: the numbers are not negative", o.count, o.around)
	}
	p, err := o.choice.plan()
	if err != nil {
		return err
	}
	c, events, damage := o.choose(p, files[0])
	if c == nil {
		return damage
	}
	l := &analysis.Ladder{Style: p.style, Lines: o.streams.OutTTY, Conversation: c, Events: events}
	// Of a damaged file, everything before the fault is drawn; the second pass
	// finds the fault again, unless it ends earlier.
	if err := o.draw(p, files[0], l); err != nil {
		return err
	}
	return damage
}

// choose passes over the capture for the one conversation that is meant, and
// what was found in it.
func (o *flowOptions) choose(p *analyzePlan, name string) (*conversation.Conversation, *analysis.Events, error) {
	reader, err := capfile.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer reader.Close()
	progress := startProgress(o.streams, reader)
	defer progress.stop()
	chosen := &chosen{plan: p, first: o.first, around: o.around}
	events := &analysis.Events{}
	tracker := survey.NewTracker()
	tracker.Conversations.Closed, tracker.Conversations.Report = chosen.add, events.Add
	tracker.Streams.Closed = chosen.addStream
	err = p.pass(reader, func(j *job) error {
		chosen.look(j.facts.Packets)
		tracker.Take(&j.facts)
		return nil
	})
	tracker.Finish()
	c, none := chosen.one()
	if c == nil {
		return nil, nil, errors.Join(err, none)
	}
	return c, events, err
}

// errEnough ends a pass early.
var errEnough = errors.New("enough")

func (o *flowOptions) draw(p *analyzePlan, name string, l *analysis.Ladder) error {
	reader, err := capfile.Open(name)
	if err != nil {
		return err
	}
	defer reader.Close()
	if err := l.Head(o.streams.Out); err != nil {
		return err
	}
	d := &drawing{out: o.streams.Out, ladder: l, part: excerpt{around: o.around, count: o.count}}
	if o.around > 0 && o.count == 0 {
		d.part.count = aroundPackets
	}
	err = p.pass(reader, func(j *job) error { return d.take(&j.facts) })
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// maxChoice is how many conversations are listed to choose from.
const maxChoice = 10

// chosen collects the conversations that are meant.
type chosen struct {
	plan    *analyzePlan
	first   int
	around  int                 // the packet that it has, 0 for any
	middle  conversation.Packet // that packet, when it was seen
	list    []*conversation.Conversation
	more    int
	streams int // iWARP connections
}

// look finds the packet that the conversation is to have.
func (l *chosen) look(packets []conversation.Packet) {
	if l.around == 0 || l.middle.Number > 0 {
		return
	}
	for i := range packets {
		if packets[i].Number == l.around {
			l.middle = packets[i]
		}
	}
}

func (l *chosen) addStream(*rdmap.Connection) { l.streams++ }

func (l *chosen) add(c *conversation.Conversation) {
	if !l.means(c) {
		return
	}
	if len(l.list) == maxChoice {
		l.more++
		return
	}
	l.list = append(l.list, c)
}

func (l *chosen) means(c *conversation.Conversation) bool {
	ends := c.Ends[:]
	if l.around > 0 && !belongs(&l.middle, c) {
		return false
	}
	return (l.first == 0 || c.First == l.first) && matches(l.plan.qps, ends, func(e conversation.End, qp uint32) bool { return e.Known && e.QPN == qp }) &&
		matches(l.plan.hosts, ends, func(e conversation.End, host netip.Addr) bool { return e.Addr == host })
}

// matches reports whether each of the wanted is one of the ends.
func matches[T any](wanted []T, ends []conversation.End, is func(conversation.End, T) bool) bool {
	for _, w := range wanted {
		if !slices.ContainsFunc(ends, func(e conversation.End) bool { return is(e, w) }) {
			return false
		}
	}
	return true
}

// one returns the conversation if there is one, and else says what there is.
func (l *chosen) one() (*conversation.Conversation, error) {
	switch len(l.list) {
	case 0:
		return nil, l.none()
	case 1:
		return l.list[0], nil
	}
	b := &strings.Builder{}
	b.WriteString("flow: which conversation? Choose with --qp, --host, --around or --first:")
	slices.SortFunc(l.list, func(a, b *conversation.Conversation) int { return a.First - b.First })
	for _, c := range l.list {
		fmt.Fprintf(b, "\n  --first %-6d %s", c.First, analysis.Title(c))
	}
	if l.more > 0 {
		fmt.Fprintf(b, "\n  and %d more", l.more)
	}
	return nil, errors.New(b.String())
}

// none says why there is no conversation.
func (l *chosen) none() error {
	switch {
	case l.around > 0:
		return fmt.Errorf("flow: packet %d is of no conversation that is meant; rocecap analyze lists them", l.around)
	case l.streams > 0:
		return errors.New("flow: no such conversation; iWARP connections, which the capture has, are not drawn")
	}
	return errors.New("flow: no such conversation; rocecap analyze lists them")
}
