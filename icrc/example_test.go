package icrc_test

import (
	"encoding/hex"
	"fmt"

	"github.com/rocecap/rocecap/icrc"
)

// A packet begins at its IP header and ends just before the ICRC; the Ethernet
// header is not covered.
func ExampleCompute() {
	packet, _ := hex.DecodeString("45620030123440004011a408c000020ac0000214" + // IPv4
		"c35112b7001c0000" + // UDP, destination port 4791
		"1140ffff000001230000a1b2" + "1f000007") // BTH and AETH of an ACK
	sum := icrc.Compute(icrc.RoCEv2IPv4, packet)

	onTheWire := make([]byte, icrc.Len)
	icrc.Store(onTheWire, sum)
	fmt.Printf("%08x is sent as % x\n", sum, onTheWire)
	// Output: ef69aa22 is sent as 22 aa 69 ef
}

func ExampleVerify() {
	frame, _ := hex.DecodeString("02000000000b02000000000a0800" +
		"45620030123440004011a408c000020ac0000214" + "c35112b7001c0000" +
		"1140ffff000001230000a1b2" + "1f000007" + "ef69aa22")
	verdict, computed, received := icrc.Verify(frame)
	fmt.Printf("%v: computed %08x, received %08x\n", verdict, computed, received)
	// Output: bad: computed ef69aa22, received 22aa69ef
}

// The ICRC of this frame is right, but most significant byte first.
func ExampleExplain() {
	frame, _ := hex.DecodeString("02000000000b02000000000a0800" +
		"45620030123440004011a408c000020ac0000214" + "c35112b7001c0000" +
		"1140ffff000001230000a1b2" + "1f000007" + "ef69aa22")
	why := icrc.Explain(frame)
	fmt.Printf("%v: %s\n", why.Cause, why.Detail)
	// Output: byte order: stored big-endian (byte-swapped)
}

// After a change to a covered field, Patch makes the ICRC right again.
func ExamplePatch() {
	frame, _ := hex.DecodeString("02000000000b02000000000a0800" +
		"45620030123440004011a408c000020ac0000214" + "c35112b7001c0000" +
		"1140ffff000001230000a1b2" + "1f000007" + "22aa69ef")
	frame[14+20+8+9]++ // the PSN

	before, _, _ := icrc.Verify(frame)
	if err := icrc.Patch(frame); err != nil {
		fmt.Println(err)
	}
	after, _, _ := icrc.Verify(frame)
	fmt.Println(before, "->", after)
	// Output: bad -> good
}

// A Hasher computes ICRCs without allocating.
func ExampleHasher_Put() {
	packet, _ := hex.DecodeString("45620030123440004011a408c000020ac0000214" + "c35112b7001c0000" +
		"1140ffff000001230000a1b2" + "1f000007" + "00000000")
	var h icrc.Hasher
	h.Put(icrc.RoCEv2IPv4, packet)
	fmt.Printf("%x\n", packet[len(packet)-icrc.Len:])
	// Output: 22aa69ef
}
