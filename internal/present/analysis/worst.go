package analysis

import (
	"sync"

	"github.com/rocecap/rocecap/internal/track/conversation"
)

// Worst is what was found under one code, in whichever conversation.
type Worst struct {
	Finding    Finding // the most frequent
	Count      int     // of all
	Directions int     // in which there are some
}

// Worst adds up the findings that are more than notes, the worst first.
func (r *Report) Worst() []Worst {
	var list []Worst
	for _, s := range r.sums(Error, Warning) {
		list = append(list, Worst{s.worst, s.count, s.where})
	}
	return list
}

// Conversations are those that have a part of their own, in the order of their
// first packets, which is that of Finding.Conversation.
func (r *Report) Conversations() []*conversation.Conversation { return r.list() }

// Unlisted is how many conversations have no part.
func (r *Report) Unlisted() int { return r.unlisted }

// Gravest is the grade of the worst finding of a conversation, that of notes when
// there is none.
func Gravest(c *conversation.Conversation) (grade Grade) {
	for i := range c.Ends {
		for _, t := range c.Ends[i].Asks.Tallies {
			grade = max(grade, grades()[t.Kind])
		}
	}
	return grade
}

// troubles counts the findings of a conversation that are more than notes.
func troubles(c *conversation.Conversation) (n int) {
	for i := range c.Ends {
		for _, t := range c.Ends[i].Asks.Tallies {
			if grades()[t.Kind] > Note {
				n += t.Count
			}
		}
	}
	return n
}

// grades are those of what is found in conversations.
var grades = sync.OnceValue(func() (of [conversation.Kinds]Grade) {
	for _, code := range Codes() {
		if k, ok := code.Kind.(conversation.Kind); ok {
			of[k] = code.Grade
		}
	}
	return of
})
