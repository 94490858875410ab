package load

import (
	"slices"
	"time"
)

// A Spread is what some rounds gave: the median, and the range of all of them.
type Spread struct {
	Median, Min, Max float64
}

// spreadOf returns the spread of at least one value.
func spreadOf(values []float64) Spread {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	return Spread{Median: (v[(n-1)/2] + v[n/2]) / 2, Min: v[0], Max: v[n-1]}
}

// ratios divides round by round and returns the spread of that: what disturbs the
// machine for a while disturbs the two rounds that follow each other.
func ratios(over, under []float64) Spread {
	var r []float64
	for i := range min(len(over), len(under)) {
		if under[i] > 0 {
			r = append(r, over[i]/under[i])
		}
	}
	if len(r) == 0 {
		return Spread{}
	}
	return spreadOf(r)
}

func perSecond(r Round) float64 { return float64(r.Requests) / r.Elapsed.Seconds() }

// per divides by the requests of a round.
func per(f func(Round) time.Duration) func(Round) float64 {
	return func(r Round) float64 { return float64(f(r)) / float64(max(r.Requests, 1)) }
}
