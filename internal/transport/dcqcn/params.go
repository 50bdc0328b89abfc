package dcqcn

import (
	"fmt"
	"time"
)

// Params are the constants of the reaction point. Rates are in Mb/s.
type Params struct {
	LineRate float64 // where a flow starts, and the most it gets
	MinRate  float64 // the least that CNPs leave it

	InitialAlpha float64       // before the first CNP
	Gain         float64       // g of equations 1 and 2
	AlphaPeriod  time.Duration // K: alpha falls after each such time without a CNP

	Timer        time.Duration // the rate rises each time it has passed, and
	ByteCounter  int64         // each time so many bytes were sent
	FastRecovery int64         // F: so many rises go back to where the rate was
	Additive     float64       // R_AI: the step of the target after those
	Hyper        float64       // R_HAI: its unit once both counters are past F

	// Slack is how far a sender that asks late may catch up with the rate.
	Slack time.Duration
}

// Defaults are the paper's values for a link of that many Mb/s: alpha from 1, g
// = 1/256, K = 55 us, timer 55 us, byte counter 10 MB, F = 5, R_AI = 40 Mb/s.
// The paper has none for two: R_HAI is 400 Mb/s, ten times R_AI as in NVIDIA's
// adapters (50 and 5 Mb/s there), and the least rate 1 Mb/s, NVIDIA's
// rpg_min_rate. Slack, 10 us, is ours.
func Defaults(lineRate float64) Params {
	return Params{
		LineRate: lineRate, MinRate: 1,
		InitialAlpha: 1, Gain: 1.0 / 256, AlphaPeriod: 55 * time.Microsecond,
		Timer: 55 * time.Microsecond, ByteCounter: 10_000_000,
		FastRecovery: 5, Additive: 40, Hyper: 400,
		Slack: 10 * time.Microsecond,
	}
}

// Check reports the first value that the machine cannot work with.
func (p *Params) Check() error {
	for _, c := range []struct {
		name string
		ok   bool
		want string
	}{
		{"line rate", p.LineRate > 0, "more than 0"},
		{"least rate", p.MinRate > 0 && p.MinRate <= p.LineRate, "more than 0 and at most the line rate"},
		{"initial alpha", p.InitialAlpha >= 0 && p.InitialAlpha <= 1, "0 to 1"},
		{"gain", p.Gain > 0 && p.Gain <= 1, "more than 0 and at most 1"},
		{"alpha period", p.AlphaPeriod > 0, "more than 0"},
		{"timer", p.Timer > 0, "more than 0"},
		{"byte counter", p.ByteCounter > 0, "more than 0"},
		{"fast recovery", p.FastRecovery >= 0, "0 or more"},
		{"additive step", p.Additive > 0, "more than 0"},
		{"hyper step", p.Hyper >= 0, "0 or more"},
		{"slack", p.Slack >= 0, "0 or more"},
	} {
		if !c.ok {
			return fmt.Errorf("dcqcn: %s has to be %s", c.name, c.want)
		}
	}
	return nil
}
