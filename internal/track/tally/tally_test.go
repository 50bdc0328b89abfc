package tally

import (
	"slices"
	"testing"
)

func TestAListCountsByKindAndRemembersTheFirst(t *testing.T) {
	var l List[string]
	for packet := range 5 {
		l.Add("lost", 10+packet, 2)
	}
	l.Add("late", 99, 1)
	lost, late, none := l.Of("lost"), l.Of("late"), l.Of("none")
	if lost.Count != 5 || lost.Packets != 10 || !slices.Equal(lost.First(), []int{10, 11, 12}) {
		t.Errorf("lost: %+v", lost)
	}
	if late.Count != 1 || !slices.Equal(late.First(), []int{99}) {
		t.Errorf("late: %+v", late)
	}
	if none.Count != 0 || len(none.First()) != 0 || len(l) != 2 {
		t.Errorf("none: %+v of %d", none, len(l))
	}
}
