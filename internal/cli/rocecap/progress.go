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
		for {
			select {
			case <-p.quit:
				return
			case <-delay.C:
				percent := 100 * r.BytesRead() / r.Size()
				fmt.Fprintf(s.Err, "\r%3d%% of %d MB", percent, r.Size()/1e6)
				delay.Reset(progressEvery)
			}
		}
	})
	return p
}

// stop ends the line that the progress stood on.
func (p *progress) stop() {
	close(p.quit)
	p.wait.Wait()
}
