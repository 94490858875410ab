package check

import (
	"fmt"
	"math/bits"
	"os"
	"regexp"
	"sync"
)

// values are what is different of mistakes that are the same: addresses, bytes, and
// which element.
var values = regexp.MustCompile(`0x[0-9a-f]+|\b[0-9a-f]{2}( [0-9a-f]{2})*\b|-?[0-9]+`)

// key is the report without what may be different.
func (r *Report) key() Report {
	k := *r
	k.Detail = values.ReplaceAllString(k.Detail, "#")
	k.Count, k.Last = 0, ""
	switch k.What {
	case useAfterRelease, perhaps, "second free", "second put":
	default:
		if k.Allocated != "" || k.Released != "" {
			k.Now = "" // who came by and found it
		}
	}
	return k
}

// Merge makes one of reports that are the same but for addresses and values, which
// counts them, in the order of the first ones.
func Merge(found []*Report) (list []*Report) {
	by := make(map[Report]*Report)
	for _, r := range found {
		k := r.key()
		if first := by[k]; first != nil {
			first.Count = max(1, first.Count) + max(1, r.Count)
			first.Last = r.Detail
			if r.Last != "" {
				first.Last = r.Last
			}
			continue
		}
		by[k] = r
		list = append(list, r)
	}
	return list
}

// printed has how often each was, of so many.
var printed struct {
	mu    sync.Mutex
	times map[Report]int
}

const mostPrinted = 1024

// Print prints a report on standard error. One that is the same as an earlier one but
// for addresses and values is a line with their number, and only when that has doubled.
func Print(r *Report) {
	p := &printed
	p.mu.Lock()
	k := r.key()
	before := p.times[k]
	now := before + max(1, r.Count)
	if p.times == nil {
		p.times = make(map[Report]int)
	}
	if before > 0 || len(p.times) < mostPrinted {
		p.times[k] = now
	}
	p.mu.Unlock()
	switch {
	case before == 0:
		fmt.Fprintln(os.Stderr, r.Error())
	case bits.Len(uint(before)) < bits.Len(uint(now)):
		fmt.Fprintf(os.Stderr, "haven: %d × so far: %s: %s\nmemory: %s\n", now, r.What, r.Detail, r.Memory)
	}
}
