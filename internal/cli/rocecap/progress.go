package rocecap

import (
	"fmt"
	"sync"
	"time"

	"github.com/rocecap/rocecap/internal/netio/capfile"
)

// progress shows how far a long read is, on the error stream of a person who
// is not already reading the output.
type progress struct {
	quit chan struct{}
	wait sync.WaitGroup
}

const (
	progressDelay = time.Second // shorter work shows nothing
	progressEvery = 200 * time.Millisecond
)

func startProgress(s Streams, r *capfile.Reader) *progress {
	p := &progress{quit: make(chan struct{})}
	if !s.ErrTTY || s.OutTTY || r.Size() <= 0 {
		return p
	}
	p.wait.Go(func() {
		delay := time.NewTimer(progressDelay)
		defer delay.Stop()
		clear := ""
		for {
			select {
			case <-p.quit:
				fmt.Fprint(s.Err, clear)
				return
			case <-delay.C:
				clear = "\r\x1b[K"
				percent := 100 * r.BytesRead() / r.Size()
				fmt.Fprintf(s.Err, "\r%3d%% of %d MB", percent, r.Size()/1e6)
				delay.Reset(progressEvery)
			}
		}
	})
	return p
}

// stop takes the progress off the screen.
func (p *progress) stop() {
	close(p.quit)
	p.wait.Wait()
}
