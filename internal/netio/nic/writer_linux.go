package nic

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"
)

// sharedWriter is a Writer over memory shared with the kernel.
type sharedWriter interface {
	CountingWriter
	descriptor() int
}

// newSharedWriters makes the fastest ones that kernel and interface allow.
func newSharedWriters(l *Link, o Options) ([]sharedWriter, error) {
	if o.QdiscBypass { // what AF_XDP sends passes by the queues, too
		if writers, err := newXDPWriters(l, o); err == nil {
			return writers, nil
		}
	}
	var writers []sharedWriter
	for range max(1, o.Writers) {
		w, err := newRingWriter(l, o.SendRingBytes)
		if err != nil {
			return nil, errors.Join(err, closeWriters(writers))
		}
		writers = append(writers, w)
	}
	return writers, nil
}

// closeWriters closes those that nobody has used yet, and their sockets.
func closeWriters(writers []sharedWriter) (err error) {
	for _, w := range writers {
		w.Close()
		err = errors.Join(err, unix.Close(w.descriptor()))
	}
	return err
}

// Writer returns the first of the Link's writers.
func (l *Link) Writer() (Writer, error) { return l.Writers()[0], nil }

// Writers returns as many writers as the Link was opened with, which can send
// side by side. Without memory shared with the kernel it is a new one, which
// uses Send: that must not be called meanwhile.
func (l *Link) Writers() []CountingWriter {
	var writers []CountingWriter
	for _, w := range l.writers {
		writers = append(writers, w)
	}
	if writers == nil {
		writers = append(writers, &copyWriter{
			link:   l,
			memory: make([]byte, sendBatch*l.slotLen()),
			frames: make([][]byte, 0, sendBatch),
		})
	}
	return writers
}

// copyWriter keeps frames in its own memory and lets the kernel copy them.
type copyWriter struct {
	link   *Link
	memory []byte
	frames [][]byte // committed and not yet sent
}

func (w *copyWriter) place() []byte {
	length := w.link.slotLen()
	at := len(w.frames) * length
	return w.memory[at : at+length : at+length]
}

func (w *copyWriter) Reserve(deadline time.Time) ([]byte, error) {
	if len(w.frames) == sendBatch {
		if err := w.Flush(deadline); err != nil {
			return nil, err
		}
	}
	return w.place(), nil
}

func (w *copyWriter) Commit(n int) error {
	place := w.place()
	if err := w.link.checkCommit(place, n); err != nil {
		return err
	}
	w.frames = append(w.frames, place[:n])
	return nil
}

func (w *copyWriter) Flush(deadline time.Time) error {
	_, err := w.link.Send(w.frames, deadline)
	w.frames = w.frames[:0]
	return err
}

func (w *copyWriter) Sent() uint64 { return w.link.tx.sent.Load() }

func (w *copyWriter) Close() {}
