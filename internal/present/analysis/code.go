// Package analysis presents what internal/track/conversation has found: a
// summary that a person reads in ten seconds and a part for each conversation,
// or JSON; and what each finding's code means.
package analysis

import "strings"

// Grade is how bad a finding is.
type Grade uint8

// The grades.
const (
	Note    Grade = iota // what happened, and harms nobody
	Warning              // it costs time
	Error                // a message failed, or the queue pair
)

var gradeNames = [...]string{"note", "warning", "error"}

// String returns the grade's name.
func (g Grade) String() string { return gradeNames[g] }

// Code is a kind of finding, with what is to be said about it.
type Code struct {
	Name  string
	Kind  any // a value of the tracker's type for what it finds: conversation.Kind
	Grade Grade
	Title string // what happened, for the summary
	Next  string // what to look at next
	Means string
	Cause string
}

// Find returns the code of a name, whatever its case.
func Find(name string) (Code, bool) {
	for _, c := range Codes() {
		if strings.EqualFold(c.Name, name) {
			return c, true
		}
	}
	return Code{}, false
}

// Append adds the explanation that `rocecap explain` prints.
func (c *Code) Append(dst []byte) []byte {
	dst = append(dst, c.Name+": "+c.Title+" ("+c.Grade.String()+")\n"...)
	for _, part := range []struct{ head, text string }{{"means", c.Means}, {"causes", c.Cause}, {"look at", c.Next}} {
		dst = append(dst, '\n')
		dst = appendWrapped(dst, 10, 78, part.head, part.text)
	}
	return dst
}

// appendWrapped adds a text in lines of a width, beside its head, which may be too long
// for its column.
func appendWrapped(dst []byte, indent, width int, head, text string) []byte {
	line := "  " + head + strings.Repeat(" ", max(1, indent-len(head)))
	for word := range strings.FieldsSeq(text) {
		if len(line)+len(word) > width {
			dst = append(dst, strings.TrimRight(line, " ")+"\n"...)
			line = strings.Repeat(" ", indent+2)
		}
		line += word + " "
	}
	return append(dst, strings.TrimRight(line, " ")+"\n"...)
}
