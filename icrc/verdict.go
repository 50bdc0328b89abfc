package icrc

// Verdict is what a CRC says about a packet.
type Verdict uint8

// The verdicts. Only Good and Bad come from a comparison.
const (
	NotApplicable Verdict = iota // the frame holds no packet that has this CRC
	Good                         // computed and received value are equal
	Bad                          // they differ
	Cut                          // the capture does not hold the whole packet
	NotCheckable                 // the packet is whole, but no rule says what its CRC covers
)

var verdictNames = [...]string{"", "good", "bad", "cut", "not checkable"}

// String returns the verdict's name; NotApplicable has the empty one.
func (v Verdict) String() string {
	if int(v) < len(verdictNames) {
		return verdictNames[v]
	}
	return "invalid"
}
