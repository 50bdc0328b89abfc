package wire_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rocecap/rocecap/internal/wire"
)

// case38 is the frame of conformance case 38: an NVMe Read in a SEND ONLY to QP
// 0x11, without the CM exchange that would say so.
const case38 = "02000000000b02000000000a08004502006c123440004011a42cc000020ac0000214c03012b70058000004" +
	"40ffff00000011800000030240100001000000000000000000000000000000000000000000563412" +
	"7f000000100001cdab00400010000000000000070000000000000000000000000000001446672d"

// parts writes the headers of a frame behind the BTH as "title+length".
func parts(f *wire.Frame) string {
	var list []string
	for _, h := range f.Headers() {
		if int(h.Off) > f.BTH {
			list = append(list, fmt.Sprintf("%s+%d", wire.SpecOf(h.ID).Title, h.Len))
		}
	}
	return strings.Join(list, ", ")
}

func TestNVMeIsDecodedOnlyWhenSomethingSaysSo(t *testing.T) {
	for _, tc := range []struct {
		as   wire.Upper
		want string
	}{
		{wire.UpperUnknown, "Payload+64, Invariant CRC+4"},
		{wire.UpperData, "Payload+64, Invariant CRC+4"},
		{wire.UpperNVMe, "NVMe Command+64, Invariant CRC+4"},
		{wire.UpperNVMeAdmin, "NVMe Admin Command+64, Invariant CRC+4"},
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, case38), 0)
		f.Interpret(tc.as)
		if got := parts(&f); got != tc.want || f.PayloadLen != 64 || f.Problems != 0 {
			t.Errorf("as %q: %s, payload %d, problems %#x; want %s", tc.as, got, f.PayloadLen, f.Problems, tc.want)
		}
	}
}

func TestInterpretContinuesIntoTheFirstPacketOfASend(t *testing.T) {
	body := func(n int) string { return strings.Repeat("00", n) }
	const command, cqe, rest = "NVMe Command+64", "NVMe Completion+16", "Invariant CRC+4"
	for _, tc := range []struct {
		name, packet string
		as           wire.Upper
		want         string
	}{
		{"SEND First", packet("00", body(256)), wire.UpperNVMe, command + ", Payload+192, " + rest},
		{"SEND Middle", packet("01", body(256)), wire.UpperNVMe, "Payload+256, " + rest},
		{"SEND Last", packet("02", body(64)), wire.UpperNVMe, "Payload+64, " + rest},
		{"SEND Last Immediate", packet("03", "00000001"+body(64)), wire.UpperNVMe, "Immediate Data+4, Payload+64, " + rest},
		{"SEND Only", packet("04", body(68)), wire.UpperNVMe, command + ", Payload+4, " + rest},
		{"SEND Only Immediate", packet("05", "00000001"+body(64)), wire.UpperNVMe, "Immediate Data+4, " + command + ", " + rest},
		{"SEND Only Invalidate", packet("17", "00000001"+body(16)), wire.UpperNVMe, "Invalidate Extended Transport Header+4, " + cqe + ", " + rest},
		{"XRC SEND Only", packet("a4", "00000001"+body(16)), wire.UpperNVMe, "XRC Extended Transport Header+4, " + cqe + ", " + rest},
		{"one byte more than a command", packet("04", body(65)), wire.UpperNVMe, command + ", Payload+1, " + rest},
		{"pad", bth("04", "50", "00", body(68)), wire.UpperNVMe, command + ", Payload+3, Pad+1, " + rest},
		{"Fabrics command", packet("04", "7f"+body(63)), wire.UpperNVMe, "NVMe Fabrics Command+64, " + rest},
		{"Fabrics command on queue 0", packet("04", "7f"+body(63)), wire.UpperNVMeAdmin, "NVMe Fabrics Command+64, " + rest},
		{"completion on queue 0", packet("04", body(16)), wire.UpperNVMeAdmin, cqe + ", " + rest},
		{"neither command nor completion", packet("04", body(20)), wire.UpperNVMe, "Payload+20, " + rest},
		{"nothing sent", packet("04", ""), wire.UpperNVMe, rest},
		{"WRITE Only", packet("0a", reth+body(64)), wire.UpperNVMe, "RDMA Extended Transport Header+16, Payload+64, " + rest},
		{"WRITE First", packet("06", reth+body(64)), wire.UpperNVMe, "RDMA Extended Transport Header+16, Payload+64, " + rest},
		{"READ Response Only", packet("10", "1f000001"+body(64)), wire.UpperNVMe, "ACK Extended Transport Header+4, Payload+64, " + rest},
		{"CNP of 0x80 and bytes that it may not have", packet("80", body(32)), wire.UpperNVMe, "Congestion Notification+16, Payload+16, " + rest},
		{"undefined opcode with the operation of a SEND", packet("e0", body(64)), wire.UpperNVMe, "Payload+64, " + rest},
		{"IPoIB", packet("64", "00000b1b00000055"+"08000000"+body(20)), wire.UpperIPoIB, "Datagram Extended Transport Header+8, IP over InfiniBand+4, Payload+20, " + rest},
		{"IPoIB of three bytes", packet("64", "00000b1b00000055"+"080000"), wire.UpperIPoIB, "Datagram Extended Transport Header+8, Payload+3, " + rest},
		{"IPoIB of four", packet("64", "00000b1b00000055"+"08000000"), wire.UpperIPoIB, "Datagram Extended Transport Header+8, IP over InfiniBand+4, " + rest},
	} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, roce(tc.packet)), 0)
		before := f.PayloadLen
		f.Interpret(tc.as)
		if got := parts(&f); got != tc.want || f.PayloadLen != before {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.name, got, tc.want)
		}
	}
}

func TestInterpretOfAFrameWithoutTransport(t *testing.T) {
	for _, frame := range []string{eth("0800", ip4(17, udp(9, strings.Repeat("00", 64)))), eth("88cc", plain), ""} {
		var f wire.Frame
		f.Parse(wire.LinkEthernet, unhex(t, frame), 0)
		before := shown(&f)
		f.Interpret(wire.UpperNVMe)
		if got := shown(&f); got != before {
			t.Errorf("%s became %s", before, got)
		}
	}
}

// A capture that ends inside the command still names it.
func TestInterpretOfACutFrame(t *testing.T) {
	data := unhex(t, case38)
	var f wire.Frame
	f.Parse(wire.LinkEthernet, data[:60:60], len(data))
	f.Interpret(wire.UpperNVMe)
	if got := parts(&f); got != "NVMe Command+64, Invariant CRC+4" || len(f.View(wire.HdrNVMeCommand)) != 6 {
		t.Errorf("%s, %d bytes of the command", got, len(f.View(wire.HdrNVMeCommand)))
	}
}

func TestInterpretWithoutRoomForOneMoreHeader(t *testing.T) {
	var f wire.Frame
	tags := strings.Repeat("0001 8100", 25) // with the frame's other headers 32
	f.Parse(wire.LinkEthernet, unhex(t, eth("8100"+tags, "0001 0800"+ip4(17, udp(4791, packet("04", strings.Repeat("00", 68)))))), 0)
	if n := len(f.Headers()); n != wire.MaxHeaders || f.Problems != 0 {
		t.Fatalf("%d headers, problems %#x", n, f.Problems)
	}
	f.Interpret(wire.UpperNVMe)
	if got := parts(&f); got != "NVMe Command+64, Invariant CRC+4" || f.Problems != wire.ProblemTooDeep {
		t.Errorf("%s, problems %#x", got, f.Problems)
	}
}

func TestUpperOfService(t *testing.T) {
	for _, tc := range []struct {
		service uint64
		private string
		want    wire.Upper
	}{
		{0x0000000001061144, "", wire.UpperNVMe},
		{0x0000000001061144, "0000 0000 2000 1f00", wire.UpperNVMeAdmin},
		{0x0000000001061144, "0000 0100 2000 1f00", wire.UpperNVMe},
		{0x0000000001061145, "0000 0000", wire.UpperUnknown}, // another port
		{0x0000000001111144, "0000 0000", wire.UpperUnknown}, // UDP port space
		{0x0000000002061144, "0000 0000", wire.UpperUnknown}, // no IP service
		{0x1000000001061144, "0000 0000", wire.UpperUnknown},
		{0x1000000000000404, "", wire.UpperIPoIB},
		{0x1000000000FFFFFF, "", wire.UpperIPoIB},
		{0x1000000001000000, "", wire.UpperUnknown},
		{0, "", wire.UpperUnknown},
	} {
		if got := wire.UpperOfService(tc.service, unhex(t, tc.private)); got != tc.want {
			t.Errorf("service %#016x with %s: %q, want %q", tc.service, tc.private, got, tc.want)
		}
	}
}

func TestUpperNames(t *testing.T) {
	names := wire.UpperNames()
	if want := []string{"data", "nvme", "nvme-admin", "ipoib"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	for _, name := range names {
		if u, ok := wire.UpperByName(name); !ok || u.String() != name {
			t.Errorf("%q is %v, %v", name, u, ok)
		}
	}
	for _, name := range []string{"", "NVMe", "other"} {
		if u, ok := wire.UpperByName(name); ok || u != wire.UpperUnknown {
			t.Errorf("%q is %v, %v", name, u, ok)
		}
	}
}
