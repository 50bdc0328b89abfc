package host

import (
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/rocecap/rocecap/internal/wire"
)

var (
	asker  = MAC{2, 0, 0, 0, 0, 1}
	answer = MAC{2, 0, 0, 0, 0, 2}
)

func hexBytes(t testing.TB, text string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ip(s string) netip.Addr { return netip.MustParseAddr(s) }

func TestQuestionFrames(t *testing.T) {
	for _, c := range []struct {
		name string
		q    Question
		want string
	}{
		{
			"ARP request",
			Question{asker, ip("192.0.2.1"), ip("192.0.2.2")},
			`ffffffffffff 020000000001 0806 0001 0800 06 04 0001
			 020000000001 c0000201 000000000000 c0000202 ` + strings.Repeat("00", 18),
		},
		{
			"ARP probe",
			Question{asker, netip.Addr{}, ip("::ffff:192.0.2.2")},
			`ffffffffffff 020000000001 0806 0001 0800 06 04 0001
			 020000000001 00000000 000000000000 c0000202 ` + strings.Repeat("00", 18),
		},
		{
			"neighbour solicitation",
			Question{asker, ip("2001:db8::1"), ip("2001:db8::12:3456")},
			`3333ff123456 020000000001 86dd 60000000 0020 3a ff
			 20010db8000000000000000000000001 ff0200000000000000000001ff123456
			 87 00 b35a 00000000 20010db8000000000000000000123456 0101020000000001`,
		},
		{
			"neighbour probe",
			Question{asker, ip("192.0.2.1"), ip("2001:db8::12:3456")},
			`3333ff123456 020000000001 86dd 60000000 0018 3a ff
			 00000000000000000000000000000000 ff0200000000000000000001ff123456
			 87 00 e41e 00000000 20010db8000000000000000000123456`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := c.q.Append([]byte{0xaa})[1:]
			if diff := cmp.Diff(hexBytes(t, c.want), got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got[12] == 0x86 {
				body := got[wire.EthernetLen:]
				icmp := body[wire.IPv6Len : wire.IPv6Len+wire.IPv6Header(body).PayloadLen()]
				if sum := icmpSum(body[:wire.IPv6Len], icmp); sum != 0xffff {
					t.Errorf("the checksum is wrong by %#x", ^sum)
				}
			}
			if mac, ok := c.q.Answer(got); ok {
				t.Errorf("the question answers itself with %x", mac)
			}
		})
	}
}

// What an owner of the addresses in the tests answers.
const (
	arpReply = `020000000001 020000000002 0806 0001 0800 06 04 0002
		020000000002 c0000202 020000000001 c0000201`
	advertisementHead = `020000000001 0200000000ff 86dd 60000000`
	advertisementIPs  = `3a ff 20010db8000000000000000000123456 20010db8000000000000000000000001`
)

// advertise makes a neighbour advertisement with the right checksum.
func advertise(t testing.TB, options string) []byte {
	t.Helper()
	icmp := hexBytes(t, `88 00 0000 60000000 20010db8000000000000000000123456`+options)
	f := append(hexBytes(t, advertisementHead), 0, byte(len(icmp)))
	f = append(append(f, hexBytes(t, advertisementIPs)...), icmp...)
	body := f[wire.EthernetLen:]
	sum := ^icmpSum(body[:wire.IPv6Len], body[wire.IPv6Len:])
	body[wire.IPv6Len+2], body[wire.IPv6Len+3] = byte(sum>>8), byte(sum)
	return f
}

func TestAnswers(t *testing.T) {
	v4 := Question{asker, ip("192.0.2.1"), ip("192.0.2.2")}
	v6 := Question{asker, ip("2001:db8::1"), ip("2001:db8::12:3456")}
	change := func(f []byte, at int, to byte) []byte {
		f[at] = to
		return f
	}
	sender := MAC{2, 0, 0, 0, 0, 0xff}
	for _, c := range []struct {
		name  string
		q     Question
		frame []byte
		want  MAC
	}{
		{"ARP reply", v4, hexBytes(t, arpReply), answer},
		{"padded ARP reply", v4, append(hexBytes(t, arpReply), make([]byte, 18)...), answer},
		{"ARP request", v4, change(hexBytes(t, arpReply), 21, 1), MAC{}},
		{"ARP reply of another", v4, change(hexBytes(t, arpReply), 31, 9), MAC{}},
		{"ARP of another hardware", v4, change(hexBytes(t, arpReply), 18, 20), MAC{}},
		{"ARP reply to a question about IPv6", v6, hexBytes(t, arpReply), MAC{}},
		{"advertisement", v6, advertise(t, "0201020000000002"), answer},
		{"advertisement, option behind another", v6, advertise(t, "0e01000000000000 0201020000000002"), answer},
		{"advertisement without the option", v6, advertise(t, ""), sender},
		{"padded advertisement", v6, append(advertise(t, ""), 1, 2, 3), sender},
		{"option of no length", v6, advertise(t, "0200020000000002"), MAC{}},
		{"option beyond the end", v6, advertise(t, "0202020000000002"), MAC{}},
		{"wrong checksum", v6, change(advertise(t, ""), 56, 1), MAC{}},
		{"from another network", v6, change(advertise(t, ""), 21, 254), MAC{}},
		{"longer than the frame", v6, change(advertise(t, ""), 19, 200), MAC{}},
		{"advertisement to a question about IPv4", v4, advertise(t, ""), MAC{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok := c.q.Answer(c.frame)
			if got != c.want || ok != (c.want != MAC{}) {
				t.Errorf("%x, %v; want %x", got, ok, c.want)
			}
		})
	}
}

func TestCutAnswersAnswerNothing(t *testing.T) {
	for _, c := range []struct {
		q     Question
		frame []byte
	}{
		{Question{Target: ip("192.0.2.2")}, hexBytes(t, arpReply)},
		{Question{Target: ip("2001:db8::12:3456")}, advertise(t, "0201020000000002")},
	} {
		for n := range c.frame {
			if mac, ok := c.q.Answer(c.frame[:n:n]); ok {
				t.Errorf("%d of %d bytes answer %x", n, len(c.frame), mac)
			}
		}
	}
}

func TestMulticastMAC(t *testing.T) {
	for group, want := range map[string]MAC{
		"224.0.0.251":        {0x01, 0, 0x5e, 0, 0, 251},
		"239.129.2.3":        {0x01, 0, 0x5e, 1, 2, 3}, // 23 bits only
		"::ffff:239.129.2.3": {0x01, 0, 0x5e, 1, 2, 3},
		"ff02::1:ff12:3456":  {0x33, 0x33, 0xff, 0x12, 0x34, 0x56},
	} {
		if got := MulticastMAC(ip(group)); got != want {
			t.Errorf("%s: %x, want %x", group, got, want)
		}
	}
}

// FuzzAnswer shows that no frame makes the reader of answers look beyond it.
func FuzzAnswer(f *testing.F) {
	f.Add(hexBytes(f, arpReply))
	f.Add(advertise(f, "0201020000000002"))
	f.Fuzz(func(t *testing.T, frame []byte) {
		for _, target := range []string{"192.0.2.2", "2001:db8::12:3456"} {
			Question{Target: ip(target)}.Answer(frame[:len(frame):len(frame)])
		}
	})
}
