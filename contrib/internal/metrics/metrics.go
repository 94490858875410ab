// Package metrics gives the numbers of a process's memory contexts, caches and
// pools as metrics: a table of metrics, and a reader of their values. It is what
// the adapters for monitoring systems have in common, so that each metric is
// described once, whichever system it goes to.
//
// Values are by name, never by context: a server with a million requests under
// way has as many values as one that is idle. Where several caches or pools have
// the same name, or names differ only in bytes that are not UTF-8, their value is
// one.
package metrics

import (
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/leak"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A Kind says what the values of a metric do.
type Kind int

const (
	Counter Kind = iota // only grow; see Reader
	Sum                 // go up and down, and add up over names
	Gauge               // go up and down; their sum means nothing
)

// A Metric is described by what all its values have in common.
type Metric struct {
	Subject string   // what the labels are of: context, cache, pool, leak or stale pointer
	Name    string   // in words joined by dots and underscores
	Kind    Kind     //
	Unit    string   // By, or what is counted, in curly brackets
	Help    string   // a sentence or two
	Labels  []string // their names
}

// A Value is one of a metric.
type Value struct {
	Metric *Metric
	Labels []string // as in the metric; valid UTF-8
	Number int64
}

// A Reader reads values. The zero Reader reads those of the process. It may be
// used by any number of goroutines, one of which reads at a time.
//
// A cache or pool that dies takes its counts with it, which would set the sum of
// those with its name back. Monitoring systems take a counter that falls for one
// that began anew at zero, and would count all that is left once more. So the
// reader adds to the sum what it lost, and a counter does not fall while there is
// a cache or pool of its name. What was counted between the last reading and the
// death is missing. A counter whose name is gone is forgotten.
type Reader struct {
	// Take takes the numbers, of which the reader uses all but Contexts. If it is
	// nil the numbers are those of the process.
	Take func() *memctx.Snapshot

	mu   sync.Mutex
	last map[key]count
}

// A key is a value's identity.
type key struct {
	metric *Metric
	labels string // joined by a byte that is not in them
}

// A count is what a reading has found out of a counter.
type count struct {
	sum  int64 // of those alive
	lost int64 // added to it
}

// Read returns all values, in the order of [Metrics]; those of a metric are in the
// order in which their names turned up. It costs some microseconds for each name,
// and what a walk of all contexts does, twice.
func (r *Reader) Read() []Value {
	r.mu.Lock()
	defer r.mu.Unlock()
	take := r.Take
	if take == nil {
		take = process
	}
	values := gather(take())
	last := r.last
	r.last = make(map[key]count, len(last))
	for i := range values {
		v := &values[i]
		if v.Metric.Kind != Counter {
			continue
		}
		k := v.key()
		c := last[k]
		c.lost += max(c.sum-v.Number, 0)
		c.sum = v.Number
		r.last[k] = c
		v.Number += c.lost
	}
	return values
}

// process is a Snapshot of the process without its contexts.
func process() *memctx.Snapshot {
	return &memctx.Snapshot{
		Names:  slices.Collect(memctx.Names()),
		Caches: slices.Collect(slab.Caches()),
		Pools:  slices.Collect(pool.Pools()),
		Leaks:  append(check.Leaks(), check.StalePointers()...),
	}
}

// gather returns the values of a snapshot, in the order of the tables.
func gather(s *memctx.Snapshot) []Value {
	var values []Value
	values = add(values, contextTable, s.Names, func(s *memctx.NameStats) []string { return []string{s.Name} })
	values = add(values, cacheTable, s.Caches, func(s *slab.Stats) []string { return []string{s.Name} })
	values = add(values, poolTable, s.Pools, func(s *pool.Stats) []string { return []string{s.Name} })
	var leaks, stale []check.Finding
	for _, l := range s.Leaks {
		if l.Kind == leak.Stale {
			stale = append(stale, l)
		} else {
			leaks = append(leaks, l)
		}
	}
	values = add(values, leakTable, leaks, func(l *check.Finding) []string { return []string{l.Kind, l.What, l.Name} })
	return add(values, staleTable, stale, func(l *check.Finding) []string { return []string{l.What, l.Name} })
}

// add adds the values of a table: those of rows with the same labels as one.
func add[S any](values []Value, table []column[S], rows []S, labels func(*S) []string) []Value {
	for i := range table {
		c := &table[i]
		first := len(values)
		at := make(map[key]int, len(rows))
		for j := range rows {
			v := Value{Metric: c.metric, Number: c.of(&rows[j])}
			for _, l := range labels(&rows[j]) {
				v.Labels = append(v.Labels, strings.ToValidUTF8(l, "\uFFFD"))
			}
			if c.label != "" {
				v.Labels = append(v.Labels, c.label)
			}
			k := v.key()
			if i, ok := at[k]; ok {
				values[i].Number = c.merge.of(values[i].Number, v.Number)
			} else {
				at[k] = len(values)
				values = append(values, v)
			}
		}
		if c.merge == bounds {
			values = append(values[:first], slices.DeleteFunc(values[first:], func(v Value) bool { return v.Number == 0 })...)
		}
	}
	return values
}

func (v *Value) key() key { return key{v.Metric, strings.Join(v.Labels, "\xff")} }

// A merge is how two values of the same labels become one.
type merge int

const (
	sums   merge = iota
	peaks        // the larger one
	bounds       // the sum, or 0 if one of the two is 0, which stands for no bound; a 0 in the end is no value
)

func (m merge) of(a, b int64) int64 {
	switch {
	case m == peaks:
		return max(a, b)
	case m == bounds && (a == 0 || b == 0):
		return 0
	}
	return a + b
}

// number returns a count as a number; one beyond all bounds as the largest.
func number(n uint64) int64 { return int64(min(n, math.MaxInt64)) }
