package capfile

import "sync"

// described is what a file has said about its interfaces so far. It is written
// by the reading goroutine and may be read by others.
type described struct {
	mu         sync.Mutex
	interfaces []Interface
	sections   int
}

// addSection begins a pcapng section.
func (d *described) addSection() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.sections++
}

// add adds an interface to the current section and returns its index; ok is
// false when there are too many.
func (d *described) add(i Interface) (index int32, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.interfaces) == maxInterfaces {
		return 0, false
	}
	i.Section = max(d.sections-1, 0)
	d.interfaces = append(d.interfaces, i)
	return int32(len(d.interfaces) - 1), true
}

func (d *described) setStatistics(index int32, s Statistics) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.interfaces[index].Stats = s
}
