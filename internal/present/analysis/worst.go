package analysis

import "github.com/rocecap/rocecap/internal/track/conversation"

// Worst is what was found under one code, in whichever conversation.
type Worst struct {
	Finding    Finding // the most frequent
	Count      int     // of all
	Directions int     // in which there are some
}

// Worst adds up the findings that are more than notes, the worst first.
func (r *Report) Worst() []Worst {
	var list []Worst
	for _, s := range r.sums() {
		list = append(list, Worst{s.worst, s.count, s.where})
	}
	return list
}

// Conversations are those that have a part of their own, in the order of their
// first packets, which is that of Finding.Conversation.
func (r *Report) Conversations() []*conversation.Conversation { return r.list() }

// Unlisted is how many conversations have no part.
func (r *Report) Unlisted() int { return r.unlisted }

// NotFollowed says which packets belong to no conversation, "" for none.
func (r *Report) NotFollowed() string { return leftOut(r) }
