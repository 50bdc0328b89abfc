package roceinject

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/rewrite"
	"github.com/rocecap/rocecap/internal/wire"
)

// toFile writes the frames to the file of -w.
func (o *replayOptions) toFile(ctx context.Context, name string, engine *rewrite.Engine) error {
	speed, err := o.speed()
	if err != nil {
		return err
	}
	c := &copied{name: o.write, index: make(map[int32]int32), speed: speed, side: o.side, engine: engine}
	err = eachRecord(ctx, name, c.add)
	if c.writer != nil {
		err = errors.Join(err, c.writer.Close())
	} else if err == nil {
		err = errors.New("there is no frame to write")
	}
	out := o.streams.Out
	if o.write == "-" {
		out = o.streams.Err
	}
	_, printed := fmt.Fprintf(out, "wrote %d packets, %d of them changed\n%s", c.written, c.changed, unsealedText(c.unsealed))
	return errors.Join(err, printed)
}

func unsealedText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d were changed whose ICRC cannot be computed: they were cut, or fragments, or have IP options\n", n)
}

// copied is a capture that is written with changes.
type copied struct {
	name   string
	writer capfile.Writer
	index  map[int32]int32 // of the interfaces, from those of the input
	speed  float64
	first  int64 // time of the first record
	side   side
	engine *rewrite.Engine
	frame  wire.Frame
	data   []byte

	written, changed, unsealed int
}

// add writes one record, if it is wanted.
func (c *copied) add(r *capfile.Reader, rec *capfile.Record, _ int64) error {
	c.data = append(c.data[:0], rec.Data...)
	c.frame.Parse(rec.Link, c.data, rec.WireLen)
	if !c.side.sent(&c.frame) {
		return nil
	}
	result := c.engine.Apply(&c.frame, int(rec.FCSLen))
	out := *rec
	out.Data = c.data
	if err := c.describe(r, rec, &out); err != nil {
		return err
	}
	if c.written == 0 {
		c.first = rec.Time
	}
	out.Time = c.time(rec.Time)
	c.written++
	if result.Changed && !bytes.Equal(rec.Data, c.data) {
		c.changed++
	}
	if result.Unsealed {
		c.unsealed++
	}
	return c.writer.Write(&out)
}

// time is what becomes of the time of a record.
func (c *copied) time(t int64) int64 {
	if c.speed == 0 { // as fast as a file goes
		return c.first + int64(c.written)*gap
	}
	return c.first + scale(t-c.first, c.speed)
}

// describe finds the interface of a record in the output.
func (c *copied) describe(r *capfile.Reader, rec, out *capfile.Record) error {
	index, known := c.index[rec.Interface]
	if !known {
		described := capfile.Interface{Link: rec.Link, FCSLen: rec.FCSLen}
		if list := r.Interfaces(); rec.Interface >= 0 && int(rec.Interface) < len(list) {
			described = list[rec.Interface]
		}
		var err error
		if index, err = c.interfaceOf(described); err != nil {
			return err
		}
		c.index[rec.Interface] = index
	}
	out.Interface = index
	return nil
}

func (c *copied) interfaceOf(described capfile.Interface) (int32, error) {
	if c.writer == nil {
		var err error
		c.writer, err = capfile.Create(c.name, described)
		return 0, err
	}
	i, err := c.writer.AddInterface(described)
	return int32(i), err
}
