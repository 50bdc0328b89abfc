package roceinject_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// farEnd is the other end of the cable that replay sends on.
func farEnd(t *testing.T) (near *nettest.Namespace, link *nic.Link) {
	t.Helper()
	near, far := nettest.Pair(t)
	far.Do(t, func() {
		var err error
		if link, err = nic.Open(nic.Options{Interface: nettest.RightInterface, Promiscuous: true, IgnoreOutgoing: true}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = link.Close() })
	return near, link
}

// replayedIn runs `roceinject replay` in a namespace.
func replayedIn(t *testing.T, n *nettest.Namespace, args ...string) (code int, out, errors string) {
	n.Do(t, func() { code, out, errors = replayed(append(args, "-i", nettest.LeftInterface)...) })
	return code, out, errors
}

// received returns the RoCE frames that have come.
func received(t *testing.T, link *nic.Link, n int) (got [][]byte) {
	t.Helper()
	var batch nic.Batch
	var f wire.Frame
	for len(got) < n {
		if err := link.Receive(&batch, time.Now().Add(5*time.Second)); err != nil {
			t.Fatalf("after %d of %d frames: %v", len(got), n, err)
		}
		for _, frame := range batch.Frames {
			if f.Parse(wire.LinkEthernet, frame.Data, 0); f.BTH >= 0 {
				got = append(got, bytes.Clone(frame.Data))
			}
		}
	}
	return got
}

func TestReplaySendsWhatOneSideSentWithOtherNames(t *testing.T) {
	in := conversation(t, "> send-only 1 data=a", "< acknowledge 1", "> write-only 2 reth.r_key=5 data=b")
	near, link := farEnd(t)
	code, said, errors := replayedIn(t, near, in, "--as", "10.0.0.1", "--map", "rkey:5=6", "--map", "psn:0x22=+10", "--timing", "max")
	if code != 0 || !strings.HasPrefix(said, "sent 2 packets, ") || errors != "" {
		t.Fatalf("exit code %d, %s%s", code, said, errors)
	}
	want := [][]byte{rcPacket(t, true, "send-only 11 data=a"), rcPacket(t, true, "write-only 12 reth.r_key=6 data=b")}
	if diff := cmp.Diff(want, received(t, link, 2)); diff != "" {
		t.Error(diff)
	}
}

// peer answers each RoCE frame with lines, by its PSN and how often that came,
// until the link is closed.
func peer(t *testing.T, link *nic.Link, answers func(psn wire.PSN, n int) []string) {
	times := map[wire.PSN]int{}
	var f wire.Frame
	eachFrame(t, link, func(frame []byte) (frames [][]byte) {
		f.Parse(wire.LinkEthernet, frame, 0)
		psn := wire.BTH(f.View(wire.HdrBTH)).PSN()
		times[psn]++
		for _, line := range answers(psn, times[psn]) {
			frames = append(frames, rcPacket(t, false, line))
		}
		return frames
	})
}

// eachFrame sends what is answered to each RoCE frame, until the link is closed.
func eachFrame(t *testing.T, link *nic.Link, answer func(frame []byte) [][]byte) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		var batch nic.Batch
		var f wire.Frame
		for link.Receive(&batch, time.Time{}) == nil {
			for _, frame := range batch.Frames {
				if f.Parse(wire.LinkEthernet, frame.Data, 0); f.BTH < 0 {
					continue
				}
				for _, data := range answer(frame.Data) {
					if _, err := link.Send([][]byte{data}, time.Time{}); err != nil {
						t.Error(err)
					}
				}
			}
		}
	}()
	t.Cleanup(func() {
		_ = link.Close()
		<-ended
	})
}

func TestReplayReactsToALivePeer(t *testing.T) {
	lines := []string{
		"> send-only 1 bth.a=1 data=a", "< acknowledge 1",
		"> write-first 2 data=b", "> write-last 3 bth.a=1 data=c", "< acknowledge 3",
		"> read-request 4 reth.dmalen=4", "< read-response-only 4 data=good",
		"< send-only 50 data=ping", "> acknowledge 50",
	}
	usual := func(psn wire.PSN, _ int) []string {
		switch psn {
		case 1, 3:
			return []string{"acknowledge " + map[wire.PSN]string{1: "1", 3: "3"}[psn]}
		case 4:
			return []string{"read-response-only 4 data=good", "send-only 50 data=ping"}
		}
		return nil
	}
	for _, c := range []struct {
		name    string
		answers func(psn wire.PSN, n int) []string
		code    int
		want    string
	}{
		{"as recorded", usual, 0, "sent 5 packets and 0 again; of 4 answers 4 came, and 0 that the recording does not have; 0 differences\n"},
		{"one answer lost", func(psn wire.PSN, n int) []string {
			if psn == 3 && n == 1 {
				return nil
			}
			return usual(psn, n)
		}, 0, "sent 5 packets and 1 again; of 4 answers 4 came, and 0 that the recording does not have; 0 differences\n"},
		{"other data", func(psn wire.PSN, n int) []string {
			if psn == 4 {
				return []string{"read-response-only 4 data=evil", "send-only 50 data=ping"}
			}
			return usual(psn, n)
		}, 1, "record 7: PSN 4: RC RDMA READ Response Only with other data from byte 0 on (0x65, not 0x67)\n" +
			"sent 5 packets and 0 again; of 4 answers 4 came, and 0 that the recording does not have; 1 differences\n"},
		{"refused", func(psn wire.PSN, n int) []string {
			if psn == 3 {
				return []string{"acknowledge 3 aeth.syndrome=0x62"}
			}
			return usual(psn, n)
		}, 1, "record 5: PSN 3: NAK (Remote Access Error) instead of ACK\n" +
			"sent 5 packets and 0 again; of 4 answers 1 came, and 0 that the recording does not have; 1 differences\n"},
		{"nobody", func(wire.PSN, int) []string { return nil }, 1, "record 2: PSN 1: nothing instead of ACK\n" +
			"sent 5 packets and 2 again; of 4 answers 0 came, and 0 that the recording does not have; 1 differences\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			near, link := farEnd(t)
			peer(t, link, c.answers)
			code, said, errors := replayedIn(t, near, conversation(t, lines...), "--as", "10.0.0.1", "--react", "--timeout", "400ms", "--retries", "2", "--timing", "max")
			if code != c.code {
				t.Errorf("exit code %d: %s", code, errors)
			}
			if diff := cmp.Diff(c.want, said); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The live peer of a recorded rping has another QP and counts from another PSN
// than the recorded one, which nothing tells but its REP.
func TestReplayTakesALivePeersNumbersFromItsREP(t *testing.T) {
	in := filepath.Join(testneed.Pcaps(t), "rping_rxe.pcap")
	other := &rewrite.Rules{}
	for _, text := range []string{"qp:0x19@10.77.0.3=0x99", "psn:0x19@10.77.0.3=0xfffffe"} {
		if err := other.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	frames, mine := conversationOf(t, in, "10.77.0.2", other)
	near, link := farEnd(t)
	sent := make(chan []byte, len(frames))
	at := 0 // in the conversation
	eachFrame(t, link, func(frame []byte) (answers [][]byte) {
		sent <- bytes.Clone(frame)
		for at++; at < len(frames) && !mine[at]; at++ {
			answers = append(answers, frames[at])
		}
		return answers
	})
	code, said, errors := replayedIn(t, near, in, "--as", "10.77.0.2", "--react", "--timeout", "5s", "--timing", "max")
	if want := "sent 21 packets and 0 again; of 20 answers 20 came, and 0 that the recording does not have; 0 differences\n"; code != 0 || said != want {
		t.Errorf("exit code %d, %s%s", code, said, errors)
	}
	for i := range frames {
		if !mine[i] {
			continue
		}
		if got := <-sent; !bytes.Equal(got, frames[i]) {
			t.Errorf("frame %d:\ngot  %x\nwant %x", i+1, got, frames[i])
		}
	}
}

// conversationOf reads the frames of a capture, changed by rules, and says which
// of them a host sent.
func conversationOf(t *testing.T, path, host string, rules *rewrite.Rules) (frames [][]byte, mine []bool) {
	t.Helper()
	var f wire.Frame
	var facts rewrite.Facts
	for _, rec := range roceinject.CaptureOf(t, path) {
		frames = append(frames, rec.Data)
		f.Parse(wire.LinkEthernet, rec.Data, 0)
		facts.Learn(&f)
	}
	engine := rewrite.New(rules, &facts, false)
	for _, frame := range frames {
		f.Parse(wire.LinkEthernet, frame, 0)
		src, _ := f.Addresses()
		mine = append(mine, src.String() == host)
		engine.Apply(&f, -1)
	}
	return frames, mine
}

func TestReplayNeedsMoreForADefaultRoute(t *testing.T) {
	in := conversation(t, "> send-only 1", "< acknowledge 1")
	near, link := farEnd(t)
	near.IP(t, "address add 10.1.0.1/24 dev "+nettest.LeftInterface)
	near.IP(t, "route add default via 10.1.0.9")
	for _, args := range [][]string{{in}, {in, "--react", "--as", "10.0.0.1"}} {
		if code, _, errors := replayedIn(t, near, args...); code != 2 || !strings.Contains(errors, "default route") {
			t.Errorf("exit code %d, %s", code, errors)
		}
	}
	if code, _, errors := replayedIn(t, near, in, "--yes-really"); code != 0 {
		t.Errorf("exit code %d, %s", code, errors)
	}
	received(t, link, 2)
}

func TestInterruptEndsAReplayThatWaits(t *testing.T) {
	in := conversation(t, "> send-only 1", "< acknowledge 1")
	near, link := farEnd(t)
	peer(t, link, func(wire.PSN, int) []string { // nobody answers
		p, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = p.Signal(os.Interrupt)
		}
		if err != nil {
			t.Error(err)
		}
		return nil
	})
	code, said, errors := replayedIn(t, near, in, "--react", "--as", "10.0.0.1", "--timeout", "1h")
	if want := "sent 1 packets and 0 again; of 1 answers 0 came, and 0 that the recording does not have; 0 differences\n"; code != 2 || said != want {
		t.Errorf("exit code %d, %s%s", code, said, errors)
	}
}
