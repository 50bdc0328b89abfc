package analysis

// jsonSource is what there is to know of the capture itself.
type jsonSource struct {
	Seconds float64     `json:"seconds"`
	Fault   string      `json:"fault,omitempty"`
	Cut     int         `json:"cut_packets"`
	CutTo   int         `json:"cut_to_bytes,omitempty"`
	Back    int         `json:"clock_steps_back"`
	Most    int64       `json:"clock_longest_step_back_ns,omitempty"`
	MostAt  int         `json:"clock_longest_step_back_packet,omitempty"`
	Drops   []jsonDrops `json:"drops"`
}

type jsonDrops struct {
	Interface string `json:"interface"`
	Packets   uint64 `json:"packets"`
}

func (r *Report) jsonSource() jsonSource {
	s := &r.Span
	out := jsonSource{s.Length().Seconds(), r.Source.Fault, r.Counts.Cut, r.Counts.CutTo, s.Back, int64(s.Most), s.MostAt, []jsonDrops{}}
	for _, d := range r.Source.Drops {
		out.Drops = append(out.Drops, jsonDrops(d))
	}
	return out
}
