package capfile

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

const (
	// maxWindow bounds the memory that a zstd stream can ask for. RFC 8878
	// clause 3.1.1.1.2 asks decoders for 8 MiB, which is all that zstd uses
	// without --long and --ultra.
	maxWindow = 32 << 20
	// decompressed is how much a decompressor is asked for at least.
	decompressed = 128 << 10
	// magicLen is how many bytes tell every format with a magic number.
	magicLen = 4
)

// Open opens the named capture file, "-" being the standard input. An error of
// opening is the system's; one in the contents is a *FormatError.
func Open(name string) (*Reader, error) {
	if name == "-" {
		return newReader(source{size: -1}, os.Stdin, "standard input", blockSize)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	src := source{size: -1, file: f}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		src.size = info.Size()
	}
	return newReader(src, f, name, blockSize)
}

// NewReader reads a capture file from in. The name is for messages only.
func NewReader(in io.Reader, name string) (*Reader, error) {
	return newReader(source{size: -1}, in, name, blockSize)
}

func newReader(src source, in io.Reader, name string, block int) (*Reader, error) {
	r := &Reader{
		name: name, src: src, block: block,
		free: make(chan *Batch, freeBatches), need: magicLen,
	}
	r.cur = r.newBatch()
	f := r.src.start(countingReader{in, &r.count})
	if f == nil {
		f = r.identify()
	}
	if f != nil {
		r.fail(f)
		_ = r.src.close() // the fault says more than any error of closing could
		return nil, r.err
	}
	return r, nil
}

// identify chooses the decoder by the first bytes of the stream.
func (r *Reader) identify() *fault {
	head, f := r.await(magicLen)
	if f != nil {
		return f
	}
	if ngMagic(head) {
		r.format = PcapNG
		r.dec = newNGDecoder(&r.described)
		return nil
	}
	if form, ok := pcapMagic(head); ok {
		r.format = form.format
		if head, f = r.await(pcapHeaderLen); f != nil {
			return f
		}
		r.dec, f = newPcapDecoder(&r.described, form, head)
		r.lo, r.off = pcapHeaderLen, pcapHeaderLen
		return f
	}
	if bytes.HasPrefix(head, []byte(snifferMagic[:magicLen])) {
		if head, f = r.await(len(snifferMagic)); f != nil {
			return f
		}
		if string(head[:len(snifferMagic)]) == snifferMagic {
			r.format = Sniffer
			r.dec = newSnifferDecoder(&r.described)
			r.lo, r.off = len(snifferMagic), int64(len(snifferMagic))
			return nil
		}
	}
	if r.isERF() {
		r.format = ERF
		r.dec = newERFDecoder(&r.described)
		return nil
	}
	return damaged(0, "not a capture file: it begins with % x", r.cur.block[:min(r.hi, 8)])
}

// await reads until n bytes of the stream are there.
func (r *Reader) await(n int) ([]byte, *fault) {
	for r.hi < n && r.srcErr == nil {
		r.fill()
	}
	if r.hi >= n {
		return r.cur.block[:r.hi], nil
	}
	switch {
	case r.srcErr != io.EOF:
		return nil, sourceFault(r.src.codec, 0, r.srcErr)
	case r.hi == 0:
		return nil, truncated(0, "the file is empty")
	}
	return nil, truncated(0, "the file ends after %d bytes, inside its header", r.hi)
}

// isERF reads as much as it takes to see whether the stream is an ERF file.
func (r *Reader) isERF() bool {
	for {
		records, ok := erfPlausible(r.cur.block[:r.hi])
		switch {
		case !ok || records >= erfEnough:
			return ok
		case r.srcErr != nil || r.hi == len(r.cur.block):
			return records > 0
		}
		r.fill()
	}
}

// source is where the bytes come from.
type source struct {
	in      io.Reader
	codec   string    // "gzip", "zstd", or "" when nothing has to be decompressed
	least   int       // how much one read waits for
	size    int64     // of the file, -1 when unknown
	file    io.Closer // nil when the caller owns it
	release func()    // frees the decompressor, nil when there is none
}

// start looks at the first bytes of in and puts a decompressor before it when
// they ask for one.
func (s *source) start(in io.Reader) *fault {
	head := make([]byte, 4096)
	n, err := io.ReadAtLeast(in, head, magicLen)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return sourceFault("", 0, err)
	}
	head = head[:n]
	s.in, s.least = io.MultiReader(bytes.NewReader(head), in), 1
	switch {
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}): // RFC 1952 clause 2.3.1
		return s.gunzip()
	case bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd}): // RFC 8878 clause 3.1.1
		return s.unzstd()
	}
	return nil
}

func (s *source) gunzip() *fault {
	s.codec, s.least = "gzip", decompressed
	z, err := gzip.NewReader(bufio.NewReaderSize(s.in, 64<<10))
	if err != nil {
		return sourceFault(s.codec, 0, err)
	}
	s.in = z
	return nil
}

func (s *source) unzstd() *fault {
	s.codec, s.least = "zstd", decompressed
	z, err := zstd.NewReader(s.in, zstd.WithDecoderConcurrency(1),
		zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return sourceFault(s.codec, 0, err)
	}
	s.in, s.release = z, z.Close
	return nil
}

// read reads into p, which is not empty. A plain file gives what one read
// gives, so that a live stream is not held up; a decompressor, whose pieces are
// small, is asked until there is a fair amount.
func (s *source) read(p []byte) (n int, err error) {
	least := min(s.least, len(p))
	for idle := 0; n < least && err == nil; {
		var m int
		m, err = s.in.Read(p[n:])
		n += m
		if m > 0 {
			idle = 0
		} else if idle++; idle == 100 && err == nil {
			err = io.ErrNoProgress
		}
	}
	return n, err
}

// close frees the decompressor and closes the file; it may be called again.
func (s *source) close() error {
	if s.release != nil {
		s.release()
		s.release = nil
	}
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return f.Close()
}

// countingReader counts what is read from a file, for a progress line.
type countingReader struct {
	in    io.Reader
	count *atomic.Int64
}

func (c countingReader) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	c.count.Add(int64(n))
	return n, err
}
