package rocecap

import (
	"github.com/rocecap/rocecap/internal/netio/capfile"
)

// sink is the capture file that packets are written to. It is created with the
// first packet, because only then is an interface known.
type sink struct {
	name   string
	writer capfile.Writer
	// index translates the reader's interfaces to the writer's.
	reader *capfile.Reader
	index  map[int32]int32
}

func (s *sink) write(r *capfile.Reader, records []*capfile.Record) error {
	if s.reader != r {
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

// add describes the interface of a record in the output.
func (s *sink) add(rec *capfile.Record) (int32, error) {
	described := capfile.Interface{Link: rec.Link, FCSLen: -1}
	if list := s.reader.Interfaces(); rec.Interface >= 0 && int(rec.Interface) < len(list) {
		described = list[rec.Interface]
	}
	if s.writer == nil {
		w, err := capfile.Create(s.name, described)
		s.writer = w
		return 0, err
	}
	i, err := s.writer.AddInterface(described)
	return int32(i), err
}

// close completes the file. When no packet matched, it is an empty capture.
func (s *sink) close() error {
	if s.writer == nil {
		w, err := capfile.Create(s.name, capfile.Interface{Link: 1, FCSLen: -1})
		if err != nil {
			return err
		}
		s.writer = w
	}
	return s.writer.Close()
}
