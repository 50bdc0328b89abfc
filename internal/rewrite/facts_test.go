package rewrite_test

import (
	"bytes"
	"fmt"
	"net/netip"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/icrc"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

func at(host string, qpn uint32) rewrite.Endpoint {
	return rewrite.Endpoint{Addr: netip.MustParseAddr(host), QPN: qpn}
}

// told is a packet of host a to a QP of host b, or back.
func told(t testing.TB, opcode string, back bool, qpn, psn int) []byte {
	src, dst := "10.0.0.1", "10.0.0.2"
	if back {
		src, dst = dst, src
	}
	return packet(t, "rocev2", opcode, "ip.src", src, "ip.dst", dst, "infiniband.bth.destqp", strconv.Itoa(qpn), "infiniband.bth.psn", strconv.Itoa(psn))
}

func TestPairsAreToldApartByTheirPSNs(t *testing.T) {
	var facts rewrite.Facts
	learn(&facts,
		told(t, "rc send-only", false, 21, 100), told(t, "rc send-only", false, 22, 7000),
		told(t, "rc acknowledge", true, 12, 7000), told(t, "rc acknowledge", true, 11, 100),
	)
	peers, unclear := facts.Pairs()
	want := map[rewrite.Endpoint]rewrite.Endpoint{
		at("10.0.0.1", 11): at("10.0.0.2", 21), at("10.0.0.2", 21): at("10.0.0.1", 11),
		at("10.0.0.1", 12): at("10.0.0.2", 22), at("10.0.0.2", 22): at("10.0.0.1", 12),
	}
	if diff := cmp.Diff(want, peers, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" || unclear != nil {
		t.Errorf("unclear %v\n%s", unclear, diff)
	}
}

func TestAPairThatIsUnclearIsSaidToBeUntilItIsGiven(t *testing.T) {
	var facts rewrite.Facts
	learn(&facts,
		told(t, "rc send-only", false, 21, 100), told(t, "rc send-only", false, 22, 100),
		told(t, "rc acknowledge", true, 11, 100), told(t, "rc acknowledge", true, 12, 100),
	)
	peers, unclear := facts.Pairs()
	if want := []rewrite.Endpoint{at("10.0.0.1", 11), at("10.0.0.1", 12)}; len(peers) != 0 || len(unclear) != 2 || unclear[0] != want[0] || unclear[1] != want[1] {
		t.Errorf("pairs %v, unclear %v", peers, unclear)
	}
	facts.Pair(at("10.0.0.1", 11), at("10.0.0.2", 22))
	if peers, unclear = facts.Pairs(); peers[at("10.0.0.1", 12)] != at("10.0.0.2", 21) || unclear != nil {
		t.Errorf("pairs %v, unclear %v", peers, unclear)
	}
}

func TestEveryPairOfACaptureIsFound(t *testing.T) {
	for name, min := range map[string]int{"many_qps.pcap.gz": 16, "rping_rxe.pcap": 1, "rc_pingpong.pcap": 1} {
		var facts rewrite.Facts
		var f wire.Frame
		asked := map[rewrite.Endpoint]bool{}
		r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
		if err != nil {
			t.Fatal(err)
		}
		for {
			batch, err := r.Next()
			if err != nil {
				break
			}
			for _, rec := range batch.Records {
				f.Parse(rec.Link, rec.Data, rec.WireLen)
				facts.Learn(&f)
				if op, ok := f.Opcode(); ok && op.Info().Response {
					_, dst := f.Addresses()
					asked[rewrite.Endpoint{Addr: dst, QPN: wire.BTH(f.View(wire.HdrBTH)).DestQP()}] = true
				}
			}
			batch.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		peers, unclear := facts.Pairs()
		for e := range asked {
			if _, ok := peers[e]; !ok {
				t.Errorf("%s: the peer of %v is not known", name, e)
			}
		}
		if len(peers) < 2*min || unclear != nil {
			t.Errorf("%s: %d endpoints have a peer, unclear %v", name, len(peers), unclear)
		}
	}
}

func TestMovedPSNsMoveBack(t *testing.T) {
	for _, name := range []string{"many_qps.pcap.gz", "rping_rxe.pcap", "rc_pingpong.pcap", "py_psnwrap.pcap", "ud_pingpong.pcap", "uc_pingpong.pcap"} {
		r, err := capfile.Open(filepath.Join(testneed.Pcaps(t), name))
		if err != nil {
			t.Fatal(err)
		}
		var before, after [][]byte
		for {
			batch, err := r.Next()
			if err != nil {
				break
			}
			for _, rec := range batch.Records {
				before = append(before, bytes.Clone(rec.Data))
			}
			batch.Release()
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		there, back := &rewrite.Rules{}, &rewrite.Rules{}
		numbers := map[uint32]bool{}
		for _, data := range before {
			var f wire.Frame
			if f.Parse(wire.LinkEthernet, data, 0); f.BTH >= 0 {
				numbers[wire.BTH(f.View(wire.HdrBTH)).DestQP()] = true
			}
		}
		for n := range numbers {
			shift := n%5*0x300000 + 1
			for rules, text := range map[*rewrite.Rules]string{there: "psn:%d=+%d", back: "psn:%d=-%d"} {
				if err := rules.Add(fmt.Sprintf(text, n, shift)); err != nil {
					t.Fatal(err)
				}
			}
		}
		after = moved(t, name, there, before, false)
		for i, data := range moved(t, name, back, after, true) {
			if !bytes.Equal(data, before[i]) {
				t.Fatalf("%s: frame %d does not come back", name, i+1)
			}
		}
	}
}

// moved applies rules to all frames. Each of a conversation must change, unless
// the rules lead back; its ICRC is good.
func moved(t *testing.T, name string, rules *rewrite.Rules, frames [][]byte, back bool) (out [][]byte) {
	t.Helper()
	var facts rewrite.Facts
	learn(&facts, frames...)
	e := rewrite.New(rules, &facts, false)
	var f wire.Frame
	var h icrc.Hasher
	for i, data := range frames {
		data = bytes.Clone(data)
		f.Parse(wire.LinkEthernet, data, 0)
		result := e.Apply(&f, noFCS)
		if f.BTH >= 0 && wire.BTH(f.View(wire.HdrBTH)).DestQP() > 1 {
			if v, _, _ := h.Judge(&f); v != icrc.Good || !back && !result.Changed {
				t.Fatalf("%s: frame %d: the ICRC is %v, %+v", name, i+1, v, result)
			}
		}
		out = append(out, data)
	}
	return out
}
