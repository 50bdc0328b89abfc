package roceinject

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// rate is a number of packets or bits in a second; 0 is no limit. The bits of a
// packet are those of its frame, from the destination MAC address to the last
// byte before the frame check sequence.
type rate struct {
	perSecond uint64
	bits      bool
}

// defaultRate spares a network that was not meant.
func defaultRate() rate { return rate{perSecond: 10_000} }

// parseRate reads 100kpps, 2.5Gbps, a plain number of packets, or max.
func parseRate(text string) (rate, error) {
	low := strings.ToLower(strings.TrimSpace(text))
	if low == "max" {
		return rate{}, nil
	}
	number, inPackets := strings.CutSuffix(low, "pps")
	r := rate{}
	if !inPackets {
		number, r.bits = strings.CutSuffix(low, "bps")
	}
	number = strings.TrimSpace(number)
	unit := 1.0
	for _, u := range []struct {
		letter string
		value  float64
	}{{"k", 1e3}, {"m", 1e6}, {"g", 1e9}, {"t", 1e12}} {
		if rest, ok := strings.CutSuffix(number, u.letter); ok {
			number, unit = rest, u.value
			break
		}
	}
	const most = 1e15
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	v = math.Round(v * unit)
	if err != nil || !(v >= 1 && v <= most) {
		return r, fmt.Errorf("--rate %s: want packets or bits a second, such as 100kpps or 2.5Gbps, or max", text)
	}
	r.perSecond = uint64(v)
	return r, nil
}

// parseTiming reads how fast the times of a capture go by: keep is 1, 2x twice
// as fast.
func parseTiming(text string) (speed float64, err error) {
	if text == "keep" {
		return 1, nil
	}
	number, ok := strings.CutSuffix(text, "x")
	speed, err = strconv.ParseFloat(number, 64)
	const most = 1e9
	if !ok || err != nil || !(speed >= 1/most && speed <= most) {
		return 0, fmt.Errorf("--timing %s: want keep, or a factor such as 2x or 0.5x", text)
	}
	return speed, nil
}

// scaled writes a number with the prefix that makes it short.
func scaled(v float64, unit string) string {
	for _, p := range []struct {
		prefix string
		value  float64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if v >= p.value {
			return fmt.Sprintf("%.3g %s%s", v/p.value, p.prefix, unit)
		}
	}
	return fmt.Sprintf("%.3g %s", v, unit)
}
