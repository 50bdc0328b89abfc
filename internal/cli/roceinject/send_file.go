package roceinject

import (
	"context"
	"errors"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/present/text"
	"github.com/rocecap/rocecap/internal/wire"
)

// toFile writes what would be sent, at the times at which it would be.
func (o *sendOptions) toFile(ctx context.Context, args []string, s *sending) (err error) {
	if s.source, err = o.source(ctx, args, nil, s.passes); err != nil {
		return err
	}
	out, err := capfile.Create(o.write, capfile.Interface{Link: wire.LinkEthernet, FCSLen: -1})
	if err != nil {
		return errors.Join(err, s.source.close())
	}
	if s.pace == nil {
		s.pace = &steady{rate: rate{perSecond: second / gap}, burst: o.burst}
	}
	s.sink = &fileSink{tally: &s.tally, out: out, place: make([]byte, capfile.MaxRecord)}
	s.clock = &fileClock{}
	err = o.watched(ctx, s)
	return o.report(s, errors.Join(err, out.Close()))
}

// fileSink writes to a capture file.
type fileSink struct {
	tally *tally
	out   capfile.Writer
	place []byte
}

func (f *fileSink) reserve() ([]byte, error) { return f.place, nil }

func (f *fileSink) commit(length int, due int64) error {
	rec := capfile.Record{
		Data: f.place[:length], WireLen: length, Time: due, HasTime: true,
		Interface: -1, Link: wire.LinkEthernet, FCSLen: -1,
	}
	if err := f.out.Write(&rec); err != nil {
		return err
	}
	f.tally.count(1, length)
	return nil
}

func (f *fileSink) flush() error { return nil }

func (f *fileSink) finish() error { return nil }

func (f *fileSink) close() {}

// fileClock is the time of a file being written: nobody waits for it.
type fileClock struct{ time int64 }

func (c *fileClock) now() int64 { return c.time }

func (c *fileClock) wait(_ context.Context, until int64) { c.time = until }

// printAll prints the packets with every field, and sends none. What goes on
// for ever is printed once.
func (o *sendOptions) printAll(ctx context.Context, args []string, passes uint64) error {
	src, err := o.drySource(ctx, args, passes)
	if err != nil {
		return err
	}
	s := &sending{source: src, passes: max(passes, 1), limit: o.count, clock: &fileClock{}}
	if passes == 0 && o.count > 0 {
		s.passes = 0
	}
	units := unitsOf
	if o.capture != "" {
		units = capturedUnits()
	}
	tree := &text.Tree{Palette: text.NewPalette(o.streams.Coloured())}
	s.sink = &printSink{
		page:  packetPage{out: o.streams.Out, form: tree, units: units, packet: packet.Packet{Interface: -1}},
		place: make([]byte, capfile.MaxRecord),
	}
	return errors.Join(s.run(ctx), src.close(), s.problem())
}

// drySource is the source of a dry run. The interface, if there is one, gives
// its own addresses.
func (o *sendOptions) drySource(ctx context.Context, args []string, passes uint64) (source, error) {
	if o.iface == "" {
		return o.source(ctx, args, nil, passes)
	}
	link, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	src, err := o.source(ctx, args, link, passes)
	return src, errors.Join(err, link.Close())
}

// printSink prints packets.
type printSink struct {
	page  packetPage
	place []byte
}

func (p *printSink) reserve() ([]byte, error) { return p.place, nil }

func (p *printSink) commit(length int, _ int64) error {
	return p.page.add(wire.LinkEthernet, p.place[:length], length)
}

func (p *printSink) flush() error { return nil }

func (p *printSink) finish() error { return nil }

func (p *printSink) close() {}
