package rocecap

import (
	"errors"
	"fmt"
	"os"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// sink is the capture file that packets are written to. It is created with the
// first packet, because only then is an interface known.
type sink struct {
	name   string
	writer capfile.Writer
	failed bool // the file could not be created
	// index translates the reader's interfaces to the writer's.
	reader described
	index  map[int32]int32
}

// described knows the interfaces that records name by their places.
type described interface{ Interfaces() []capfile.Interface }

// newSink returns a sink that writes the named file, which must not be one of
// the inputs: it would be overwritten before it is read.
func newSink(name string, inputs []string) (*sink, error) {
	out, err := os.Stat(name)
	for _, input := range inputs {
		if err != nil {
			break // the file does not exist yet, or creating it will say why not
		}
		if in, inErr := os.Stat(input); inErr == nil && os.SameFile(in, out) {
			return nil, fmt.Errorf("-w %s: the file is an input too", name)
		}
	}
	return &sink{name: name}, nil
}

func (s *sink) write(r described, records []*capfile.Record) error {
	if s.reader != r {
		if err := s.settle(); err != nil {
			return err
		}
		s.reader, s.index = r, make(map[int32]int32)
	}
	for _, rec := range records {
		if err := s.writeOne(rec); err != nil {
			return err
		}
	}
	return nil
}

func (s *sink) writeOne(rec *capfile.Record) error {
	out := *rec
	index, ok := s.index[rec.Interface]
	if !ok {
		var err error
		if index, err = s.add(rec); err != nil {
			return err
		}
		s.index[rec.Interface] = index
	}
	out.Interface = index
	return s.writer.Write(&out)
}

// settle passes on the counters of the reader's interfaces, which files tell behind
// the packets.
func (s *sink) settle() error {
	if s.reader == nil || s.writer == nil {
		return nil
	}
	list := s.reader.Interfaces()
	for from, to := range s.index {
		if from < 0 || int(from) >= len(list) || list[from].Stats == (capfile.Statistics{}) {
			continue
		}
		if err := s.writer.SetStatistics(int(to), list[from].Stats); err != nil {
			return err
		}
	}
	return nil
}

// add describes the interface of a record in the output.
func (s *sink) add(rec *capfile.Record) (int32, error) {
	described := capfile.Interface{Link: rec.Link, FCSLen: rec.FCSLen}
	if list := s.reader.Interfaces(); rec.Interface >= 0 && int(rec.Interface) < len(list) {
		described = list[rec.Interface]
	}
	if s.writer == nil {
		return 0, s.create(described)
	}
	i, err := s.writer.AddInterface(described)
	return int32(i), err
}

func (s *sink) create(first capfile.Interface) error {
	w, err := capfile.Create(s.name, first)
	if err != nil {
		s.failed = true
		return err
	}
	s.writer = w
	return nil
}

// close completes the file. When no packet matched, it is an empty capture.
func (s *sink) close() error {
	if s.failed {
		return nil
	}
	if s.writer == nil {
		if err := s.create(capfile.Interface{Link: wire.LinkEthernet, FCSLen: -1}); err != nil {
			return err
		}
	}
	return errors.Join(s.settle(), s.writer.Close())
}
