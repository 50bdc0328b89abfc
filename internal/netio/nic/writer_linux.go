package nic

import "time"

// Writer returns the Link's writer: the one over the send ring if the Link has
// that, else one that uses Send, which must not be called meanwhile.
func (l *Link) Writer() (Writer, error) {
	if l.ring != nil {
		return l.ring, nil
	}
	return &copyWriter{
		link:   l,
		memory: make([]byte, sendBatch*l.slotLen()),
		frames: make([][]byte, 0, sendBatch),
	}, nil
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

func (w *copyWriter) Close() {}
