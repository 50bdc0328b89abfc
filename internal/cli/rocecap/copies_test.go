package rocecap_test

import (
	"encoding/binary"
	"encoding/json"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/wire"
)

// foundJSON is what was found, by code and to whom.
type foundJSON struct {
	Copies   int `json:"copies"`
	Findings []struct {
		Code  string `json:"code"`
		Where string `json:"where"`
		Count int    `json:"count"`
	} `json:"findings"`
}

func foundIn(t *testing.T, file string) (out foundJSON) {
	t.Helper()
	if err := json.Unmarshal([]byte(mustRun(t, "analyze", "--json", file)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// found counts the findings of a capture, but for the copies themselves.
func found(t *testing.T, file string) (findings map[string]int, copies int) {
	t.Helper()
	out := foundIn(t, file)
	findings = map[string]int{}
	for _, f := range out.Findings {
		if f.Code != "PSN-DUPLICATE" {
			findings[f.Code+" "+f.Where] += f.Count
		}
	}
	return findings, out.Copies
}

// captured are the frames of the recorded captures, by file.
func captured(t *testing.T) map[string][]capfile.Record {
	t.Helper()
	files := map[string][]capfile.Record{}
	captest.Each(t, func(file string, _ int, rec *capfile.Record) {
		keep := *rec
		keep.Data, keep.Interface = slices.Clone(rec.Data), 0
		files[file] = append(files[file], keep)
	})
	return files
}

// merged is a capture and what another place saw of it, later. That place missed
// the first packet between any two hosts: nothing tells of it yet that the sender
// numbers its packets.
func merged(records []capfile.Record, later int64, change func(frame []byte)) []capfile.Record {
	all := slices.Clone(records)
	ways := map[string]bool{}
	for _, rec := range records {
		if way := string(rec.Data[26:34]); !ways[way] {
			ways[way] = true
			continue
		}
		rec.Data = slices.Clone(rec.Data)
		change(rec.Data)
		rec.Time += later
		all = append(all, rec)
	}
	slices.SortStableFunc(all, func(a, b capfile.Record) int { return int(a.Time - b.Time) })
	return all
}

// routed takes one off the time to live, as a router does, without the header
// checksum: nothing looks at that.
func routed(frame []byte) {
	if binary.BigEndian.Uint16(frame[12:]) == 0x0800 {
		frame[22]--
	}
}

// sameIDs are captures whose IPv4 packets all have one ID, which real senders do
// not do.
var sameIDs = regexp.MustCompile(`^(t\d?|iw|mk)\.pcap|^\d\d-`)

func TestACaptureThatHasEachPacketTwiceHasTheSameFindings(t *testing.T) {
	same := func([]byte) {}
	tried := 0
	for file, records := range captured(t) {
		if file == "rc_ipv6_pingpong.pcap" || file == "ud_ipv6.pcap" {
			continue // IPv6 has no IDs
		}
		if sameIDs.MatchString(file) || records[0].Link != wire.LinkEthernet || records[0].Time == records[len(records)-1].Time || len(records) < 10 {
			continue
		}
		want, before := found(t, writeRecords(t, wire.LinkEthernet, records))
		if before > 0 {
			continue // has copies of its own
		}
		for name, twice := range map[string][]capfile.Record{
			"at once": merged(records, 0, same), "a mirror port": merged(records, 3000, same),
			"two places": merged(records, 700_000, same), "behind a router": merged(records, 2000, routed),
		} {
			path := writeRecords(t, wire.LinkEthernet, twice)
			got, copies := found(t, path)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %s, %d copies: findings (-once +twice):\n%s", file, name, copies, diff)
			}
			tried++
		}
	}
	if tried < 40 {
		t.Errorf("%d captures were tried", tried)
	}
}
