//go:build linux

package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

const mainBridge = "br0"

// A Capture ends with a mark from each guest: a broadcast ping whose payload
// repeats anyMark and a token. A guest's one transmit queue keeps the order of
// its frames, so that all it sent before are in the capture when its mark is.
const (
	anyMark    = "rocelab:"
	markFilter = "icmp and ether broadcast"
)

// Capture is what goes over a bridge.
type Capture struct {
	lab    *Lab
	bridge string
	dump   *Proc
	raw    string // tcpdump's file
	mark   string // that no other capture has
}

// Capture starts to capture the frames on a bridge, br0 say, that fit a filter
// in tcpdump's language; "" is for all. It runs when Capture returns.
func (l *Lab) Capture(t testing.TB, bridge, filter string) *Capture {
	t.Helper()
	testneed.Tool(t, "tcpdump")
	if filter != "" {
		filter = "(" + filter + ") or (" + markFilter + ")"
	}
	c := &Capture{lab: l, bridge: bridge, raw: filepath.Join(t.TempDir(), "raw.pcap"), mark: anyMark + rand.Text()[:8]}
	// -U and --immediate-mode: a frame is in the file as soon as it was seen.
	c.dump = l.Start(t, "tcpdump", "-i", bridge, "-U", "--immediate-mode", "-Z", "root",
		"--time-stamp-precision=nano", "-s", "0", "-B", "16384", "-w", c.raw, filter)
	if _, err := c.dump.WaitFor(regexp.MustCompile(`listening on`), shortTimeout); err != nil {
		t.Fatal(err)
	}
	return c
}

// Stop ends the capture and writes it, without marks, to a pcap file whose name
// it returns. All frames that guests on the bridge sent before are in it.
func (c *Capture) Stop(t testing.TB) string {
	t.Helper()
	guests := c.guests(t)
	for _, p := range guests {
		// Nobody answers a broadcast, and a ping without answer fails.
		_, _ = c.lab.peerlab(shortTimeout, "exec", p.number(),
			fmt.Sprintf("ping -b -c 1 -W 0.01 -s 64 -p %x 10.77.0.255", c.mark))
	}
	c.await(t, guests)
	c.dump.Stop()
	records, err := read(c.raw)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(filepath.Dir(c.raw), "capture.pcap")
	if err := write(file, slices.DeleteFunc(records, func(r capfile.Record) bool {
		return isMark(r, anyMark)
	})); err != nil {
		t.Fatal(err)
	}
	return file
}

// guests returns those that are on the bridge.
func (c *Capture) guests(t testing.TB) (peers []*Peer) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), shortTimeout)
	defer cancel()
	out, err := run(ctx, c.lab.Command(ctx, "ip", "-o", "link", "show", "master", c.bridge))
	if err != nil {
		t.Fatalf("lab: %v\n%s", err, out)
	}
	for _, tap := range regexp.MustCompile(`\btap(\d+):`).FindAllStringSubmatch(out, -1) {
		if i, err := strconv.Atoi(tap[1]); err == nil {
			peers = append(peers, newPeer(c.lab, i))
		}
	}
	return peers
}

// await waits for the marks of the guests.
func (c *Capture) await(t testing.TB, guests []*Peer) {
	t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	timeout := time.After(shortTimeout)
	for {
		records, err := read(c.raw)
		if err != nil && !errors.Is(err, capfile.ErrTruncated) {
			t.Fatal(err)
		}
		missing := slices.DeleteFunc(slices.Clone(guests), func(p *Peer) bool {
			return slices.ContainsFunc(records, func(r capfile.Record) bool {
				return isMark(r, c.mark) && bytes.HasPrefix(r.Data[6:], p.MAC)
			})
		})
		if len(missing) == 0 {
			return
		}
		select {
		case <-tick.C:
		case <-timeout:
			t.Fatalf("lab: the mark of guest %d is not in the capture of %s; tcpdump says:\n%s",
				missing[0].Index, c.bridge, c.dump.Output())
		}
	}
}

func isMark(r capfile.Record, mark string) bool {
	broadcast := bytes.HasPrefix(r.Data, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
	return broadcast && bytes.Contains(r.Data, []byte(mark))
}

// read returns the records of a capture file, up to where it is damaged.
func read(file string) (records []capfile.Record, err error) {
	in, err := capfile.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	for {
		batch, err := in.Next()
		if errors.Is(err, io.EOF) {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		for _, rec := range batch.Records {
			rec.Data = bytes.Clone(rec.Data)
			records = append(records, rec)
		}
		batch.Release()
	}
}

func write(file string, records []capfile.Record) error {
	out, err := capfile.Create(file, capfile.Interface{Link: wire.LinkEthernet})
	if err != nil {
		return err
	}
	for i := range records {
		if err := out.Write(&records[i]); err != nil {
			return err
		}
	}
	return out.Close()
}
