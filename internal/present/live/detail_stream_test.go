package live

import (
	"fmt"
	"strings"
	"testing"
)

// TestTheDetailOfAnIWARPConnectionHasNoPSNs opens a row that is an iWARP connection.
func TestTheDetailOfAnIWARPConnectionHasNoPSNs(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}, {20, 5}} {
		d := newDesk(t, size[0], size[1])
		d.detail = &Detail{Stream: true, Analysis: "   packets 1 to 90; MPA revision 2\n" + strings.Repeat("   a line\n", 100)}
		for i := range 90 {
			d.detail.Lines = append(d.detail.Lines, fmt.Sprintf("%6d 10:20:30.000000000 192.0.2.1 → 192.0.2.2 iWARP Send", i+1))
		}
		d.run(1, 2, 1)
		d.keys("enter")
		d.hasNot("PSNs of its requests")
		if size[0] == 20 {
			d.keys("2", "3", "4") // draws what it can
			d.frame()
			continue
		}
		d.has("last packets", "    90 10:20:30")
		d.keys("2")
		d.has("    90 10:20:30")
		d.keys("up", "up")
		d.has("    88 10:20:30")
		d.hasNot("    89 10:20:30")
		d.keys("home")
		d.has("     1 10:20:30")
		d.keys("3")
		d.has("MPA revision 2")
		d.keys("4")
		d.has("is set up by the first frames of its stream")
		d.detail.Lines = nil
		d.keys("1")
		d.has(noPackets)
		d.keys("2")
		d.has(noPackets)
	}
}
