//go:build haven_check && !race && gc && go1.24 && !go1.28 && !haven_nolinkname

package check

import (
	"fmt"
	"reflect"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/magazine"
)

// Pointers from untyped memory to Go's heap. The collector does not see them, so what
// nothing else keeps goes, and the pointer is left. No code runs when a program stores a
// pointer, and a weak pointer to it must be made while what it points to is certain to
// live: a Go pointer to a free object ends the program.
//
// So allocations whose type has pointers are looked at some allocations later, if no
// collection has come to the end of its marking since the first of them was made, zero.
// What a word points to was alive when it was stored, and is freed by such an end only:
// so it is still there. No collection gets there meanwhile either, as it stops the world
// for that and the goroutine is pinned (GC.md fact 18).
//
// [Verify] collects garbage, and reports what was alive before and is gone after, if the
// word holds its address all the while. What was gone before Verify is not reported: the
// address may be that of another object by then, which somebody keeps.

// An outside is what an Untyped knows of such pointers.
type outside struct {
	pending  []pending
	cycle    int64 // collections when the first of pending was allocated
	suspects []suspect
}

// A pending is an allocation that was not looked at yet.
type pending struct {
	g   *region
	low bool
	i   int // in g.low or g.high
}

// A suspect is a word that points to an object of the heap.
type suspect struct {
	mem     unsafe.Pointer // of the chunk
	at      uintptr        // of the word in it
	address uintptr
	object  weak.Pointer[byte]
	extent  Extent
}

const (
	maxPending  = 64
	maxSuspects = 1 << 14
	maxWords    = 1 << 10 // of one allocation
)

func (p pending) extent() *Extent {
	if p.low {
		return &p.g.low[p.i]
	}
	return &p.g.high[p.i]
}

// note takes down the latest allocation of g. u is locked.
func (u *Untyped) note(g *region, low bool) {
	if len(u.pending) >= maxPending {
		u.examine()
	}
	p := pending{g, low, len(g.low) - 1}
	if !low {
		p.i = len(g.high) - 1
		if d := g.high[p.i].kind.of(); len(d.words) == 0 {
			return
		}
	}
	if len(u.pending) == 0 {
		u.cycle = collections.count()
	}
	u.pending = append(u.pending, p)
}

// collections counts those that came to the end of their marking.
var collections counter

type counter struct {
	mu    sync.Mutex
	stats debug.GCStats
}

func (c *counter) count() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	debug.ReadGCStats(&c.stats)
	return c.stats.NumGC
}

// examine looks at what is pending. u is locked.
func (u *Untyped) examine() {
	if len(u.pending) == 0 {
		return
	}
	c := &collections
	c.mu.Lock()
	magazine.Enter()
	debug.ReadGCStats(&c.stats)
	if c.stats.NumGC == u.cycle {
		for _, p := range u.pending {
			u.look(p.g, p.extent())
		}
	}
	magazine.Exit()
	c.mu.Unlock()
	u.pending = u.pending[:0]
}

// look makes suspects of the words of e that point to the heap. The goroutine is pinned.
func (u *Untyped) look(g *region, e *Extent) {
	d := e.kind.of()
	if d == nil || d.odd || len(d.words) == 0 {
		return
	}
	words := 0
	for from := e.at; from+d.size <= e.at+e.size; from += d.size {
		for i, w := range d.words {
			at := from + uintptr(i)*wordSize
			p := (*unsafe.Pointer)(unsafe.Add(g.mem, at))
			if w != pointer || *p == nil || !u.elsewhere(*p) {
				continue
			}
			if words++; words > maxWords || len(u.suspects) >= maxSuspects {
				return
			}
			// SAFETY: GC.md facts 18 and 21: what the word points to lives, as the
			// comment above has it.
			u.suspects = append(u.suspects, suspect{g.mem, at, uintptr(*p), weak.Make((*byte)(*p)), *e})
		}
	}
}

// elsewhere reports whether p certainly points to Go's heap, and not to memory of u: it
// is in an arena of the heap, of those that the runtime reserves as a whole, in which
// there is a chunk. Of what is not, a static variable or memory of the system, no weak
// pointer may be made.
func (u *Untyped) elsewhere(p unsafe.Pointer) bool {
	near := false
	for _, g := range u.regions {
		// SAFETY: GC.md fact 13: addresses of heap memory are compared.
		if uintptr(p)-uintptr(g.mem) <= g.size {
			return false
		}
		near = near || uintptr(p)>>heapArena == uintptr(g.mem)>>heapArena
	}
	return near
}

// heapArena is the logarithm of the size of the runtime's heap arenas, or less.
var heapArena = func() uint {
	if wordSize == 8 && (runtime.GOOS == "linux" || runtime.GOOS == "darwin") {
		return 26
	}
	return 22
}()

// forget drops all.
func (o *outside) forget() {
	clear(o.pending)
	clear(o.suspects)
	o.pending, o.suspects = o.pending[:0], o.suspects[:0]
}

// Abandon says that what p points into was copied and is not used any more.
func (u *Untyped) Abandon(p unsafe.Pointer) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	g, e := u.find(p)
	if e == nil {
		return
	}
	at := e.at
	u.pending = slices.DeleteFunc(u.pending, func(x pending) bool { return x.g == g && x.extent().at == at })
	u.suspects = slices.DeleteFunc(u.suspects, func(s suspect) bool { return s.mem == g.mem && s.extent.at == at })
}

// holds reports whether the word is as it was.
func (s *suspect) holds() bool { return *(*uintptr)(unsafe.Add(s.mem, s.at)) == s.address }

// present returns the suspects whose objects live.
func (u *Untyped) present() (list []suspect) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.examine()
	u.suspects = slices.DeleteFunc(u.suspects, func(s suspect) bool { return !s.holds() || s.object.Value() == nil })
	return slices.Clone(u.suspects)
}

// verifyOutside reports pointers of live untyped memory to objects that nothing keeps.
func verifyOutside(live []*Untyped) (found []*Report) {
	lists, any := make([][]suspect, len(live)), false
	for i, u := range live {
		lists[i] = u.present()
		any = any || len(lists[i]) > 0
	}
	if !any {
		return nil
	}
	// The first ends a collection that is under way, in which to ask a weak pointer is
	// to keep what it points to.
	runtime.GC()
	runtime.GC()
	for i, u := range live {
		u.mu.Lock()
		known := make(map[uintptr]bool)
		for _, s := range u.suspects {
			known[uintptr(s.mem)+s.at] = true
		}
		for _, s := range lists[i] {
			if known[uintptr(s.mem)+s.at] && s.object.Value() == nil && s.holds() {
				found = append(found, s.report(u.owner))
			}
		}
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

// odd reports whether t has pointers that need not be to objects.
func odd(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.UnsafePointer:
		return true
	case reflect.Array:
		return t.Len() > 0 && odd(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if odd(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
