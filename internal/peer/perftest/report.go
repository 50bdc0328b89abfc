package perftest

// Report is the result of a bandwidth test.
type Report struct {
	Size       uint64  `json:"bytes"`
	Iterations uint64  `json:"iterations"`
	Peak       float64 `json:"peak_mib_per_second"` // 0 when it was not measured
	Average    float64 `json:"average_mib_per_second"`
	Rate       float64 `json:"million_messages_per_second"`
}

// SwapReports exchanges results. What the side that did not send tells is zero.
func (t *Talk) SwapReports(mine Report) (theirs Report, err error) {
	for _, number := range []struct {
		what string
		mine uint64
		to   *uint64
	}{{"message size", mine.Size, &theirs.Size}, {"iterations", mine.Iterations, &theirs.Iterations}} {
		if *number.to, err = t.swapQuad(number.what, number.mine); err != nil {
			return theirs, err
		}
	}
	for _, number := range []struct {
		what string
		mine float64
		to   *float64
	}{
		{"peak bandwidth", mine.Peak, &theirs.Peak},
		{"average bandwidth", mine.Average, &theirs.Average},
		{"message rate", mine.Rate, &theirs.Rate},
	} {
		if *number.to, err = t.swapFloat(number.what, number.mine); err != nil {
			return theirs, err
		}
	}
	return theirs, nil
}
