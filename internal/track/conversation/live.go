package conversation

import "iter"

// All gives the open conversations, the one that was silent longest first.
func (t *Tracker) All() iter.Seq[*Conversation] {
	return func(yield func(*Conversation) bool) {
		for c := t.silent.oldest; c != nil; c = c.beside[t.silent.which].newer {
			if !yield(c) {
				return
			}
		}
	}
}

// Expire ends the conversations of which nothing has come since a time, so that
// a capture that never ends keeps only what goes on.
func (t *Tracker) Expire(before int64) {
	for t.silent.oldest != nil && t.silent.oldest.Ended < before {
		t.close(t.silent.oldest)
	}
}
