package endpoint

import (
	"errors"
	"io"
	"sync"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/wire"
)

// recorder writes frames to a capture. A nil recorder does nothing.
type recorder struct {
	mu     sync.Mutex // guards what is below
	writer *capfile.PcapNgWriter
	record capfile.Record
	err    error // the first, after which nothing is written
}

func newRecorder(to io.Writer, name string) (*recorder, error) {
	if to == nil {
		return nil, nil
	}
	w, err := capfile.NewPcapNgWriter(to)
	if err != nil {
		return nil, err
	}
	if _, err := w.AddInterface(capfile.Interface{Name: name, Link: wire.LinkEthernet}); err != nil {
		return nil, err
	}
	return &recorder{writer: w, record: capfile.Record{Link: wire.LinkEthernet, HasTime: true, FCSLen: -1}}, nil
}

// add writes a frame, with its time in nanoseconds since the epoch.
func (r *recorder) add(frame []byte, at int64) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err != nil {
		return
	}
	r.record.Data, r.record.WireLen, r.record.Time = frame, len(frame), at
	r.err = r.writer.Write(&r.record)
	r.record.Data = nil
}

func (r *recorder) close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return errors.Join(r.err, r.writer.Close())
}
