package prefilter_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"golang.org/x/net/bpf"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/netio/nettest"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/netio/prefilter"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// mark is the source address of the frames that the tests send.
var mark = []byte{2, 0, 0, 0, 0, 1}

// capturedFrames are the frames of every capture at hand that fit into an MTU, to
// an address that the far kernel does not answer.
func capturedFrames(t *testing.T, mtu int) (frames [][]byte, rdma int) {
	var frame wire.Frame
	captest.Each(t, func(_ string, _ int, rec *capfile.Record) {
		frame.Parse(rec.Link, rec.Data, rec.WireLen)
		if rec.Link != wire.LinkEthernet || frame.Cut() || len(rec.Data) > mtu {
			return
		}
		f := bytes.Clone(rec.Data)
		copy(f, []byte{2, 0xEE, 0xEE, 0xEE, 0xEE, 0xEE})
		copy(f[6:], mark)
		frames = append(frames, f)
		switch frame.Proto {
		case wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoPause, wire.ProtoPFC:
			rdma++
		}
	})
	return frames, rdma
}

// through sends frames over a cable and returns those that a program lets through.
func through(t *testing.T, frames [][]byte, program func(iface string) ([]bpf.RawInstruction, error)) (passed [][]byte) {
	t.Helper()
	l, r := nettest.Pair(t)
	l.IP(t, "link set left0 mtu 9000")
	r.IP(t, "link set right0 mtu 9000")
	var link *nic.Link
	l.Do(t, func() {
		var err error
		if link, err = nic.Open(nic.Options{Interface: nettest.LeftInterface, SendOnly: true}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _ = link.Close() })
	var capture, everything *nic.Capture
	r.Do(t, func() {
		filter, err := program(nettest.RightInterface)
		if err != nil {
			t.Fatal(err)
		}
		if capture, err = nic.OpenCapture(nic.CaptureOptions{
			Interface: nettest.RightInterface, Filter: filter, Promiscuous: true, RingBytes: 64 << 20,
		}); err != nil {
			t.Fatal(err)
		}
		if everything, err = nic.OpenCapture(nic.CaptureOptions{Interface: nettest.RightInterface, RingBytes: 1}); err != nil {
			t.Fatal(err)
		}
	})
	t.Cleanup(func() { _, _ = capture.Close(), everything.Close() })

	soon := time.Now().Add(20 * time.Second)
	for sent := 0; sent < len(frames); { // no more at once than the far kernel's backlog holds
		n := min(len(frames)-sent, 500)
		if sent, err := link.Send(frames[sent:sent+n], soon); err != nil {
			t.Fatalf("after %d frames: %v", sent, err)
		}
		sent += n
		for arrived := uint64(0); arrived < uint64(sent); {
			stats, err := everything.Stats()
			if err != nil || time.Now().After(soon) {
				t.Fatalf("%d of %d frames arrived: %v", arrived, sent, err)
			}
			arrived = stats.Received + stats.Dropped
		}
	}
	if err := capture.Stop(); err != nil {
		t.Fatal(err)
	}
	for {
		block, err := capture.Readers()[0].Next(soon)
		if errors.Is(err, nic.ErrStopped) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for f := (nic.Frame{}); block.Next(&f); {
			if bytes.Equal(f.Data[6:12], mark) {
				passed = append(passed, bytes.Clone(f.Data))
			}
		}
		block.Release()
	}
	if stats, err := capture.Stats(); err != nil || stats.Dropped > 0 {
		t.Errorf("%+v, %v", stats, err)
	}
	return passed
}

// TestTheKernelLetsAllRDMAThrough runs the program where it is made for: there a
// VLAN tag may be beside the frame instead of in it.
func TestTheKernelLetsAllRDMAThrough(t *testing.T) {
	testneed.Root(t)
	frames, rdma := capturedFrames(t, 9000)
	passed := through(t, frames, func(string) ([]bpf.RawInstruction, error) {
		return prefilter.RDMA(prefilter.Traffic{Encapsulated: true})
	})
	got, tagged := 0, 0
	var frame wire.Frame
	for _, data := range passed {
		frame.Parse(wire.LinkEthernet, data, 0)
		switch frame.Proto {
		case wire.ProtoRoCEv1, wire.ProtoRoCEv2, wire.ProtoPause, wire.ProtoPFC:
			got++
		}
		if t := wire.Ethernet(data).Type(); t == wire.EtherTypeVLAN || t == wire.EtherTypeQinQ {
			tagged++
		}
	}
	t.Logf("%d frames sent, %d of RDMA; %d passed, %d of them tagged", len(frames), rdma, len(passed), tagged)
	if got != rdma || tagged == 0 || len(passed) == len(frames) {
		t.Errorf("%d of %d RDMA frames passed", got, rdma)
	}
}

func TestAnExpressionRunsInTheKernel(t *testing.T) {
	testneed.Tool(t, "tcpdump")
	testneed.Root(t)
	frames, _ := capturedFrames(t, 9000)
	want := 0
	for _, f := range frames {
		if wire.Ethernet(f).Type() == wire.EtherTypeVLAN {
			want++
		}
	}
	passed := through(t, frames, func(iface string) ([]bpf.RawInstruction, error) {
		return prefilter.Compile("vlan and not ether proto 0x9100", iface)
	})
	tags := 0
	for _, f := range passed {
		if wire.Ethernet(f).Type() == wire.EtherTypeVLAN {
			tags++
		}
	}
	if tags != want || want == 0 {
		t.Errorf("%d of %d frames with a tag passed", tags, want)
	}
}
