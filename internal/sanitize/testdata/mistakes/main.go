// Command mistakes makes one mistake, or does the same thing rightly, with one kind of
// memory: mistakes KIND SIZE DEED. Without arguments it lists the kinds, and what
// can be done with each.
package main

import (
	"fmt"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A kind is a way to get memory and to give it back.
type kind struct {
	name  string
	deeds string // beside those that all have
	// make returns memory, how many bytes may be used there, and how it is given
	// back.
	make func(size int) (p *byte, n int, release func())
}

const (
	overruns = "past1 past8 "
	twice    = "twice "
)

// T has pointers as well.
type linked[D any] struct {
	next *linked[D]
	d    D
}

func first[T any](p *T) *byte { return (*byte)(unsafe.Pointer(p)) }

// sized calls the function for a type of so many bytes.
func sized(size int, f1 func() (*byte, func()), f24, f4096 func() (*byte, func())) (*byte, int, func()) {
	f := map[int]func() (*byte, func()){1: f1, 24: f24, 4096: f4096}[size]
	p, release := f()
	return p, size, release
}

var kinds = []kind{
	{"arena.New", "", func(size int) (*byte, int, func()) {
		return sized(size, arenaNew[byte], arenaNew[linked[[2]int]], arenaNew[[4096]byte])
	}},
	{"arena.MakeSlice", overruns, func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		return unsafe.SliceData(arena.MakeSlice[byte](a, size, size)), size, a.Reset
	}},
	{"arena.String", overruns, func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		return unsafe.StringData(arena.String(a, make([]byte, size))), size, a.Reset
	}},
	{"arena.Append", "", func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		s := arena.Append(a, nil, byte(1))
		for len(s) < size {
			s = arena.Append(a, s, 1)
		}
		return unsafe.SliceData(s), size, a.Reset
	}},
	{"arena.NewOf", "", func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		p := arena.NewOf(a, reflect.ArrayOf(size, reflect.TypeFor[byte]()))
		return (*byte)(p.UnsafePointer()), size, a.Reset
	}},
	{"arena, many", "", func(size int) (*byte, int, func()) {
		return sized(size, arenaMany[byte], arenaMany[linked[[2]int]], arenaMany[[4096]byte])
	}},
	{"arena, Mark", "", func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		arena.MakeSlice[byte](a, 10, 10)
		m := a.Mark()
		return unsafe.SliceData(arena.MakeSlice[byte](a, size, size)), size, func() { a.Release(m) }
	}},
	{"arena.Lane", "", func(size int) (*byte, int, func()) {
		return sized(size, lane[byte], lane[linked[[2]int]], lane[[4096]byte])
	}},
	{"arena.Pool", "", func(size int) (*byte, int, func()) {
		var p arena.Pool
		a := p.Get()
		return unsafe.SliceData(arena.MakeSlice[byte](a, size, size)), size, func() { p.Put(a) }
	}},
	{"memctx", "", func(size int) (*byte, int, func()) {
		c := memctx.New("root").Child("child")
		return unsafe.SliceData(arena.MakeSlice[byte](c.Arena(), size, size)), size, c.Delete
	}},
	{"bump.New", overruns, func(size int) (*byte, int, func()) {
		return sized(size, bumpNew[byte], bumpNew[[3]int], bumpNew[[4096]byte])
	}},
	{"bump.Alloc", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		p := (*byte)(a.Alloc(uintptr(size), 1))
		a.Alloc(3, 1)
		return p, size, a.Reset
	}},
	{"bump, many", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		for range 1000 {
			bump.New[[3]int](a)
			a.Alloc(uintptr(size), 1)
		}
		p := (*byte)(a.Alloc(uintptr(size), 1))
		for range 1000 {
			bump.New[[3]int](a)
			a.Alloc(uintptr(size), 1)
		}
		return p, size, a.Reset
	}},
	{"bump.MakeSlice", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		s := bump.MakeSlice[byte](a, size, size)
		bump.MakeSlice[byte](a, 1, 1)
		return unsafe.SliceData(s), size, a.Reset
	}},
	{"bump.Append", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		s := bump.Append(a, nil, make([]byte, size)...)
		s = bump.Append(a, s, 1)
		bump.MakeSlice[byte](a, 1, 1)
		return unsafe.SliceData(s), cap(s), a.Reset
	}},
	{"bump.String", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		s := bump.String(a, make([]byte, size))
		bump.String(a, "next")
		return unsafe.StringData(s), size, a.Reset
	}},
	{"bump.Realloc", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		p := a.Realloc(a.Alloc(uintptr(size), 1), uintptr(size), uintptr(size)+5, 1)
		a.Alloc(3, 1)
		return (*byte)(p), size + 5, a.Reset
	}},
	{"bump.Slice", overruns, func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		var s bump.Slice[byte]
		for range size {
			s.Append(a, 1)
		}
		bump.New[int](a)
		return s.At(0), s.Cap(), a.Reset
	}},
	{"bump.Fixed", overruns, func(size int) (*byte, int, func()) {
		f := bump.NewFixed(size + 100)
		return (*byte)(f.Alloc(uintptr(size), 1)), size, f.Reset
	}},
	{"slab.Cache", twice, func(size int) (*byte, int, func()) {
		return sized(size, cache[byte](), cache[linked[[2]int]](), cache[[4096]byte]())
	}},
	{"slab.Cache, Clear", twice, func(size int) (*byte, int, func()) {
		return sized(size,
			cache[byte](slab.Clear(func(*byte) {}), slab.Init(func(*byte) {})),
			cache[linked[[2]int]](slab.Clear(func(*linked[[2]int]) {})),
			cache[[4096]byte](slab.Clear(func(*[4096]byte) {})))
	}},
	{"slab.Cache, batch", twice, func(size int) (*byte, int, func()) {
		c := slab.NewCache[[4096]byte]()
		list := make([]*[4096]byte, 10)
		if err := c.AllocBatch(list); err != nil {
			panic(err)
		}
		p := list[5]
		return first(p), size, func() { list[5] = p; c.FreeBatch(list[5:6]) }
	}},
	{"slab.Local", twice, func(size int) (*byte, int, func()) {
		return sized(size, local[byte], local[linked[[2]int]], local[[4096]byte])
	}},
	{"slab.Table", "", func(size int) (*byte, int, func()) {
		// The element of the size 1 shares its eight bytes with the next slot.
		return sized(size, table[[8]byte], table[linked[[2]int]], table[[4096]byte])
	}},
	{"pool.Pool", twice, func(size int) (*byte, int, func()) {
		return sized(size, pooled[byte], pooled[linked[[2]int]], pooled[[4096]byte])
	}},
	{"pool.Pool, Max", twice, func(size int) (*byte, int, func()) {
		p := pool.New[[4096]byte](nil, pool.Max(0), pool.Cost(func(*[4096]byte) int { return 1 }))
		x := p.Get()
		return first(x), size, func() { p.Put(x) }
	}},
	{"pool.Bytes", twice, func(size int) (*byte, int, func()) {
		var p pool.Bytes
		b := p.Get(size)
		return unsafe.SliceData(*b), size, func() { p.Put(b) }
	}},
	{"pool.Bytes, Dirty", twice, func(size int) (*byte, int, func()) {
		p := pool.NewBytes(pool.Dirty())
		b := p.Get(size)
		return unsafe.SliceData(*b), size, func() { p.Put(b) }
	}},
	{"pool.Bytes, header", "", func(size int) (*byte, int, func()) {
		var p pool.Bytes
		b := p.Get(size)
		return first(b), 1, func() { p.Put(b) }
	}},
	{"pool.Local", twice, func(size int) (*byte, int, func()) {
		return sized(size, pooledLocal[byte], pooledLocal[linked[[2]int]], pooledLocal[[4096]byte])
	}},
}

// keeping are ways to end memory that leave it as it is.
var keeping = []kind{
	{"arena.Free", "", func(size int) (*byte, int, func()) {
		a := arena.NewArena()
		s := arena.MakeSlice[byte](a, size, size)
		arena.New[int](a)
		return unsafe.SliceData(s), size, a.Free
	}},
	{"bump.Free", "", func(size int) (*byte, int, func()) {
		a := new(bump.Arena)
		bump.New[int](a)
		return (*byte)(a.Alloc(uintptr(size), 1)), size, a.Free
	}},
	{"memctx.Abandon", "", func(size int) (*byte, int, func()) {
		c := memctx.New("abandoned")
		s := arena.MakeSlice[byte](c.Arena(), size, size)
		return unsafe.SliceData(s), size, func() { c.Abandon(); c.Reset() }
	}},
}

func arenaNew[T any]() (*byte, func()) {
	a := arena.NewArena()
	arena.New[T](a)
	p := arena.New[T](a)
	arena.New[T](a)
	return first(p), a.Reset
}

func arenaMany[T any]() (*byte, func()) {
	a := arena.NewArena()
	var list []*T
	for range 3000 {
		list = append(list, arena.New[T](a))
		arena.MakeSlice[T](a, 1, 1)
	}
	return first(list[100]), a.Reset
}

func lane[T any]() (*byte, func()) {
	var l arena.Lane[T]
	l.New()
	return first(l.New()), l.Reset
}

func bumpNew[T any]() (*byte, func()) {
	a := new(bump.Arena)
	bump.New[int](a)
	p := bump.New[T](a)
	bump.New[int](a)
	return first(p), a.Reset
}

func cache[T any](opts ...slab.Option) func() (*byte, func()) {
	return func() (*byte, func()) {
		c := slab.NewCache[T](opts...)
		for range 10 { // of which some are free already
			c.Free(c.Alloc())
		}
		p := c.Alloc()
		return first(p), func() { c.Free(p) }
	}
}

func local[T any]() (*byte, func()) {
	l := new(slab.Local[T])
	l.Alloc()
	p := l.Alloc()
	return first(p), func() { l.Free(p) }
}

func table[T any]() (*byte, func()) {
	t := new(slab.Table[T])
	var zero T
	t.Insert(zero)
	h, p := t.Insert(zero)
	t.Insert(zero)
	return first(p), func() { t.Remove(h) }
}

func pooled[T any]() (*byte, func()) {
	p := new(pool.Pool[T])
	x := p.Get()
	return first(x), func() { p.Put(x) }
}

func pooledLocal[T any]() (*byte, func()) {
	l := new(pool.Local[T])
	x := l.Get()
	return first(x), func() { l.Put(x) }
}

func at(p *byte, i int) *byte { return (*byte)(unsafe.Add(unsafe.Pointer(p), i)) }

var sink, zero byte

func main() {
	if len(os.Args) == 1 {
		for _, k := range kinds {
			fmt.Printf("%s:%s\n", k.name, k.deeds)
		}
		return
	}
	all := append(kinds, keeping...)
	i := slices.IndexFunc(all, func(k kind) bool { return k.name == os.Args[1] })
	var size int
	fmt.Sscan(os.Args[2], &size)
	do(all[i], size, os.Args[3])
}

func do(k kind, size int, deed string) {
	if before, ok := strings.CutPrefix(deed, "reader "); ok {
		race(k, size, before)
		return
	}
	switch deed {
	case "right":
		for range 5 {
			p, n, release := k.make(size)
			q, m, releaseToo := k.make(size)
			for i := range n {
				*at(p, i) += zero
			}
			for i := range min(n, m) {
				sink += *at(q, i) + *at(p, i)
			}
			release()
			runtime.GC()
			releaseToo()
		}
		return
	}
	p, n, release := k.make(size)
	switch deed {
	case "kept":
		*p = 7
		done := make(chan bool)
		go func() {
			defer close(done)
			sink += *p
		}()
		release()
		runtime.GC()
		<-done
		if *p++; *p != 8 {
			panic(*p)
		}
	case "read":
		release()
		sink = *p // fault: read
	case "read last":
		release()
		sink = *at(p, n-1) // fault: read last
	case "read after collection":
		release()
		runtime.GC()
		runtime.GC()
		sink = *p // fault: read after collection
	case "write":
		release()
		*p = 1 // fault: write
	case "twice":
		release()
		release() // fault: twice
	case "past1":
		sink = *at(p, n) // fault: past1
	case "past8":
		*at(p, n+7) = 1 // fault: past8
	default:
		panic(deed)
	}
	runtime.KeepAlive(release)
}

// race has another goroutine read, before or after the release, with nothing that
// orders the two but what the detector cannot see; or with a channel.
func race(k kind, size int, when string) {
	p, _, release := k.make(size)
	done := make(chan bool)
	go func() {
		defer close(done)
		if when == "after" {
			wait(1)
		}
		sink = *p // fault: reader
		tell(2)
	}()
	switch when {
	case "before":
		wait(2)
		release()
	case "after":
		release()
		tell(1)
	case "in order":
		<-done
		release()
	}
	<-done
}

var stage int

// tell and wait order two goroutines behind the detector's back.
//
//go:norace
func tell(n int) { stage = n }

//go:norace
func wait(n int) {
	for stage < n {
		runtime.Gosched()
	}
}
