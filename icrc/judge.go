package icrc

import (
	"encoding/binary"
	"errors"

	"github.com/rocecap/rocecap/internal/wire"
)

// Errors of Patch, PatchIB and Hasher.PatchFrame.
var (
	ErrNoPacket     = errors.New("icrc: no RDMA packet in the frame")
	ErrCut          = errors.New("icrc: the frame is shorter than the packet in it")
	ErrNotCheckable = errors.New("icrc: no rule says what the ICRC of this packet covers")
)

// Judge compares the ICRC of a parsed frame with the one computed, as Verify
// does for bytes. The values are only set when the verdict is Good or Bad.
func (h *Hasher) Judge(f *wire.Frame) (v Verdict, computed, received uint32) {
	form, v := formOf(f)
	if v != Good {
		return v, 0, 0
	}
	computed = h.Sum(form, f.Data[f.Net:f.ICRC])
	received = Load(f.Data[f.ICRC:])
	if computed != received {
		v = Bad
	}
	return v, computed, received
}

// formOf returns the form of the packet in a frame; the verdict is Good when
// all of it is there and its ICRC can be computed.
//
// Lengths come from the packet: Ethernet pads a short frame, and an FCS may
// follow. IP options and extension headers have no rule in A17, and of a
// fragment only a part is in the frame.
func formOf(f *wire.Frame) (form Form, v Verdict) {
	switch f.Proto {
	case wire.ProtoRoCEv1:
		form = RoCEv1
	case wire.ProtoRoCEv2:
		form = RoCEv2IPv4
		if f.Data[f.Net]>>4 == 6 {
			form = RoCEv2IPv6
		}
	case wire.ProtoIB:
		form = IBLocal
		if wire.LRH(f.Data[f.Net:]).LNH() == wire.LNHGlobal {
			form = IBGlobal
		}
	default:
		return 0, NotApplicable
	}
	switch {
	case f.Problems&wire.ProblemFragment != 0 || f.BTH >= 0 && f.BTH-f.Net != bthAt[form]:
		return form, NotCheckable
	case f.End > len(f.Data):
		return form, Cut
	case f.ICRC < f.BTH+wire.BTHLen || f.BTH < 0:
		return form, NotCheckable
	}
	return form, Good
}

// JudgeVCRC compares the VCRC of a native InfiniBand packet in a parsed frame
// with the one computed, as VerifyVCRC does for bytes. It is NotApplicable to a
// capture that leaves the VCRC out.
func JudgeVCRC(f *wire.Frame) (v Verdict, computed, received uint16) {
	if f.VCRC < 0 {
		return NotApplicable, 0, 0
	}
	lrh, ok := f.Last(wire.HdrLRH)
	begin := int(lrh.Off)
	switch {
	case !ok:
		return NotApplicable, 0, 0
	case f.VCRC+VCRCLen > len(f.Data):
		return Cut, 0, 0
	case f.VCRC < begin+wire.LRHLen:
		return NotCheckable, 0, 0
	}
	computed = VCRC(f.Data[begin:f.VCRC])
	received = binary.LittleEndian.Uint16(f.Data[f.VCRC:])
	if computed != received {
		return Bad, computed, received
	}
	return Good, computed, received
}

// Verify judges the ICRC of the packet in an Ethernet frame, which may be
// tagged, tunnelled, padded, or followed by its FCS. The values are only set
// when the verdict is Good or Bad.
func Verify(ethernetFrame []byte) (v Verdict, computed, received uint32) {
	return verify(wire.LinkEthernet, ethernetFrame)
}

// VerifyIB is Verify for a native InfiniBand packet, which begins with its LRH.
func VerifyIB(packet []byte) (v Verdict, computed, received uint32) {
	return verify(wire.LinkIB, packet)
}

// VerifyVCRC judges the VCRC of a native InfiniBand packet: the two bytes behind
// the ICRC. It is NotApplicable when they are not there.
func VerifyVCRC(packet []byte) (v Verdict, computed, received uint16) {
	var f wire.Frame
	f.Parse(wire.LinkIB, packet, 0)
	return JudgeVCRC(&f)
}

func verify(link wire.LinkType, data []byte) (v Verdict, computed, received uint32) {
	var f wire.Frame
	f.Parse(link, data, 0)
	return new(Hasher).Judge(&f)
}

// Patch stores the right ICRC into an Ethernet frame. It changes nothing else:
// IPv4 and UDP checksums are not covered by the ICRC and remain the caller's.
func Patch(ethernetFrame []byte) error {
	var f wire.Frame
	f.Parse(wire.LinkEthernet, ethernetFrame, 0)
	return new(Hasher).PatchFrame(&f)
}

// PatchIB stores the right ICRC into a native InfiniBand packet, and the right
// VCRC when two bytes for it follow.
func PatchIB(packet []byte) error {
	var f wire.Frame
	f.Parse(wire.LinkIB, packet, 0)
	return new(Hasher).PatchFrame(&f)
}

// PatchFrame stores the right ICRC into a parsed frame, and the right VCRC
// when it has one, as Patch and PatchIB do for bytes. A raw packet has a VCRC
// alone.
func (h *Hasher) PatchFrame(f *wire.Frame) error {
	v, computed, _ := h.Judge(f)
	switch v {
	case NotApplicable:
		if !patchVCRC(f) {
			return ErrNoPacket
		}
		return nil
	case Cut:
		return ErrCut
	case NotCheckable:
		return ErrNotCheckable
	}
	Store(f.Data[f.ICRC:], computed)
	patchVCRC(f)
	return nil
}

// patchVCRC stores the right VCRC; it reports false when there is no place for
// one.
func patchVCRC(f *wire.Frame) bool {
	v, computed, _ := JudgeVCRC(f)
	if v != Good && v != Bad {
		return false
	}
	binary.LittleEndian.PutUint16(f.Data[f.VCRC:], computed)
	return true
}
