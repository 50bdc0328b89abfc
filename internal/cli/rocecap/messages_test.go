package rocecap_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/testneed"
	"github.com/rocecap/rocecap/internal/wire"
)

// listed are the captures whose messages are written down in testdata/analyze.
var listed = []string{"py_imm.pcap", "py_mixed.pcap", "py_badrkey.pcap", "py_flush.pcap", "rping_rxe.pcap", "atomic_fadd.pcap"}

func TestAnalyzeListsTheGoldenMessages(t *testing.T) {
	for _, name := range listed {
		var report struct {
			Messages json.RawMessage `json:"messages"`
		}
		if err := json.Unmarshal([]byte(mustRun(t, "analyze", "--json", "--messages", pcaps(t, name))), &report); err != nil {
			t.Fatal(err)
		}
		got := strings.ReplaceAll(string(report.Messages), "},{", "},\n{") + "\n"
		path := filepath.Join("testdata", "analyze", stem(name)+".messages.json")
		if *update {
			writeGolden(t, path, got)
			continue
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("messages of %s (-want +got):\n%s", name, diff)
		}
	}
}

// carried are what the messages of a capture carry, of each kind in order.
type carried struct {
	Addresses, Immediates, Invalidated []string
	Solicited                          int
}

func (c *carried) sort() {
	slices.Sort(c.Addresses)
	slices.Sort(c.Immediates)
	slices.Sort(c.Invalidated)
}

func address(va, rkey string, length int) string { return fmt.Sprintf("%s %s %d", va, rkey, length) }

// analyzedMessages are those of RC and UC that analyze lists; the totals of the
// ends have to agree with them.
func analyzedMessages(t *testing.T, file string) (c carried) {
	t.Helper()
	var report struct {
		Conversations []struct {
			Service string `json:"service"`
			Ends    []struct {
				Asked struct {
					RKeys []struct {
						RKey     string         `json:"rkey"`
						Messages map[string]int `json:"messages"`
					} `json:"rkeys"`
					Immediates  int `json:"with_immediate"`
					Invalidated int `json:"with_invalidate"`
					Solicited   int `json:"solicited"`
				} `json:"asked"`
			} `json:"ends"`
		} `json:"conversations"`
		Messages []struct {
			Conversation int     `json:"conversation"`
			Operation    string  `json:"operation"`
			Length       int     `json:"dma_length"`
			VA           string  `json:"va"`
			RKey         string  `json:"rkey"`
			Immediate    *uint32 `json:"immediate"`
			Invalidated  string  `json:"invalidated_rkey"`
			Solicited    bool    `json:"solicited"`
		} `json:"messages"`
	}
	if err := json.Unmarshal([]byte(mustRun(t, "analyze", "--json", "--messages", file)), &report); err != nil {
		t.Fatal(err)
	}
	flushes := 0
	followed := func(service string) bool { return service == "RC" || service == "UC" }
	for _, m := range report.Messages {
		if !followed(report.Conversations[m.Conversation-1].Service) {
			continue
		}
		if m.Operation == "FLUSH" {
			flushes++ // tshark does not decode its headers
		} else if m.RKey != "" {
			c.Addresses = append(c.Addresses, address(m.VA, m.RKey, m.Length))
		}
		if m.Immediate != nil {
			c.Immediates = append(c.Immediates, fmt.Sprintf("0x%08x", *m.Immediate))
		}
		if m.Invalidated != "" {
			c.Invalidated = append(c.Invalidated, m.Invalidated)
		}
		if m.Solicited {
			c.Solicited++
		}
	}
	var addresses, immediates, invalidated, solicited int
	for _, talk := range report.Conversations {
		if !followed(talk.Service) {
			continue
		}
		for _, e := range talk.Ends {
			immediates += e.Asked.Immediates
			invalidated += e.Asked.Invalidated
			solicited += e.Asked.Solicited
			for _, r := range e.Asked.RKeys {
				for _, n := range r.Messages {
					addresses += n
				}
			}
		}
	}
	if addresses != len(c.Addresses)+flushes || immediates != len(c.Immediates) || invalidated != len(c.Invalidated) || solicited != c.Solicited {
		t.Errorf("the ends have %d addresses, %d immediates, %d invalidated, %d solicited; the messages %d, %d, %d, %d",
			addresses, immediates, invalidated, solicited, len(c.Addresses)+flushes, len(c.Immediates), len(c.Invalidated), c.Solicited)
	}
	c.sort()
	return c
}

// tsharkMessages is what tshark's fields say of the request packets with PSNs
// that were not seen before.
func tsharkMessages(t *testing.T, file string, mtu int) (c carried) {
	t.Helper()
	args := []string{"-r", file, "-T", "fields", "-E", "occurrence=f"}
	for _, f := range strings.Fields(`ip.src ip.dst infiniband.bth.destqp infiniband.bth.opcode infiniband.bth.psn infiniband.aeth.syndrome
		infiniband.reth.va infiniband.reth.r_key infiniband.reth.dmalen infiniband.immdt infiniband.ieth infiniband.bth.se`) {
		args = append(args, "-e", f)
	}
	out, err := exec.Command(testneed.Tool(t, "tshark"), args...).Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]map[wire.PSN]bool{}
	for line := range bytes.Lines(out) {
		f := strings.Split(strings.TrimSuffix(string(line), "\n"), "\t")
		if f[3] == "" || number(t, f[3]) >= 0x40 || f[5] != "" || number(t, f[3]) == wire.OpReadResponseMiddle {
			continue
		}
		key, psn := strings.Join(f[:3], " "), wire.PSN(number(t, f[4]))
		if seen[key] == nil {
			seen[key] = map[wire.PSN]bool{}
		}
		if seen[key][psn] {
			continue
		}
		c.take(t, number(t, f[3])&0x1F, f[6:])
		seen[key][psn] = true
		if number(t, f[3]) == wire.OpReadRequest {
			for i := range max(1, (number(t, f[8])+mtu-1)/mtu) {
				seen[key][psn.Add(i)] = true
			}
		}
	}
	c.sort()
	return c
}

func (c *carried) take(t *testing.T, operation int, f []string) {
	va, rkey, length, immediate, ieth, se := f[0], f[1], number(t, f[2]), f[3], f[4], f[5]
	if va != "" {
		if operation == wire.OpCompareSwap || operation == wire.OpFetchAdd {
			length = 8
		}
		c.Addresses = append(c.Addresses, address(va, rkey, length))
	}
	if immediate != "" {
		c.Immediates = append(c.Immediates, "0x"+strings.ReplaceAll(strings.TrimPrefix(immediate, "0x"), ":", ""))
	}
	if ieth != "" {
		c.Invalidated = append(c.Invalidated, "0x"+strings.ReplaceAll(strings.TrimPrefix(ieth, "0x"), ":", ""))
	}
	ends := wire.Opcode(operation).Info().Place
	if (ends == wire.PlaceLast || ends == wire.PlaceOnly) && (se == "1" || se == "True") {
		c.Solicited++
	}
}

// TestMessagesCarryWhatTsharkSees compares addresses, rkeys and immediate data
// with an independent count.
func TestMessagesCarryWhatTsharkSees(t *testing.T) {
	for _, name := range analyzed {
		t.Run(name, func(t *testing.T) {
			mtu := 1024
			if name == "nvme_rdma.pcap.gz" {
				mtu = 4096
			}
			got, want := analyzedMessages(t, pcaps(t, name)), tsharkMessages(t, pcaps(t, name), mtu)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("tshark and analyze differ (-tshark +analyze):\n%s", diff)
			}
		})
	}
}
