package rocecap

import (
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/present/filter"
	"github.com/rocecap/rocecap/internal/present/live"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// scriptedFeed does what a test says.
type scriptedFeed func(ctx context.Context) error

func (f scriptedFeed) run(ctx context.Context, _ time.Duration, _ func([]capfile.Record) error, _ func(int64) error) error {
	return f(ctx)
}

func (f scriptedFeed) end() int64 { return 0 }

// onScreen shows a feed on a terminal of which the test has both ends.
func onScreen(t *testing.T, from feed, keys io.Reader) (out string, err error) {
	t.Helper()
	var b bytes.Buffer
	o := &liveOptions{interval: time.Second, memory: 1, keep: time.Minute}
	o.streams = Streams{In: keys, Out: &b, Err: io.Discard, OutTTY: true}
	m := newMonitor()
	v := &viewer{options: o, monitor: m, watch: newWatch(m), from: from}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	err = v.screen(ctx)
	if ctx.Err() != nil {
		t.Error("it did not end")
	}
	return b.String(), err
}

// restored checks that the terminal is as it was before: the screen, the cursor,
// the mouse, the way it pastes.
func restored(t *testing.T, out string) {
	t.Helper()
	for _, mode := range []string{"1049", "1002", "1006", "2004"} {
		set, reset := strings.LastIndex(out, "\x1b[?"+mode+"h"), strings.LastIndex(out, "\x1b[?"+mode+"l")
		if set < 0 || reset < set {
			t.Errorf("mode %s: set at %d, reset at %d of %q", mode, set, reset, out)
		}
	}
	if hidden, shown := strings.LastIndex(out, "\x1b[?25l"), strings.LastIndex(out, "\x1b[?25h"); hidden < 0 || shown < hidden {
		t.Errorf("the cursor is hidden at %d, and shown at %d", hidden, shown)
	}
}

// silent is a keyboard that nobody touches.
func silent(t *testing.T) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() { w.Close() })
	return r
}

func TestTheTerminalIsRestored(t *testing.T) {
	waits := scriptedFeed(func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() })
	t.Run("after q", func(t *testing.T) {
		out, err := onScreen(t, waits, strings.NewReader("q"))
		if err != nil {
			t.Error(err)
		}
		restored(t, out)
	})
	t.Run("after a fault", func(t *testing.T) {
		gone := errors.New("interface eth9: it is gone")
		out, err := onScreen(t, scriptedFeed(func(context.Context) error { return gone }), silent(t))
		if !errors.Is(err, gone) {
			t.Errorf("%v", err)
		}
		restored(t, out)
	})
	t.Run("after a panic", func(t *testing.T) {
		out, err := onScreen(t, scriptedFeed(func(context.Context) error { panic("out of order") }), silent(t))
		if err == nil || !strings.Contains(err.Error(), "out of order") || !strings.Contains(err.Error(), "tui_test.go") {
			t.Errorf("%v", err)
		}
		restored(t, out)
	})
	t.Run("when the context ends", func(t *testing.T) {
		var b bytes.Buffer
		o := &liveOptions{memory: 1, streams: Streams{In: silent(t), Out: &b, OutTTY: true}}
		m := newMonitor()
		v := &viewer{options: o, monitor: m, watch: newWatch(m)}
		ctx, cancel := context.WithCancel(t.Context())
		v.from = scriptedFeed(func(inner context.Context) error { cancel(); <-inner.Done(); return inner.Err() })
		if err := v.screen(ctx); err != nil {
			t.Error(err)
		}
		// It may have ended before it took the terminal.
		if out := b.String(); out != "" {
			restored(t, out)
		}
	})
}

// played follows a whole capture as the screen does, and calls look after each
// interval.
func played(t *testing.T, name string, interval time.Duration, look func(v *viewer, s *live.Snapshot)) *viewer {
	t.Helper()
	file := filepath.Join(testneed.Pcaps(t), name)
	reader, err := capfile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	o := &liveOptions{read: file, interval: interval, keep: time.Hour, memory: 64, streams: Streams{OutTTY: true}}
	m := newMonitor()
	m.backlog = &backlog{span: o.keep, limit: o.memory << 20}
	v := &viewer{options: o, monitor: m, watch: newWatch(m), from: &fileFeed{reader: reader}}
	err = v.follow(t.Context(), func(s *live.Snapshot) error {
		if look != nil {
			look(v, s)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// remembered are those of the remembered packets.
func remembered(d *live.Detail) (list []int) {
	for i := range d.Packets {
		list = append(list, d.Packets[i].Number)
	}
	return list
}

// TestADetailHasTheLastPackets looks at a conversation from its begin on, and
// after its end: the packets are the same, and the last ones.
func TestADetailHasTheLastPackets(t *testing.T) {
	const name = "rc_loss_send.pcap.gz"
	early := played(t, name, 20*time.Millisecond, func(v *viewer, _ *live.Snapshot) { v.detail(1, 0) }).detail(1, 0)
	late := played(t, name, time.Second, nil).detail(1, 0)
	if early == nil || late == nil {
		t.Fatal("there is no detail")
	}
	if len(late.Packets) != maxFocus || !slices.Equal(remembered(early), remembered(late)) {
		t.Errorf("seen early: %v\nlate: %v", remembered(early), remembered(late))
	}
	if got := remembered(late)[maxFocus-1]; got != late.Conversation.Last {
		t.Errorf("the last one is %d of %d", got, late.Conversation.Last)
	}
	said := 0
	for _, n := range remembered(late) {
		said += len(late.Remarks[n])
	}
	if said == 0 || !strings.Contains(late.Analysis, "sent again 1318 of 1787") {
		t.Errorf("%d remarks; %s", said, late.Analysis)
	}
}

func TestADetailHasItsConnection(t *testing.T) {
	v := played(t, "rping_rxe.pcap", time.Second, nil)
	d := v.detail(1, 0)
	if d == nil || len(d.Connections) != 1 || len(d.Connections[0].Messages) < 3 || d.Connections[0].Request() == nil {
		t.Fatalf("%+v", d)
	}
	if v.monitor.focus == nil {
		t.Error("nobody remembers its packets")
	}
	if v.leave(); v.monitor.focus != nil {
		t.Error("its packets are still remembered")
	}
	if v.detail(99, 0) != nil {
		t.Error("there is a detail of nothing")
	}
}

// TestTheBacklogIsWritten plays a capture, and reads back what was written while
// it was played.
func TestTheBacklogIsWritten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "last.pcapng")
	v := played(t, "rping_rxe.pcap", time.Second, nil)
	n, err := v.write(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := frames(t, v.options.read), frames(t, file)
	if n != len(want) || !slices.EqualFunc(got, want, bytes.Equal) {
		t.Errorf("%d packets of %d, written %d", len(got), len(want), n)
	}
	if _, err := v.write(file); err == nil || !strings.Contains(err.Error(), "already") {
		t.Errorf("a file is written over: %v", err)
	}
	v.options.keep = 0
	if n, err := v.write(file + ".new.pcapng"); err != nil || n != 1 {
		t.Errorf("%d packets of the last moment, %v", n, err)
	}
	if _, err := v.write(filepath.Join(t.TempDir(), "none", "x.pcapng")); err == nil {
		t.Error("a file in no folder is written")
	}
}

// TestTheBacklogIsWrittenAsFarAsItMatches has a filter that came when all packets
// were there, which asks for units in a TCP stream and for a packet's place: the file
// has the packets that decode lists.
func TestTheBacklogIsWrittenAsFarAsItMatches(t *testing.T) {
	const chosen = "iwarp_rdma.opcode == 3 && frame.number > 12"
	v := played(t, "iw_rping.pcap", time.Second, nil)
	if err := v.setFilter(chosen); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "some.pcapng")
	n, err := v.write(file)
	if err != nil {
		t.Fatal(err)
	}
	var listed bytes.Buffer
	if code := Main([]string{"decode", "-Y", chosen, v.options.read}, Streams{Out: &listed, Err: &listed}); code != 0 {
		t.Fatalf("exit code %d\n%s", code, listed.String())
	}
	if want := bytes.Count(listed.Bytes(), []byte{'\n'}); n != want || n == 0 || len(frames(t, file)) != n {
		t.Errorf("%d packets are written, decode lists\n%s", n, listed.String())
	}
}

// TestAFilterMayAskForWhatTheCaptureSaysOfAPacket asks for the interface, the comment
// and the time since the packet before.
func TestAFilterMayAskForWhatTheCaptureSaysOfAPacket(t *testing.T) {
	frame := frames(t, filepath.Join(testneed.Pcaps(t), "py_badrkey.pcap"))[0]
	m := newMonitor()
	followed := func(text string) int {
		f, err := filter.Compile(text)
		if err != nil {
			t.Fatal(err)
		}
		m = newMonitor()
		m.follow(f)
		var list []capfile.Record
		for i := range int64(4) {
			list = append(list, capfile.Record{
				Data: frame, WireLen: len(frame), Time: i * i * int64(time.Second), HasTime: true, Interface: int32(i % 2), Link: wire.LinkEthernet, FCSLen: -1,
			})
		}
		list[2].Comment = "look here"
		m.take(list)
		return m.tracker.Counts.Seen
	}
	for text, want := range map[string]int{
		"frame.interface_id == 1": 2, `frame.comment contains "here"`: 1, "frame.time_delta > 2": 2, "frame.time_relative > 3": 2,
	} {
		if got := followed(text); got != want {
			t.Errorf("%s: %d packets, want %d", text, got, want)
		}
	}
}

func frames(t *testing.T, file string) (list [][]byte) {
	t.Helper()
	for _, rec := range captest.Records(t, file) {
		list = append(list, rec.Data)
	}
	return list
}

// TestLiveIsLookedAtWhileItRuns has the screen's questions asked while packets
// come, for the race detector.
func TestLiveIsLookedAtWhileItRuns(t *testing.T) {
	var wg sync.WaitGroup
	dir := t.TempDir()
	begun := false
	played(t, "many_qps.pcap.gz", 10*time.Millisecond, func(v *viewer, s *live.Snapshot) {
		if begun {
			return
		}
		begun = true
		wg.Go(func() {
			for id := 1; id < 17; id++ {
				if d := v.detail(id, 0); d != nil && len(d.Packets) > 0 && d.Packets[0].PSN > 1<<24 {
					t.Error("a PSN is too long")
				}
			}
			if err := v.setFilter("infiniband.bth.psn == red"); err == nil {
				t.Error("a filter that is none is set")
			}
			if err := v.setFilter("infiniband"); err != nil {
				t.Error(err)
			}
			if _, err := v.write(filepath.Join(dir, "x.pcapng")); err != nil {
				t.Error(err)
			}
			v.leave()
		})
	})
	wg.Wait()
	if !begun {
		t.Error("nobody has looked")
	}
}

func TestAFilterIsForWhatComesNext(t *testing.T) {
	count := func(filter string) (packets int) {
		played(t, "many_qps.pcap.gz", time.Millisecond, func(v *viewer, s *live.Snapshot) {
			packets = s.Total.Packets
			if err := v.setFilter(filter); err != nil {
				t.Error(err)
			}
		})
		return packets
	}
	if all, none := count(""), count("arp"); all != 320 || none == 0 || none >= all {
		t.Errorf("%d packets are followed, and %d", all, none)
	}
}

func TestLentChunksStayAsTheyAre(t *testing.T) {
	b := &backlog{span: time.Second, limit: 1 << 30}
	rec := capfile.Record{Data: make([]byte, 1000), Link: wire.LinkEthernet}
	for i := range 3000 {
		rec.Time = int64(i) * int64(time.Millisecond)
		rec.Data[0] = byte(i)
		b.add(&rec)
	}
	parts := b.lend()
	first := parts[0][0].Data[0]
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	for i := range 5000 {
		rec.Time += int64(time.Millisecond)
		rec.Data[0] = byte(i)
		b.add(&rec)
	}
	if parts[0][0].Data[0] != first || n < 1000 {
		t.Errorf("%d packets were lent, and have changed", n)
	}
}
