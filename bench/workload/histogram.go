package workload

import (
	"math/bits"
	"time"
)

// subBits is the resolution of a histogram: every power of two is divided into
// 1<<subBits equal buckets, so that a value is off by less than one part in
// 128, which is far below the noise of a latency.
const subBits = 7

// A Histogram counts durations in buckets of equal relative width. The zero
// value is empty and ready. It holds its buckets in place (about 58 KB) and
// never allocates, so that counting latencies does not show up among the
// allocations that are measured. Not safe for concurrent use.
type Histogram struct {
	n      uint64
	counts [(64 - subBits) << subBits]uint64
}

// bucket returns the index of v's bucket. Values under 1<<subBits have a
// bucket each; above, the leading subBits+1 bits of v select it.
func bucket(v uint64) int {
	shift := bits.Len64(v>>subBits) - 1
	if shift <= 0 {
		return int(v)
	}
	return shift<<subBits + int(v>>shift)
}

// floor returns the smallest value of bucket i.
func floor(i int) uint64 {
	shift := i>>subBits - 1
	if shift <= 0 {
		return uint64(i)
	}
	return uint64(i-shift<<subBits) << shift
}

// Add counts d. A negative d counts as 0.
func (h *Histogram) Add(d time.Duration) {
	h.counts[bucket(uint64(max(d, 0)))]++
	h.n++
}

// Count returns how many durations were added.
func (h *Histogram) Count() uint64 { return h.n }

// Quantile returns the duration that the share q of all added ones does not
// exceed, to within one part in 128; 0 when the histogram is empty. A q
// outside [0, 1] counts as the nearer end.
func (h *Histogram) Quantile(q float64) time.Duration {
	if h.n == 0 {
		return 0
	}
	want := uint64(q*float64(h.n) + 0.5)
	if q <= 0 {
		want = 1
	}
	want = min(max(want, 1), h.n)
	var seen uint64
	for i, c := range h.counts {
		if seen += c; seen >= want {
			return time.Duration(floor(i))
		}
	}
	return 0 // unreachable: the counts add up to n
}
