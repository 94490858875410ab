package load

import (
	"fmt"
	"time"
)

// addRows makes the table out of the results.
func (r *Report) addRows() {
	part := fmt.Sprintf("%s requests/s, %s of %v", thousands(float64(r.Plan.Rate)), rounds(r.Plan.Rounds), r.Plan.Round)
	steady := func(res *Result) []Round { return res.Steady }
	r.addCosts(part, steady)
	for _, p := range []struct {
		name string
		of   func(Latency) time.Duration
	}{
		{"latency p50", func(l Latency) time.Duration { return l.P50 }},
		{"latency p99", func(l Latency) time.Duration { return l.P99 }},
		{"latency p99.9", func(l Latency) time.Duration { return l.P999 }},
		{"latency max", func(l Latency) time.Duration { return l.Max }},
	} {
		r.addRounds(part, p.name, Nanoseconds, steady, func(x Round) float64 { return float64(p.of(x.Latency)) })
	}
	part = fmt.Sprintf("as fast as it goes, %s of %v", rounds(r.Plan.Bursts), r.Plan.Burst)
	r.addCosts(part, func(res *Result) []Round { return res.Fast })

	part = "memory"
	r.addEnd(part, "RSS", Bytes, func(s Stats) float64 { return float64(s.RSS) })
	r.addEnd(part, "peak RSS", Bytes, func(s Stats) float64 { return float64(s.PeakRSS) })
	r.addEnd(part, "live heap", Bytes, func(s Stats) float64 { return float64(s.Live) })
	r.addEnd(part, "resting orders", Count, func(s Stats) float64 { return float64(s.Market.Resting) })
}

// addCosts adds what both kinds of rounds have.
func (r *Report) addCosts(part string, of func(*Result) []Round) {
	r.addRounds(part, "requests/s", PerSecond, of, perSecond)
	r.addRounds(part, "CPU per request", Nanoseconds, of, per(func(x Round) time.Duration { return x.CPU }))
	r.addSum(part, "GC CPU per request", Nanoseconds, of, func(sum Round) float64 { return float64(sum.GCCPU) / float64(max(sum.Requests, 1)) })
	r.addSum(part, "GC cycles", Count, of, func(sum Round) float64 { return float64(sum.GCs) })
}

// addRounds adds a row of numbers that each round has.
func (r *Report) addRounds(part, name string, unit Unit, of func(*Result) []Round, f func(Round) float64) {
	row := Row{Part: part, Name: name, Unit: unit}
	var all [][]float64
	for _, res := range r.Results {
		var v []float64
		for _, x := range of(res) {
			v = append(v, f(x))
		}
		if len(v) == 0 {
			return
		}
		all = append(all, v)
		row.Values = append(row.Values, spreadOf(v))
	}
	if len(all) == 2 {
		row.Ratio = ratios(all[0], all[1])
	}
	r.Rows = append(r.Rows, row)
}

// addSum adds a row of numbers that make sense of all rounds together.
func (r *Report) addSum(part, name string, unit Unit, of func(*Result) []Round, f func(Round) float64) {
	r.addRounds(part, name, unit, func(res *Result) []Round {
		rounds := of(res)
		if len(rounds) == 0 {
			return nil
		}
		var sum Round
		for _, x := range rounds {
			sum.Requests += x.Requests
			sum.GCCPU += x.GCCPU
			sum.GCs += x.GCs
		}
		return []Round{sum}
	}, f)
}

// addEnd adds a row of numbers after all rounds.
func (r *Report) addEnd(part, name string, unit Unit, f func(Stats) float64) {
	row := Row{Part: part, Name: name, Unit: unit}
	for _, res := range r.Results {
		v := f(res.End)
		row.Values = append(row.Values, Spread{v, v, v})
	}
	if len(row.Values) == 2 {
		row.Ratio = ratios([]float64{row.Values[0].Median}, []float64{row.Values[1].Median})
	}
	r.Rows = append(r.Rows, row)
}

func rounds(n int) string {
	if n == 1 {
		return "1 round"
	}
	return fmt.Sprintf("%d rounds", n)
}
