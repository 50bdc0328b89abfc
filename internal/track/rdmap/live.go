package rdmap

import "time"

// maxIdle is how long an open iWARP connection is kept of which nothing comes. Its
// ends may have gone without a word; if it does go on, the FPDUs have to be found
// without the start-up frame, which does not come again.
const maxIdle = time.Hour

// Expire ends the TCP connections of which nothing has come for a time and that are
// over, or carry no iWARP as far as is known, and after an hour the others.
func (t *Tracker) Expire(now int64, silence time.Duration) {
	for f := t.order.newer; f != &t.order && now-f.ended > int64(silence); {
		next := f.newer
		if f.connection == nil || f.over() || now-f.ended > int64(maxIdle) {
			t.take(t.cutter.End(f.addr[0], f.addr[1]), moment{}, true)
			t.close(f)
		}
		f = next
	}
}

// over reports whether both ends have said that they are through, or one that it
// forgets the connection.
func (f *flow) over() bool {
	a, b := f.halfOf(0), f.halfOf(1)
	return a.FIN && b.FIN || a.RST || b.RST
}
