package rewrite_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/capfile/captest"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// managed is a message of the connection manager with the two communication IDs
// that most begin with.
func managed(t testing.TB, mine bool, header wire.HeaderID, attribute uint16, local, remote uint32, transaction uint64) []byte {
	t.Helper()
	op, err := craft.ParseOpcode("ud send-only")
	if err != nil {
		t.Fatal(err)
	}
	r, err := craft.NewRecipe("rocev2", op)
	if err != nil {
		t.Fatal(err)
	}
	ids := fmt.Appendf(nil, "%08x%08x", local, remote)
	r.Layers = append(r.Layers, craft.Layer{ID: wire.HdrMAD}, craft.Layer{ID: header, Len: wire.CMMessageLen})
	settings := map[string]string{
		"infiniband.mad.mgmtclass": "7", "infiniband.mad.method": "3", "infiniband.mad.attributeid": fmt.Sprint(attribute),
		"infiniband.mad.transactionid": fmt.Sprint(transaction), "ip.src": "10.0.0.1", "ip.dst": "10.0.0.2",
	}
	if !mine {
		settings["ip.src"], settings["ip.dst"] = "10.0.0.2", "10.0.0.1"
	}
	for name, value := range settings {
		if err := r.Put(name, value); err != nil {
			t.Fatal(err)
		}
	}
	img, err := craft.Build(r)
	if err != nil {
		t.Fatal(err)
	}
	var raw []byte
	if _, err := fmt.Sscanf(string(ids), "%x", &raw); err != nil {
		t.Fatal(err)
	}
	r.Raw = []craft.Edit{{Off: img.Layers[len(img.Layers)-1].Off, Bytes: raw}}
	if img, err = craft.Build(r); err != nil {
		t.Fatal(err)
	}
	return img.Data
}

func TestWhatALivePeerIsCalledReachesEveryMessageToIt(t *testing.T) {
	e := rewrite.Follow(nil)
	var was, is wire.Frame
	was.Parse(wire.LinkEthernet, managed(t, false, wire.HdrCMReq, wire.CMAttrReq, 0x202, 0, 9), 0)
	is.Parse(wire.LinkEthernet, managed(t, false, wire.HdrCMReq, wire.CMAttrReq, 0xabc, 0, 0xee), 0)
	e.Learn(&was, &is)
	for _, c := range []struct {
		header    wire.HeaderID
		attribute uint16
		answers   bool // in the transaction that the peer has begun
	}{
		{wire.HdrCMRep, wire.CMAttrRep, true},
		{wire.HdrCMRtu, wire.CMAttrRtu, false},
		{wire.HdrCMRej, wire.CMAttrRej, true},
		{wire.HdrCMMra, wire.CMAttrMra, true},
		{wire.HdrCMDreq, wire.CMAttrDreq, false},
		{wire.HdrCMDrep, wire.CMAttrDrep, true},
		{wire.HdrCMLap, wire.CMAttrLap, false},
		{wire.HdrCMApr, wire.CMAttrApr, true},
	} {
		got, result := apply(e, wire.LinkEthernet, managed(t, true, c.header, c.attribute, 0x101, 0x202, 9), 0)
		tid := uint64(9)
		if c.answers {
			tid = 0xee
		}
		if want := managed(t, true, c.header, c.attribute, 0x101, 0xabc, tid); !bytes.Equal(got, want) || result.Unsealed {
			t.Errorf("%s:\ngot  %x\nwant %x", wire.SpecOf(c.header).Title, got, want)
		}
		// The peer's own messages, and those to others, have their own names.
		for _, other := range [][]byte{
			managed(t, false, c.header, c.attribute, 0x101, 0x202, 9),
			managed(t, true, c.header, c.attribute, 0x202, 0x303, 7),
		} {
			if got, _ := apply(e, wire.LinkEthernet, other, 0); !bytes.Equal(got, other) {
				t.Errorf("%s: changed to %x", wire.SpecOf(c.header).Title, got)
			}
		}
	}
}

func TestNothingIsLearnedFromMessagesOfTwoKinds(t *testing.T) {
	e := rewrite.Follow(nil)
	var was, is wire.Frame
	was.Parse(wire.LinkEthernet, managed(t, false, wire.HdrCMRtu, wire.CMAttrRtu, 0x202, 0, 9), 0)
	is.Parse(wire.LinkEthernet, managed(t, false, wire.HdrCMMra, wire.CMAttrMra, 0xabc, 0, 9), 0)
	if stream, by := e.Learn(&was, &is); stream.Addr.IsValid() || by != 0 {
		t.Errorf("%v moves by %d", stream, by)
	}
	rep := managed(t, true, wire.HdrCMRep, wire.CMAttrRep, 0x101, 0x202, 9)
	if got, _ := apply(e, wire.LinkEthernet, rep, 0); !bytes.Equal(got, rep) {
		t.Errorf("changed to %x", got)
	}
}

// A peer that says what the recorded one did changes nothing.
func TestAPeerWithTheRecordedNamesChangesNothing(t *testing.T) {
	learned := 0
	var e *rewrite.Engine
	capture := ""
	captest.Each(t, func(name string, _ int, rec *capfile.Record) {
		if name != capture {
			capture, e = name, rewrite.Follow(nil)
		}
		var f wire.Frame
		f.Parse(rec.Link, rec.Data, rec.WireLen)
		if stream, by := e.Learn(&f, &f); stream.Addr.IsValid() {
			learned++
			if by != 0 {
				t.Errorf("%s: %v moves by %d", name, stream, by)
			}
		}
		if got, _ := apply(e, rec.Link, rec.Data, rec.WireLen); !bytes.Equal(got, rec.Data) {
			t.Errorf("%s: changed to\n%x, was\n%x", name, got, rec.Data)
		}
	})
	if learned < 4 {
		t.Errorf("%d queue pairs were named", learned)
	}
}
