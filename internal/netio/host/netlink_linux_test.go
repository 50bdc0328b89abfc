package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// datagram makes one message per kind, with an attribute after 4 fixed bytes.
func datagram(flags uint16, kinds ...uint16) []byte {
	var b []byte
	for _, kind := range kinds {
		body := appendAttribute(make([]byte, 4), 7, []byte("abcde"))
		b = append(b, request(kind, flags, 1, body)...)
	}
	return b
}

func TestMessagesOfOneDatagram(t *testing.T) {
	const link = unix.RTM_NEWLINK
	for _, c := range []struct {
		name  string
		bytes []byte
		count int
		done  bool
		err   error
	}{
		{"one", datagram(0, link), 1, true, nil},
		{"part of many", datagram(unix.NLM_F_MULTI, link, link), 2, false, nil},
		{"end of many", datagram(unix.NLM_F_MULTI, link, unix.NLMSG_DONE), 1, true, nil},
		{"changed meanwhile", datagram(unix.NLM_F_MULTI|unix.NLM_F_DUMP_INTR, link), 0, false, errInterrupted},
		{"acknowledged", datagram(0, unix.NLMSG_ERROR), 0, true, nil},
		{"to somebody else", request(link, 0, 2, nil), 0, false, nil},
		{"error", request(unix.NLMSG_ERROR, 0, 1, appendErrno(unix.ENETUNREACH)), 0, true, unix.ENETUNREACH},
		{"error without a number", request(unix.NLMSG_ERROR, 0, 1, nil), 0, true, errMalformed},
		{"length beyond the end", datagram(0, link)[:20], 0, false, errMalformed},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, done, err := parse(nil, c.bytes, 1)
			if len(found) != c.count || done != c.done || !errors.Is(err, c.err) {
				t.Errorf("%d messages, %v, %v; want %d, %v, %v", len(found), done, err, c.count, c.done, c.err)
			}
		})
	}
}

func appendErrno(e unix.Errno) []byte {
	return binary.NativeEndian.AppendUint32(nil, uint32(-int32(e)))
}

func TestLinkOverAnother(t *testing.T) {
	four := func(n byte) []byte { return binary.NativeEndian.AppendUint32(nil, uint32(n)) }
	message := func(kind string, attributes ...[]byte) []byte {
		b := make([]byte, unix.SizeofIfInfomsg)
		copy(b[ifiIndex:], four(9))
		b = appendAttribute(b, unix.IFLA_LINKINFO, appendAttribute(nil, unix.IFLA_INFO_KIND, []byte(kind+"\x00")))
		b = appendAttribute(b, unix.IFLA_LINK, four(4))
		return append(b, bytes.Join(attributes, nil)...)
	}
	for _, c := range []struct {
		name string
		body []byte
		want Link
	}{
		{"VLAN", message("vlan"), Link{Index: 9, Kind: "vlan", Lower: 4}},
		{"end of a cable", message("veth"), Link{Index: 9, Kind: "veth"}},
		{
			"over a link of another namespace", message("macvlan", appendAttribute(nil, unix.IFLA_LINK_NETNSID, four(0))),
			Link{Index: 9, Kind: "macvlan"},
		},
	} {
		if diff := cmp.Diff(c.want, parseLink(c.body)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

func TestAttributesEndAtOneThatDoesNotFit(t *testing.T) {
	b := appendAttribute(nil, 3, []byte("abcde"))
	b = appendAttribute(b, 4|unix.NLA_F_NESTED, nil)
	b = appendAttribute(b, 5, []byte("wxyz"))
	read := func(b []byte) (got []string) {
		for kind, value := range attributes(b) {
			got = append(got, string(rune('0'+kind))+string(value))
		}
		return got
	}
	if diff := cmp.Diff([]string{"3abcde", "4", "5wxyz"}, read(b)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for n := range b {
		if got := read(b[:n:n]); len(got) > 2 {
			t.Errorf("%d of %d bytes have %q", n, len(b), got)
		}
	}
}

// FuzzNetlink shows that no datagram makes the readers look beyond it.
func FuzzNetlink(f *testing.F) {
	f.Add(datagram(unix.NLM_F_MULTI, unix.RTM_NEWLINK, unix.NLMSG_DONE))
	f.Add(datagram(0, unix.NLMSG_ERROR))
	f.Fuzz(func(t *testing.T, b []byte) {
		found, _, _ := parse(nil, b[:len(b):len(b)], 1)
		for _, m := range append(found, message{body: b}) {
			if len(m.body) >= unix.SizeofIfInfomsg {
				parseLink(m.body)
			}
			if len(m.body) >= unix.SizeofRtMsg {
				parseHop(m.body)
			}
			multipath(m.body)
		}
	})
}
