package roceinject_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocecap/rocecap/internal/cli"
	"github.com/rocecap/rocecap/internal/cli/roceinject"
	"github.com/rocecap/rocecap/internal/wire"
)

// TestLabCraftedSendIsAcknowledgedUnlessItsICRCIsWrong sends a live queue pair
// the same SEND three times: with one bit of the ICRC turned over, with the
// ICRC's bytes the wrong way round, and right. Had the kernel taken one of the
// first two, the right one would be a duplicate and be acknowledged too.
func TestLabCraftedSendIsAcknowledgedUnlessItsICRCIsWrong(t *testing.T) {
	const ourQPN, ourPSN = 0x11, 0x654321
	p := startPingPong(t, ourQPN, ourPSN)
	l, port, guest, server, qpn := p.lab, p.port, p.guest, p.server, p.qpn
	capture := l.Capture(t, "br0", "udp port 4791")
	for _, icrc := range []string{"flip:0", "swapped", "auto"} {
		var out, errs bytes.Buffer
		code := 0
		err := l.Do(func() error {
			code = roceinject.Main([]string{
				"send", "rc", "send-only", "-i", port.Name, "--icrc", icrc,
				"--smac", port.MAC.String(), "--dmac", guest.MAC.String(), "--src", port.IP4.String(), "--dst", guest.IP4.String(),
				"--qp", fmt.Sprint(qpn), "--psn", fmt.Sprint(ourPSN), "--payload", "text:crafted",
			}, cli.Streams{Out: &out, Err: &errs})
			return nil
		})
		if err != nil || code != 0 {
			t.Fatalf("--icrc %s: exit code %d, %v\n%s%s", icrc, code, err, out.String(), errs.String())
		}
	}
	acks := 0
	for _, rec := range roceinject.CaptureOf(t, capture.Stop(t)) {
		var f wire.Frame
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		bth, aeth := wire.BTH(f.View(wire.HdrBTH)), wire.AETH(f.View(wire.HdrAETH))
		if len(bth) == 0 || len(aeth) == 0 || bth.DestQP() != ourQPN || bth.PSN() != ourPSN {
			continue
		}
		if acks++; aeth.Syndrome().Kind() != wire.Ack || aeth.MSN() != 1 {
			t.Errorf("syndrome %#x, MSN %d", uint8(aeth.Syndrome()), aeth.MSN())
		}
	}
	if acks != 1 {
		t.Errorf("%d acknowledgements, want that of the right SEND alone", acks)
	}
	server.Stop() // it waits for the rest of the ping-pong
}
