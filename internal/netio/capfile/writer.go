package capfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/rocecap/rocecap/internal/wire"
)

// Writer writes a capture file. What it writes is buffered until Flush or
// Close, and handed on in whole blocks: a file can be read to its last packet
// also when its program was killed. When writing has failed, for want of space
// for example, so does everything after it; what is in the file stays readable.
type Writer interface {
	// AddInterface describes a further interface and returns its index. A pcap
	// file has one link type and cannot tell interfaces apart: it accepts an
	// interface of that link type as its only one, 0.
	AddInterface(Interface) (int, error)
	// Write writes one record. Record.Interface is an index that AddInterface
	// has returned; -1 means any interface of the record's link type, which is
	// added when there is none.
	Write(*Record) error
	// SetStatistics gives the counters of an interface, which pcapng holds at
	// its end and pcap not at all.
	SetStatistics(index int, s Statistics) error
	// Size is how many bytes the file has, or will have when all that is
	// buffered is written. Of a compressed one it is not exact: a compressor
	// keeps some to itself.
	Size() int64
	Flush() error
	// Close completes the file, and closes it if the Writer has opened it.
	Close() error
}

// LinkTypeError says that a file cannot hold a record or an interface because
// of its link type.
type LinkTypeError struct {
	Has, Want wire.LinkType
}

var _ error = (*LinkTypeError)(nil)

func (e *LinkTypeError) Error() string {
	return fmt.Sprintf("a packet of link type %d cannot be written where link type %d is declared", e.Has, e.Want)
}

// IndexError says that an interface has not been added.
type IndexError struct {
	Index, Count int
}

var _ error = (*IndexError)(nil)

func (e *IndexError) Error() string {
	return fmt.Sprintf("interface %d does not exist, the file has %d so far", e.Index, e.Count)
}

// Create creates the named capture file, "-" being the standard output, and
// describes its first interface. The name chooses the format: .pcap, .cap and
// .dmp are classic pcap with nanoseconds, anything else is pcapng; .gz or .zst
// behind that compresses the file.
func Create(name string, first Interface) (Writer, error) {
	out := &output{}
	var file io.Writer = os.Stdout
	if name != "-" {
		// Not os.Create: who holds both ends of a named pipe is not told that nobody
		// reads from it any more.
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return nil, err
		}
		file, out.file = f, f
	}
	w, err := out.begin(file, name, first)
	if err != nil {
		return nil, errors.Join(err, out.close())
	}
	return w, nil
}

// begin builds the chain of buffer, compressor and format before the file.
func (o *output) begin(file io.Writer, name string, first Interface) (Writer, error) {
	base := strings.ToLower(filepath.Base(name))
	ext := filepath.Ext(base)
	o.packed = &counter{to: file}
	switch ext {
	case ".gz":
		file = o.packed
		z := gzip.NewWriter(file)
		o.codec, file = z, z
	case ".zst":
		file = o.packed
		z, err := zstd.NewWriter(file, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return nil, err
		}
		o.codec, file = z, z
	}
	if o.codec != nil {
		ext = filepath.Ext(strings.TrimSuffix(base, ext))
	}
	o.buffer = newBuffer(file)
	if own, ok := o.file.(*os.File); ok && o.codec == nil {
		o.buffer.cut = own.Truncate
	}
	switch ext {
	case ".pcap", ".cap", ".dmp":
		return newPcapWriter(*o, first, true)
	}
	w, err := newPcapNgWriter(*o)
	if err != nil {
		return nil, err
	}
	_, err = w.AddInterface(first)
	return w, err
}

// output is where a Writer's bytes go: through a buffer, perhaps a compressor,
// perhaps a file that the Writer owns.
type output struct {
	buffer *buffer
	codec  codec
	packed *counter // what the codec writes
	file   io.Closer
}

// counter counts the bytes on their way.
type counter struct {
	to io.Writer
	n  int64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.to.Write(p)
	c.n += int64(n)
	return n, err
}

func (o *output) size() int64 {
	if o.codec != nil {
		return o.packed.n
	}
	return o.buffer.size()
}

// codec is a compressor.
type codec interface {
	io.WriteCloser
	Flush() error
}

func (o *output) flush() error {
	if err := o.buffer.Flush(); err != nil {
		return err
	}
	if o.codec != nil {
		return o.codec.Flush()
	}
	return nil
}

// close ends every stage, also when an earlier one has failed.
func (o *output) close() error {
	var errs []error
	if o.buffer != nil {
		errs = append(errs, o.buffer.Flush())
	}
	if o.codec != nil {
		errs = append(errs, o.codec.Close())
	}
	if o.file != nil {
		errs = append(errs, o.file.Close())
	}
	return errors.Join(errs...)
}
