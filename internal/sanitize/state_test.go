package sanitize_test

import (
	"reflect"
	"runtime"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/memctx"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// Package misuse tests what sanitizers find, of memory that is got and given back in
// the ways that most programs do. Here are the other ways, and what must not be found.

// A way is one to get n bytes and to give them back.
type way struct {
	name string
	zone bool // nobody has the bytes right behind
	get  func(n int) (p unsafe.Pointer, size int, release func())
}

func ofSlice[T any](s []T) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s)) }

func ofString(s string) unsafe.Pointer { return unsafe.Pointer(unsafe.StringData(s)) }

var ways = []way{
	{name: "arena.String", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := arena.NewArena()
		arena.MakeSlice[byte](a, 10000, 10000) // so that there is something behind it
		a.Reset()
		return ofString(arena.String(a, make([]byte, n))), n, a.Reset
	}},
	{name: "arena.Append", get: func(n int) (unsafe.Pointer, int, func()) {
		a := arena.NewArena()
		s := arena.Append(a, nil, byte(1))
		for len(s) < n {
			s = arena.Append(a, s, 1)
		}
		return ofSlice(s), n, a.Reset
	}},
	{name: "arena.NewOf of an array", get: func(n int) (unsafe.Pointer, int, func()) {
		a := arena.NewArena()
		p := arena.NewOf(a, reflect.ArrayOf(n, reflect.TypeFor[byte]()))
		return p.UnsafePointer(), n, a.Reset
	}},
	{name: "arena, several chunks", get: func(n int) (unsafe.Pointer, int, func()) {
		a := arena.NewArena()
		var list [][]byte
		for range 3000 {
			list = append(list, arena.MakeSlice[byte](a, n, n))
		}
		return ofSlice(list[100]), n, a.Reset
	}},
	{name: "bump.Alloc, several chunks", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := new(bump.Arena)
		var list []unsafe.Pointer
		for range 2000 {
			list = append(list, a.Alloc(uintptr(n), 1))
			bump.New[[3]int](a)
		}
		return list[1000], n, a.Reset
	}},
	{name: "bump.MakeSlice", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := new(bump.Arena)
		s := bump.MakeSlice[byte](a, n, n)
		bump.MakeSlice[byte](a, 1, 1)
		return ofSlice(s), n, a.Reset
	}},
	{name: "bump.Append", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := new(bump.Arena)
		s := bump.Append(a, nil, make([]byte, n)...)
		s = bump.Append(a, s, 1)
		bump.MakeSlice[byte](a, 1, 1)
		return ofSlice(s), cap(s), a.Reset
	}},
	{name: "bump.String", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := new(bump.Arena)
		s := bump.String(a, make([]byte, n))
		bump.String(a, "next")
		return ofString(s), n, a.Reset
	}},
	{name: "bump.Realloc", zone: true, get: func(n int) (unsafe.Pointer, int, func()) {
		a := new(bump.Arena)
		p := a.Realloc(a.Alloc(uintptr(n), 1), uintptr(n), uintptr(n)+5, 1)
		a.Alloc(3, 1)
		return p, n + 5, a.Reset
	}},
	{name: "slab.FreeBatch", get: func(int) (unsafe.Pointer, int, func()) {
		c := slab.NewCache[[4096]byte]()
		list := make([]*[4096]byte, 10)
		if err := c.AllocBatch(list); err != nil {
			panic(err)
		}
		return unsafe.Pointer(list[5]), 4096, func() { c.FreeBatch(list[5:6]) }
	}},
	{name: "pool.Pool that drops it", get: func(int) (unsafe.Pointer, int, func()) {
		p := pool.New[[4096]byte](nil, pool.Config[[4096]byte]{Max: 0, Cost: func(*[4096]byte) int { return 1 }})
		x := p.Get()
		return unsafe.Pointer(x), 4096, func() { p.Put(x) }
	}},
	{name: "pool.Bytes, Dirty", get: func(n int) (unsafe.Pointer, int, func()) {
		p := pool.NewBytes(pool.BytesConfig{Dirty: true})
		b := p.Get(n)
		return ofSlice(*b), n, func() { p.Put(b) }
	}},
	{name: "pool.Bytes, the header", get: func(n int) (unsafe.Pointer, int, func()) {
		var p pool.Bytes
		b := p.Get(n)
		return unsafe.Pointer(b), int(unsafe.Sizeof(*b)), func() { p.Put(b) }
	}},
}

// What is handed out is accessible from its first byte to its last, what is behind it
// in untyped memory is not, and nothing is after its release, whatever the collector
// does meanwhile.
func TestWithheld(t *testing.T) {
	if !sanitize.Poisons {
		t.Skip("this is for -asan and -msan")
	}
	for _, w := range ways {
		for _, n := range []int{1, 24, 4096} {
			p, size, release := w.get(n)
			is := func(off int, want bool, when string) {
				t.Helper()
				if sanitize.Poisoned(p, off) != want {
					t.Errorf("%s: byte %d of %d %s: withheld is %v", w.name, off, size, when, !want)
				}
			}
			is(0, false, "in use")
			is(size-1, false, "in use")
			if w.zone {
				is(size, true, "in use")
				is(size+7, true, "in use")
			}
			release()
			is(0, true, "after its release")
			is(size-1, true, "after its release")
			runtime.GC()
			runtime.GC()
			is(0, true, "after two collections")
			is(size-1, true, "after two collections")
			runtime.KeepAlive(release)
		}
	}
}

// What was in memory that ended without being taken back stays, and another goroutine
// may read it meanwhile: no sanitizer minds.
func TestKept(t *testing.T) {
	for name, get := range map[string]func() (*[24]byte, func()){
		"arena.Free": func() (*[24]byte, func()) {
			a := arena.NewArena()
			return arena.New[[24]byte](a), a.Free
		},
		"bump.Free": func() (*[24]byte, func()) {
			a := new(bump.Arena)
			return bump.New[[24]byte](a), a.Free
		},
		"memctx.Abandon": func() (*[24]byte, func()) {
			c := memctx.New("abandoned")
			return arena.New[[24]byte](c.Arena()), func() { c.Abandon(); c.Reset() }
		},
	} {
		p, end := get()
		p[5] = 7
		read := make(chan byte)
		go func() { read <- p[5] }()
		end()
		runtime.GC()
		if got := <-read; got != 7 || p[5] != 7 || p[0] != 0 {
			t.Errorf("%s: %d, and then %v", name, got, *p)
		}
	}
}
