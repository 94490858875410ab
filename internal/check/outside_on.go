//go:build haven_check && !race && gc && go1.24 && !go1.28 && !haven_nolinkname

package check

import (
	"reflect"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/magazine"
)

// Pointers from untyped memory to Go's heap. The collector does not see them, so what
// nothing else keeps goes, and the pointer is left. No code runs when a program stores a
// pointer, and a weak pointer to it must be made while what it points to is certain to
// live: a Go pointer to a free object ends the program.
//
// So words are looked at with the next operations of the arena, at its release and at
// Verify. What a word points to was alive when it was stored, and is freed only by a
// collection that comes to the end of its marking. If none has since the arena's words
// were all known, what has appeared in one of them is still there, and the word becomes
// a suspect, with a weak pointer. No collection gets to its end meanwhile either, as it
// stops the world for that and the goroutine is pinned (GC.md fact 18).
//
// When a collection is over the suspects are asked by the next operation of the arena, or
// by Verify: a word that holds the address of what is gone is reported. Since an object of
// the same address may be stored there later, which somebody keeps, a listener to
// collections forgets the suspects that do not hold their address by then. Of what the other words hold then nobody knows whether it is alive. These
// addresses are passed over, wherever they are met, until the next collection.

// An outside is what an Untyped knows of such pointers.
type outside struct {
	cycle    int64                // collections when all words were known
	asked    int64                // collections when the suspects were asked
	unknown  map[uintptr]struct{} // what words held then that are no suspects
	blind    bool                 // there were too many of them
	noted    int                  // allocations
	since    int                  // those since the last look
	pending  []pending            // the latest of them, that were not looked at yet
	looked   time.Time            // when the last look was
	next     int                  // the allocation with which the next look goes on, of all
	suspects map[place]suspect
	left     map[place]struct{} // allocations that are not used any more
	lost     []*Report
	some     atomic.Bool // there are lost ones
}

// A place is where a word is.
type place struct {
	mem unsafe.Pointer // of the chunk
	at  uintptr
}

// A pending is an allocation that was not looked at yet.
type pending struct {
	g   *region
	low bool
	i   int // in g.low or g.high
}

// A suspect is a word that points to an object of the heap.
type suspect struct {
	place
	address uintptr
	object  weak.Pointer[byte]
	extent  Extent
}

const (
	maxPending  = 64
	maxSuspects = 1 << 14
	maxUnknown  = 1 << 14
	maxWords    = 1 << 10 // of one allocation, for suspects
	maxKnown    = 1 << 16 // allocations of an arena, for all its words to be known
	again       = 128     // allocations that are looked at once more in one look: more than come anew
	soon        = time.Millisecond
)

func (p pending) extent() *Extent {
	if p.low {
		return &p.g.low[p.i]
	}
	return &p.g.high[p.i]
}

// note takes down the latest allocation of g. u is locked.
//
// The first few allocations of an arena are looked at one by one, with the next one: in
// a small arena the next operation finds everything.
func (u *Untyped) note(g *region, low bool) {
	if u.since >= min(maxPending, 1+u.noted/8) || time.Since(u.looked) > soon {
		u.examine(again)
	}
	u.noted++
	u.since++
	p := pending{g, low, len(g.low) - 1}
	if !low {
		p.i = len(g.high) - 1
		if d := g.high[p.i].kind.of(); len(d.words) == 0 {
			return
		}
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

// examine looks at what is pending, and at so many other allocations, if no collection is
// over since all words were known, and else has them known. u is locked.
func (u *Untyped) examine(more int) {
	c := &collections
	c.mu.Lock()
	magazine.Enter()
	debug.ReadGCStats(&c.stats)
	now := c.stats.NumGC
	if now == u.cycle {
		for _, p := range u.pending {
			u.look(p.g, p.extent())
		}
		if !u.blind {
			u.lookAgain(more)
		}
	}
	magazine.Exit()
	c.mu.Unlock()
	u.pending, u.since, u.looked = u.pending[:0], 0, time.Now()
	if now != u.asked {
		u.ask(now)
	}
	if now != u.cycle {
		u.know(now)
	}
}

// lookAgain looks at n allocations, behind those of the last time. The goroutine is
// pinned.
func (u *Untyped) lookAgain(n int) {
	n = min(n, u.allocations())
	for i := u.next; n > 0; {
		for _, g := range u.regions {
			for _, list := range [][]Extent{g.low, g.high} {
				for i < len(list) && n > 0 {
					u.look(g, &list[i])
					i, u.next, n = i+1, u.next+1, n-1
				}
				i -= min(i, len(list))
			}
		}
		if n > 0 {
			i, u.next = 0, 0
		}
	}
}

// allocations returns how many there are.
func (u *Untyped) allocations() (n int) {
	for _, g := range u.regions {
		n += len(g.low) + len(g.high)
	}
	return n
}

// outward calls f for each word of e that points to something that is not memory of u,
// until it returns false. near says whether it is certainly on Go's heap. What the word
// holds is a number here: as a pointer it could be to what is gone.
func (u *Untyped) outward(g *region, e *Extent, f func(at, address uintptr, near bool) bool) {
	d := e.kind.of()
	if d == nil || d.odd || len(d.words) == 0 {
		return
	}
	if _, left := u.left[place{g.mem, e.at}]; left {
		return
	}
	for from := e.at; from+d.size <= e.at+e.size; from += d.size {
		for i, w := range d.words {
			at := from + uintptr(i)*wordSize
			address := *(*uintptr)(unsafe.Add(g.mem, at))
			if w != pointer || address == 0 {
				continue
			}
			if own, near := u.around(address); !own && !f(at, address, near) {
				return
			}
		}
	}
}

// look makes suspects of the words of e that point to the heap. The goroutine is pinned.
func (u *Untyped) look(g *region, e *Extent) {
	words := 0
	u.outward(g, e, func(at, address uintptr, near bool) bool {
		if !near {
			return true
		}
		if words++; words > maxWords || len(u.suspects) >= maxSuspects {
			return false
		}
		where := place{g.mem, at}
		if _, ok := u.unknown[address]; ok || u.suspects[where].address == address {
			return true
		}
		if u.suspects == nil {
			u.suspects = make(map[place]suspect)
		}
		// SAFETY: GC.md facts 18 and 21: what the word points to lives, as the comment
		// above has it.
		p := *(*unsafe.Pointer)(unsafe.Add(g.mem, at))
		if uintptr(p) == address {
			u.suspects[where] = suspect{where, address, weak.Make((*byte)(p)), *e}
		}
		return true
	})
}

// around reports whether an address is in memory of u, or else near what is certainly on
// Go's heap. Of what is not, a static variable or memory of the system, no weak pointer
// may be made.
func (u *Untyped) around(address uintptr) (own, near bool) {
	for _, g := range u.regions {
		// SAFETY: GC.md fact 13: addresses of heap memory are compared.
		if address-uintptr(g.mem) <= g.size {
			return true, true
		}
	}
	list := heapArenas.list.Load()
	return false, list != nil && slices.Contains(*list, address>>heapArena)
}

// made says that there is a new chunk.
func (u *Untyped) made(mem unsafe.Pointer, size uintptr) { onHeapAt(mem, size) }

// forget drops all.
func (u *Untyped) forget() {
	clear(u.pending)
	clear(u.suspects)
	clear(u.unknown)
	clear(u.left)
	u.pending, u.lost = u.pending[:0], nil
	u.some.Store(false)
	u.asked, u.blind, u.noted, u.since, u.next = collections.count(), false, 0, 0, 0
	u.cycle = u.asked
	gccycle.Check()
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
	if u.left == nil {
		u.left = make(map[place]struct{})
	}
	u.left[place{g.mem, e.at}] = struct{}{}
	for where := range u.suspects {
		if where.mem == g.mem && where.at-e.at < e.size {
			delete(u.suspects, where)
		}
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
