package rocecap

import (
	"errors"
	"io"
	"runtime"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/service"
)

// A scan walks a capture with all cores: one goroutine reads batches of
// records, workers parse and handle them, and the caller's goroutine takes the
// results in the order of the capture.
//
// What a packet means can depend on earlier ones: iWARP units lie in a TCP
// stream, and a CM exchange says what a queue pair carries. A worker therefore
// handles its batch as if there were no such state, and notes the packets that
// have some. At its turn, which comes in order, it feeds those to the trackers.
// Only when the state concerns the batch is it handled once more.
type scan struct {
	reader   *capfile.Reader
	limit    int // stop after so many packets; 0 means all
	overrule *overrule
	// stateless says that the handler does not care for what packets mean
	// together, and each is handled once.
	stateless bool
	// newHandler makes one worker's handler; take gets each result in order.
	newHandler func() handler
	take       func(*job) error
}

// handler is one worker's view of a scan: what to do with each packet.
type handler interface {
	// handle adds what the packet gives to the job. It may be called again for
	// the same packet, after reset.
	handle(j *job, p *packet.Packet, rec *capfile.Record)
}

// job is one batch on its way.
type job struct {
	batch   *capfile.Batch
	records []capfile.Record
	first   int // number of the first record, from 1

	firstTime, previousTime int64 // of the capture, of the record before

	out     []byte            // text for the output, in order
	matched []*capfile.Record // records to write
	report  *report           // what `rocecap icrc` counts

	done       chan struct{}
	turn, next chan *state // the state as the batches before left it
}

func (j *job) reset() {
	j.out = j.out[:0]
	j.matched = j.matched[:0]
	j.report = nil
}

// state is what earlier packets say about later ones. It passes from batch to
// batch.
type state struct {
	streams  *iwarp.Tracker
	services *service.Tracker
}

func newState() *state {
	return &state{streams: iwarp.NewTracker(iwarp.DefaultLimits()), services: service.NewTracker()}
}

// run scans the whole capture. The error is the first of: what take said, what
// is wrong with the file.
func (s *scan) run() error {
	workers := runtime.GOMAXPROCS(0)
	todo := make(chan *job, workers)
	order := make(chan *job, 2*workers)
	stop := make(chan struct{})
	spare := make(chan *job, 4*workers)
	for range workers {
		go func() {
			w := newWorker(s)
			for j := range todo {
				w.work(j)
				close(j.done)
			}
		}()
	}
	var readErr error
	go func() {
		readErr = s.read(todo, order, spare, stop)
		close(todo)
		close(order)
	}()
	var takeErr error
	for j := range order {
		<-j.done
		if takeErr == nil {
			if takeErr = s.take(j); takeErr != nil {
				close(stop)
			}
		}
		j.batch.Release()
		select {
		case spare <- j:
		default:
		}
	}
	if takeErr != nil {
		return takeErr
	}
	return readErr
}

// read hands out batches until the file, the limit or the caller ends it.
func (s *scan) read(todo, order chan<- *job, spare <-chan *job, stop <-chan struct{}) error {
	turn := make(chan *state, 1)
	turn <- newState()
	var firstTime, previous int64
	timed := false
	number := 1
	for s.limit == 0 || number <= s.limit {
		batch, err := s.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		j := newJob(spare)
		j.batch, j.records, j.first = batch, batch.Records, number
		if left := s.limit - number + 1; s.limit > 0 && len(j.records) > left {
			j.records = j.records[:left]
		}
		if !timed {
			firstTime, timed = j.records[0].Time, true
			previous = firstTime
		}
		j.firstTime, j.previousTime = firstTime, previous
		previous = j.records[len(j.records)-1].Time
		number += len(j.records)
		j.turn = turn
		turn = make(chan *state, 1)
		j.next = turn
		select {
		case <-stop:
			batch.Release()
			return nil
		case order <- j:
			todo <- j
		}
	}
	return nil
}

func newJob(spare <-chan *job) *job {
	var j *job
	select {
	case j = <-spare:
	default:
		j = &job{}
	}
	j.reset()
	j.done = make(chan struct{})
	return j
}
