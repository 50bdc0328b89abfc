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

func TestTheFirstPacketsAreTheLowestWheneverTheyAreTold(t *testing.T) {
	var a, b Tally
	for _, packet := range []int{50, 40, 60, 10, 30, 70} {
		a.Add(packet, 1)
	}
	if !slices.Equal(a.First(), []int{10, 30, 40}) {
		t.Errorf("%v", a.First())
	}
	b.Add(20, 1)
	b.Join(&a)
	if !slices.Equal(b.First(), []int{10, 20, 30}) || b.Count != 7 {
		t.Errorf("%v of %d", b.First(), b.Count)
	}
}
