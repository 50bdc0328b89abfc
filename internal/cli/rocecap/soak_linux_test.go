//go:build linux && !race

package rocecap_test

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"
)

// A soak plays a day of traffic to `rocecap live`, or a part of it that has so
// many packets.
const (
	soakPackets  = 2_000_000
	warmUp       = 1_000_000 // after which as many conversations end as begin, and the heap has found its size
	packetsADay  = 10_000_000
	soakInterval = "1m"
	soakSamples  = 200
	soakMemory   = 256 << 10 // kB that the process may take
	maxGrowth    = 1.25      // medians of quarters of a run differ by up to 1.12 by chance
)

// TestMemoryStaysFlat plays as fast as it goes; the time that the packets have is
// that of a day with ten millions of them. ROCECAP_SOAK tells how many there are.
func TestMemoryStaysFlat(t *testing.T) {
	packets := soakPackets
	if text := os.Getenv("ROCECAP_SOAK"); text != "" {
		var err error
		if packets, err = strconv.Atoi(text); err != nil || packets < soakPackets {
			t.Fatalf("ROCECAP_SOAK=%s: want a number of packets, at least %d", text, soakPackets)
		}
	}
	rss := soak(t, newCrowd(t, 2000), packets, soakMemory)
	rss = rss[len(rss)*warmUp/packets:]
	quarter := len(rss) / 4
	// What was garbage at a moment is chance: the medians tell.
	warm, last := median(rss[:quarter]), median(rss[len(rss)-quarter:])
	t.Logf("%d kB when it was warm, %d kB at the end", warm, last)
	if float64(last) > maxGrowth*float64(warm) {
		t.Errorf("memory grows: %v", rss)
	}
}

// TestMemoryIsBoundedWithTooManyConversations has more going on at a time than
// live follows. The heap is then as large as it may be; room that it gave back to the
// kernel still counts for RLIMIT_DATA, which has therefore to be larger.
func TestMemoryIsBoundedWithTooManyConversations(t *testing.T) {
	soak(t, newCrowd(t, 40_000), 150_000, 2*soakMemory)
}

// soak plays packets to `rocecap live` in a process whose data segment is limited
// (RLIMIT_DATA, in kB), and returns what it took of memory, in kB, now and then.
func soak(t *testing.T, c *crowd, packets, limit int) []int {
	t.Helper()
	limited := fmt.Sprintf(`ulimit -d %d && exec "$0" "$@"`, limit)
	cmd := exec.Command("sh", "-c", limited, os.Args[0], "live", "-r", "-", "--plain", "--speed", "0", "--interval", soakInterval)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	said, errors := &lastLine{}, &bytes.Buffer{}
	cmd.Stdout, cmd.Stderr = said, errors
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	began := time.Now()
	rss, err := play(in, c, packets, func() int { return memoryOf(t, cmd.Process.Pid, "VmRSS") })
	if err != nil {
		t.Fatalf("live takes no more: %v, %v\n%s", err, cmd.Wait(), errors)
	}
	most := memoryOf(t, cmd.Process.Pid, "VmHWM")
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, errors)
	}
	t.Logf("%d packets of %d conversations in %v: at most %d kB; %d lines, the last: %s",
		packets, c.played, time.Since(began).Round(time.Second), most, said.count, said.line)
	if most > soakMemory {
		t.Errorf("%d kB, want at most %d: %v", most, soakMemory, rss)
	}
	if !regexp.MustCompile(`^\d\d:\d\d:\d\d  \d{4,} streams `).Match(said.line) {
		t.Errorf("live does not follow thousands of streams: %s", said.line)
	}
	return rss
}

func median(list []int) int {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

// play writes packets as a classic pcap file, and samples something regularly.
func play(to io.Writer, c *crowd, packets int, sample func() int) (samples []int, err error) {
	const day = 24 * time.Hour
	out := bufio.NewWriterSize(to, 1<<16)
	le := binary.LittleEndian
	head := le.AppendUint32(nil, 0xa1b23c4d) // nanoseconds
	head = le.AppendUint32(head, 2|4<<16)    // version 2.4
	head = append(head, make([]byte, 8)...)
	head = le.AppendUint32(head, 1<<18)
	head = le.AppendUint32(head, 1) // Ethernet
	if _, err := out.Write(head); err != nil {
		return nil, err
	}
	for i := range packets {
		frame := c.next()
		at := time.Unix(1767225600, int64(i)*int64(day/packetsADay))
		head = le.AppendUint32(head[:0], uint32(at.Unix()))
		head = le.AppendUint32(head, uint32(at.Nanosecond()))
		head = le.AppendUint32(head, uint32(len(frame)))
		head = le.AppendUint32(head, uint32(len(frame)))
		if _, err := out.Write(head); err != nil {
			return samples, err
		}
		if _, err := out.Write(frame); err != nil {
			return samples, err
		}
		if (i+1)%(packets/soakSamples) == 0 {
			samples = append(samples, sample())
		}
	}
	return samples, out.Flush()
}

// memoryOf is a line of a process's status, in kB.
func memoryOf(t *testing.T, pid int, name string) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + `:\s*(\d+) kB`).FindSubmatch(status)
	if m == nil {
		return 0 // it has ended
	}
	kB, _ := strconv.Atoi(string(m[1]))
	return kB
}

// lastLine keeps the last whole line that was written, and counts them.
type lastLine struct {
	line, rest []byte
	count      int
}

func (l *lastLine) Write(p []byte) (int, error) {
	l.rest = append(l.rest, p...)
	if end := bytes.LastIndexByte(l.rest, '\n'); end >= 0 {
		l.count += bytes.Count(l.rest[:end+1], []byte{'\n'})
		l.line = bytes.Clone(l.rest[bytes.LastIndexByte(l.rest[:end], '\n')+1 : end])
		l.rest = append(l.rest[:0], l.rest[end+1:]...)
	}
	return len(p), nil
}
