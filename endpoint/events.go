package endpoint

// AsyncKind is what an AsyncEvent is about, with verbs' names.
type AsyncKind uint8

// The kinds.
const (
	AsyncQPFatal         AsyncKind = iota + 1 // a queue pair went to the error state by itself
	AsyncCommEstablished                      // the first request came while in RTR
	AsyncSQDrained                            // all that was sent is complete
	AsyncLastReceive                          // a queue pair in error uses its SRQ no more
	AsyncSRQLimit                             // a shared receive queue is low
	AsyncCQError                              // a completion queue had no room
	AsyncDeviceFatal                          // the link is gone; Err says how
)

var asyncNames = [...]string{
	AsyncQPFatal: "QP fatal", AsyncCommEstablished: "communication established", AsyncSQDrained: "SQ drained",
	AsyncLastReceive: "last WQE reached", AsyncSRQLimit: "SRQ limit reached", AsyncCQError: "CQ error",
	AsyncDeviceFatal: "device fatal",
}

// String names the kind.
func (k AsyncKind) String() string { return asyncNames[k] }

// AsyncEvent is what happened apart from completions.
type AsyncEvent struct {
	Kind AsyncKind
	QPN  uint32
	SRQ  uint32
	Err  error
}

// asyncDepth is how many events wait to be read. More are lost, and counted.
const asyncDepth = 256

// Events returns the channel of asynchronous events, which Close closes.
func (d *Device) Events() <-chan AsyncEvent { return d.events }

// tell is called with the device locked.
func (d *Device) tell(e AsyncEvent) {
	if d.closed != nil {
		return
	}
	select {
	case d.events <- e:
	default:
		d.stats.EventsLost++
	}
}
