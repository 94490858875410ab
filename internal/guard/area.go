package guard

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/leak"
)

// An area is a piece of the reserved addresses, and what is known of the memory that
// it stands for last. It is one of
//
//	idle  no memory is guarded, and there is no access
//	live  somebody has the memory
//	held  it was released
//
// Areas that are not idle are slots in use.
type area struct {
	state state
	index int
	typ   reflect.Type // of values in its pages; nil: its pages are never opened
	pages []byte       // those that are, or were, accessible

	what  *check.Released // the memory, where it is, and its poison
	own   bool            // it is in pages
	start uintptr         // where it is there, and
	limit uintptr         // where it ends
	whose string          // the memory, as reports call it; "": none yet
	made  *leak.Site      // where it was allocated, or nil
	end   *leak.Site      // where it was released
	told  bool            // a write to it was reported

	owner   uintptr        // who handed it out
	standIn unsafe.Pointer // what owner has for it
}

type state uint8

const (
	idle state = iota
	live
	held
)

// all has the areas. Under the lock,
//
//	slots in use = areas that are live + len(held) ≤ slots
//
// but for those that were live already when slots became less.
var all struct {
	mu     sync.Mutex
	region region
	ready  bool
	slots  int
	used   int
	areas  []*area
	idle   map[reflect.Type][]*area // the longest idle first
	held   []*area                  // the oldest first
	by     map[uintptr]*area        // that are live or held, by the address of the memory
	bad    []*check.Report          // what unlock tells
}

// found has a report told, if there is one. The lock is held.
func found(r *check.Report) {
	if r != nil {
		all.bad = append(all.bad, r)
	}
}

// unlock ends what all.mu.Lock began, and tells what was found meanwhile.
func unlock() {
	bad := all.bad
	all.bad = nil
	all.mu.Unlock()
	tell(bad)
}

// filter counts the entries of all.by by a hash of their addresses. It is large, so that
// few other objects meet one of them.
var filter [1 << 13]atomic.Int32

func bucket(p uintptr) *atomic.Int32 {
	// The constant spreads addresses (Fibonacci hashing).
	return &filter[uint64(p)*0x9E3779B97F4A7C15>>51]
}

// Perhaps reports false if no memory that begins at p has a slot. It costs a
// multiplication and a load.
func Perhaps(p unsafe.Pointer) bool { return bucket(uintptr(p)).Load() != 0 }

// Within reports whether p is an address on pages of the guard's. There is no
// weak pointer to such a one.
func Within(p unsafe.Pointer) bool {
	if !canOpen || !reserved.Load() {
		return false
	}
	return uintptr(p)-all.region.at(0) < maxAreas*all.region.stride
}

// reserved is whether the region is there.
var reserved atomic.Bool

// open makes the addresses ready, once, and sets how many slots there are.
func open(slots int) bool {
	all.mu.Lock()
	defer unlock()
	if !all.ready {
		if !all.region.reserve() {
			return false
		}
		all.idle, all.by = make(map[reflect.Type][]*area), make(map[uintptr]*area)
		all.ready = true
		reserved.Store(true)
	}
	all.slots = slots
	for all.used > slots && len(all.held) > 0 {
		evict()
	}
	return true
}

// The functions below are called with the lock held.

// take returns an area that is live, for values of the type on its pages or, for nil,
// for poison only. It returns nil if all slots are in use by what is live.
func take(typ reflect.Type) *area {
	if all.used >= all.slots {
		if len(all.held) == 0 {
			return nil
		}
		evict()
	}
	var a *area
	if q := all.idle[typ]; len(q) > 0 {
		a, all.idle[typ] = q[0], q[1:]
	} else if roomFor(typ) {
		a = &area{index: len(all.areas), typ: typ}
		all.areas = append(all.areas, a)
	} else {
		return nil
	}
	all.used++
	*a = area{state: live, index: a.index, typ: typ}
	return a
}

// roomFor reports whether there can be another area for the type. Some are kept for
// poison.
func roomFor(typ reflect.Type) bool {
	most := maxAreas
	if typ != nil {
		most -= MaxSlots
	}
	return len(all.areas) < most
}

// enter makes a known by the address of its memory, which was allocated at made.
func enter(a *area, what *check.Released, made *leak.Site) {
	a.what, a.whose, a.made = what, what.String(), made
	p := uintptr(what.Mem)
	if a.own {
		a.start, a.limit = p, p+uintptr(what.N)*what.Type.Size()
	}
	all.by[p] = a
	bucket(p).Add(1)
	note(a)
}

// leave ends the use of a slot. What is known of the memory stays, for faults.
func leave(a *area) {
	if a.what != nil {
		p := uintptr(a.what.Mem)
		delete(all.by, p)
		bucket(p).Add(-1)
	}
	a.what, a.standIn = nil, nil
	a.state = idle
	all.used--
	all.idle[a.typ] = append(all.idle[a.typ], a)
}

// evict takes the slot that was released first.
func evict() {
	a := all.held[0]
	all.held[0] = nil
	all.held = all.held[1:]
	found(a.damage())
	leave(a)
}

// hold makes a live area one whose memory was released now, at the place end.
func hold(a *area, end *leak.Site) {
	a.state, a.end = held, end
	all.held = append(all.held, a)
	note(a)
	if a.own {
		if all.region.shut(a.pages) {
			return
		}
		a.own = false // it reads as poison then, and cannot be used for anything else
	}
	a.what.PoisonWith(all.region.at(a.index))
}

// damage returns the report for a write to memory that was released, or nil.
func (a *area) damage() *check.Report {
	if a.state != held || a.own || a.told {
		return nil
	}
	r := a.what.Damage()
	if r != nil {
		a.told = true
		r.Allocated, r.Released = a.made.Stack(), a.end.Stack()
	}
	return r
}
