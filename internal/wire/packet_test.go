package wire

import "testing"

// TestPacketFindsEveryExtendedHeader lays each opcode's headers, payload and
// pad side by side and asks for them again; one byte less is not valid.
func TestPacketFindsEveryExtendedHeader(t *testing.T) {
	for i := range 256 {
		op := Opcode(i)
		info := op.Info()
		if !info.Defined() {
			continue
		}
		p := make(Packet, info.HeaderLen()+4)
		for j := range p {
			p[j] = byte(j)
		}
		p.BTH().SetOpcode(op)
		p.BTH().SetPadCount(3)
		if !p.Valid() || p.BTH().PSN() != p.PSN() {
			t.Errorf("%v: not valid", op)
		}
		at := BTHLen
		for _, id := range info.Extended() {
			h := p.View(id)
			if len(h) == 0 || h[0] != byte(at) {
				t.Errorf("%v: %v is % x, not at %d", op, id, h, at)
			}
			at += len(h)
		}
		if body := p.Payload(); len(body) != 1 || body[0] != byte(at) {
			t.Errorf("%v: payload % x, not one byte at %d", op, body, at)
		}
		if p[:info.HeaderLen()+2].Valid() {
			t.Errorf("%v: valid without room for its pad", op)
		}
	}
	if p := (Packet{0x15, 11: 0}); p.Valid() {
		t.Error("an opcode without a meaning is valid")
	}
	for n := range BTHLen {
		if make(Packet, n).Valid() {
			t.Errorf("%d bytes are valid", n)
		}
	}
}
