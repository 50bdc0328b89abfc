package qp

// queue is first in, first out. It grows to what was needed once and then
// allocates nothing.
type queue[T any] struct {
	ring []T // a power of two long
	head int
	n    int
}

func (q *queue[T]) len() int { return q.n }

func (q *queue[T]) push(v T) {
	if q.n == len(q.ring) {
		q.grow()
	}
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = v
	q.n++
}

// at is the i-th element, 0 the oldest.
func (q *queue[T]) at(i int) *T { return &q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *queue[T]) pop() (v T, ok bool) {
	if q.n == 0 {
		return v, false
	}
	v = *q.at(0)
	q.head = (q.head + 1) & (len(q.ring) - 1)
	q.n--
	return v, true
}

func (q *queue[T]) grow() {
	ring := make([]T, max(8, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = *q.at(i)
	}
	q.ring, q.head = ring, 0
}
