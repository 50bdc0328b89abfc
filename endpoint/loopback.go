package endpoint

import "github.com/rocecap/rocecap/internal/wire"

// loopback holds what the device has sent to itself: no link brings that back.
type loopback struct {
	frames []Frame
	spare  []Frame // the memory of those that were handled
}

// maxLooped bounds the frames that wait. More are lost, as on a link; but queue
// pairs do not send so many.
const maxLooped = 1024

// full reports whether there may be no room for what a queue pair sends in its
// turn.
func (l *loopback) full() bool { return len(l.frames) > maxLooped-burst }

// looped takes a frame to the device itself, and reports whether it is one.
func (d *Device) looped(frame []byte) bool {
	if wire.Ethernet(frame).Dst() != d.mac {
		return false
	}
	l := &d.loopback
	if len(l.frames) == maxLooped {
		return true
	}
	var f Frame
	if n := len(l.spare); n > 0 {
		f, l.spare = l.spare[n-1], l.spare[:n-1]
	}
	f.Data = append(f.Data[:0], frame...)
	f.WireLen, f.Time = len(frame), d.now.UnixNano()
	l.frames = append(l.frames, f)
	d.wakeKeeper()
	return true
}

// loop receives what the device has sent to itself. It is called by the keeper.
func (d *Device) loop(r *receiver) {
	d.mu.Lock()
	frames := d.loopback.frames
	d.loopback.frames = nil
	d.mu.Unlock()
	if len(frames) == 0 {
		return
	}
	r.handle(frames)
	d.mu.Lock()
	d.loopback.spare = append(d.loopback.spare, frames...)
	d.mu.Unlock()
}
