package endpoint

import (
	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/wire"
)

// hooked asks a hook about a frame and reports whether the frame is to go on.
func hooked(hook func([]byte) Verdict, frame []byte, parsed *wire.Frame, hasher *icrc.Hasher) bool {
	switch hook(frame) {
	case Drop:
		return false
	case Seal:
		parsed.Parse(wire.LinkEthernet, frame, len(frame))
		reseal(parsed, hasher)
	}
	return true
}

// reseal makes the checksums and the ICRC of a frame right again, from the
// inside out. Lengths stay as they are.
func reseal(f *wire.Frame, hasher *icrc.Hasher) {
	_ = hasher.PatchFrame(f) // what has no ICRC needs none
	var ip wire.Header
	for _, h := range f.Headers() {
		switch h.ID {
		case wire.HdrIPv4, wire.HdrIPv6:
			ip = h
		case wire.HdrUDP:
			if udp := wire.UDP(f.Whole(h)); udp != nil && udp.Checksum() != 0 {
				src, dst := ends(f, ip)
				udp.SetChecksum(wire.UDPChecksum(src, dst, f.Data[h.Off:min(f.End, len(f.Data))]))
			}
		}
	}
	if ip.ID == wire.HdrIPv4 {
		if h := wire.IPv4Header(f.Whole(ip)); h != nil {
			h.SetChecksum(wire.IPv4Checksum(h))
		}
	}
}

// ends are the addresses of an IP header.
func ends(f *wire.Frame, ip wire.Header) (src, dst []byte) {
	b := f.Whole(ip)
	if b == nil {
		return nil, nil
	}
	addresses := wire.IPv4Header(b).Addresses()
	if ip.ID == wire.HdrIPv6 {
		addresses = wire.IPv6Header(b).Addresses()
	}
	return addresses[:len(addresses)/2], addresses[len(addresses)/2:]
}
