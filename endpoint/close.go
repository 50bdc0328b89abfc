package endpoint

import (
	"errors"
	"fmt"
)

// Close ends the device. Everything that waits returns ErrClosed; peers are told
// nothing.
func (d *Device) Close() error {
	err := ErrClosed
	d.closing.Do(func() { err = d.close() })
	return err
}

func (d *Device) close() error {
	err := d.link.Close() // who waits for it holds the lock
	d.mu.Lock()
	d.stop(ErrClosed)
	d.closed = ErrClosed
	close(d.events)
	d.mu.Unlock()
	d.workers.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.out.writer.Close()
	return errors.Join(err, d.recorder.close())
}

// stop ends everything that waits, with an error. It is called with the device
// locked.
func (d *Device) stop(err error) {
	if d.closed != nil {
		return
	}
	d.closed = err
	close(d.done)
	for c := range d.queues {
		c.fail(err)
	}
}

// lose is for a link that will not come back. Queue pairs go to the error state,
// as at a card that was pulled out: what is outstanding is flushed, and then
// every call returns why. It is called with the device locked.
func (d *Device) lose(err error) {
	if d.closed != nil {
		return
	}
	for _, q := range d.pairs {
		q.die()
		d.settle(q)
	}
	d.tell(AsyncEvent{Kind: AsyncDeviceFatal, Err: err})
	d.stop(fmt.Errorf("the device has lost its link: %w", err))
}

// ended is the error with which the device's work has ended.
func (d *Device) ended() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.closed
}
