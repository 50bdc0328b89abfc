package icrc

// VCRCLen is the length of a VCRC in bytes. Like the ICRC it is stored least
// significant byte first.
const VCRCLen = 2

// vcrcPoly is the polynomial 0x100B with its bits reversed (IBTA 7.8.2).
const vcrcPoly = 0xD008

// vcrcTable[k][b] is the CRC register after byte b and k zero bytes, beginning
// with zero.
var vcrcTable = newVCRCTable()

func newVCRCTable() (t [8][256]uint16) {
	for b := range t[0] {
		crc := uint16(b)
		for range 8 {
			crc = crc>>1 ^ vcrcPoly&-(crc&1)
		}
		t[0][b] = crc
	}
	for k := 1; k < len(t); k++ {
		for b, crc := range t[k-1] {
			t[k][b] = crc>>8 ^ t[0][byte(crc)]
		}
	}
	return t
}

// VCRC returns the variant CRC of a native InfiniBand packet from the LRH to
// the end of the ICRC, nothing masked.
func VCRC(b []byte) uint16 {
	t := &vcrcTable
	crc := uint16(0xFFFF)
	for ; len(b) >= 8; b = b[8:] {
		crc = t[7][b[0]^byte(crc)] ^ t[6][b[1]^byte(crc>>8)] ^
			t[5][b[2]] ^ t[4][b[3]] ^ t[3][b[4]] ^ t[2][b[5]] ^ t[1][b[6]] ^ t[0][b[7]]
	}
	for _, v := range b {
		crc = crc>>8 ^ t[0][byte(crc)^v]
	}
	return ^crc
}
