// Package raw runs single operations on one queue pair whose other side is given
// by hand: by a person, or in JSON by any verbs program.
package raw

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/rocecap/rocecap/endpoint"
)

// Side is what the other side has to be told of a queue pair and its memory.
type Side struct {
	QPN    uint32     `json:"qpn"`
	PSN    uint32     `json:"psn"`
	GID    netip.Addr `json:"gid"`
	RKey   uint32     `json:"rkey"`
	VA     uint64     `json:"va"`
	Length int        `json:"length"`
	QKey   uint32     `json:"qkey,omitempty"` // UD
}

// Options say what queue pair to make.
type Options struct {
	Type     endpoint.Type
	QPN, PSN uint32 // 0 is drawn
	Memory   int    // bytes that the other side may reach
	Receives int    // posted at once
	Change   func(*endpoint.Attributes)
	QKey     uint32
}

// room is the memory of one work request of this side.
const room = 1 << 20

// Peer is this side.
type Peer struct {
	Options
	dev            *endpoint.Device
	qp             *endpoint.QP
	sendCQ, recvCQ *endpoint.CQ
	region         *endpoint.Region // of exposed
	exposed        []byte           // what the other side reaches, and nothing else
	work           *endpoint.Region // of buffers
	buffers        []byte           // what is sent or read, and what is received
	psn            uint32
	remote         Side
	to             *endpoint.Address // of UD
}

// New makes the queue pair.
func New(dev *endpoint.Device, o Options) (*Peer, error) {
	p := &Peer{Options: o, dev: dev, sendCQ: dev.CreateCQ(16), recvCQ: dev.CreateCQ(max(1, o.Receives))}
	pd := dev.AllocPD()
	p.exposed, p.buffers = make([]byte, o.Memory), make([]byte, room*(1+o.Receives))
	var err error
	const access = endpoint.LocalWrite | endpoint.RemoteWrite | endpoint.RemoteRead | endpoint.RemoteAtomic
	if p.region, err = pd.RegisterMemory(p.exposed, access); err != nil {
		return nil, err
	}
	if p.work, err = pd.RegisterMemory(p.buffers, endpoint.LocalWrite); err != nil {
		return nil, err
	}
	if p.qp, err = dev.CreateQP(endpoint.QPOptions{
		Type: o.Type, PD: pd, SendCQ: p.sendCQ, RecvCQ: p.recvCQ, MaxRecv: max(1, o.Receives), SignalAll: true, Number: o.QPN,
	}); err != nil {
		return nil, err
	}
	if p.psn = o.PSN; p.psn == 0 {
		p.psn = uint32(p.qp.Local().PSN)
	}
	if err := p.qp.Prepare(p.attributes); err != nil {
		return nil, err
	}
	for i := range o.Receives {
		if err := p.postReceive(i); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (p *Peer) attributes(a *endpoint.Attributes) {
	if p.Change != nil {
		p.Change(a)
	}
	a.SQPSN, a.QKey = endpoint.PSN(p.psn), p.QKey
}

func (p *Peer) postReceive(slot int) error {
	return p.qp.PostRecv(endpoint.RecvRequest{ID: uint64(slot), SGL: p.work.SGL(room*(1+slot), room)})
}

// Local is what the other side needs. The exposed memory can be read and
// written, and atomics work on it.
func (p *Peer) Local() Side {
	s := Side{
		QPN: p.qp.QPN(), PSN: p.psn, GID: p.qp.Local().GID.Unmap(),
		RKey: p.region.RKey(), VA: p.region.VA(), Length: p.Memory,
	}
	if p.Type == endpoint.UD {
		s.QKey = p.QKey
	}
	return s
}

// Connect makes the queue pair ready.
func (p *Peer) Connect(ctx context.Context, remote Side) error {
	if remote.GID = remote.GID.Unmap(); !remote.GID.IsValid() {
		return errors.New("the other side's GID is missing")
	}
	if p.remote = remote; remote.QKey == 0 {
		p.remote.QKey = p.QKey
	}
	err := p.qp.Connect(ctx, endpoint.Remote{QPN: remote.QPN, PSN: endpoint.PSN(remote.PSN), GID: remote.GID}, p.attributes)
	if err == nil && p.Type == endpoint.UD {
		p.to, err = p.dev.CreateAH(ctx, endpoint.Address{DGID: remote.GID})
	}
	return err
}

// Step is one operation.
type Step struct {
	Text   string
	Op     endpoint.Op
	Data   []byte // of SEND and WRITE
	Length int    // of READ
	Offset uint64 // from the other side's VA
	A, B   uint64 // of atomics: what is added; or what is expected, and the new value
}

// ParseStep reads OPERATION[@OFFSET][=VALUE]; data reads the bytes of a value.
func ParseStep(text string, data func(string) ([]byte, error)) (s Step, err error) {
	name, value, _ := strings.Cut(text, "=")
	name, offset, placed := strings.Cut(name, "@")
	s = Step{Text: text}
	if placed {
		if s.Offset, err = strconv.ParseUint(offset, 0, 64); err != nil {
			return s, fmt.Errorf("%s: the offset: %w", text, err)
		}
	}
	switch name {
	case "send":
		s.Op = endpoint.Send
		s.Data, err = data(value)
	case "write":
		s.Op = endpoint.Write
		s.Data, err = data(value)
	case "read":
		s.Op = endpoint.Read
		s.Length, err = length(value)
	case "add":
		s.Op = endpoint.FetchAdd
		s.A, err = operand(value)
	case "swap":
		s.Op = endpoint.CompareSwap
		expected, fresh, _ := strings.Cut(value, ":")
		if s.A, err = operand(expected); err == nil {
			s.B, err = operand(fresh)
		}
	case "recv":
		s.Op = endpoint.Receive
	default:
		return s, fmt.Errorf("there is no operation %q: send=DATA, write[@OFFSET]=DATA, read[@OFFSET]=LENGTH, add[@OFFSET]=N, swap[@OFFSET]=OLD:NEW, recv", text)
	}
	if err == nil && len(s.Data) > room {
		err = fmt.Errorf("more than %d bytes", room)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", text, err)
	}
	return s, nil
}

func operand(text string) (uint64, error) {
	n, err := strconv.ParseUint(text, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is no number of 64 bits", text)
	}
	return n, nil
}

func length(text string) (int, error) {
	n, err := strconv.ParseUint(text, 0, 32)
	if err != nil || n > room {
		return 0, fmt.Errorf("want a length of 0 to %d", room)
	}
	return int(n), nil
}

// Outcome is how a step ended.
type Outcome struct {
	Step   string `json:"step"`
	Status string `json:"status"`
	Bytes  int    `json:"bytes"`
	Data   []byte `json:"data,omitempty"` // received or read; what an atomic found, in this machine's order
	OK     bool   `json:"ok"`
}

// Do does a step and waits for its end.
func (p *Peer) Do(ctx context.Context, s Step) (Outcome, error) {
	if s.Op == endpoint.Receive {
		return p.receive(ctx, s)
	}
	length := s.Length
	switch s.Op {
	case endpoint.Send, endpoint.Write:
		length = copy(p.buffers, s.Data)
	case endpoint.FetchAdd, endpoint.CompareSwap:
		length = 8
	}
	wr := endpoint.WorkRequest{
		Op: s.Op, Flags: endpoint.Signaled, SGL: p.work.SGL(0, length),
		RemoteAddr: p.remote.VA + s.Offset, RKey: p.remote.RKey,
		SwapAdd: s.A, To: p.to, DestQP: p.remote.QPN, QKey: p.remote.QKey,
	}
	if s.Op == endpoint.CompareSwap {
		wr.Compare, wr.SwapAdd = s.A, s.B
	}
	if err := p.qp.PostSend(wr); err != nil {
		return Outcome{}, err
	}
	c, err := p.sendCQ.Next(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", s.Text, err)
	}
	out := Outcome{Step: s.Text, Status: c.Status.String(), OK: c.Status == endpoint.Success, Bytes: length}
	if out.OK && s.Op != endpoint.Send && s.Op != endpoint.Write {
		out.Data = append(out.Data, p.buffers[:length]...)
	}
	return out, nil
}

// receive waits for a message and posts its receive again.
func (p *Peer) receive(ctx context.Context, s Step) (Outcome, error) {
	c, err := p.recvCQ.Next(ctx)
	if err != nil {
		return Outcome{}, fmt.Errorf("%s: %w", s.Text, err)
	}
	out := Outcome{Step: s.Text, Status: c.Status.String(), OK: c.Status == endpoint.Success, Bytes: int(c.Bytes)}
	if !out.OK {
		return out, nil
	}
	out.Data = append(out.Data, p.buffers[room*(1+int(c.ID)):][:c.Bytes]...)
	return out, p.postReceive(int(c.ID))
}

// Exposed is what the other side may have changed.
func (p *Peer) Exposed() []byte {
	p.dev.Stats() // takes the device's lock: what it wrote before is seen after
	return append([]byte(nil), p.exposed...)
}
