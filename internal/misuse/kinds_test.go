package misuse_test

import (
	"reflect"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// kindsOf returns the kinds of memory for objects of type T.
func kindsOf[T any]() []kind {
	links := reflect.TypeFor[T]().Kind() == reflect.Struct
	list := []kind{
		{"arena New", arenaMemory[T]},
		{"arena MakeSlice", arenaSlices[T]},
		{"arena Mark", arenaMarks[T]},
		{"arena Pool", arenaPool[T]},
		{"arena NewOf", arenaNewOf[T]},
		{"lane", laneMemory[T]},
		{"context Delete", contextDelete[T]},
		{"context Reset", contextReset[T]},
		{"context ResetChildren", contextChildren[T]},
		{"context lease", contextLease[T]},
		{"bump", bumpMemory[T]},
		{"slice", bumpSlices[T]},
		{"cache Free", cacheMemory[T]},
		{"cache Reset", cacheReset[T]},
		{"local", localMemory[T]},
		{"table", tableMemory[T]},
		{"pool Pool", poolMemory[T]},
		{"pool Local", poolLocal[T]},
	}
	if !links {
		list = append(list, kind{"bytes", bytesMemory[T]})
	}
	return list
}

// first is the size of the first chunks. How many values lie in one decides what is found.
const first = 512

func arenaMemory[T any]() *memory {
	a := arena.NewArena(arena.Config{Name: "requests", FirstChunk: first})
	return &memory{
		owner:   a,
		alloc:   func(t *trial) object { return objectOf(allocated(t, arena.New[T](a)), nil) },
		release: func(t *trial, _ object) { t.released(a.Reset) },
		special: map[string]func(t *trial){
			usedAfterEnd: func(t *trial) { a.Free(); t.misuse(); arena.New[T](a) },
			endedTwice:   func(t *trial) { arena.New[T](a); a.Free(); t.misuse(); a.Free() },
			copied:       func(t *trial) { arena.New[T](a); b := clone(a); t.misuse(); arena.New[T](b) },
			marksMixed: func(t *trial) {
				outer := a.Mark()
				a.Mark()
				t.misuse()
				a.Release(outer)
			},
			markTwice: func(t *trial) {
				m := a.Mark()
				a.Release(m)
				t.misuse()
				a.Release(m)
			},
			markOfOther: func(t *trial) {
				b := arena.NewArena()
				a.Mark()
				m := b.Mark()
				t.misuse()
				a.Release(m)
			},
		},
	}
}

func arenaSlices[T any]() *memory {
	a := arena.NewArena(arena.Config{Name: "requests", FirstChunk: first})
	return &memory{
		owner:   a,
		alloc:   func(t *trial) object { return sliceObject(allocated(t, arena.MakeSlice[T](a, 3, 3)), 3) },
		release: func(t *trial, _ object) { t.released(a.Reset) },
	}
}

func arenaMarks[T any]() *memory {
	a := arena.NewArena(arena.Config{Name: "requests", FirstChunk: first})
	arena.New[T](a)
	m, open := arena.Mark{}, false
	return &memory{
		owner: a,
		alloc: func(t *trial) object {
			if !open {
				m, open = a.Mark(), true
			}
			return objectOf(allocated(t, arena.New[T](a)), nil)
		},
		release: func(t *trial, _ object) {
			if open {
				t.released(func() { a.Release(m) })
			}
			open = false
		},
	}
}

func arenaPool[T any]() *memory {
	p := arena.NewPool(arena.Config{Name: "requests", FirstChunk: first})
	var a *arena.Arena
	return &memory{
		owner: p,
		alloc: func(t *trial) object {
			if a == nil {
				a = p.Get()
			}
			return objectOf(allocated(t, arena.New[T](a)), a)
		},
		release: func(t *trial, o object) {
			a = nil
			t.released(func() { p.Put(o.key.(*arena.Arena)) })
		},
		special: map[string]func(t *trial){
			usedAfterEnd: func(t *trial) { b := p.Get(); p.Put(b); t.misuse(); arena.New[T](b) },
			endedTwice:   func(t *trial) { b := p.Get(); p.Put(b); t.misuse(); p.Put(b) },
			nilReleased:  func(t *trial) { t.misuse(); p.Put(nil) },
			foreign: func(t *trial) {
				b := arena.NewPool(arena.Config{Name: "other", FirstChunk: first}).Get()
				t.misuse()
				p.Put(b)
			},
			heapReleased: func(t *trial) { b := arena.NewArena(); t.misuse(); p.Put(b) },
		},
	}
}

func arenaNewOf[T any]() *memory {
	a := arena.NewArena(arena.Config{Name: "requests", FirstChunk: first})
	typ := reflect.TypeFor[T]()
	return &memory{
		owner:   a,
		alloc:   func(t *trial) object { return objectOf((*T)(allocated(t, arena.NewOf(a, typ)).UnsafePointer()), nil) },
		release: func(t *trial, _ object) { t.released(a.Reset) },
		special: map[string]func(t *trial){
			copied: func(t *trial) { arena.NewOf(a, typ); b := clone(a); t.misuse(); arena.NewOf(b, typ) },
		},
	}
}

func laneMemory[T any]() *memory {
	l := new(arena.Lane[T])
	return &memory{
		owner:   l,
		alloc:   func(t *trial) object { return objectOf(allocated(t, l.New()), nil) },
		release: func(t *trial, _ object) { t.released(l.Reset) },
		special: map[string]func(t *trial){
			copied: func(t *trial) {
				l := arena.LaneOf[T](arena.NewArena(arena.Config{FirstChunk: first}))
				l.New()
				b := clone(l)
				t.misuse()
				b.New()
			},
			usedAfterEnd: func(t *trial) {
				a := arena.NewArena()
				l := arena.LaneOf[T](a)
				l.New()
				a.Free()
				t.misuse()
				l.New()
			},
		},
	}
}

func contextDelete[T any]() *memory {
	var c *memctx.Context
	return &memory{
		alloc: func(t *trial) object {
			if c == nil {
				c = memctx.New("query")
			}
			return objectOf(allocated(t, arena.New[T](c.Arena())), c)
		},
		release: func(t *trial, o object) { c = nil; t.released(o.key.(*memctx.Context).Delete) },
		special: map[string]func(t *trial){
			neverEnded: func(t *trial) {
				check.SampleStacks(1)
				c := allocated(t, memctx.New("query"))
				t.undo = append(t.undo, c.Delete, func() { check.SampleStacks(0) })
				t.misuse()
				t.verifyNone()
			},
			usedAfterEnd: func(t *trial) { c := memctx.New("query"); c.Delete(); t.misuse(); c.Child("join") },
			endedTwice:   func(t *trial) { c := memctx.New("query"); c.Delete(); t.misuse(); c.Delete() },
			staleArena: func(t *trial) {
				c := memctx.New("query")
				a := c.Arena()
				c.Delete()
				t.misuse()
				arena.New[T](a)
			},
			ownedFreed: func(t *trial) { a := memctx.New("query").Arena(); t.misuse(); a.Free() },
			ownedPut: func(t *trial) {
				c, p := memctx.New("query"), arena.NewPool()
				t.misuse()
				p.Put(c.Arena())
			},
		},
	}
}

func contextReset[T any]() *memory {
	c := memctx.New("query")
	return &memory{
		owner:   c,
		alloc:   func(t *trial) object { return objectOf(allocated(t, arena.New[T](c.Arena())), nil) },
		release: func(t *trial, _ object) { t.released(c.Reset) },
	}
}

func contextChildren[T any]() *memory {
	c := memctx.New("server")
	var below *memctx.Context
	return &memory{
		owner: c,
		alloc: func(t *trial) object {
			if below == nil {
				below = c.Child("query")
			}
			return objectOf(allocated(t, arena.New[T](below.Arena())), nil)
		},
		release: func(t *trial, _ object) { below = nil; t.released(c.ResetChildren) },
	}
}

func contextLease[T any]() *memory {
	var c *memctx.Context
	var release func()
	return &memory{
		alloc: func(t *trial) object {
			if c == nil {
				c, release = held()
			}
			return objectOf(allocated(t, arena.New[T](c.Arena())), release)
		},
		release: func(t *trial, o object) { c = nil; t.released(o.key.(func())) },
		special: map[string]func(t *trial){
			neverEnded: func(t *trial) {
				check.SampleStacks(1)
				c := allocated(t, memctx.New("query"))
				release := c.Retain()
				c.Delete()
				t.undo = append(t.undo, release, func() { check.SampleStacks(0) })
				t.misuse()
				t.verifyNone()
			},
			ownedFreed: func(t *trial) { c, _ := held(); a := c.Arena(); t.misuse(); a.Free() },
			ownedPut:   func(t *trial) { c, _ := held(); p := arena.NewPool(); t.misuse(); p.Put(c.Arena()) },
		},
	}
}

// held returns a context that was deleted and that a lease holds, and what gives that back.
func held() (c *memctx.Context, release func()) {
	c = memctx.New("query")
	release = c.Retain()
	c.Delete()
	return c, release
}

func bumpMemory[T any]() *memory {
	a := new(bump.Arena)
	return &memory{
		owner:   a,
		untyped: true,
		alloc:   func(t *trial) object { return objectOf(allocated(t, bump.New[T](a)), nil) },
		release: func(t *trial, _ object) { t.released(a.Reset) },
		special: map[string]func(t *trial){
			usedAfterEnd: func(t *trial) { bump.New[T](a); a.Free(); t.misuse(); bump.New[T](a) },
			endedTwice:   func(t *trial) { bump.New[T](a); a.Free(); t.misuse(); a.Free() },
			copied:       func(t *trial) { bump.New[T](a); b := clone(a); t.misuse(); bump.New[T](b) },
		},
	}
}

func bumpSlices[T any]() *memory {
	a := new(bump.Arena)
	return &memory{
		owner:   a,
		untyped: true,
		alloc: func(t *trial) object {
			s := allocated(t, bump.Append(a, nil, *new(T), *new(T), *new(T)))
			return sliceObject(s, cap(s))
		},
		release: func(t *trial, _ object) { t.released(a.Reset) },
	}
}

func cacheMemory[T any]() *memory {
	m := cacheOf(slab.NewCache(slab.Config[T]{Name: "orders"}))
	m.paged = true
	return m
}

func cacheReset[T any]() *memory {
	return cacheOf(slab.NewCache(slab.Config[T]{Name: "orders", Reset: func(*T) {}}))
}

func cacheOf[T any](c *slab.Cache[T]) *memory {
	return &memory{
		owner:   c,
		single:  true,
		shared:  true,
		alloc:   func(t *trial) object { return objectOf(allocated(t, c.Alloc()), nil) },
		release: func(t *trial, o object) { t.released(func() { c.Free((*T)(o.p)) }) },
		trim:    func(t *trial) { t.released(func() { c.Trim() }) },
		special: map[string]func(t *trial){
			nilReleased:  func(t *trial) { t.misuse(); c.Free(nil) },
			heapReleased: func(t *trial) { c.Alloc(); p := new(T); t.misuse(); c.Free(p) },
			interior: func(t *trial) {
				d := slab.NewCache(slab.Config[[3]T]{Name: "triples"})
				p := allocated(t, d.Alloc())
				t.misuse()
				c.Free(&p[1])
			},
		},
	}
}

func localMemory[T any]() *memory {
	l := new(slab.Local[T])
	return &memory{
		owner:   l,
		single:  true,
		alloc:   func(t *trial) object { return objectOf(allocated(t, l.Alloc()), nil) },
		release: func(t *trial, o object) { t.released(func() { l.Free((*T)(o.p)) }) },
		trim:    func(t *trial) { t.released(func() { l.Trim() }) },
		special: map[string]func(t *trial){
			nilReleased:  func(t *trial) { t.misuse(); l.Free(nil) },
			heapReleased: func(t *trial) { l.Alloc(); p := new(T); t.misuse(); l.Free(p) },
			interior: func(t *trial) {
				d := new(slab.Local[[3]T])
				p := allocated(t, d.Alloc())
				t.misuse()
				l.Free(&p[1])
			},
			copied: func(t *trial) { l.Alloc(); b := clone(l); t.misuse(); b.Alloc() },
		},
	}
}

func tableMemory[T any]() *memory {
	tab := slab.NewTable[T](slab.TableConfig{Name: "sessions"})
	insert := func() object { h, p := tab.Insert(*new(T)); return objectOf(p, h) }
	return &memory{
		owner:  tab,
		single: true,
		alloc:  func(t *trial) object { return allocated(t, insert()) },
		release: func(t *trial, o object) {
			t.released(func() { refused(tab.Remove(o.key.(slab.Handle[T]))) })
		},
		special: map[string]func(t *trial){
			copied: func(t *trial) { insert(); b := clone(tab); t.misuse(); b.Insert(*new(T)) },
			staleHandle: func(t *trial) {
				h, _ := tab.Insert(*new(T))
				tab.Remove(h)
				tab.Insert(*new(T))
				t.misuse()
				_, ok := tab.Get(h)
				refused(ok)
			},
			foreign: func(t *trial) {
				h, _ := slab.NewTable[T]().Insert(*new(T))
				tab.Insert(*new(T))
				t.misuse()
				_, ok := tab.Get(h)
				refused(ok)
			},
		},
	}
}

func poolMemory[T any]() *memory {
	p := pool.New[T](nil, pool.Config[T]{Name: "records", Reset: func(x *T) { *x = *new(T) }})
	return &memory{
		owner:   p,
		single:  true,
		heap:    true,
		shared:  true,
		alloc:   func(t *trial) object { return objectOf(allocated(t, p.Get()), nil) },
		release: func(t *trial, o object) { t.released(func() { p.Put((*T)(o.p)) }) },
		trim:    func(t *trial) { t.released(func() { p.Trim() }) },
		special: map[string]func(t *trial){
			nilReleased: func(t *trial) { t.misuse(); p.Put(nil) },
			interior: func(t *trial) {
				x := allocated(t, pool.New[[3]T](nil).Get())
				t.misuse()
				p.Put(&x[1])
			},
			partOfFree: func(t *trial) {
				q := pool.New[[3]T](nil)
				t.undo = append(t.undo, func() { q.Trim() })
				x := allocated(t, q.Get())
				t.released(func() { q.Put(x) })
				t.misuse()
				p.Put(&x[1])
			},
			ownTwice: func(t *trial) { x := new(T); t.released(func() { p.Put(x) }); t.misuse(); p.Put(x) },
		},
	}
}

func poolLocal[T any]() *memory {
	p := pool.NewLocal[T](nil, pool.LocalConfig[T]{Name: "records", Reset: func(x *T) { *x = *new(T) }})
	return &memory{
		owner:   p,
		single:  true,
		heap:    true,
		alloc:   func(t *trial) object { return objectOf(allocated(t, p.Get()), nil) },
		release: func(t *trial, o object) { t.released(func() { p.Put((*T)(o.p)) }) },
		special: map[string]func(t *trial){
			nilReleased: func(t *trial) { t.misuse(); p.Put(nil) },
			interior: func(t *trial) {
				x := allocated(t, pool.NewLocal[[3]T](nil).Get())
				t.misuse()
				p.Put(&x[1])
			},
			ownTwice: func(t *trial) { x := new(T); t.released(func() { p.Put(x) }); t.misuse(); p.Put(x) },
			copied:   func(t *trial) { p.Put(p.Get()); b := clone(p); t.misuse(); b.Get() },
		},
	}
}

// bytesMemory hands out buffers of the size of a T.
func bytesMemory[T any]() *memory {
	b := pool.NewBytes(pool.BytesConfig{Name: "buffers"})
	n := int(sizeOf[T]())
	return &memory{
		owner:  b,
		single: true,
		heap:   true,
		shared: true,
		alloc: func(t *trial) object {
			s := allocated(t, b.Get(n))
			return object{unsafe.Pointer(unsafe.SliceData(*s)), uintptr(n), s}
		},
		release: func(t *trial, o object) { t.released(func() { b.Put(o.key.(*[]byte)) }) },
		trim:    func(t *trial) { t.released(func() { b.Trim() }) },
		special: map[string]func(t *trial){
			nilReleased: func(t *trial) { t.misuse(); b.Put(nil) },
			interior: func(t *trial) {
				s := *allocated(t, b.Get(n+16))
				s = s[8:]
				t.misuse()
				b.Put(&s)
			},
			partOfFree: func(t *trial) {
				p := allocated(t, b.Get(n+64))
				s := (*p)[8:]
				t.released(func() { b.Put(p) })
				t.misuse()
				b.Put(&s)
			},
			ownTwice: func(t *trial) {
				s := make([]byte, n)
				t.released(func() { b.Put(&s) })
				t.misuse()
				b.Put(&s)
			},
		},
	}
}

// clone copies what must not be copied, where vet does not see it.
func clone[V any](p *V) *V {
	c := new(V)
	reflect.ValueOf(c).Elem().Set(reflect.ValueOf(p).Elem())
	return c
}

// verifyNone has check.VerifyNone look for what was not ended, where a mode does.
func (t *trial) verifyNone() {
	t.later()
	if running.stale {
		check.VerifyNone(&listener{how: "open"})
	}
}
