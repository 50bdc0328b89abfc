package pingpong

import (
	"errors"
	"fmt"
	"io"
)

// Port is the TCP port that servers listen on.
const Port = 18515

// maxQPs is how many addresses the SRQ example sends, whatever it uses: those
// left over are zero.
const maxQPs = 256

// done is what a client says last.
const done = "done\x00"

// Meeting is the exchange over one TCP connection.
type Meeting struct {
	Conn   io.ReadWriter
	Client bool // a server has been connected to
	Shared bool // many queue pairs and one SRQ: maxQPs addresses
	Local  []Address
	// Connect makes the queue pairs ready for the remote ones. A server calls it
	// before it tells its own addresses: what comes then may be a request.
	Connect func(remote []Address) error
}

// Run holds the meeting.
func (m *Meeting) Run() error {
	if len(m.Local) == 0 || len(m.Local) > m.lines() {
		return fmt.Errorf("%d queue pairs: the peer takes 1 to %d", len(m.Local), m.lines())
	}
	if m.Client {
		return m.client()
	}
	return m.server()
}

func (m *Meeting) lines() int {
	if m.Shared {
		return maxQPs
	}
	return 1
}

func (m *Meeting) client() error {
	if err := m.tell(); err != nil {
		return err
	}
	remote, err := m.hear()
	if err != nil {
		return err
	}
	if err := m.Connect(remote); err != nil {
		return err
	}
	_, err = io.WriteString(m.Conn, done)
	return err
}

func (m *Meeting) server() error {
	remote, err := m.hear()
	if err != nil {
		return err
	}
	if err := m.Connect(remote); err != nil {
		return err
	}
	if err := m.tell(); err != nil {
		return err
	}
	got := make([]byte, len(done))
	if _, err := io.ReadFull(m.Conn, got); err != nil {
		return fmt.Errorf("the client did not say %q: %w", done, err)
	}
	if string(got) != done {
		return fmt.Errorf("the client said %q, not %q", got, done)
	}
	return nil
}

// tell sends the local addresses in one piece: an example with one queue pair
// takes nothing else.
func (m *Meeting) tell() error {
	var lines []byte
	for i := range m.lines() {
		var a Address
		if i < len(m.Local) {
			a = m.Local[i]
		}
		lines = a.Append(lines)
	}
	_, err := m.Conn.Write(lines)
	return err
}

// hear returns as many remote addresses as there are local ones.
func (m *Meeting) hear() ([]Address, error) {
	lines := make([]byte, m.lines()*AddressLen)
	if n, err := io.ReadFull(m.Conn, lines); err != nil {
		return nil, fmt.Errorf("the peer told %d bytes of its address, not %d: %w", n, len(lines), err)
	}
	remote := make([]Address, len(m.Local))
	for i := range remote {
		var err error
		if remote[i], err = ParseAddress(lines[i*AddressLen:][:AddressLen]); err != nil {
			return nil, err
		}
		if remote[i].QPN == 0 {
			return nil, errors.New("the peer has fewer queue pairs than this side")
		}
	}
	return remote, nil
}
