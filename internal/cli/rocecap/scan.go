package rocecap

import (
	"errors"
	"io"
	"runtime"

	"github.com/rocecap/rocecap/internal/netio/capfile"
	"github.com/rocecap/rocecap/internal/present/packet"
	"github.com/rocecap/rocecap/internal/track/iwarp"
	"github.com/rocecap/rocecap/internal/track/service"
	"github.com/rocecap/rocecap/internal/track/survey"
)

// A scan walks a capture with all cores: one goroutine reads batches of records
// and cuts them into jobs, workers parse and handle those, and the caller's
// goroutine takes the results in the order of the capture.
//
// What a packet means can depend on earlier ones: iWARP units lie in a TCP
// stream, and a CM exchange says what a queue pair carries. A worker therefore
// handles its job as if there were no such state, and notes the packets that
// have some. At its turn, which comes in order, it feeds those to the trackers.
// Only when the state concerns the job is it handled once more.
type scan struct {
	reader   *capfile.Reader
	limit    int // stop after so many packets; 0 means all
	overrule *overrule
	// stateless says that the handler does not care for what packets mean
	// together, and each is handled once.
	stateless bool
	// records is how many records a job has at most.
	records int
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

// A job has so many records at most. That bounds the text that waits to be
// written: the tree of a small packet is fifty times as long as the packet.
const (
	recordsPerJob     = 4096 // of which a line or less is printed
	recordsPerLongJob = 256  // of which everything is
	recordsPerFacts   = 1024 // of which the facts are kept, for a cache that they fit into
)

// job is a part of a batch on its way.
type job struct {
	batch   *capfile.Batch // to release when the job is done; nil but for the batch's last part
	records []capfile.Record
	first   int // number of the first record, from 1

	firstTime, previousTime int64 // of the capture, of the record before

	out     []byte            // text for the output, in order
	matched []*capfile.Record // records to write
	report  *report           // what `rocecap icrc` counts
	facts   survey.Facts      // what `rocecap analyze` follows

	done       chan struct{}
	turn, next chan *state // the state as the jobs before left it, and for the next one
}

func (j *job) reset() {
	j.out = j.out[:0]
	j.matched = j.matched[:0]
	j.report = nil
	j.facts.Reset()
}

// state is what earlier packets say about later ones. It passes from job to job.
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
	todo := make(chan *job, 4*workers)
	order := make(chan *job, 4*workers)
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
		if j.batch != nil {
			j.batch.Release()
		}
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

// read hands out jobs until the file, the limit or the caller ends it.
func (s *scan) read(todo, order chan<- *job, spare <-chan *job, stop <-chan struct{}) error {
	d := &dispatcher{records: s.records, todo: todo, order: order, spare: spare, stop: stop, number: 1, turn: make(chan *state, 1)}
	d.turn <- newState()
	for s.limit == 0 || d.number <= s.limit {
		batch, err := s.reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		records := batch.Records
		if left := s.limit - d.number + 1; s.limit > 0 && len(records) > left {
			records = records[:left]
		}
		if !d.dispatch(batch, records) {
			return nil
		}
	}
	return nil
}

// dispatcher cuts batches into jobs.
type dispatcher struct {
	records     int // of a job
	todo, order chan<- *job
	spare       <-chan *job
	stop        <-chan struct{}

	number          int // of the next record
	first, previous int64
	turn            chan *state
}

// dispatch hands out a batch; it reports false when the caller has stopped.
func (d *dispatcher) dispatch(batch *capfile.Batch, records []capfile.Record) bool {
	if d.number == 1 {
		d.first, d.previous = records[0].Time, records[0].Time
	}
	for len(records) > 0 {
		n := min(len(records), d.records)
		j := newJob(d.spare)
		j.records, j.first = records[:n], d.number
		j.firstTime, j.previousTime = d.first, d.previous
		j.turn, j.next = d.turn, make(chan *state, 1)
		records = records[n:]
		if len(records) == 0 {
			j.batch = batch
		}
		d.number += n
		d.previous = j.records[n-1].Time
		d.turn = j.next
		select {
		case <-d.stop:
			return false
		case d.order <- j:
			d.todo <- j
		}
	}
	return true
}

func newJob(spare <-chan *job) *job {
	var j *job
	select {
	case j = <-spare:
	default:
		j = &job{}
	}
	j.reset()
	j.batch = nil
	j.done = make(chan struct{})
	return j
}
