package tcpstream

// Conn reassembles the two directions of one connection. Push gives it a
// segment, after which Next must be called until it has no more.
type Conn struct{ halves [2]half }

// NewConn returns a connection that draws on the budget.
func NewConn(b *Budget) *Conn {
	c := &Conn{}
	for i := range c.halves {
		c.halves[i].budget = b
	}
	return c
}

// Restarts reports that the segment begins a new connection on the ports of
// the old one: a SYN whose sequence number is not the one before the first byte
// of the direction. The caller then flushes and resets the old connection.
func (c *Conn) Restarts(dir int, s Segment) bool {
	h := &c.halves[dir]
	return s.Flags&SYN != 0 && h.known && h.isn != s.Seq
}

// Push takes one segment of direction dir, 0 or 1.
func (c *Conn) Push(dir int, s Segment) {
	if s.Flags&ACK != 0 {
		c.halves[1-dir].acknowledge(s.Ack)
	}
	if s.Flags&RST == 0 { // what a reset carries is no part of the stream (RFC 9293 section 3.5.3)
		c.halves[dir].push(s)
	}
}

// Next returns the next chunk, in the order of the stream within each
// direction. The second value is false when the connection needs more
// segments.
func (c *Conn) Next() (Chunk, bool) {
	for dir := range c.halves {
		if chunk, ok := c.halves[dir].next(); ok {
			chunk.Dir = dir
			return chunk, true
		}
	}
	return Chunk{}, false
}

// Flush gives up waiting for what is missing: Next returns all that is held,
// with gaps for the holes.
func (c *Conn) Flush() {
	for i := range c.halves {
		c.halves[i].skip = true
	}
}

// Reset forgets everything about the connection.
func (c *Conn) Reset() {
	for i := range c.halves {
		c.halves[i].reset()
	}
}
