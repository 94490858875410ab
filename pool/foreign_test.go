package pool_test

import (
	"runtime"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
	"github.com/haven-mem/haven/internal/stale"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// A plain is an object without pointers, large enough to be watched.
type plain struct{ n [8]int }

var (
	plains [1 << 10]plain
	others [10]plain // that no pool handed out
)

// guards is whether the guard has pages of its own.
const guards = !check.Enabled && !sanitize.Poisons && (runtime.GOOS == "linux" || runtime.GOOS == "darwin")

// A maker makes objects that are none of Go's heap by themselves.
type maker struct {
	name  string
	make  func() *plain
	heap  bool // they are parts of one, which can be watched
	setUp func(*testing.T)
}

func makers() []maker {
	var cache slab.Cache[plain]
	var mapped []byte
	globals, larger := plains[:], make([]plain, 1<<10)
	next := func(list *[]plain) *plain {
		p := &(*list)[0]
		*list = (*list)[1:]
		return p
	}
	return []maker{
		{name: "mapped", setUp: func(t *testing.T) { mapped = testkit.Mapped(t, 1<<16) }, make: func() *plain {
			p := (*plain)(unsafe.Pointer(&mapped[0]))
			mapped = mapped[unsafe.Sizeof(*p):]
			return p
		}},
		{name: "global", make: func() *plain { return next(&globals) }},
		{name: "part of a larger object", make: func() *plain { return next(&larger) }, heap: true},
		{name: "guarded", setUp: func(t *testing.T) {
			testkit.Guard(t, 1, 255)
			cache.Alloc() // the first opens the cache
		}, make: cache.Alloc, heap: !guards},
	}
}

// Where each Put is watched, objects that are none of Go's heap are not, and come back as
// if they were not asked for.
func TestForeignWatchAll(t *testing.T) {
	for _, s := range makers() {
		t.Run(s.name, func(t *testing.T) {
			if s.setUp != nil {
				s.setUp(t)
			}
			defer stale.All()()
			defer pool.OneP()()
			serial := stale.Now()
			made := 0
			p := pool.New(func() *plain { made++; return s.make() })
			for range 50 {
				x := p.Get()
				x.n[7]++
				p.Put(x)
			}
			if n := stale.Now() - serial; !s.heap && (n != 0 || made > 10) || s.heap && n != 50 {
				t.Errorf("%d of 50 Puts are watched, %d objects were made", n, made)
			}
			if s := p.Stats(); s.InUse != 0 || s.Puts != s.Hits+uint64(s.Idle)+s.Dropped() {
				t.Error(s)
			}
		})
	}
}

// The same where few are watched.
func TestForeignSampled(t *testing.T) {
	for _, s := range makers() {
		t.Run(s.name, func(t *testing.T) {
			if s.setUp != nil {
				s.setUp(t)
			}
			sampleEvery(t, 10)
			p := pool.New(s.make)
			for range 20 {
				for range 100 {
					p.Put(p.Get())
				}
				testkit.CollectGarbage()
			}
			if !s.heap && pool.Hooked(p) {
				t.Error("the next object is to be watched")
			}
			if s := p.Stats(); s.InUse != 0 {
				t.Error(s)
			}
		})
	}
}

// Objects without size, and buffers of foreign memory, which others put.
func TestForeignPut(t *testing.T) {
	defer stale.All()()
	serial := stale.Now()
	empty := pool.New(func() *struct{} { return new(struct{}) })
	var any pool.Pool[plain]
	var b pool.Bytes
	mapped := testkit.Mapped(t, 1<<16)
	for i := range others {
		empty.Put(empty.Get())
		any.Put(&others[i])
		any.Put((*plain)(unsafe.Pointer(&mapped[i*1024])))
		s := mapped[i*1024+512 : (i+1)*1024 : (i+1)*1024]
		b.Put(&s)
		p := b.Get(512)
		*p = mapped[1<<15+i*1024:][:512:512]
		b.Put(p)
	}
	if n := stale.Now() - serial; n != 0 {
		t.Errorf("%d are watched", n)
	}
}
