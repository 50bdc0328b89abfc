package roceinject

import (
	"errors"
	"io"
	"slices"

	"github.com/rocecap/rocecap/internal/craft"
	"github.com/rocecap/rocecap/internal/craft/script"
	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// frame is what is known of a frame before it is made.
type frame struct {
	length  int
	time    int64 // in its capture, nanoseconds
	hasTime bool
	unfit   unfit
}

// unfit says why a frame cannot be sent.
type unfit uint8

const (
	fit unfit = iota
	notEthernet
	cutShort
	unfits
)

var unfitNames = [unfits]string{notEthernet: "not Ethernet", cutShort: "cut short when captured"}

// source gives frames one after another.
type source interface {
	// next goes on to the next frame; io.EOF is the end.
	next() (frame, error)
	// put writes that frame to dst, which has room for it.
	put(dst []byte) error
	// again goes back to the beginning.
	again() error
	close() error
}

// crafted gives the packets of a script.
type crafted struct {
	program *script.Program
	packet  *craft.Program
}

func newCrafted(s script.Script) (*crafted, error) {
	p, err := script.Compile(s)
	return &crafted{program: p}, err
}

func (c *crafted) next() (frame, error) {
	if c.packet = c.program.Next(); c.packet == nil {
		return frame{}, io.EOF
	}
	f := frame{length: c.packet.Size()}
	switch {
	case c.packet.Link() != wire.LinkEthernet:
		f.unfit = notEthernet
	case c.packet.Kept() < c.packet.Size():
		f.unfit = cutShort
	}
	return f, nil
}

func (c *crafted) put(dst []byte) error { return c.packet.Next(dst) }

func (c *crafted) again() error {
	c.program.Rewind()
	return nil
}

func (c *crafted) close() error { return nil }

// captured gives the frames of a capture file. When they are wanted again, and
// are not too many, they stay in memory.
type captured struct {
	name       string
	smac, dmac []byte // nil: as captured

	reader *capfile.Reader
	batch  *capfile.Batch
	at     int // in the batch
	data   []byte

	keep   bool // frames are being kept
	kept   []keptFrame
	memory int
	whole  bool // kept has all of them
}

type keptFrame struct {
	frame
	data []byte
}

// maxKept bounds the memory for frames that are sent again.
const maxKept = 64 << 20

func newCaptured(name string, smac, dmac []byte, keep bool) *captured {
	return &captured{name: name, smac: smac, dmac: dmac, keep: keep}
}

func (c *captured) next() (frame, error) {
	if c.whole {
		if c.at == len(c.kept) {
			return frame{}, io.EOF
		}
		k := &c.kept[c.at]
		c.at++
		c.data = k.data
		return k.frame, nil
	}
	rec, err := c.record()
	if err != nil {
		c.whole = c.keep && errors.Is(err, io.EOF)
		return frame{}, err
	}
	f := frame{length: rec.WireLen, time: rec.Time, hasTime: rec.HasTime}
	c.data = rec.Data
	switch {
	case rec.Link != wire.LinkEthernet:
		f.unfit = notEthernet
	case len(rec.Data) < rec.WireLen:
		f.unfit = cutShort
	case rec.FCSLen > 0: // the interface makes its own
		c.data = rec.Data[:max(0, len(rec.Data)-int(rec.FCSLen))]
		f.length = len(c.data)
	}
	c.remember(f)
	return f, nil
}

// record is the next one of the file.
func (c *captured) record() (*capfile.Record, error) {
	var err error
	if c.reader == nil {
		if c.reader, err = capfile.Open(c.name); err != nil {
			return nil, err
		}
	}
	if c.batch == nil || c.at == len(c.batch.Records) {
		if c.batch != nil {
			c.batch.Release()
		}
		c.at = 0
		if c.batch, err = c.reader.Next(); err != nil {
			c.batch = nil
			return nil, err
		}
	}
	rec := &c.batch.Records[c.at]
	c.at++
	return rec, nil
}

// remember keeps a frame, as long as there is room.
func (c *captured) remember(f frame) {
	if !c.keep {
		return
	}
	k := keptFrame{frame: f}
	if f.unfit == fit {
		k.data = slices.Clone(c.data)
	}
	c.kept = append(c.kept, k)
	const overhead = 64
	if c.memory += len(k.data) + overhead; c.memory > maxKept {
		c.keep, c.kept = false, nil
	}
}

func (c *captured) put(dst []byte) error {
	copy(dst, c.data)
	if len(c.data) >= wire.EthernetLen {
		copy(dst, c.dmac)
		copy(dst[macLen:], c.smac)
	}
	return nil
}

func (c *captured) again() error {
	c.at = 0
	if c.whole {
		return nil
	}
	if c.name == "-" {
		return errors.New("the standard input is too long to be sent again")
	}
	err := c.close()
	c.reader, c.batch = nil, nil
	return err
}

func (c *captured) close() error {
	if c.reader == nil {
		return nil
	}
	return c.reader.Close()
}
