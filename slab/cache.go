package slab

import (
	"unsafe"

	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/track"
)

// A Cache hands out objects of type T one by one and takes them back one by one.
// The zero Cache is ready; make one with [NewCache] for settings. Any number
// of goroutines may use a Cache; an object may be freed by another goroutine
// than the one that allocated it. A Cache must not be copied after first use.
//
// What Free takes back may be handed out by the next Alloc, to anybody. A
// pointer that is used after its Free reads and writes an object that belongs to
// somebody else: wrong data, but always a T, so the heap stays whole. Free only
// what nothing refers to any more; what is never freed keeps its slab alive and
// goes with the cache.
//
// Freeing an object twice, and freeing a pointer that did not come from this
// cache, is found when the magazine it went into goes to the depot, so with a
// delay of up to a hundred operations, and reported by a panic in whatever
// goroutine brings it there. Until then two users may share one object.
type Cache[T any] struct {
	_    [0]*T // a Cache of one type is not to be converted to one of another
	core core  // begins with what the fast path reads
}

// NewCache returns an empty cache with the settings of conf, of which there is one or
// none. It panics if a setting is out of its range; see [Config].
func NewCache[T any](conf ...Config[T]) *Cache[T] {
	c := new(Cache[T])
	c.core.configure((*T)(nil), common(conf))
	return c
}

// Alloc returns an object: zero, or as Init built it, or as Reset left it. It
// panics with an error that wraps [ErrExhausted] when a capacity is set and
// reached; it never waits. It costs a few nanoseconds, and once for each
// magazine of up to 57 objects a lock that is held for a few instructions.
func (c *Cache[T]) Alloc() *T {
	if c.core.hooks.Load()&(track.HookOptions|track.HookOut) != 0 || track.Watched {
		return (*T)(c.core.mustAlloc((*T)(nil)))
	}
	pid := magazine.Enter()
	if t := c.core.set.Table(); t != nil && t.Has(pid) {
		if cell := t.Cell(pid); cell.CanPop() {
			p := cell.Pop()
			cell.Leave()
			if magazine.Race {
				magazine.Acquire(p)
			}
			return (*T)(p)
		} else {
			cell.Leave()
		}
	} else {
		magazine.Exit()
	}
	return (*T)(c.core.slow((*T)(nil)))
}

// TryAlloc is Alloc that returns an error which wraps [ErrExhausted] when the
// capacity is reached. It fails only if that many objects are in use.
func (c *Cache[T]) TryAlloc() (*T, error) {
	p, err := c.core.alloc((*T)(nil))
	return (*T)(p), err
}

// Free takes p back. It must have come from this cache, and must not be used
// afterwards. The object is set to zero, or Reset is called with it. Free panics
// if p is nil, and for mistakes that it or another call made before; see
// [Cache]. It costs what Alloc does, and the time to clear the object.
func (c *Cache[T]) Free(p *T) {
	if p == nil || c.core.hooks.Load()&(track.HookOptions|track.HookBack) != 0 || unsafe.Sizeof(*p) > wide || track.Watched {
		if !c.core.plain(unsafe.Pointer(p)) {
			c.core.free((*T)(nil), unsafe.Pointer(p))
			return
		}
	}
	var zero T
	*p = zero
	if magazine.Race {
		magazine.Release(unsafe.Pointer(p))
	}
	pid := magazine.Enter()
	if t := c.core.set.Table(); t != nil && t.Has(pid) {
		if cell := t.Cell(pid); cell.CanPush() {
			cell.Push(unsafe.Pointer(p))
			cell.Leave()
			return
		} else {
			cell.Leave()
		}
	} else {
		magazine.Exit()
	}
	c.core.slowFree((*T)(nil), unsafe.Pointer(p))
}

// Trim gives memory to the garbage collector: all slabs in which no object is
// in use, after collecting those that lie in magazines. It returns the bytes of
// these slabs. It stops the world for some tens of microseconds and then takes
// the lock of the cache for as long as it works. Without it, a cache gives back
// what it does not need step by step, after each garbage collection.
func (c *Cache[T]) Trim() int { return c.core.ready((*T)(nil)).trim() }

// Stats returns the numbers of the cache. It takes the lock of the cache for
// some nanoseconds for each P.
func (c *Cache[T]) Stats() Stats { return c.core.ready((*T)(nil)).stats() }

// String returns the numbers of the cache in one line.
func (c *Cache[T]) String() string { return c.core.ready((*T)(nil)).String() }
