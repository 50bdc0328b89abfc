package cm

import "testing"

func TestAQueueKeepsItsOrderAndItsSize(t *testing.T) {
	var f fifo[int]
	next := 1
	for i := 1; i <= 1000; i++ {
		*f.push() = i
		if f.len() > 3 {
			if got := *f.pop(); got != next {
				t.Fatalf("%d, want %d", got, next)
			}
			next++
		}
	}
	if cap(f.items) > 16 {
		t.Errorf("room for %d values", cap(f.items))
	}
	for ; f.len() > 0; next++ {
		if got := *f.pop(); got != next {
			t.Fatalf("%d, want %d", got, next)
		}
	}
	if f.pop() != nil || next != 1001 {
		t.Errorf("%d values", next-1)
	}
}
