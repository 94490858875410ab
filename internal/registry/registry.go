// Package registry lists what lives in a process, so that programs can show it:
// caches, pools, memory contexts. It is not for finding things by name, and a
// list says nothing about when something died.
package registry

import (
	"iter"
	"sync"
	"weak"
)

// A List is a list of objects that it does not keep alive. The zero List is
// empty and ready. It may be used by any number of goroutines and must not be
// copied after first use.
//
// An object that died costs a few words until its entry is dropped: by an Add,
// where the list has grown to twice what it was, or by a loop that finds most of
// the entries dead.
type List[T any] struct {
	mu sync.Mutex

	// Entries are appended and never changed, for loops read them without the
	// lock: dropping those that are dead makes a new slice.
	entries []weak.Pointer[T]
	sweepAt int // the length at which Add drops the dead
}

// Add appends p to the list. Its object must be one of Go's heap of its own, not
// a global variable, and must have a pointer in it or take 16 bytes (GC.md facts
// 15 and 16). What is added twice is listed twice; nil is not listed. An Add
// costs a look at two entries on average.
func (l *List[T]) Add(p *T) {
	w := weak.Make(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.entries) >= l.sweepAt {
		l.sweep()
	}
	l.entries = append(l.entries, w)
}

// All returns an iterator over the objects that are alive, in the order in which
// they were added. A loop sees the list as it is when the loop begins: what is
// added later is not in it, what dies before its turn is left out. No lock is
// held while the loop's body runs.
func (l *List[T]) All() iter.Seq[*T] {
	return func(yield func(*T) bool) {
		l.mu.Lock()
		entries := l.entries
		l.mu.Unlock()
		dead := 0
		for _, w := range entries {
			if p := w.Value(); p == nil {
				dead++
			} else if !yield(p) {
				return
			}
		}
		if dead > len(entries)/2 {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.sweep()
		}
	}
}

// sweep drops the entries that are dead. Until the list has doubled there is no
// need for another, so that each Add pays for a few of the entries.
func (l *List[T]) sweep() {
	var live []weak.Pointer[T]
	for _, w := range l.entries {
		if w.Value() != nil {
			live = append(live, w)
		}
	}
	l.entries = live
	l.sweepAt = max(2*len(live), 16)
}
