package capfile

import (
	"bytes"
	"errors"
	"testing"
	"testing/iotest"
)

// FuzzReader shows that no input makes the reader panic or give records that
// the input does not hold, and that it gives the same however the input
// arrives.
func FuzzReader(f *testing.F) {
	_, ng := ngSample(f)
	f.Add(ng)
	f.Add(pcapOf(3, 10))
	f.Add(unhex(f, ngSHB+ngIDB+ngEPB))
	f.Add(unhex(f, erfIB+"\n"+erfEth+"\n"+erfPadding+"\n"+erfOther))
	f.Add(sniffer(f, snifferVers+snifferOne+snifferLast))
	f.Add(gzipped(f, pcapOf(3, 10)))
	f.Add(zstded(f, pcapOf(3, 10)))
	f.Add(unhex(f, `a1b2cd34 0002 0004 00000000 00000000 0000ffff 00000001
		000003e8 00000002 00000003 0000003c 00000007 0008 00 00 aabbcc`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			t.Skip("long inputs show nothing more")
		}
		all, err := parseFrom(bytes.NewReader(data), 1024)
		pieces, again := parseFrom(iotest.HalfReader(bytes.NewReader(data)), 512)
		if (err == nil) != (again == nil) || len(all) != len(pieces) {
			t.Fatalf("%d records and %v; in pieces %d and %v", len(all), err, len(pieces), again)
		}
		last := int64(-1)
		for i := range all {
			if all[i].Offset <= last || all[i].WireLen < len(all[i].Data) {
				t.Fatalf("record %d at %d, after %d, has %d bytes of %d",
					i+1, all[i].Offset, last, len(all[i].Data), all[i].WireLen)
			}
			last = all[i].Offset
		}
		var fault *FormatError
		if err != nil && (!errors.As(err, &fault) || fault.Record != int64(len(all))+1) {
			t.Fatalf("after %d records the error is %v", len(all), err)
		}
	})
}
