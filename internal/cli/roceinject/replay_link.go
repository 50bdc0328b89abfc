package roceinject

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/replay"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// replayPace is a replay's pace as sending knows it.
type replayPace struct{ replay.Pace }

func (p *replayPace) due(now int64, f frame) int64 { return p.Due(f.time, f.length, now) }

func (p *replayPace) again() {}

// pace makes the pace that the flags ask for.
func (o *replayOptions) pace() (*replayPace, error) {
	speed, err := o.speed()
	if err != nil {
		return nil, err
	}
	limit, err := o.limit()
	return &replayPace{replay.Pace{Speed: speed, Cost: limit.cost()}}, err
}

// sender is `roceinject send` for the interface of the replay.
func (o *replayOptions) sender() *sendOptions {
	return &sendOptions{streams: o.streams, iface: o.iface, bypass: o.bypass, yesReally: o.yesReally}
}

// toInterface sends the frames whatever is answered.
func (o *replayOptions) toInterface(ctx context.Context, name string, engine *rewrite.Engine) error {
	pace, err := o.pace()
	if err != nil {
		return err
	}
	send := o.sender()
	link, err := send.open(ctx)
	if err != nil {
		return err
	}
	src := &rewritten{captured: newCaptured(name, nil, nil, false), side: o.side, engine: engine}
	err = send.over(ctx, &sending{source: src, pace: pace, passes: 1}, link)
	_, printed := fmt.Fprint(o.streams.Out, unsealedText(src.unsealed))
	return errors.Join(err, printed)
}

// rewritten gives the frames that one side of a capture sent, changed by rules.
type rewritten struct {
	*captured
	side     side
	engine   *rewrite.Engine
	frame    wire.Frame
	unsealed int
}

func (r *rewritten) next() (frame, error) {
	for {
		f, err := r.captured.next()
		if err != nil || f.unfit == notEthernet {
			return f, err
		}
		r.frame.Parse(wire.LinkEthernet, r.data, f.length)
		if r.side.sent(&r.frame) {
			return f, nil
		}
	}
}

func (r *rewritten) put(dst []byte) error {
	r.frame.Data = dst[:copy(dst, r.data)]
	if r.engine.Apply(&r.frame, -1).Unsealed {
		r.unsealed++
	}
	return nil
}

// toPeer runs one side of the recorded conversation against the live other one.
func (o *replayOptions) toPeer(ctx context.Context, name string, engine *rewrite.Engine) error {
	pace, err := o.pace()
	if err != nil {
		return err
	}
	events, left, err := o.events(ctx, name, engine)
	if err != nil {
		return err
	}
	out, err := o.sender().open(ctx)
	if err != nil {
		return err
	}
	defer out.Close()
	in, err := nic.Open(nic.Options{Interface: o.iface, Promiscuous: true, IgnoreOutgoing: true})
	if err != nil {
		return err
	}
	defer in.Close()
	defer context.AfterFunc(ctx, func() { _, _ = in.Close(), out.Close() })()
	m := replay.New(events, &pace.Pace, replay.Options{Timeout: int64(o.timeout), Retries: o.retries, Peers: engine.Peers()})
	c := conversation{machine: m, in: in, out: out, start: time.Now()}
	err = c.run()
	if ctx.Err() != nil && errors.Is(err, net.ErrClosed) {
		err = errInterrupted // what has not been compared is no success
	}
	return errors.Join(err, o.reportPeer(m.Report(), left))
}

// events are the frames of the conversation of --as, and how many cannot be
// sent.
func (o *replayOptions) events(ctx context.Context, name string, engine *rewrite.Engine) (events []replay.Event, left int, err error) {
	var f wire.Frame
	err = eachRecord(ctx, name, func(_ *capfile.Reader, rec *capfile.Record, number int64) error {
		length := len(rec.Data) - max(0, int(rec.FCSLen))
		if rec.Link != wire.LinkEthernet || len(rec.Data) < rec.WireLen || length < wire.EthernetLen {
			left++
			return nil
		}
		data := make([]byte, length)
		copy(data, rec.Data)
		f.Parse(rec.Link, data, 0)
		mine := o.side.sent(&f)
		if !mine && !o.side.gets(&f) {
			return nil
		}
		engine.Apply(&f, -1)
		events = append(events, replay.Event{Frame: data, Time: rec.Time, Number: number, Mine: mine})
		return nil
	})
	return events, left, err
}

// conversation connects a machine with an interface and the clock.
type conversation struct {
	machine *replay.Machine
	in, out *nic.Link
	start   time.Time
	batch   nic.Batch
	frame   wire.Frame
}

func (c *conversation) now() int64 { return int64(time.Since(c.start)) }

// run goes on until the machine has done everything.
func (c *conversation) run() error {
	one := make([][]byte, 1)
	for sent := 0; ; {
		step := c.machine.Step(c.now())
		switch {
		case step.Done:
			return nil
		case step.Send == nil:
			if err := c.receive(c.start.Add(time.Duration(step.Until))); err != nil {
				return err
			}
			continue
		}
		one[0] = step.Send
		if _, err := c.out.Send(one, time.Time{}); err != nil {
			return err
		}
		if sent++; sent%flushEvery == 0 { // what has come meanwhile
			if err := c.receive(time.Now()); err != nil {
				return err
			}
		}
	}
}

// receive hands over what has come, waiting until a deadline for something.
func (c *conversation) receive(deadline time.Time) error {
	err := c.in.Receive(&c.batch, deadline)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	for i := range c.batch.Frames {
		c.frame.Parse(wire.LinkEthernet, c.batch.Frames[i].Data, c.batch.Frames[i].WireLen)
		c.machine.Receive(&c.frame, c.now())
	}
	return err
}

// maxDifferences bounds how many are printed.
const maxDifferences = 50

// reportPeer prints how the conversation went.
func (o *replayOptions) reportPeer(r replay.Report, left int) error {
	text := ""
	for i, d := range r.Differences {
		if i == maxDifferences {
			text += fmt.Sprintf("and %d more differences\n", len(r.Differences)-i)
			break
		}
		text += d.String() + "\n"
	}
	text += fmt.Sprintf("sent %d packets and %d again; of %d answers %d came, and %d that the recording does not have; %d differences\n",
		r.Sent, r.Resent, r.Expected, r.Answered, r.Extra, len(r.Differences))
	if left > 0 {
		text += fmt.Sprintf("skipped %d that are not Ethernet or were cut short when captured\n", left)
	}
	if _, err := fmt.Fprint(o.streams.Out, text); err != nil {
		return err
	}
	if len(r.Differences) > 0 {
		return errDifferent
	}
	return nil
}
