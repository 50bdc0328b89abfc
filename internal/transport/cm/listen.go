package cm

import "slices"

// listener is a service that requests may ask for.
type listener struct {
	service, mask uint64
	ip            bool // requests carry the header of rdma_cm
}

// listeners finds a service: at once when it was named, else among the masks.
type listeners struct {
	exact  map[uint64]listener
	ranges []listener
}

const wholeID = ^uint64(0)

// Listen lets requests for a service through to the consumer. All services that
// agree with service where mask has a one are meant; a mask of all ones means
// one service. Private data is the consumer's from its first byte.
func (m *Manager) Listen(service, mask uint64) { m.listeners.add(listener{service, mask, false}) }

// ListenIP is Listen for a port of rdma_cm, whose requests have an IPHeader.
func (m *Manager) ListenIP(space PortSpace, port uint16) {
	m.listeners.add(listener{ServiceID(space, port), wholeID, true})
}

// Unlisten undoes Listen. Requests that the consumer knows of are not affected.
func (m *Manager) Unlisten(service, mask uint64) { m.listeners.remove(service, mask) }

// UnlistenIP undoes ListenIP.
func (m *Manager) UnlistenIP(space PortSpace, port uint16) {
	m.listeners.remove(ServiceID(space, port), wholeID)
}

func (l *listeners) add(added listener) {
	if added.mask == wholeID {
		l.exact[added.service] = added
	} else {
		l.ranges = append(l.ranges, added)
	}
}

func (l *listeners) remove(service, mask uint64) {
	if mask == wholeID {
		delete(l.exact, service)
		return
	}
	l.ranges = slices.DeleteFunc(l.ranges, func(x listener) bool {
		return x.mask == mask && (x.service^service)&mask == 0
	})
}

func (l *listeners) find(service uint64) (listener, bool) {
	if x, ok := l.exact[service]; ok {
		return x, true
	}
	for _, x := range l.ranges {
		if (x.service^service)&x.mask == 0 {
			return x, true
		}
	}
	return listener{}, false
}
