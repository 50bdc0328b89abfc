package endpoint_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rocecap/rocecap/endpoint"
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/host"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/simnet"
	"github.com/rocecap/rocecap/internal/wire"
)

// wired is a device with a bare cable at its other side.
func wired(t *testing.T, change func(*endpoint.Options)) (*endpoint.Device, *simnet.Link, endpoint.Writer) {
	t.Helper()
	left, right := simnet.Pair(1500)
	o := endpoint.Options{Link: left, Seed: 1, Addresses: prefixes("10.0.0.1/24", "fd00::1/64")}
	if change != nil {
		change(&o)
	}
	w, err := right.Writer()
	if err != nil {
		t.Fatal(err)
	}
	return openDevice(t, o), right, w
}

func put(t *testing.T, w endpoint.Writer, frame []byte) {
	t.Helper()
	place, err := w.Reserve(time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Commit(copy(place, frame)); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(time.Time{}); err != nil {
		t.Fatal(err)
	}
}

// asker is a host.Port over a bare cable.
type asker struct {
	*simnet.Link
	t *testing.T
	w endpoint.Writer
}

func (a asker) Send(frames [][]byte, _ time.Time) (int, error) {
	for _, f := range frames {
		put(a.t, a.w, f)
	}
	return len(frames), nil
}

func TestNeighboursGetTheDevicesMACAddress(t *testing.T) {
	dev, link, w := wired(t, nil)
	for _, own := range []string{"10.0.0.1", "fd00::1"} {
		for _, from := range []string{"10.0.0.9", "fd00::9", ""} {
			q := host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 9}, Target: netip.MustParseAddr(own)}
			if from != "" {
				q.IP = netip.MustParseAddr(from)
			}
			mac, err := host.Ask(within(t), asker{link, t, w}, q)
			if err != nil || !bytes.Equal(mac[:], dev.MAC()) {
				t.Errorf("%s asked by %q: %x, %v", own, from, mac, err)
			}
		}
	}
	if dev.MAC()[0]&3 != 2 {
		t.Errorf("%v is not a locally administered address of one station", dev.MAC())
	}
}

func TestQuestionsForOthersAreNotAnswered(t *testing.T) {
	dev, link, w := wired(t, nil)
	put(t, w, host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 9}, IP: netip.MustParseAddr("10.0.0.9"), Target: netip.MustParseAddr("10.0.0.2")}.Append(nil))
	put(t, w, host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 9}, Target: netip.MustParseAddr("fd00::2")}.Append(nil))
	waitFor(t, dev, func(s endpoint.Stats) bool { return s.NotOurs == 2 })
	var batch nic.Batch
	if err := link.Receive(&batch, time.Now()); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%d frames came: %v", len(batch.Frames), err)
	}
}

// waitFor waits until the counts are as wanted.
func waitFor(t testing.TB, dev *endpoint.Device, ok func(endpoint.Stats) bool) {
	t.Helper()
	for ctx := within(t); !ok(dev.Stats()); runtime.Gosched() {
		if ctx.Err() != nil {
			t.Fatalf("%+v", dev.Stats())
		}
	}
}

func TestAnUnknownNeighbourIsAskedForUntilTheDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dev, _, _ := wired(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begin := time.Now()
		_, err := dev.CreateAH(ctx, endpoint.Address{DGID: netip.MustParseAddr("10.0.0.7")})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(begin) != time.Second {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		if _, err = dev.CreateAH(t.Context(), endpoint.Address{DGID: netip.MustParseAddr("10.0.0.7")}); !errors.Is(err, host.ErrNoAnswer) {
			t.Errorf("without a deadline: %v", err)
		}
		_ = dev.Close()
	})
}

func TestVLANTagsAndPrioritiesAreUsed(t *testing.T) {
	left, right := options(1500)
	left.VLAN, right.VLAN = &endpoint.VLAN{ID: 7, Priority: 3}, &endpoint.VLAN{ID: 7}
	var tags, others int
	right.AfterReceive = func(frame []byte) endpoint.Verdict {
		tag := wire.VLAN(frame[wire.EthernetLen:])
		if wire.Ethernet(frame).Type() == wire.EtherTypeVLAN && tag.ID() == 7 && tag.Priority() == 3 {
			tags++
		} else {
			others++
		}
		return endpoint.Pass
	}
	a, b := connected(t, endpoint.RC, left, right, 1, 4096)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 4000), 0))
	a.want(1, endpoint.Success)
	_ = b.dev.Close()
	if tags == 0 || others != 0 {
		t.Errorf("%d frames were tagged, %d were not", tags, others)
	}
}

// isWrite reports whether a frame is a request to write.
func isWrite(frame []byte) bool {
	var f wire.Frame
	f.Parse(wire.LinkEthernet, frame, len(frame))
	op, ok := f.Opcode()
	return ok && f.Proto == wire.ProtoRoCEv2 && op == wire.BaseRC+wire.OpWriteOnly
}

func TestHooksDropAndChangeFrames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		left, right := options(1500)
		seen := 0
		left.BeforeSend = func(frame []byte) endpoint.Verdict {
			if !isWrite(frame) {
				return endpoint.Pass
			}
			switch seen++; seen {
			case 1:
				return endpoint.Drop
			case 2: // a wrong ICRC
				frame[len(frame)-1] ^= 1
			case 3: // other data, with a right one
				frame[len(frame)-icrc.Len-1] = 0x55
				return endpoint.Seal
			}
			return endpoint.Pass
		}
		a, b := connected(t, endpoint.RC, left, right, 0, 4096)
		a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0))
		a.want(1, endpoint.Success)
		if s := b.dev.Stats(); s.BadICRC != 1 {
			t.Errorf("%d packets with a wrong ICRC", s.BadICRC)
		}
		if s := a.dev.Stats(); s.HookDropped != 1 || seen != 3 {
			t.Errorf("%d dropped of %d", s.HookDropped, seen)
		}
		_ = a.dev.Close()
		_ = b.dev.Close()
		if b.mem[99] != 0x55 {
			t.Error("the change did not arrive")
		}
	})
}

func TestRecordsHoldEverything(t *testing.T) {
	left, right := options(1500)
	var sent bytes.Buffer
	left.Record = &sent
	a, b := connected(t, endpoint.RC, left, right, 0, 1<<16)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 10000), 0))
	a.want(1, endpoint.Success)
	if err := a.dev.Close(); err != nil {
		t.Fatal(err)
	}
	frames, good := readRecord(t, sent.Bytes())
	if stats := a.dev.Stats(); frames != stats.SentFrames+stats.ReceivedFrames || good < 11 {
		t.Errorf("%d frames, %d packets, and %+v", frames, good, stats)
	}
}

// readRecord counts the frames of a capture, and those with a right ICRC.
func readRecord(t *testing.T, file []byte) (frames, good uint64) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "record.pcapng")
	if err := os.WriteFile(name, file, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := capfile.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return frames, good
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, rec := range batch.Records {
			frames++
			switch verdict, _, _ := icrc.Verify(rec.Data); verdict {
			case icrc.Good:
				good++
			case icrc.Bad:
				t.Errorf("frame %d has a wrong ICRC", frames)
			}
		}
		batch.Release()
	}
}

// rxe's FLUSH requests have a wrong ICRC, and it wants that one.
func TestFlushWithTheICRCOfRxe(t *testing.T) {
	for _, c := range []struct {
		name       string
		send, take endpoint.ICRC
		want       endpoint.Status
	}{
		{"both", endpoint.RxeFlushICRC, endpoint.RxeFlushICRC, endpoint.Success},
		{"right one to rxe's policy", endpoint.StrictICRC, endpoint.RxeFlushICRC, endpoint.Success},
		{"any is taken", endpoint.RxeFlushICRC, endpoint.AnyICRC, endpoint.Success},
		{"strict drops it", endpoint.RxeFlushICRC, endpoint.StrictICRC, endpoint.RetryExceeded},
	} {
		t.Run(c.name, func(t *testing.T) {
			left, right := options(1500)
			left.ICRC, right.ICRC = c.send, c.take
			a, b := connected(t, endpoint.RC, left, right, 1, 4096)
			a.send(endpoint.WorkRequest{ID: 1, Op: endpoint.Flush, RemoteAddr: b.region.VA(), RKey: b.region.RKey(), Length: 100, Placement: 1})
			a.want(1, c.want)
		})
	}
}

// The capture has a FLUSH of a kernel: the device computes the same ICRC.
func TestFlushICRCIsTheOneThatRxeSends(t *testing.T) {
	r, err := capfile.Open("../pcaps/py_flush.pcap")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	batch, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	flush := bytes.Clone(batch.Records[4].Data)
	for _, c := range []struct {
		policy endpoint.ICRC
		bad    uint64
	}{{endpoint.StrictICRC, 1}, {endpoint.RxeFlushICRC, 0}} {
		dev, _, w := wired(t, func(o *endpoint.Options) {
			o.ICRC, o.MAC, o.Addresses = c.policy, flush[:6], prefixes("10.77.0.3/24")
		})
		put(t, w, flush)
		waitFor(t, dev, func(s endpoint.Stats) bool { return s.BadICRC == c.bad && s.UnknownQP == 1-c.bad })
	}
}

func TestCloseEndsEverythingThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // fails when a goroutine is left
		dev, _, _ := wired(t, nil)
		cq := dev.CreateCQ(4)
		l, err := dev.Listen(endpoint.TCPPort(1))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		for _, wait := range []func() error{
			func() error { return cq.Wait(t.Context()) },
			func() error { _, err := cq.Next(t.Context()); return err },
			func() error { _, err := l.Accept(t.Context()); return err },
			func() error {
				_, err := dev.CreateAH(t.Context(), endpoint.Address{DGID: netip.MustParseAddr("10.0.0.7")})
				return err
			},
		} {
			go func() { ended <- wait() }()
		}
		synctest.Wait()
		if err := dev.Close(); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			if err := <-ended; !errors.Is(err, endpoint.ErrClosed) {
				t.Errorf("ended with %v", err)
			}
		}
		if err := dev.Close(); !errors.Is(err, endpoint.ErrClosed) {
			t.Errorf("second Close: %v", err)
		}
		if _, ok := <-dev.Events(); ok {
			t.Error("an event came")
		}
		if _, err := dev.CreateQP(endpoint.QPOptions{Type: endpoint.RC, PD: dev.AllocPD()}); !errors.Is(err, endpoint.ErrClosed) {
			t.Errorf("CreateQP: %v", err)
		}
	})
}

func TestImpossibleOptionsAreRefused(t *testing.T) {
	for name, change := range map[string]func(*endpoint.Options){
		"address": func(o *endpoint.Options) { o.Addresses = nil },
		"MTU":     func(o *endpoint.Options) { o.MTU = 4096 },
		"MAC":     func(o *endpoint.Options) { o.MAC = []byte{1, 2, 3} },
	} {
		left, _ := simnet.Pair(1500)
		o := endpoint.Options{Link: left, Addresses: prefixes("10.0.0.1/24")}
		change(&o)
		if dev, err := endpoint.Open(o); err == nil {
			_ = dev.Close()
			t.Errorf("%s was taken", name)
		} else if strings.TrimSpace(err.Error()) == "" {
			t.Errorf("%s: no words", name)
		}
	}
}

func TestMarkedPacketsAreAnsweredWithCNPs(t *testing.T) {
	left, right := options(1500)
	left.Congestion = endpoint.Congestion{React: true}
	right.Congestion = endpoint.Congestion{Notify: true}
	right.AfterReceive = func(frame []byte) endpoint.Verdict {
		if isWrite(frame) {
			ip := wire.IPv4Header(frame[wire.EthernetLen : wire.EthernetLen+wire.IPv4MinLen])
			if ip.ECN() != 2 {
				t.Errorf("sent with ECN %d", ip.ECN())
			}
			ip.SetECN(3)
			ip.SetChecksum(wire.IPv4Checksum(ip))
		}
		return endpoint.Pass
	}
	a, b := connected(t, endpoint.RC, left, right, 0, 4096)
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0))
	a.want(1, endpoint.Success)
	waitFor(t, a.dev, func(s endpoint.Stats) bool { return s.CNPsReceived == 1 })
	if s := b.dev.Stats(); s.CNPsSent != 1 || s.MarkedReceived != 1 {
		t.Errorf("%+v", s)
	}
	a.send(remoteTo(b, endpoint.Write, a.region.SGL(0, 100), 0))
	a.want(1, endpoint.Success) // slower, but it goes on
}

// Every beginning of frames that a device answers.
func TestCutFramesAreDropped(t *testing.T) {
	dev, _, w := wired(t, nil)
	asker := host.Question{MAC: host.MAC{2, 0, 0, 0, 0, 9}, IP: netip.MustParseAddr("10.0.0.9"), Target: netip.MustParseAddr("10.0.0.1")}
	frames := [][]byte{asker.Append(nil)}
	asker.IP, asker.Target = netip.MustParseAddr("fd00::9"), netip.MustParseAddr("fd00::1")
	frames = append(frames, asker.Append(nil))
	sent := uint64(0)
	for _, whole := range frames {
		for n := wire.EthernetLen; n < len(whole); n++ {
			frame := whole[:n]
			put(t, w, frame)
			sent++
		}
	}
	waitFor(t, dev, func(s endpoint.Stats) bool { return s.ReceivedFrames == sent })
	// Of ARP's 60 bytes the last 18 are only padding.
	if s := dev.Stats(); s.NeighbourAnswers != 18 {
		t.Errorf("%d answers", s.NeighbourAnswers)
	}
}
