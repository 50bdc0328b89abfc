package pingpong

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

func addresses(n int, host string) (list []Address) {
	for i := range n {
		list = append(list, Address{QPN: uint32(0x11 + i), PSN: 0xfffff0, GID: netip.MustParseAddr(host)})
	}
	return list
}

func TestBothSidesLearnOfEachOther(t *testing.T) {
	for _, shared := range []bool{false, true} {
		n := 1
		if shared {
			n = 3
		}
		sides := [2][]Address{addresses(n, "::ffff:10.0.0.1"), addresses(n, "fd00::2")}
		var order []string
		meet := func(conn io.ReadWriter, client bool, name string, mine []Address) (heard []Address, err error) {
			m := Meeting{Conn: conn, Client: client, Shared: shared, Local: mine, Connect: func(remote []Address) error {
				order = append(order, name)
				heard = remote
				return nil
			}}
			return heard, m.Run()
		}
		a, b := net.Pipe()
		type end struct {
			heard []Address
			err   error
		}
		server := make(chan end)
		go func() {
			heard, err := meet(b, false, "server", sides[1])
			server <- end{heard, err}
		}()
		_, err := meet(a, true, "client", sides[0])
		s := <-server
		if err != nil || s.err != nil {
			t.Fatalf("shared %v: client %v, server %v", shared, err, s.err)
		}
		if !slices.Equal(order, []string{"server", "client"}) {
			t.Errorf("connected in the order %v: the server's queue pairs have to be ready when the client hears of them", order)
		}
	}
}

// half is a connection on which one side has said all that it will.
type half struct {
	io.Reader
	told strings.Builder
}

func (h *half) Write(b []byte) (int, error) { return h.told.Write(b) }

func TestClientSaysWhatTheExampleExpects(t *testing.T) {
	conn := &half{Reader: strings.NewReader(observed[0].line)}
	var heard []Address
	m := Meeting{Conn: conn, Client: true, Local: []Address{observed[1].address}, Connect: func(remote []Address) error {
		heard = remote
		return nil
	}}
	if err := m.Run(); err != nil {
		t.Fatal(err)
	}
	if want := observed[1].line + "done\x00"; conn.told.String() != want {
		t.Errorf("the client said %q, want %q", conn.told.String(), want)
	}
	if len(heard) != 1 || heard[0] != observed[0].address {
		t.Errorf("heard %v", heard)
	}
}

func TestSharedMeetingTells256Addresses(t *testing.T) {
	zero := "0000:000000:000000:00000000000000000000000000000000\x00"
	conn := &half{Reader: strings.NewReader(observed[0].line + strings.Repeat(zero, 255))}
	m := Meeting{Conn: conn, Client: true, Shared: true, Local: []Address{observed[1].address}, Connect: func([]Address) error { return nil }}
	if err := m.Run(); err != nil {
		t.Fatal(err)
	}
	if want := observed[1].line + strings.Repeat(zero, 255) + "done\x00"; conn.told.String() != want {
		t.Errorf("the client said %d bytes, want %d: %.120q", conn.told.Len(), len(want), conn.told.String())
	}
}

func TestMeetingFailsWhenThePeerSaysLess(t *testing.T) {
	whole := observed[0].line + done
	for n := range len(whole) {
		m := Meeting{
			Conn: &half{Reader: strings.NewReader(whole[:n])}, Local: addresses(1, "::1"),
			Connect: func([]Address) error { return nil },
		}
		if err := m.Run(); err == nil {
			t.Fatalf("a server was content with %q", whole[:n])
		}
	}
}

func TestMeetingRefusesWhatItCannotUse(t *testing.T) {
	refused := errors.New("no")
	for _, test := range []struct {
		desc string
		says string
		m    Meeting
	}{
		{"no queue pair", observed[0].line + done, Meeting{}},
		{"two without sharing", observed[0].line + done, Meeting{Local: addresses(2, "::1")}},
		{"another word", observed[0].line + "DONE\x00", Meeting{Local: addresses(1, "::1")}},
		{"a queue pair that is none", strings.Replace(observed[0].line, "11", "00", 1) + done, Meeting{Local: addresses(1, "::1")}},
		{"connecting fails", observed[0].line + done, Meeting{Local: addresses(1, "::1"), Connect: func([]Address) error { return refused }}},
	} {
		test.m.Conn = &half{Reader: strings.NewReader(test.says)}
		if test.m.Connect == nil {
			test.m.Connect = func([]Address) error { return nil }
		}
		if err := test.m.Run(); err == nil {
			t.Errorf("%s: no error", test.desc)
		}
	}
}
