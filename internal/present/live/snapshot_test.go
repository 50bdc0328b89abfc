package live

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/track/rates"
)

func sample() *Snapshot {
	return &Snapshot{
		Time: time.Date(2026, 11, 30, 10, 20, 30, 0, time.UTC), Seconds: 2,
		Rows: []Row{
			{ID: 3, Service: "RC", From: "192.0.2.1 QP 0x000011", To: "192.0.2.2 QP 0x000012", Bits: 12.34e9, P99: 23456 * time.Nanosecond},
			{ID: 3, Service: "RC", From: "192.0.2.2 QP 0x000012", To: "192.0.2.1 QP 0x000011", Bits: 1e6},
		},
		New:        rates.Counts{Packets: 3000, Messages: 50, Again: 12, RNRs: 1},
		Findings:   []Finding{{Time: time.Date(2026, 11, 30, 10, 20, 29, 0, time.UTC), Packet: 812, Code: "RNR-NAK", Where: "a to b", Text: "RNR-NAK: not ready"}},
		Evicted:    5,
		Interfaces: []Interface{{Name: "eth0", Received: 100, Dropped: 2, Lost: 4}, {Name: "eth1", Dropped: 1}},
	}
}

func TestAnIntervalIsALine(t *testing.T) {
	s := sample()
	const want = "10:20:30  2 streams  12.3 Gbit/s  1.50 kpkt/s  25 msg/s  p99 23.5 us  again 12  RNR 1  evicted in all 5  dropped in all 3  dropped by interface in all 4\n"
	if got := string(s.Append(nil)); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	const finding = "10:20:29.000000  packet 812, a to b: RNR-NAK: not ready\n"
	if got := string(s.Findings[0].Append(nil)); got != finding {
		t.Errorf("got  %q\nwant %q", got, finding)
	}
}

func TestAnIntervalIsAJSONObject(t *testing.T) {
	line, err := sample().AppendJSON(nil)
	var got jsonSnapshot
	if err != nil || json.Unmarshal(line, &got) != nil || line[len(line)-1] != '\n' {
		t.Fatalf("%v: %s", err, line)
	}
	if got.Version != 1 || len(got.Streams) != 2 || got.Streams[0].P99 != 23456 || got.New.Again != 12 || got.Findings[0].Code != "RNR-NAK" || got.Interfaces[0].Dropped != 2 || got.Interfaces[0].Lost != 4 {
		t.Errorf("%+v", got)
	}
}

func TestNumbersHaveThreeDigits(t *testing.T) {
	for n, want := range map[float64]string{
		0: "0 ", 7: "7 ", 0.5: "0.50 ", 12.34: "12.3 ", 999: "999 ", 999.6: "1.00 k", 1500: "1.50 k", 99960: "100 k", 12.34e9: "12.3 G", 5e15: "5000 T",
	} {
		if got := Scaled(n); got != want {
			t.Errorf("%g is written %q, want %q", n, got, want)
		}
	}
}
