package connect

import "iter"

// All gives the connections that are kept, the one that was silent longest first.
// Those that have ended are among them until there are too many.
func (t *Tracker) All() iter.Seq[*Connection] {
	return func(yield func(*Connection) bool) {
		for c := t.oldest; c != nil; c = c.newer {
			if !yield(c) {
				return
			}
		}
	}
}
