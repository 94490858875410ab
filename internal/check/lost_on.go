//go:build haven_check && !race && gc && go1.24 && !go1.28 && !haven_nolinkname

package check

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/layout"
)

// The functions here are for when there were so many collections. u is locked.

// ask takes suspects whose objects are gone for lost.
func (u *Untyped) ask(now int64) {
	u.drop()
	for where, s := range u.suspects {
		if s.object.Value() == nil {
			delete(u.suspects, where)
			u.lost = append(u.lost, s.report(u.owner))
			u.some.Store(true)
		}
	}
	u.asked = now
}

// drop forgets the suspects that have changed.
func (u *Untyped) drop() {
	for where, s := range u.suspects {
		if !s.holds() {
			delete(u.suspects, where)
		}
	}
}

// know has all words known from now on.
func (u *Untyped) know(now int64) {
	u.pending = u.pending[:0]
	u.cycle, u.blind = now, u.allocations() > maxKnown
	clear(u.unknown)
	for _, g := range u.regions {
		for _, list := range [][]Extent{g.low, g.high} {
			for i := range list {
				u.outward(g, &list[i], func(at, address uintptr, _ bool) bool {
					if u.asked == now && u.suspects[place{g.mem, at}].address == address {
						return true // it lives
					}
					if u.unknown == nil {
						u.unknown = make(map[uintptr]struct{})
					}
					u.unknown[address] = struct{}{}
					u.blind = u.blind || len(u.unknown) > maxUnknown
					return !u.blind
				})
				if u.blind {
					return
				}
			}
		}
	}
}

// settled has one object, to which the listener to collections belongs.
var settled struct {
	once sync.Once
	by   *listener
}

type listener struct{ _ *byte }

// begin makes u ready.
func (u *Untyped) begin() {
	u.cycle = collections.count()
	u.asked = u.cycle
	settled.once.Do(func() {
		sample()
		settled.by = new(listener)
		gccycle.Watch(settled.by, func(*listener, gccycle.Pressure) {
			sample()
			for u := range arenas.All() {
				u.mu.Lock()
				if now := collections.count(); u.cycle != now {
					// Asking is for operations: now the next collection may be marking.
					u.drop()
					u.know(now)
				}
				u.mu.Unlock()
			}
		})
	})
}

// Lost returns the reports for words whose objects are gone, each once. With look it
// looks first.
func (u *Untyped) Lost(look bool) (found []*Report) {
	if u == nil || !look && !u.some.Load() {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if look {
		u.examine(again)
	}
	return u.take()
}

func (u *Untyped) take() (found []*Report) {
	found, u.lost = u.lost, nil
	u.some.Store(false)
	return found
}

// holds reports whether the word is as it was.
func (s *suspect) holds() bool { return *(*uintptr)(unsafe.Add(s.mem, s.at)) == s.address }

// verifyOutside reports pointers of live untyped memory to objects that nothing keeps.
func verifyOutside(live []*Untyped) (found []*Report) {
	some := false
	for _, u := range live {
		u.mu.Lock()
		for left := u.allocations(); left >= 0; left -= 8 * again { // pinned for as long
			u.examine(8 * again)
		}
		some = some || len(u.suspects) > 0
		u.mu.Unlock()
	}
	if some {
		// The first ends a collection that is under way, in which to ask a weak pointer
		// is to keep what it points to.
		runtime.GC()
		runtime.GC()
	}
	for _, u := range live {
		u.mu.Lock()
		if some {
			now := collections.count()
			u.ask(now)
			u.know(now)
		}
		found = append(found, u.take()...)
		u.mu.Unlock()
	}
	return found
}

func (s *suspect) report(owner string) *Report {
	d := s.extent.kind.of()
	off := s.at - s.extent.at
	of := ""
	if s.extent.size > d.size {
		of = fmt.Sprintf(" of element %d", off/d.size)
	}
	return &Report{
		What:      "heap pointer in untyped memory",
		Detail:    fmt.Sprintf("%s%s of %v at %p points to %#x, which is gone: nothing else kept it", layout.PathAt(d.typ, off%d.size), of, d.typ, unsafe.Add(s.mem, s.at), s.address),
		Memory:    s.extent.describe(owner),
		Allocated: s.extent.site.String(),
	}
}
