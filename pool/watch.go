package pool

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/heap"
	"github.com/haven-mem/haven/internal/layout"
	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/track"
)

// What watches pools: package internal/track.
//
// In the check build what is put is poisoned, and waits before it goes to the magazines
// as it was: what an object held is copied for that time. Of a buffer the bytes are
// poisoned, and the slice header. A second Put, one of a part of an object, and a write
// to what waits are reported, at once or when it has waited; of buffers, also a Put of
// the same bytes by another header. What is in the magazines and in the depot is known to
// be idle, but not poisoned.
//
// Of one object in 1024 that is put, none is kept, and the collector finds whether
// something still points to it: one that was marked when it was made. Nobody gets it
// again, so what it held is not copied.
//
// Under a sanitizer what lies idle is withheld, and what was put and dropped as well. Of
// an object that is its own memory, and not what it refers to; of a buffer its bytes, and
// the slice header.

// working is the list of pools that are in use, in the check build.
var working registry.List[self]

// init has what waits leave when somebody asks for all stale pointers.
func init() {
	check.OnFlush(func() {
		for s := range working.All() {
			s.b.leave()
		}
	})
}

// leave has all objects that wait go to the depots.
func (b *budget) leave() {
	b.mu.Lock()
	depots := append([]*depot(nil), b.depots...)
	b.mu.Unlock()
	for _, d := range depots {
		d.waits.Leave(true, b.max, b.maxBytes)
	}
}

// wait has an object that Put has taken down wait. Its Back gives it to the depot;
// or r, if that is not nil, is to watch it, which has so many bytes at at.
func (d *depot) wait(x check.Waiter, r *track.Release, typ string, at *byte, bytes int) {
	b := d.budget
	b.moved(-1)
	back := x.Back
	x.Back = func() {
		b.moved(1)
		back()
		if r != nil {
			for _, w := range x.What {
				check.Dropped(w)
			}
			d.dropWatched(r, typ, at, bytes)
		}
	}
	d.waits.Wait(x)
	d.waits.Leave(false, b.max, b.maxBytes)
}

// moved counts objects as in use, or as not.
func (b *budget) moved(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.away += n
}

// claim makes the caller the one who marks an object, if one is to be marked. The
// object counts as a miss of the depot.
func (d *depot) claim() bool {
	b := d.budget
	if !b.marks.Claim() {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.wake()
	d.misses++
	b.left(1)
	return true
}

// unmark returns the release of the object at p, if that is marked and its memory is that
// at at; otherwise nil.
func (b *budget) unmark(p unsafe.Pointer, at *byte) *track.Release {
	if !b.marks.Unmark(p, at) {
		return nil
	}
	return track.Drop(track.Owner{Kind: "pool", Name: b.name}).Here()
}

// dropWatched has the memory of an object watched, which counts as dropped.
func (d *depot) dropWatched(r *track.Release, typ string, at *byte, bytes int) {
	d.budget.mu.Lock()
	d.puts++
	d.droppedWatched++
	d.budget.away--
	d.budget.mu.Unlock()
	r.Add(typ, unsafe.Pointer(at), bytes)
	r.End()
}

// putsNow returns the number of Puts up to now.
func (b *budget) putsNow() (n uint64) {
	for _, d := range b.depots {
		_, pushes := d.cells.Ops()
		n += d.puts + pushes
	}
	return n
}

// checks reports whether objects of the pool are checked. The pool is ready.
func (o *objects) checks() bool { return o.depot.size > 0 && check.Poisons(o.name) }

func (o *objects) loan(x unsafe.Pointer) check.Loan {
	return check.Loan{P: x, Type: o.elem, Owner: o.title()}
}

// getWatched is Get where each operation is watched.
func (o *objects) getWatched(null any) unsafe.Pointer {
	x := o.get(null)
	if check.Enabled && o.checks() {
		o.loan(x).Got(nil)
	}
	return x
}

// getMarked makes an object that is marked, or returns nil if none is to be.
func (o *objects) getMarked() unsafe.Pointer {
	if o.depot.size < stale.Least || !o.depot.claim() {
		return nil
	}
	x := o.make()
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	o.marks.Mark(x, at, o.newFn == nil || heap.Has(at))
	return x
}

// watchPut reports whether x was marked and is now dropped and watched.
func (o *objects) watchPut(x unsafe.Pointer) bool {
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	r := o.unmark(x, at)
	if r != nil {
		o.depot.dropWatched(r, o.elem.String(), at, o.depot.size)
	}
	return r != nil
}

// putChecked is Put.
func (o *objects) putChecked(x unsafe.Pointer) {
	l, d := o.loan(x), &o.depot
	if !track.May(l) {
		return
	}
	if o.reset != nil {
		o.reset(x)
	}
	cost := o.costOf(x)
	what := d.waits.Put(l, nil)
	if what == nil {
		return
	}
	w := check.Waiter{What: []*check.Released{what}, Cost: cost, Back: func() {}}
	at := (*byte)(x) // SAFETY: it is for a weak pointer (GC.md fact 21)
	r := o.unmark(x, at)
	if r == nil {
		restore := track.Keep(x, l.Type)
		w.Keeps = layout.HasPointers(l.Type)
		w.Back = func() {
			restore()
			track.Back(x, uintptr(d.size))
			d.put(x, uint(cost))
		}
	}
	reflect.NewAt(l.Type, x).Elem().SetZero()
	d.wait(w, r, l.Type.String(), at, d.size)
}

func (l *local) checks() bool { return l.elem.Size() > 0 && check.Poisons(l.name) }

func (l *local) loan(x unsafe.Pointer) check.Loan {
	return check.Loan{P: x, Type: l.elem, Owner: l.title()}
}

// getWatched is Get where each operation is watched.
func (l *local) getWatched() unsafe.Pointer {
	if l.front().top == nil {
		l.fill(nil)
	}
	defer l.busy.Get().Begin(l.title).Exit()
	x := l.front().top
	l.front().top = nil
	l.front().gets++
	if check.Enabled && l.checks() {
		l.loan(x).Got(nil)
	}
	sanitize.Grant(x, l.elem.Size())
	return x
}

// putChecked is Put.
func (l *local) putChecked(x unsafe.Pointer) {
	if x == nil || !l.checks() {
		l.put(nil, x)
		return
	}
	if !track.May(l.loan(x)) {
		return
	}
	if l.reset != nil {
		l.callReset(x)
	}
	if what := l.waits.Put(l.loan(x), nil); what != nil {
		l.wait(x, what)
		l.waits.Leave(false, l.max, none)
	}
}

// wait has x wait.
func (l *local) wait(x unsafe.Pointer, what *check.Released) {
	defer l.busy.Get().Begin(l.title).Exit()
	restore := track.Keep(x, l.elem)
	reflect.NewAt(l.elem, x).Elem().SetZero()
	l.waits.Wait(check.Waiter{
		What: []*check.Released{what}, Cost: int(l.elem.Size()), Keeps: layout.HasPointers(l.elem),
		Back: func() {
			restore()
			l.keep(x)
		},
	})
}

func (b *Bytes) checks() bool { return b != nil && check.Poisons(b.name) }

// loan describes the first n bytes of s.
func (b *Bytes) loan(s []byte, n int) check.Loan {
	return check.Loan{
		P: unsafe.Pointer(unsafe.SliceData(s)), Type: reflect.ArrayOf(n, reflect.TypeFor[byte]()), Owner: b.title(), Part: true,
	}
}

// getChecked is Get.
func (b *Bytes) getChecked(n int) *[]byte {
	p := b.get(n)
	if b.checks() && n <= largest {
		b.loan(*p, cap(*p)).Got(unsafe.Pointer(p))
	}
	return p
}

// getMarked makes a buffer of class i that is marked, or returns nil if none is to
// be.
func (b *Bytes) getMarked(d *depot, i, n int) *[]byte {
	if !d.claim() {
		return nil
	}
	s := make([]byte, n, classSize(i))
	b.marks.Mark(unsafe.Pointer(&s), unsafe.SliceData(s), true)
	return &s
}

// watchPut reports whether the buffer was marked and is now dropped and watched.
func (b *Bytes) watchPut(p *[]byte) bool {
	at := unsafe.SliceData(*p)
	r := b.unmark(unsafe.Pointer(p), at)
	if r != nil {
		b.class(classOf(cap(*p))).dropWatched(r, "[]uint8", at, cap(*p))
	}
	return r != nil
}

// putChecked is Put.
func (b *Bytes) putChecked(p *[]byte) {
	b.once.Do(b.startZero)
	header := check.Loan{P: unsafe.Pointer(p), Type: reflect.TypeFor[[]byte](), Owner: b.title(), Part: true}
	if !track.May(header) {
		return
	}
	s := *p
	if cap(s) > 0 && !track.May(b.loan(s, 1)) {
		return
	}
	if uint(cap(s)-smallest) > largest-smallest {
		b.refuse(p)
		return
	}
	i := classOf(cap(s))
	size := classSize(i)
	s = s[:0:size]
	d := b.class(i)
	what := d.waits.Put(b.loan(s, size), header.P)
	if what == nil {
		return
	}
	head := *what
	head.Type, head.Mem = header.Type, header.P
	at := unsafe.SliceData(s)
	r := b.unmark(header.P, at)
	*p = nil
	d.wait(check.Waiter{What: []*check.Released{what, &head}, Cost: size, Back: func() {
		*p = nil
		*p = s // also for the collector to see: who has the header has the bytes
		if r != nil {
			return
		}
		if !b.dirty {
			clear(s[:size])
		}
		track.Back(header.P, 0)
		d.put(header.P, uint(size))
	}}, r, "[]uint8", at, size)
}

// mustHave ends the program if the buffer was put already.
func (b *Bytes) mustHave(p *[]byte) {
	if sanitize.Poisons && b != nil && p != nil {
		sanitize.MustHave(unsafe.Pointer(p), unsafe.Sizeof(*p))
		sanitize.MustHave(unsafe.Pointer(unsafe.SliceData(*p)), uintptr(cap(*p)))
	}
}

// revokeBuffer takes a buffer back.
func revokeBuffer(p *[]byte) {
	if sanitize.Enabled {
		sanitize.RevokeAll((*p)[:cap(*p)])
	}
	track.Back(unsafe.Pointer(p), unsafe.Sizeof(*p))
}

// grantBuffer hands out n bytes of the buffer whose slice header is at x.
func grantBuffer(x unsafe.Pointer, n int) *[]byte {
	p := (*[]byte)(x) // SAFETY: see depot
	track.Out(x, unsafe.Sizeof(*p))
	if sanitize.Poisons {
		sanitize.GrantAll((*p)[:cap(*p)])
	}
	*p = (*p)[:n]
	return p
}
