package wire

import (
	"bytes"
	"testing"
)

func TestERFAccessors(t *testing.T) {
	checkAccessors(t, &erfSpec, ERFLen,
		func(h []byte) { ERF(h).SetType(ERFTypeInfiniBand) },
		[]accessor{
			accFlag("erf.types.ext_header", ERF.HasExtension, ERF.SetHasExtension),
			accNum("erf.types.type", ERF.Type, ERF.SetType),
			accFlag("erf.flags.dse", ERF.DSError, ERF.SetDSError),
			accFlag("erf.flags.rxe", ERF.RXError, ERF.SetRXError),
			accFlag("erf.flags.trunc", ERF.Truncated, ERF.SetTruncated),
			accFlag("erf.flags.vlen", ERF.Varying, ERF.SetVarying),
			accNum("erf.flags.cap", ERF.Interface, ERF.SetInterface),
			accNum("erf.rlen", ERF.RecordLen, ERF.SetRecordLen),
			accNum("erf.lctr", ERF.Loss, ERF.SetLoss),
			accNum("erf.wlen", ERF.WireLen, ERF.SetWireLen),
		}, "erf.types", "erf.flags", "erf.flags.res")
}

func TestERFTimestampIsLittleEndian(t *testing.T) {
	h := ERF(unhex(t, "1122334455667788 82 ff 0054 0007 0034"))
	if got := h.Timestamp(); got != 0x8877665544332211 { // erf.ts of tshark
		t.Errorf("timestamp %#x", got)
	}
	h.SetTimestamp(1 << 32)
	if want := unhex(t, "0000000001000000"); !bytes.Equal(h[:8], want) {
		t.Errorf("one second is %x, want %x", []byte(h[:8]), want)
	}
}

func TestERFFieldsAsTshark(t *testing.T) {
	checkFields(t, &erfSpec, "1122334455667788 82 ff 0054 0007 0034", map[string]uint64{
		"erf.types": 0x82, "erf.types.type": ERFTypeEthernet, "erf.types.ext_header": 1,
		"erf.flags": 0xFF, "erf.flags.cap": 3, "erf.flags.res": 3, "erf.rlen": 84, "erf.lctr": 7, "erf.wlen": 52,
	})
	checkFields(t, &erfSpec, "0000000001000000 15 04 006a 0000 005a", map[string]uint64{
		"erf.types.type": ERFTypeInfiniBand, "erf.types.ext_header": 0, "erf.flags.vlen": 1, "erf.flags.cap": 0,
		"erf.flags.trunc": 0, "erf.rlen": 106, "erf.wlen": 90,
	})
	checkFields(t, &erfSpec, "0000000001000000 0b 04 006a 0000 005a", nil, "erf.lctr") // COLOR_ETH has a colour there
}

func TestERFExtAccessors(t *testing.T) {
	checkAccessors(t, &erfExtSpec, ERFExtLen,
		func(h []byte) { ERFExt(h).SetType(erfExtClass) },
		[]accessor{
			accNum("erf.ehdr.types", ERFExt.Type, ERFExt.SetType),
		},
		"erf.ehdr.class.flags", "erf.ehdr.class.flags.sh", "erf.ehdr.class.flags.shm", "erf.ehdr.class.flags.res1",
		"erf.ehdr.class.flags.user", "erf.ehdr.class.flags.res2", "erf.ehdr.class.flags.drop",
		"erf.ehdr.class.flags.str", "erf.ehdr.class.seqnum",
		"erf.ehdr.int.res1", "erf.ehdr.int.intid", "erf.ehdr.int.res2",
		"erf.ehdr.raw.res", "erf.ehdr.raw.seqnum", "erf.ehdr.raw.rate", "erf.ehdr.raw.link_type")
}

func TestERFExtMoreAndBodyLeaveTheTypeAlone(t *testing.T) {
	h := ERFExt(make([]byte, ERFExtLen))
	h.SetType(erfExtRawLink)
	h.SetMore(true)
	h.SetBody([7]byte{1, 2, 3, 4, 5, 6, 7})
	if want := unhex(t, "85 01020304050607"); !bytes.Equal(h, want) {
		t.Errorf("header %x, want %x", []byte(h), want)
	}
	if !h.More() || h.Type() != erfExtRawLink || h.Body() != [7]byte{1, 2, 3, 4, 5, 6, 7} {
		t.Errorf("read back: more %v, type %d, body %x", h.More(), h.Type(), h.Body())
	}
	if h.SetMore(false); h.More() {
		t.Error("the mark of another header stays")
	}
}

func TestERFExtFieldsAsTshark(t *testing.T) {
	checkFields(t, &erfExtSpec, "84aabbccddeeff01", map[string]uint64{
		"erf.ehdr.types": erfExtIntercept, "erf.ehdr.int.res1": 0xAA, "erf.ehdr.int.intid": 48076, "erf.ehdr.int.res2": 0xDDEEFF01,
	}, "erf.ehdr.class.flags", "erf.ehdr.raw.res")
	checkFields(t, &erfExtSpec, "03aabb00ddee0102", map[string]uint64{
		"erf.ehdr.types": erfExtClass, "erf.ehdr.class.flags": 0xAABB00, "erf.ehdr.class.flags.sh": 1,
		"erf.ehdr.class.flags.shm": 0, "erf.ehdr.class.flags.res1": 2, "erf.ehdr.class.flags.user": 43952,
		"erf.ehdr.class.flags.res2": 0, "erf.ehdr.class.flags.drop": 0, "erf.ehdr.class.flags.str": 0,
		"erf.ehdr.class.seqnum": 3723362562,
	}, "erf.ehdr.int.intid")
}
