package workload

import (
	"sync"

	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// The names of variants that take and give back single objects.
const (
	syncPool      = "sync.Pool"
	syncPoolDirty = "sync.Pool+dirty" // does not clear what it takes back
	mutexList     = "mutex"           // a free list of indices under a mutex
	channelList   = "channel"         // a free list in a buffered channel
	dequeList     = "deque"           // a free list that keeps everything
	slabCache     = "cache"
	slabLocal     = "local"
	poolPool      = "pool.Pool"
	poolLocal     = "pool.Local"
	poolBytes     = "pool.Bytes"
	poolDirty     = "pool.Bytes+dirty" // with the option Dirty
)

// A source is where a variant's objects come from and go to. Both functions
// may be called from any goroutine. An object that comes is zero, so all but
// the heap clear what is given back.
//
// The calls go through function values, two nanoseconds a piece on each side
// of a comparison: workloads where that is a part of the result to speak of
// have their loops written out instead.
type source[T any] struct {
	alloc func() *T
	free  func(*T)
}

// newSource returns the source of the given name. A channel holds up to room
// objects; the others are not bounded by it.
func newSource[T any](name string, room int) source[T] {
	switch name {
	case heapNew:
		return source[T]{
			alloc: func() *T { return new(T) },
			free:  func(*T) {},
		}
	case syncPool:
		pool := newSyncPool[T]()
		return source[T]{
			alloc: func() *T { return pool.Get().(*T) },
			free: func(p *T) {
				clearObject(p)
				pool.Put(p)
			},
		}
	case channelList:
		list := make(chan *T, room)
		return source[T]{
			alloc: func() *T { return fromChannel(list) },
			free: func(p *T) {
				clearObject(p)
				toChannel(list, p)
			},
		}
	case dequeList:
		var list deque[T]
		return source[T]{alloc: list.alloc, free: list.free}
	case slabCache:
		cache := slab.NewCache[T]()
		return source[T]{alloc: cache.Alloc, free: cache.Free}
	case poolPool:
		pool := pool.New[T](nil, pool.Config[T]{Reset: clearObject[T]})
		return source[T]{alloc: pool.Get, free: pool.Put}
	}
	panic("workload: no source " + name)
}

func clearObject[T any](p *T) {
	var zero T
	*p = zero
}

func newSyncPool[T any]() *sync.Pool {
	return &sync.Pool{New: func() any { return new(T) }}
}

// fromChannel and toChannel are the free list of Effective Go: what finds the
// channel empty is made, what finds it full is left to the collector.
func fromChannel[T any](list chan *T) *T {
	select {
	case p := <-list:
		return p
	default:
		return new(T)
	}
}

func toChannel[T any](list chan *T, p *T) {
	select {
	case list <- p:
	default:
	}
}

// An indexList is the pool that programs write by hand: objects in one slice,
// the free ones known by their indices, all under a mutex. It does not grow.
type indexList[T any] struct {
	mu      sync.Mutex
	free    []uint32
	objects []T
}

func newIndexList[T any](room int) *indexList[T] {
	l := &indexList[T]{objects: make([]T, room), free: make([]uint32, room)}
	for i := range l.free {
		l.free[i] = uint32(room - 1 - i)
	}
	return l
}

// take returns the index of a free object. It panics when there is none.
func (l *indexList[T]) take() uint32 {
	l.mu.Lock()
	i := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	l.mu.Unlock()
	return i
}

func (l *indexList[T]) at(i uint32) *T { return &l.objects[i] }

func (l *indexList[T]) give(i uint32) {
	clearObject(&l.objects[i])
	l.mu.Lock()
	l.free = append(l.free, i)
	l.mu.Unlock()
}

// A deque is a free list that grows and never lets go.
type deque[T any] struct {
	mu   sync.Mutex
	list []*T
}

func (d *deque[T]) alloc() *T {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.list) - 1
	if n < 0 {
		return new(T)
	}
	p := d.list[n]
	d.list[n] = nil
	d.list = d.list[:n]
	return p
}

func (d *deque[T]) free(p *T) {
	clearObject(p)
	d.mu.Lock()
	d.list = append(d.list, p)
	d.mu.Unlock()
}
