package pause

import (
	"encoding/hex"

	"github.com/rocecap/rocecap/internal/wire"
)

// MAC is an Ethernet address.
type MAC [6]byte

// String writes the address with colons.
func (m MAC) String() string {
	text := make([]byte, 0, 17)
	for i := range m {
		if i > 0 {
			text = append(text, ':')
		}
		text = hex.AppendEncode(text, m[i:i+1])
	}
	return string(text)
}

// group is the address to which flow control frames go: bridges do not forward
// it (IEEE 802.3, 31B.1).
var group = MAC{0x01, 0x80, 0xC2, 0x00, 0x00, 0x01}

// Frame is what the tracker needs to know of one flow control frame.
type Frame struct {
	Number   int   // 1-based place in the capture
	Time     int64 // nanoseconds since the epoch
	Src, Dst MAC
	Plain    bool                    // a PAUSE, which knows no priorities
	Enabled  uint16                  // of PFC: bit n says that the quanta of priority n count
	Quanta   [wire.PFCClasses]uint16 // of a PAUSE the first
}

// Read takes the facts out of an Ethernet frame; ok is false when it has no whole
// flow control frame, or no addresses. The number and the time are the caller's.
func (p *Frame) Read(f *wire.Frame) (ok bool) {
	var eth wire.Ethernet
	for _, h := range f.Headers() {
		b := f.Whole(h)
		if b == nil {
			continue
		}
		switch h.ID {
		case wire.HdrEthernet:
			eth = b
		case wire.HdrMACControl:
			if f.Proto == wire.ProtoPause {
				p.Plain, p.Enabled, p.Quanta = true, 0, [wire.PFCClasses]uint16{wire.MACControl(b).PauseTime()}
				ok = true
			}
		case wire.HdrPFC:
			p.Plain, p.Enabled = false, wire.PFC(b).Enabled()
			for class := range p.Quanta {
				p.Quanta[class] = wire.PFC(b).PauseTime(class)
			}
			ok = true
		}
	}
	if eth == nil {
		return false
	}
	p.Src, p.Dst = eth.Src(), eth.Dst()
	return ok
}

// odd reports whether a frame is not as the standards want it: a PFC frame goes
// to the group address, has no reserved bit set and names a priority; a PAUSE may
// go to a station's own address.
func (p *Frame) odd() bool {
	if p.Plain {
		return p.Dst != group && p.Dst[0]&1 == 1
	}
	return p.Dst != group || p.Enabled == 0 || p.Enabled > 0xFF
}
