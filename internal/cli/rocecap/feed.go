package rocecap

import (
	"context"
	"errors"
	"io"
	"math"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/netio/nic"
	"github.com/rocecap/rocecap/internal/wire"
)

// feed is where `rocecap live` has its packets from.
type feed interface {
	// run hands on packets, and says the time at the end of each interval but the
	// last, until the context or the packets end.
	run(ctx context.Context, every time.Duration, take func([]capfile.Record) error, tick func(now int64) error) error
	// end is the time at the end of the last interval, 0 when there was none.
	end() int64
}

// liveFeed is interfaces.
type liveFeed struct {
	captures *captures
	records  []capfile.Record
}

func (f *liveFeed) run(ctx context.Context, every time.Duration, take func([]capfile.Record) error, tick func(int64) error) error {
	return f.captures.run(ctx, every, func(place int, b *nic.Block) error {
		f.records = f.records[:0]
		var frame nic.Frame
		for b.Next(&frame) {
			f.records = append(f.records, recordOf(&frame, place))
		}
		return take(f.records)
	}, func(now time.Time) error { return tick(now.UnixNano()) })
}

func (f *liveFeed) end() int64 { return time.Now().UnixNano() }

// recordOf is a captured frame as it is written to a file.
func recordOf(f *nic.Frame, place int) capfile.Record {
	return capfile.Record{
		Data: f.Data, WireLen: f.WireLen, Time: f.Time, HasTime: true, Interface: int32(place), Link: wire.LinkEthernet, FCSLen: -1,
	}
}

// fileFeed is a capture that is played again.
type fileFeed struct {
	reader *capfile.Reader
	speed  float64 // times its own; 0 is as fast as it goes

	began time.Time // when the first packet was played
	first int64     // its time
	next  int64     // when the interval ends, in the capture
}

func (f *fileFeed) run(ctx context.Context, every time.Duration, take func([]capfile.Record) error, tick func(int64) error) error {
	defer f.reader.Close()
	for {
		batch, err := f.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		err = f.play(ctx, batch.Records, every, take, tick)
		batch.Release()
		if err != nil {
			return err
		}
	}
}

func (f *fileFeed) end() int64 { return f.next }

// play hands on packets when their time has come, those of an interval that goes
// as fast as it can together.
func (f *fileFeed) play(ctx context.Context, records []capfile.Record, every time.Duration, take func([]capfile.Record) error, tick func(int64) error) error {
	from := 0
	for i := range records {
		now := records[i].Time
		if f.next == 0 {
			f.first, f.next, f.began = now, now+int64(every), time.Now()
		}
		if now < f.next && f.speed == 0 {
			continue
		}
		if err := take(records[from:i]); err != nil {
			return err
		}
		from = i
		for now >= f.next {
			if err := f.wait(ctx, f.next); err != nil {
				return err
			}
			if err := tick(f.next); err != nil {
				return err
			}
			f.next = f.after(now, every)
		}
		if err := f.wait(ctx, now); err != nil {
			return err
		}
	}
	return take(records[from:])
}

// after is the end of the interval behind one that has ended. Played as fast as
// it goes, a capture's silence is one interval.
func (f *fileFeed) after(now int64, every time.Duration) int64 {
	next := f.next + int64(every)
	if f.speed == 0 && next < now {
		next += (now - next) / int64(every) * int64(every)
	}
	return next
}

// wait waits until a time of the capture has come.
func (f *fileFeed) wait(ctx context.Context, at int64) error {
	if f.speed == 0 {
		return ctx.Err()
	}
	// Played slowly enough, a capture takes longer than a Duration can be.
	due := time.Duration(min(float64(at-f.first)/f.speed, math.MaxInt64/2))
	delay := due - time.Since(f.began)
	if delay < time.Millisecond {
		return ctx.Err()
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
