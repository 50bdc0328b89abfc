// Package live shows what is captured while it is: a line or a JSON object for
// each interval, or a full screen.
package live

import (
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/rocecap/rocecap/internal/present/analysis"
	"github.com/rocecap/rocecap/internal/track/rates"
)

// Snapshot is what is known at the end of an interval. Nobody changes it.
type Snapshot struct {
	Time       time.Time // of the capture
	Seconds    float64   // length of the interval
	Rows       []Row
	Total, New rates.Counts // of all rows
	Findings   []Finding    // of the interval, the oldest first
	Unlisted   int          // findings of which there were too many to list
	Interfaces []Interface
	Evicted    int // conversations and iWARP connections that were given up because too many were open
}

// Row is what one end of a conversation sends.
type Row struct {
	ID       int // of the conversation, which it keeps
	End      int // of the conversation that sends
	Service  string
	From, To string // address, and queue pair if known
	Bits     float64
	Packets  float64
	Messages float64
	P50, P99 time.Duration
	Total    rates.Counts
	New      rates.Counts
	Rates    []float64 // bits a second of the last intervals, the newest last
}

// Finding is something that happened.
type Finding struct {
	Time   time.Time
	Packet int
	Code   string
	Grade  int // of analysis.Grade
	ID     int // of the row that it is about, 0 for none
	End    int
	Where  string
	Text   string
}

// Interface is where packets come from.
type Interface struct {
	Name     string
	Received uint64   // frames that passed the filter
	Dropped  uint64   // by the kernel: its ring was full
	Lost     uint64   // by the interface itself
	Silence  []string // why nothing may be seen, when nothing was for a while
}

// Dropped is how many frames the kernel had no room for.
func (s *Snapshot) Dropped() (n uint64) {
	for _, i := range s.Interfaces {
		n += i.Dropped
	}
	return n
}

// Lost is how many frames the interfaces lost themselves.
func (s *Snapshot) Lost() (n uint64) {
	for _, i := range s.Interfaces {
		n += i.Lost
	}
	return n
}

// p99 is the longest of the rows' 99th percentiles.
func (s *Snapshot) p99() (worst time.Duration) {
	for i := range s.Rows {
		worst = max(worst, s.Rows[i].P99)
	}
	return worst
}

// bits is how much all rows send together.
func (s *Snapshot) bits() (sum float64) {
	for i := range s.Rows {
		sum += s.Rows[i].Bits
	}
	return sum
}

// Append adds the interval as a line.
func (s *Snapshot) Append(dst []byte) []byte {
	dst = s.Time.AppendFormat(dst, "15:04:05")
	per := func(n int) string { return Scaled(float64(n) / max(s.Seconds, 1e-9)) }
	streams := "streams"
	if len(s.Rows) == 1 {
		streams = "stream"
	}
	dst = fmt.Appendf(dst, "  %d %s  %sbit/s  %spkt/s  %smsg/s", len(s.Rows), streams, Scaled(s.bits()), per(s.New.Packets), per(s.New.Messages))
	if worst := s.p99(); worst > 0 {
		dst = fmt.Appendf(dst, "  p99 %s", analysis.Duration(worst))
	}
	for _, c := range []struct {
		name string
		n    int
	}{
		{"again", s.New.Again},
		{"NAK", s.New.NAKs},
		{"RNR", s.New.RNRs},
		{"CNP", s.New.CNPs},
		{"CE", s.New.CE},
		{"bad ICRC", s.New.BadICRC},
		{"evicted in all", s.Evicted},
		{"dropped in all", int(s.Dropped())},
		{"dropped by interface in all", int(s.Lost())},
	} {
		if c.n > 0 {
			dst = fmt.Appendf(dst, "  %s %d", c.name, c.n)
		}
	}
	return append(dst, '\n')
}

// AppendFinding adds a finding as a line.
func (f *Finding) Append(dst []byte) []byte {
	dst = f.Time.AppendFormat(dst, "15:04:05.000000")
	return fmt.Appendf(dst, "  packet %d, %s: %s\n", f.Packet, f.Where, f.Text)
}

// Scaled writes a number with three digits and a unit of a thousand.
func Scaled(n float64) string {
	units := [...]string{"", "k", "M", "G", "T"}
	i := 0
	for n >= 999.5 && i < len(units)-1 {
		n /= 1000
		i++
	}
	digits := 2
	switch {
	case n >= 99.95 || i == 0 && n == float64(int(n)):
		digits = 0
	case n >= 9.995:
		digits = 1
	}
	return strconv.FormatFloat(n, 'f', digits, 64) + " " + units[i]
}

// jsonVersion counts changes after which a program that reads the output has to
// be changed.
const jsonVersion = 1

type jsonSnapshot struct {
	Version    int             `json:"version"`
	Time       time.Time       `json:"time"`
	Seconds    float64         `json:"seconds"`
	Streams    []jsonRow       `json:"streams"`
	New        jsonCounts      `json:"new"`
	Findings   []jsonFinding   `json:"findings"`
	Unlisted   int             `json:"findings_unlisted"`
	Interfaces []jsonInterface `json:"interfaces"`
	Evicted    int             `json:"conversations_evicted"`
}

type jsonRow struct {
	Conversation int        `json:"conversation"`
	Service      string     `json:"service"`
	From         string     `json:"from"`
	To           string     `json:"to"`
	Bits         float64    `json:"bits_per_second"`
	P50          int64      `json:"p50_ns"`
	P99          int64      `json:"p99_ns"`
	New          jsonCounts `json:"new"`
	Total        jsonCounts `json:"total"`
}

type jsonCounts struct {
	Packets  int   `json:"packets"`
	Bytes    int64 `json:"bytes"`
	Messages int   `json:"messages"`
	Again    int   `json:"packets_sent_again"`
	NAKs     int   `json:"naks"`
	RNRs     int   `json:"rnr_naks"`
	CNPs     int   `json:"cnps"`
	CE       int   `json:"ce_marked"`
	BadICRC  int   `json:"wrong_icrc"`
	Findings int   `json:"findings"`
}

type jsonFinding struct {
	Time   time.Time `json:"time"`
	Packet int       `json:"packet"`
	Code   string    `json:"code"`
	Where  string    `json:"where"`
	Text   string    `json:"text"`
}

type jsonInterface struct {
	Name     string `json:"name"`
	Received uint64 `json:"received"`
	Dropped  uint64 `json:"dropped"`
	Lost     uint64 `json:"interface_dropped"`
}

// AppendJSON adds the interval as one JSON object on a line.
func (s *Snapshot) AppendJSON(dst []byte) ([]byte, error) {
	out := jsonSnapshot{
		Version: jsonVersion, Time: s.Time, Seconds: s.Seconds, New: jsonCounts(s.New), Unlisted: s.Unlisted, Evicted: s.Evicted,
		Streams: []jsonRow{}, Findings: []jsonFinding{}, Interfaces: []jsonInterface{},
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		out.Streams = append(out.Streams, jsonRow{
			r.ID, r.Service, r.From, r.To, r.Bits, int64(r.P50), int64(r.P99), jsonCounts(r.New), jsonCounts(r.Total),
		})
	}
	for _, f := range s.Findings {
		out.Findings = append(out.Findings, jsonFinding{f.Time, f.Packet, f.Code, f.Where, f.Text})
	}
	for _, i := range s.Interfaces {
		out.Interfaces = append(out.Interfaces, jsonInterface{i.Name, i.Received, i.Dropped, i.Lost})
	}
	line, err := json.Marshal(&out)
	return append(append(dst, line...), '\n'), err
}
