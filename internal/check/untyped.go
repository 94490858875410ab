package check

import (
	"fmt"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/haven-mem/haven/internal/account"
)

// An Extent is an allocation in untyped memory.
type Extent struct {
	at, size uintptr // from the start of the chunk
	site     Site
	kind     kind
}

// A kind is the type of an allocation's elements. The zero kind is not known.
type kind uint32

var kinds struct {
	by   sync.Map // reflect.Type to kind
	mu   sync.Mutex
	list atomic.Pointer[[]*described] // that of kind n is at n-1
}

type described struct {
	typ   reflect.Type
	size  uintptr
	words []word
	odd   bool // has pointers that need not be to objects
}

func kindOf(t reflect.Type) kind {
	if k, ok := kinds.by.Load(t); ok {
		return k.(kind)
	}
	kinds.mu.Lock()
	defer kinds.mu.Unlock()
	if k, ok := kinds.by.Load(t); ok {
		return k.(kind)
	}
	var list []*described
	if old := kinds.list.Load(); old != nil {
		list = *old
	}
	list = append(list[:len(list):len(list)], &described{t, t.Size(), wordsOf(t), odd(t)})
	kinds.list.Store(&list)
	k := kind(len(list))
	kinds.by.Store(t, k)
	return k
}

// of returns the type, or nil.
func (k kind) of() *described {
	if k == 0 {
		return nil
	}
	return (*kinds.list.Load())[k-1]
}

// describe says what the allocation is.
func (e *Extent) describe(owner string) string {
	d := e.kind.of()
	if d == nil || e.size < d.size {
		return fmt.Sprintf("%s of %s", account.Count(int(e.size), "byte"), owner)
	}
	r := Released{Owner: owner, Type: d.typ, N: 1}
	if d.size > 0 {
		r.N = int(e.size / d.size)
	}
	return r.String()
}

// An untyped is what a [Released] has that is a chunk of untyped memory: [0, lo) and
// [hi, size) were handed out.
type untyped struct {
	size, lo, hi uintptr
	low, high    []Extent  // from the start of the chunk up, and from its end down
	pages        []uintptr // what pointer words hold, by kind; 0 where there are none
}

// elements describes an allocation of a known type, and reports whether it is one.
func (r *Released) elements(e *Extent) (x Released, typed bool) {
	d := e.kind.of()
	if d == nil || d.size == 0 || e.size < d.size {
		return x, false
	}
	x = Released{
		Owner: r.Owner, Type: d.typ, N: int(e.size / d.size), Site: r.Site, Mem: unsafe.Add(r.Mem, e.at),
	}
	if len(d.words) > 0 {
		x.page = r.untyped.pages[e.kind]
	}
	return x, true
}

// poisonUntyped is [Released.Poison] for untyped memory. It may hold anything: the
// collector does not look at it.
func (r *Released) poisonUntyped() {
	poisoned.Store(true)
	u := r.untyped
	u.givePages(r)
	fillBytes(unsafe.Slice((*byte)(r.Mem), u.lo))
	fillBytes(unsafe.Slice((*byte)(unsafe.Add(r.Mem, u.hi)), u.size-u.hi))
	for _, list := range [][]Extent{u.low, u.high} {
		for i := range list {
			e := &list[i]
			d := e.kind.of()
			if d == nil || u.pages[e.kind] == 0 {
				continue
			}
			x := Released{page: u.pages[e.kind]}
			for at := e.at; at+d.size <= e.at+e.size; at += d.size {
				x.fill(unsafe.Add(r.Mem, at), d.words, d.size)
			}
		}
	}
}

// givePages gives a page to each type with pointers.
func (u *untyped) givePages(of *Released) {
	last := kind(0)
	lists := [][]Extent{u.low, u.high}
	for _, list := range lists {
		for i := range list {
			last = max(last, list[i].kind)
		}
	}
	type group struct {
		n  int
		at places
	}
	var few [32]group
	groups := few[:]
	if int(last) >= len(few) {
		groups = make([]group, last+1)
	}
	for _, list := range lists {
		for i := range list {
			e := &list[i]
			d := e.kind.of()
			if d == nil || len(d.words) == 0 || e.size < d.size {
				continue
			}
			g := &groups[e.kind]
			g.n += int(e.size / d.size)
			g.at.add(e.site)
		}
	}
	u.pages = make([]uintptr, last+1)
	for k := range u.pages {
		if g := &groups[k]; g.n > 0 {
			u.pages[k] = page(&Released{Owner: of.Owner, Type: kind(k).of().typ, N: g.n, Site: of.Site}, g.at)
		}
	}
}

// damageUntyped is [Released.Damage] for untyped memory.
func (r *Released) damageUntyped() *Report {
	u := r.untyped
	at := uintptr(0)
	for i := range u.low {
		if bad := r.damageUpTo(&u.low[i], &at); bad != nil {
			return bad
		}
	}
	if bad := r.damageBetween(at, u.lo); bad != nil {
		return bad
	}
	at = u.hi
	for i := len(u.high) - 1; i >= 0; i-- {
		if bad := r.damageUpTo(&u.high[i], &at); bad != nil {
			return bad
		}
	}
	return r.damageBetween(at, u.size)
}

// damageUpTo looks at what is between at and the end of an allocation, and sets at to
// that.
func (r *Released) damageUpTo(e *Extent, at *uintptr) *Report {
	bad := r.damageBetween(*at, e.at)
	if bad == nil {
		bad = r.damageOf(e)
	}
	*at = e.at + e.size
	return bad
}

// holds reports whether an allocation is as it was left.
func (r *Released) holds(e *Extent) bool {
	from, end := e.at, e.at+e.size
	if d := e.kind.of(); d != nil && len(d.words) > 0 {
		for ; from+d.size <= end; from += d.size {
			if differs(unsafe.Add(r.Mem, from), d.words, d.size, r.untyped.pages[e.kind]) < d.size {
				return false
			}
		}
	}
	return r.firstDamage(from, end) == end
}

// damageOf looks at an allocation.
func (r *Released) damageOf(e *Extent) *Report {
	if r.holds(e) {
		return nil
	}
	from := e.at
	if x, typed := r.elements(e); typed {
		if bad := x.Damage(); bad != nil {
			bad.Allocated = e.site.String()
			return bad
		}
		from += x.size()
	}
	if i := r.firstDamage(from, e.at+e.size); i < e.at+e.size {
		return &Report{
			What: "write after release",
			Detail: fmt.Sprintf("byte %d of %d at %p holds % x", i-e.at, e.size, unsafe.Add(r.Mem, e.at),
				unsafe.Slice((*byte)(unsafe.Add(r.Mem, i)), min(wordSize, e.at+e.size-i))),
			Memory: e.describe(r.Owner), Allocated: e.site.String(), Released: r.Site.String(),
		}
	}
	return nil
}

// damageBetween looks at what is no allocation.
func (r *Released) damageBetween(from, to uintptr) *Report {
	i := r.firstDamage(from, to)
	if i >= to {
		return nil
	}
	p := unsafe.Add(r.Mem, i)
	return &Report{
		What:   "write after release",
		Detail: fmt.Sprintf("the byte at %p, between allocations, holds %02x", p, *(*byte)(p)),
		Memory: r.String(), Released: r.Site.String(),
	}
}

// firstDamage returns the first byte of [from, to) that is not as it was left, or to.
func (r *Released) firstDamage(from, to uintptr) uintptr {
	if from >= to {
		return to
	}
	return from + uintptr(intact(unsafe.Slice((*byte)(unsafe.Add(r.Mem, from)), to-from)))
}

// extents has lists that left the quarantine, in pairs, for the next chunks.
var extents struct {
	mu    sync.Mutex
	lists [][2][]Extent
}

func spareExtents() (low, high []Extent) {
	extents.mu.Lock()
	defer extents.mu.Unlock()
	if n := len(extents.lists); n > 0 {
		low, high = extents.lists[n-1][0], extents.lists[n-1][1]
		extents.lists = extents.lists[:n-1]
	}
	return low, high
}

func (u *untyped) giveBack() {
	extents.mu.Lock()
	defer extents.mu.Unlock()
	if len(extents.lists) < maxSpare && cap(u.low)+cap(u.high) <= maxSpareMarks {
		extents.lists = append(extents.lists, [2][]Extent{u.low[:0], u.high[:0]})
	}
}
