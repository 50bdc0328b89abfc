package analysis

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// connections are those that CM exchanges have made, or tried to make.
type connections struct {
	list     []*connect.Connection
	unlisted int
	evicted  int
	replies  map[int]*connect.Connection // by the packet of their REP
}

// maxConnections is how many are remembered with their messages.
const maxConnections = 1 << 12

// AddConnection takes a connection that is over.
func (r *Report) AddConnection(c *connect.Connection) {
	if !r.chosenConnection(c) {
		return
	}
	l := &r.connections
	if len(l.list) == maxConnections {
		l.unlisted++
		for _, t := range c.Tallies {
			r.pass(t.Kind, &t.Tally)
		}
		return
	}
	l.list = append(l.list, c)
	if reply := c.Reply(); reply != nil {
		if l.replies == nil {
			l.replies = make(map[int]*connect.Connection)
		}
		l.replies[reply.Number] = c
	}
}

func (r *Report) chosenConnection(c *connect.Connection) bool {
	qp := len(r.QPs) == 0 || slices.ContainsFunc(c.Ends[:], func(e connect.End) bool { return slices.Contains(r.QPs, e.QPN) })
	host := len(r.Hosts) == 0 || slices.ContainsFunc(c.Ends[:], func(e connect.End) bool { return slices.Contains(r.Hosts, e.Addr) })
	return qp && host
}

// finish puts them in the order of their first messages.
func (l *connections) finish(t *connect.Tracker) {
	l.evicted = t.Evicted()
	slices.SortStableFunc(l.list, func(a, b *connect.Connection) int { return a.Messages[0].Number - b.Messages[0].Number })
}

// of returns the connection that a conversation belongs to: it begins with the
// REP. It is nil when none was captured.
func (l *connections) of(c *conversation.Conversation) *connect.Connection {
	if c.Joined != conversation.ByCM {
		return nil
	}
	return l.replies[c.First]
}

// carried numbers the conversations of the connections.
func (r *Report) carried() map[*connect.Connection]int {
	numbers := make(map[*connect.Connection]int)
	for i, c := range r.list() {
		if of := r.connections.of(c); of != nil {
			numbers[of] = i + 1
		}
	}
	return numbers
}

func (r *Report) connectionFindings() (all []Finding) {
	numbers := r.carried()
	for _, c := range r.connections.list {
		for _, t := range c.Tallies {
			all = append(all, Finding{Code: CodeOf(t.Kind), Tally: t.Tally, Where: connectionTitle(c) + refusal(c, t.Kind), Conversation: numbers[c]})
		}
	}
	return all
}

// refusal is why a connection was refused, where that is what was found.
func refusal(c *connect.Connection, kind connect.Kind) string {
	if kind != connect.Rejected && kind != connect.Stale {
		return ""
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		switch uint16(m.Attribute) {
		case wire.CMAttrRej:
			return ": " + saysReject(wire.CMRej(m.Body()))[0]
		case wire.CMAttrSidrRep:
			return ": " + valueName(m, "infiniband.cm.sidrrep.status")
		}
	}
	return ""
}

func connectionTitle(c *connect.Connection) string {
	return Address(c.Ends[0].Addr) + " and " + Address(c.Ends[1].Addr)
}

// alone writes the connections that have no conversation.
func (t *Text) alone(b *strings.Builder, r *Report) {
	numbers := r.carried()
	left := t.Conversations
	more := r.connections.unlisted
	for _, c := range r.connections.list {
		switch {
		case numbers[c] > 0:
			continue
		case left == 0:
			more++
			continue
		case left == t.Conversations:
			fmt.Fprintf(b, "\n%s\n", t.Style.strong.Render("connections without a conversation"))
		}
		left--
		fmt.Fprintf(b, "   %s\n", connectionTitle(c))
		t.timeline(b, c, textWidth)
	}
	if more > 0 && t.Conversations > 0 {
		fmt.Fprintf(b, "   not listed: %s; -n tells how many are\n", count(more, "connection"))
	}
}

// textWidth is how long lines of reports are that have to be broken.
const textWidth = 100

// timeline writes what became of a connection, and its messages.
func (t *Text) timeline(b *strings.Builder, c *connect.Connection, width int) {
	fmt.Fprintf(b, "   %s\n", became(c))
	for i := range c.Messages {
		m := &c.Messages[i]
		head := fmt.Sprintf("   %9s %7d  %-8s", "+"+Duration(time.Duration(m.Time-c.Messages[0].Time)), m.Number, m.Attribute)
		text := "from " + Address(m.Src)
		if said := strings.Join(says(c, m), ", "); said != "" {
			text += ": " + said
		}
		b.Write(appendWrapped(nil, 32, width, head, text))
	}
	if c.Unkept > 0 {
		fmt.Fprintf(b, "     not kept: %s\n", count(c.Unkept, "message"))
	}
	writeTallies(t, b, c.Tallies)
}

// AddConnect takes an event of a connection.
func (l *Events) AddConnect(_ *connect.Connection, e connect.Event) {
	if l.count == maxEvents {
		l.Dropped++
		return
	}
	if l.connect == nil {
		l.connect = make(map[int][]connect.Event)
	}
	l.count++
	l.connect[e.Packet] = append(l.connect[e.Packet], e)
}

func describeConnect(e connect.Event) string {
	code := CodeOf(e.Kind)
	text := code.Name + ": " + code.Title
	if e.Cause > 0 {
		text += fmt.Sprintf(" (of packet %d)", e.Cause)
	}
	return text
}

// became says how a connection went.
func became(c *connect.Connection) string {
	text := outcomes[c.Outcome]
	if c.Evicted {
		text += ", and given up, because too many were open"
	}
	if d, ok := c.Took(wire.CMAttrReq, wire.CMAttrRtu); ok {
		text += "; it took " + Duration(d)
	}
	if d, ok := c.Took(wire.CMAttrRtu, wire.CMAttrDreq); ok {
		text += ", and was up for " + Duration(d)
	}
	if d, ok := c.Took(wire.CMAttrDreq, wire.CMAttrDrep); ok {
		text += "; the end took " + Duration(d)
	}
	return text
}

var outcomes = [...]string{
	connect.Glimpsed:      "a connection of which the capture has neither the begin nor the end",
	connect.Asked:         "asked for, and not answered",
	connect.Replied:       "answered, and not confirmed: half open",
	connect.Established:   "connected",
	connect.Refused:       "refused",
	connect.Resolved:      "a service of datagrams was found",
	connect.Disconnecting: "connected, and asked to end, which was not answered",
	connect.Disconnected:  "connected, and ended",
}

// says is what a message says, in parts.
func says(c *connect.Connection, m *connect.Message) (parts []string) {
	switch body := m.Body(); uint16(m.Attribute) {
	case wire.CMAttrReq:
		parts = saysRequest(m, body)
	case wire.CMAttrRep:
		rep := wire.CMRep(body)
		parts = append(parts, qp(rep.LocalQPN()), fmt.Sprintf("its peer begins with PSN %d", rep.StartingPSN()),
			"RNR retries "+rnrRetries(rep.RNRRetryCount()), reads(rep.ResponderResources(), rep.InitiatorDepth()),
			setting5("ACK delay", rep.TargetACKDelay()))
		parts = append(parts, flags(rep.FlowControl(), rep.SRQ())...)
	case wire.CMAttrRej:
		parts = saysReject(wire.CMRej(body))
	case wire.CMAttrMra:
		mra := wire.CMMra(body)
		parts = append(parts, "of the "+valueName(m, "infiniband.cm.mra.msgmraed"), setting5("it needs", mra.ServiceTimeout()))
	case wire.CMAttrDreq:
		parts = append(parts, "of "+qp(wire.CMDreq(body).RemoteQPN()))
	case wire.CMAttrSidrReq:
		parts = append(parts, service(m)...)
	case wire.CMAttrSidrRep:
		rep := wire.CMSidrRep(body)
		if rep.Status() != 0 {
			parts = append(parts, valueName(m, "infiniband.cm.sidrrep.status"))
			break
		}
		parts = append(parts, qp(rep.QPN()), "Q_Key "+hex(uint64(rep.QKey()), 8))
	case wire.CMAttrLap:
		lap := wire.CMLap(body)
		parts = append(parts, "of "+qp(lap.RemoteQPN()), path(lap.LocalGID(), lap.LocalLID(), lap.RemoteGID(), lap.RemoteLID()))
	case wire.CMAttrApr:
		parts = append(parts, valueName(m, "infiniband.cm.apr.status"))
	}
	if data := m.Private(); len(data) > 0 {
		parts = append(parts, "private data "+bytesOf(data))
	}
	if m.Repeats > 0 {
		parts = append(parts, fmt.Sprintf("%s more, last at +%s", times(m.Repeats), Duration(time.Duration(m.Repeated-c.Messages[0].Time))))
	}
	return parts
}

func saysRequest(m *connect.Message, body []byte) []string {
	req := wire.CMReq(body)
	primary := req.PrimaryPath()
	parts := append(service(m),
		transport(req)+" "+qp(req.LocalQPN()), fmt.Sprintf("its peer begins with PSN %d", req.StartingPSN()),
		"path MTU "+pathMTU(req.PathMTU()), fmt.Sprintf("retries %d", req.RetryCount()), "RNR retries "+rnrRetries(req.RNRRetryCount()),
		localACK(primary.LocalACKTimeout()), reads(req.ResponderResources(), req.InitiatorDepth()),
		setting5("to be answered within", req.RemoteResponseTimeout()))
	parts = append(parts, flags(req.FlowControl(), req.SRQ())...)
	if primary.LocalGID().Unmap() != m.Src || primary.RemoteGID().Unmap() != m.Dst || primary.LocalLID() != permissive {
		parts = append(parts, path(primary.LocalGID(), primary.LocalLID(), primary.RemoteGID(), primary.RemoteLID()))
	}
	return parts
}

func saysReject(rej wire.CMRej) []string {
	reason := wire.CMRejReason(rej.Reason())
	if reason == "" {
		reason = "reason"
	}
	parts := []string{fmt.Sprintf("%s (%d)", reason, rej.Reason())}
	if info := rej.Info(); len(info) > 0 {
		parts = append(parts, "more about it "+bytesOf(info))
	}
	return parts
}

// service says which service is asked for, and for whom.
func service(m *connect.Message) []string {
	id, _ := m.Service()
	protocol, port, ok := wire.ParseCMIPServiceID(id)
	if !ok {
		return []string{"service " + hex(id, 16)}
	}
	parts := []string{fmt.Sprintf("rdma_cm %s port %d", portSpace(protocol), port)}
	if ip := m.IP(); ip != nil && ip.Src().IsValid() {
		parts = append(parts, fmt.Sprintf("%s port %d to %s", ip.Src(), ip.SrcPort(), ip.Dst()))
	}
	return parts
}

// portSpace names the port space of a service (Linux enum rdma_ucm_port_space;
// the first two are IP protocols, IBTA annex A11).
func portSpace(protocol uint8) string {
	switch protocol {
	case 0x06:
		return "TCP"
	case 0x11:
		return "UDP"
	case 0x02:
		return "IPoIB"
	case 0x3F:
		return "IB"
	}
	return "protocol " + strconv.Itoa(int(protocol))
}

func transport(req wire.CMReq) string {
	switch req.TransportType() {
	case wire.TransportUC:
		return "UC"
	case wire.TransportRD:
		return "RD"
	case wire.TransportExtended:
		if req.ExtendedTransport() == wire.ExtendedTransportXRC {
			return "XRC"
		}
		return "extended transport " + strconv.Itoa(int(req.ExtendedTransport()))
	}
	return "RC"
}

// pathMTU is what a code means: 1 is 256 bytes, 5 is 4096 (IBTA vol. 1, 12.7.15).
func pathMTU(code uint8) string {
	if code < 1 || code > 5 {
		return "code " + strconv.Itoa(int(code))
	}
	return strconv.Itoa(128 << code)
}

func rnrRetries(n uint8) string {
	if n == conversation.Unlimited {
		return "without end"
	}
	return strconv.Itoa(int(n))
}

// reads says how many READs and atomics an end answers at a time, and how many it
// wants to have outstanding.
func reads(resources, depth uint8) string {
	return fmt.Sprintf("READs: answers %d, asks %d at a time", resources, depth)
}

// setting5 is a time as a setting: 4.096 us times two to this power.
func setting5(what string, v uint8) string {
	return fmt.Sprintf("%s %s (%d)", what, Duration(ackTimeout(int(v))), v)
}

// localACK is the local ACK timeout, of which 0 is none (C9-140).
func localACK(v uint8) string {
	if v == 0 {
		return "no ACK timeout"
	}
	return setting5("ACK timeout", v)
}

func flags(flowControl, srq bool) (parts []string) {
	if flowControl {
		parts = append(parts, "flow control")
	}
	if srq {
		parts = append(parts, "SRQ")
	}
	return parts
}

func path(local netip.Addr, localLID uint16, remote netip.Addr, remoteLID uint16) string {
	text := fmt.Sprintf("GID %s to %s", local.Unmap(), remote.Unmap())
	if localLID != permissive || remoteLID != permissive {
		text += fmt.Sprintf(", LID %d to %d", localLID, remoteLID)
	}
	return text
}

// permissive is a LID that is none, as RoCE has it (IBTA vol. 1, 4.1.3).
const permissive = 0xFFFF

func qp(n uint32) string { return "QP " + hex(uint64(n), 6) }

// shownBytes is how much of private data is shown on a terminal.
const shownBytes = 16

func bytesOf(b []byte) string {
	text := fmt.Sprintf("%d B %x", len(b), b[:min(len(b), shownBytes)])
	if len(b) > shownBytes {
		text += "..."
	}
	return text
}

// valueName is the name of a field's value in a message, its number when it has
// none.
func valueName(m *connect.Message, field string) string {
	fields := wire.SpecOf(m.Attribute.Header()).Fields
	f := &fields[slices.IndexFunc(fields, func(f wire.Field) bool { return f.Name == field })]
	v := f.Uint(m.Body())
	if name := f.Names(v); name != "" {
		return name
	}
	return "code " + strconv.FormatUint(v, 10)
}
