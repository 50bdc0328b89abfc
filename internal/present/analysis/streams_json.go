package analysis

import (
	"fmt"
	"time"

	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/rdmap"
	"github.com/rocecap/rocecap/internal/wire"
)

type jsonStreams struct {
	Seen        int          `json:"iwarp_connections_seen"`
	Evicted     int          `json:"iwarp_connections_evicted"`
	Unlisted    int          `json:"iwarp_connections_unlisted"`
	Segments    int          `json:"iwarp_tcp_packets"`
	Connections []jsonStream `json:"streams"`
}

type jsonStream struct {
	Number      int             `json:"number"`
	FirstPacket int             `json:"first_packet"`
	LastPacket  int             `json:"last_packet"`
	Seconds     float64         `json:"seconds"`
	Evicted     bool            `json:"evicted"`
	Initiator   int             `json:"initiator"` // an end, -1 when it is not known
	Ends        []jsonStreamEnd `json:"ends"`
}

type jsonStreamEnd struct {
	Address    string                `json:"address"`
	Start      *jsonStart            `json:"start,omitempty"`
	FPDUs      int                   `json:"fpdus"`
	Incomplete int                   `json:"incomplete_fpdus"`
	CRCs       map[string]int        `json:"crcs"`
	Markers    int                   `json:"markers"`
	Missing    int64                 `json:"missing_bytes"`
	Unframed   int64                 `json:"unframed_bytes"`
	Opcodes    map[string]jsonOpcode `json:"opcodes"`
	Operations []jsonOperation       `json:"operations"`
	Unfinished int                   `json:"unfinished_messages"`
	MostReads  int                   `json:"most_outstanding_reads"`
	Memory     []jsonRegion          `json:"memory"`
	MoreMemory int                   `json:"memory_uses_unlisted"`
	Terminate  *jsonTerminate        `json:"terminate,omitempty"`
	TCP        jsonTCP               `json:"tcp"`
}

type jsonStart struct {
	Packet     int     `json:"packet"`
	Revision   uint8   `json:"revision"`
	Markers    bool    `json:"markers"`
	CRC        bool    `json:"crc"`
	Reject     bool    `json:"reject"`
	PeerToPeer bool    `json:"peer_to_peer"`
	IRD        *uint16 `json:"ird,omitempty"`
	ORD        *uint16 `json:"ord,omitempty"`
	Private    int     `json:"private_bytes"`
}

type jsonOpcode struct {
	FPDUs    int   `json:"fpdus"`
	Messages int   `json:"messages"`
	Bytes    int64 `json:"bytes"`
}

type jsonRegion struct {
	STag    string `json:"stag"`
	Lowest  string `json:"lowest"`
	End     string `json:"end"`
	Written int64  `json:"bytes_written"`
	Read    int64  `json:"bytes_read"`
}

type jsonTerminate struct {
	Packet int    `json:"packet"`
	Cause  int    `json:"because_of_packet,omitempty"`
	Reason string `json:"reason"`
}

type jsonTCP struct {
	Segments    int   `json:"segments"`
	Bytes       int64 `json:"bytes"`
	Frames      int64 `json:"frame_bytes"`
	Resent      int   `json:"segments_sent_again"`
	ResentBytes int64 `json:"bytes_sent_again"`
	Late        int   `json:"late_segments"`
	ZeroWindows int   `json:"zero_windows"`
	Closed      int64 `json:"zero_window_ns"`
	FIN         bool  `json:"fin"`
	RST         bool  `json:"rst"`
}

func (s *streams) json() jsonStreams {
	j := jsonStreams{s.seen, s.evicted, s.unlisted, s.segments, []jsonStream{}}
	for i, c := range s.list {
		one := jsonStream{
			Number: i + 1, FirstPacket: c.First, LastPacket: c.Last, Seconds: time.Duration(c.Ended - c.Began).Seconds(),
			Evicted: c.Evicted, Initiator: c.Initiator,
		}
		for end := range c.Ends {
			one.Ends = append(one.Ends, jsonStreamEndOf(&c.Ends[end]))
		}
		j.Connections = append(j.Connections, one)
	}
	return j
}

func jsonStreamEndOf(e *rdmap.End) jsonStreamEnd {
	j := jsonStreamEnd{
		Address: e.Addr.String(), Start: jsonStartOf(&e.Start), FPDUs: e.FPDUs, Incomplete: e.Incomplete,
		CRCs: map[string]int{}, Markers: e.Markers, Missing: e.Missing, Unframed: e.Unframed, Opcodes: map[string]jsonOpcode{},
		Operations: []jsonOperation{}, Unfinished: e.Unfinished, MostReads: e.MostReads, Memory: []jsonRegion{}, MoreMemory: e.MoreRegions,
		TCP: jsonTCP{
			e.TCP.Segments, e.TCP.Bytes, e.TCP.Frames, e.TCP.ResentSegments, e.TCP.ResentBytes, e.TCP.LateSegments, e.TCP.ZeroWindows, int64(e.TCP.Closed), e.TCP.FIN, e.TCP.RST,
		},
	}
	for verdict, n := range e.CRCs {
		if n > 0 {
			j.CRCs[iwarp.CRC(verdict).String()] = n
		}
	}
	for op, n := range e.Opcodes {
		if n.FPDUs > 0 {
			j.Opcodes[wire.RDMAPOpcode(op).String()] = jsonOpcode(n)
		}
	}
	for op := range rdmap.Ops {
		if o := &e.Operations[op]; o.Messages > 0 {
			j.Operations = append(j.Operations, jsonOperation{op.String(), o.Messages, o.Partial, o.Bytes, jsonHistogram(o.Latency)})
		}
	}
	for _, r := range e.Regions {
		j.Memory = append(j.Memory, jsonRegion{fmt.Sprintf("0x%08x", r.STag), fmt.Sprintf("0x%x", r.Lowest), fmt.Sprintf("0x%x", r.End), r.Written, r.Read})
	}
	if t := e.Terminate; t != nil {
		j.Terminate = &jsonTerminate{t.Packet, t.Cause, t.Words()}
	}
	return j
}

func jsonStartOf(s *rdmap.Start) *jsonStart {
	if s.Packet == 0 {
		return nil
	}
	j := &jsonStart{
		Packet: s.Packet, Revision: s.Revision, Markers: s.Markers, CRC: s.CRC, Reject: s.Reject, PeerToPeer: s.PeerToPeer, Private: s.Private,
	}
	if s.Enhanced {
		j.IRD, j.ORD = &s.IRD, &s.ORD
	}
	return j
}
