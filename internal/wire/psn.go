package wire

// PSN is a 24-bit packet sequence number. PSNs wrap; compare them with these
// methods, never with <.
type PSN uint32

const psnMask = 1<<24 - 1

// Add returns p moved forward by n packets, backward when n is negative.
func (p PSN) Add(n int) PSN { return PSN(int(p)+n) & psnMask }

// Diff returns how many packets p is ahead of q, negative when it is behind.
// Half the space is ahead, half behind (IBTA 9.7.2).
func (p PSN) Diff(q PSN) int {
	return int(int32(uint32(p-q)<<8) >> 8)
}

// Less reports whether p comes before q.
func (p PSN) Less(q PSN) bool { return p.Diff(q) < 0 }

// InRange reports whether p lies in the n PSNs that begin at first.
func (p PSN) InRange(first PSN, n int) bool {
	return int((p-first)&psnMask) < n
}
