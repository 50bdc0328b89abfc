package analysis

import (
	"bytes"
	"fmt"
	"net/netip"
	"time"

	"github.com/rocecap/rocecap/internal/track/connect"
	"github.com/rocecap/rocecap/internal/track/conversation"
	"github.com/rocecap/rocecap/internal/wire"
)

// jsonConnections is what a report has of connection management.
type jsonConnections struct {
	Connections        []jsonConnection `json:"connections"`
	ConnectionsGone    int              `json:"connections_unlisted"`
	ConnectionsEvicted int              `json:"connections_evicted"`
}

type jsonConnection struct {
	Number       int                 `json:"number"`
	Conversation int                 `json:"conversation"` // 0 for none
	Outcome      string              `json:"outcome"`
	Datagram     bool                `json:"datagram"`
	Evicted      bool                `json:"evicted"`
	ConnectTime  *float64            `json:"connect_seconds"`
	Ends         []jsonConnectionEnd `json:"ends"`
	Messages     []jsonCM            `json:"messages"`
	NotKept      int                 `json:"messages_not_kept"`
	Findings     map[string]int      `json:"findings"`
}

type jsonConnectionEnd struct {
	Address string     `json:"address"`
	ID      *uint32    `json:"communication_id"`
	QP      uint32     `json:"qp"` // 0 when no message names it
	Agreed  *jsonTerms `json:"agreed,omitempty"`
}

// jsonTerms are what the requests of an end have to keep to.
type jsonTerms struct {
	FirstPSN   uint32 `json:"first_psn"`
	PathMTU    int    `json:"path_mtu"`
	Depth      int    `json:"read_depth"`
	RNRRetries int    `json:"rnr_retries"`
	Retries    *int   `json:"retries"`
	AckTimeout *int64 `json:"ack_timeout_ns"`
}

// jsonCM is a connection management message: in words as on the terminal, and by
// the names of its fields.
type jsonCM struct {
	Packet      int            `json:"packet"`
	Seconds     float64        `json:"seconds"` // since the connection's first message
	Message     string         `json:"message"`
	From        int            `json:"from"` // end
	Transaction string         `json:"transaction"`
	Repeats     int            `json:"repeats"`
	Says        []string       `json:"says"`
	Fields      map[string]any `json:"fields"`
	Private     string         `json:"private_data"`
}

func (r *Report) jsonConnections() jsonConnections {
	numbers := r.carried()
	out := jsonConnections{
		Connections: []jsonConnection{}, ConnectionsGone: r.connections.unlisted, ConnectionsEvicted: r.connections.evicted,
	}
	for i, c := range r.connections.list {
		var of *conversation.Conversation
		if n := numbers[c]; n > 0 {
			of = r.list()[n-1]
		}
		j := jsonConnectionOf(c, of)
		j.Number, j.Conversation = i+1, numbers[c]
		out.Connections = append(out.Connections, j)
	}
	return out
}

func jsonConnectionOf(c *connect.Connection, of *conversation.Conversation) jsonConnection {
	j := jsonConnection{
		Outcome: c.Outcome.String(), Datagram: c.Datagram, Evicted: c.Evicted, NotKept: c.Unkept,
		Messages: []jsonCM{}, Findings: map[string]int{},
	}
	if d, ok := c.Took(wire.CMAttrReq, wire.CMAttrRtu); ok {
		seconds := d.Seconds()
		j.ConnectTime = &seconds
	}
	for i := range c.Ends {
		e := &c.Ends[i]
		end := jsonConnectionEnd{Address: Address(e.Addr), QP: e.QPN, Agreed: jsonTermsOf(e, of)}
		if e.Known {
			end.ID = &e.ID
		}
		j.Ends = append(j.Ends, end)
	}
	for i := range c.Messages {
		m := &c.Messages[i]
		j.Messages = append(j.Messages, jsonCM{
			Packet: m.Number, Seconds: time.Duration(m.Time - c.Messages[0].Time).Seconds(), Message: m.Attribute.String(),
			From: m.Sender, Transaction: string(wire.AppendHex(nil, m.Transaction, 16)), Repeats: m.Repeats,
			Says: append([]string{}, says(c, m)...), Fields: cmFields(m), Private: fmt.Sprintf("%x", m.Private()),
		})
	}
	for _, t := range c.Tallies {
		j.Findings[CodeOf(t.Kind).Name] = t.Count
	}
	return j
}

// jsonTermsOf finds the terms of an end in its conversation.
func jsonTermsOf(e *connect.End, of *conversation.Conversation) *jsonTerms {
	if of == nil {
		return nil
	}
	for i := range of.Ends {
		end := &of.Ends[i]
		t := &end.Asks.Terms
		if !t.Agreed || end.Addr != e.Addr || end.QPN != e.QPN {
			continue
		}
		j := &jsonTerms{FirstPSN: uint32(t.FirstPSN), PathMTU: t.PathMTU, Depth: t.Depth, RNRRetries: t.RNRRetries}
		if t.Asked {
			timeout := int64(t.AckTimeout)
			j.Retries, j.AckTimeout = &t.Retries, &timeout
		}
		return j
	}
	return nil
}

// cmFields are the fields of a message, and of rdma_cm's header in it, under
// their display-filter names. Private data is told for itself.
func cmFields(m *connect.Message) map[string]any {
	fields := make(map[string]any)
	addFields(fields, m.Attribute.Header(), m.Body())
	if ip := m.IP(); ip != nil {
		addFields(fields, wire.HdrCMIPPrivate, ip)
	}
	return fields
}

func addFields(to map[string]any, id wire.HeaderID, h []byte) {
	fields := wire.SpecOf(id).Fields
	for i := range fields {
		f := &fields[i]
		if f.Bits == 0 || !f.Present(h) {
			continue
		}
		to[f.Name] = fieldValue(f, h)
	}
}

// fieldValue is a number, or text for what JSON's numbers do not hold.
func fieldValue(f *wire.Field, h []byte) any {
	switch {
	case f.Kind == wire.IPv4:
		return netip.AddrFrom4([4]byte(f.Raw(h))).String()
	case f.Kind == wire.IPv6:
		return netip.AddrFrom16([16]byte(f.Raw(h))).String()
	case f.Kind == wire.Bytes:
		return fmt.Sprintf("%x", bytes.TrimRight(f.Raw(h), "\x00"))
	case f.Bits > 32:
		return string(wire.AppendHex(nil, f.Uint(h), f.Digits()))
	}
	return f.Value(h)
}
