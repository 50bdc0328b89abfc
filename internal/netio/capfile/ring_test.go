package capfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRingRotates(t *testing.T) {
	const packets = 100
	for _, test := range []struct {
		name     string
		file     string
		rotation Rotation
		files    int // made
		left     int // that are there at the end
		first    int // packet that is the first of these
	}{
		{"one file", "x.pcapng", Rotation{}, 1, 1, 0},
		{"one file, limit of files", "x.pcapng", Rotation{Files: 1}, 1, 1, 0},
		{"packets", "x.pcapng", Rotation{Packets: 30}, 4, 4, 0},
		{"packets, two files", "x.pcapng", Rotation{Packets: 30, Files: 2}, 4, 2, 60},
		{"time", "x.pcapng", Rotation{Every: 25 * time.Second}, 4, 4, 0},
		{"bytes", "x.pcapng", Rotation{Bytes: 10 * 96}, 0, 0, 0},
		{"compressed", "x.pcapng.zst", Rotation{Packets: 50}, 2, 2, 0},
		{"pcap", "x.pcap", Rotation{Packets: 50}, 2, 2, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			ring, err := NewRing(filepath.Join(dir, test.file), test.rotation)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ring.AddInterface(Interface{Name: "eth0", Link: 1, FCSLen: -1}); err != nil {
				t.Fatal(err)
			}
			for i := range packets {
				rec := Record{Data: make([]byte, 64), WireLen: 64, Time: int64(i+1) * int64(time.Second), HasTime: true, Link: 1, FCSLen: -1}
				rec.Data[0] = byte(i)
				if err := ring.Write(&rec); err != nil {
					t.Fatal(err)
				}
				if err := ring.SetStatistics(0, Statistics{Received: Count(uint64(i + 1))}); err != nil {
					t.Fatal(err)
				}
			}
			if err := ring.Close(); err != nil {
				t.Fatal(err)
			}
			there, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			if len(there) != len(ring.Files()) || test.left > 0 && len(there) != test.left || test.files > 0 && ring.number != test.files {
				t.Errorf("%d files are there, %d were made: %v", len(there), ring.number, ring.Files())
			}
			next := test.first
			for _, name := range ring.Files() {
				next = wantPart(t, name, next)
			}
			if next != packets {
				t.Errorf("the files end with packet %d", next)
			}
		})
	}
}

// wantPart reads a file whose first packet is known, and returns which is the
// next one.
func wantPart(t *testing.T, name string, first int) int {
	t.Helper()
	r, err := Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	recs, err := readAll(r)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, rec := range recs {
		if int(rec.Data[0]) != first {
			t.Fatalf("%s has packet %d, want %d", name, rec.Data[0], first)
		}
		first++
	}
	i := r.Interfaces()[0]
	if !strings.Contains(name, ".pcapng") {
		return first
	}
	if i.Name != "eth0" || int(i.Stats.Received.N) < first {
		t.Errorf("%s: interface %+v", name, i)
	}
	return first
}

func TestAnEmptyRingIsAnEmptyCapture(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcapng")
	ring, err := NewRing(name, Rotation{Packets: 5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.AddInterface(Interface{Name: "eth0", Link: 1}); err != nil {
		t.Fatal(err)
	}
	if err := ring.Close(); err != nil {
		t.Fatal(err)
	}
	if len(ring.Files()) != 1 || wantPart(t, ring.Files()[0], 0) != 0 {
		t.Errorf("files %v", ring.Files())
	}
}

func TestRingRefusesTheStandardOutput(t *testing.T) {
	if _, err := NewRing("-", Rotation{Packets: 5}); err == nil {
		t.Error("no error")
	}
	if _, err := NewRing("-", Rotation{}); err != nil {
		t.Error(err)
	}
}

// TestRingSaysAtOnceWhatIsWrongWithItsName opens files that cannot be, before there is
// a packet.
func TestRingSaysAtOnceWhatIsWrongWithItsName(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		rotation Rotation
		wrong    bool
	}{
		{filepath.Join(dir, "x.pcapng"), Rotation{}, false},
		{filepath.Join(dir, "y.pcapng"), Rotation{Packets: 3}, false},
		{filepath.Join(dir, "none", "x.pcapng"), Rotation{}, true},
		{filepath.Join(dir, "none", "x.pcapng"), Rotation{Packets: 3}, true},
		{filepath.Join(file, "x.pcapng"), Rotation{Packets: 3}, true},
		{dir, Rotation{}, true},
	} {
		ring, err := NewRing(test.name, test.rotation)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ring.AddInterface(Interface{Name: "eth0", Link: 1, FCSLen: -1}); err != nil {
			t.Fatal(err)
		}
		if err := ring.Open(); (err != nil) != test.wrong {
			t.Errorf("%s, %+v: %v", test.name, test.rotation, err)
		}
		if !test.wrong {
			if err := ring.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRingGoesOnWhenItsOldestFileWasMoved takes away a file that the ring would remove.
func TestRingGoesOnWhenItsOldestFileWasMoved(t *testing.T) {
	ring, err := NewRing(filepath.Join(t.TempDir(), "x.pcapng"), Rotation{Packets: 1, Files: 2})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.AddInterface(Interface{Name: "eth0", Link: 1, FCSLen: -1}); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		rec := Record{Data: make([]byte, 64), WireLen: 64, Time: int64(i+1) * int64(time.Second), HasTime: true, Link: 1, FCSLen: -1}
		if err := ring.Write(&rec); err != nil {
			t.Fatal(err)
		}
		if i == 1 {
			if err := os.Remove(ring.Files()[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := ring.Close(); err != nil || len(ring.Files()) != 2 {
		t.Errorf("%v, %v", ring.Files(), err)
	}
}

func TestTheNumberOfAFileIsBeforeItsExtension(t *testing.T) {
	at := time.Date(2026, 11, 30, 10, 20, 30, 0, time.UTC)
	for name, want := range map[string]string{
		"x.pcapng":                    "x_00007_20261130102030.pcapng",
		"x.pcapng.zst":                "x_00007_20261130102030.pcapng.zst",
		"x.pcap.GZ":                   "x_00007_20261130102030.pcap.GZ",
		"x":                           "x_00007_20261130102030",
		"a.b/x":                       "a.b/x_00007_20261130102030",
		"host.example.org.pcapng":     "host.example.org_00007_20261130102030.pcapng",
		"/tmp/a.d/2026.11.30.pcap.gz": "/tmp/a.d/2026.11.30_00007_20261130102030.pcap.gz",
	} {
		if got := numbered(name, 7, at); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}
