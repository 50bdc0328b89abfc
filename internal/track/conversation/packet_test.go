package conversation

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// eachRecord calls do for the records of a capture of the project.
func eachRecord(t *testing.T, name string, do func(*capfile.Record)) {
	t.Helper()
	r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		batch, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range batch.Records {
			do(&batch.Records[i])
		}
		batch.Release()
	}
}

func TestAPacketSaysWhatItsHeadersSay(t *testing.T) {
	var got []Packet
	eachRecord(t, "rping_rxe.pcap", func(rec *capfile.Record) {
		var f wire.Frame
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		p := Packet{Number: len(got) + 1}
		if !p.Read(&f) {
			t.Fatalf("packet %d is not read", p.Number)
		}
		got = append(got, p)
	})
	req, rep, ack, read := got[0], got[1], got[4], got[5]
	if want := (Exchange{ID: req.CM.ID, QPN: 0x19, Service: wire.RC, PathMTU: 4096, AckTimeout: 17, offer: offer{true, 14861112, 1, 7, 7}}); *req.CM != want || req.SrcQP != 1 {
		t.Errorf("REQ %+v", req.CM)
	}
	if !rep.CM.Reply || rep.CM.RemoteID != req.CM.ID || rep.CM.QPN != 0x19 {
		t.Errorf("REP %+v", rep.CM)
	}
	if ack.PSN != 3796821 || ack.MSN != 1 || ack.Syndrome.Kind() != wire.Ack || ack.Payload != 0 || ack.CM != nil {
		t.Errorf("ACK %+v", ack)
	}
	if read.DMALen != 500 || read.RKey != 0xA01 || read.VA != 0x55E935C7D990 || read.DestQP != 0x19 ||
		read.Src.String() != "10.77.0.3" || read.Number != 6 {
		t.Errorf("READ %+v", read)
	}
}

func TestACutPacketIsReadWholeOrNotAtAll(t *testing.T) {
	for _, name := range []string{"fixtures/t.pcap", "fixtures/t5.pcap", "rping_rxe.pcap"} {
		eachRecord(t, name, func(rec *capfile.Record) {
			var f wire.Frame
			for n := range len(rec.Data) + 1 {
				f.Parse(rec.Link, rec.Data[:n], rec.WireLen)
				var p Packet
				if p.Read(&f) && (f.BTH < 0 || n < f.BTH+wire.BTHLen || !p.Src.IsValid()) {
					t.Fatalf("%d bytes of a packet are read as %+v", n, p)
				}
			}
		})
	}
}

func TestReadingAPacketCostsNoAllocation(t *testing.T) {
	eachRecord(t, "py_mixed.pcap", func(rec *capfile.Record) {
		var f wire.Frame
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		var p Packet
		if got := testing.AllocsPerRun(10, func() { p.Read(&f) }); got != 0 {
			t.Fatalf("%v allocations", got)
		}
	})
}
