//go:build haven_check

package check_test

import (
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/pool"
	"github.com/haven-mem/haven/slab"
)

// The operations that find what Verify would find.
func TestFoundMeanwhile(t *testing.T) {
	for _, m := range foundMeanwhile {
		t.Run(m.name, func(t *testing.T) {
			meanwhile, _, sites := m.reports()
			m.is(t, meanwhile, sites)
		})
	}
}

var foundMeanwhile = []mistake{
	{"arena: a slice written after Release", func(here func(string)) {
		a := arena.NewArena()
		arena.MakeSlice[int](a, 3, 3)
		m := a.Mark()
		here("allocated")
		s := arena.MakeSlice[int](a, 10, 10)
		here("released")
		a.Release(m)
		s[4] = 1
		arena.MakeSlice[int](a, 10, 10)
	}, []string{"write after release", "element 4"}},
	{"arena: an object written after Release", func(here func(string)) {
		a := arena.NewArena()
		arena.New[node](a)
		m := a.Mark()
		here("allocated")
		p := arena.New[node](a)
		here("released")
		a.Release(m)
		p.name = "late"
		arena.New[node](a)
	}, []string{"write after release", ".name"}},
	{"bump: written when the memory leaves the quarantine", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		here("released")
		a.Reset()
		p.n[2] = 7
		for range 20 {
			bump.MakeSlice[byte](&a, 8<<20, 8<<20)
			a.Reset()
		}
	}, []string{"write after release", ".n[2]"}},
	{"local: a field written after Free, found by Trim", func(here func(string)) {
		var l slab.Local[node]
		here("allocated")
		p := l.Alloc()
		here("released")
		l.Free(p)
		p.tail++
		l.Trim()
	}, []string{"write after release", ".tail"}},
	{"pool: a pointer written after Put, found by Trim", func(here func(string)) {
		p := newRecords()
		here("allocated")
		x := p.Get()
		here("released")
		p.Put(x)
		x.buf = nil
		p.Trim()
	}, []string{"write after release", ".buf", "found at"}},
	{"bytes: a byte behind the length written after Put", func(here func(string)) {
		var b pool.Bytes
		here("allocated")
		p := b.Get(100)
		s := (*p)[:cap(*p)]
		here("released")
		b.Put(p)
		s[cap(s)-1] = 0
		b.Trim()
	}, []string{"write after release", "[111]"}},
	{"pool: many Puts, and a write to the first object", func(here func(string)) {
		p := new(pool.Pool[record])
		x := newRecord()
		here("released")
		p.Put(x)
		x.lines = []string{"late"}
		for range 200 {
			p.Put(newRecord())
		}
	}, []string{"write after release", ".lines"}},
	{"bump: an overrun found by Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[[5]byte](&a)
		poke(unsafe.Pointer(p), 5, 7)
		a.Reset()
	}, []string{"overrun", "1 byte behind 5 bytes", ": 07", "a [5]uint8 of a bump arena"}},
	{"bump: an overrun found by Free", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		poke(unsafe.Pointer(p), int(unsafe.Sizeof(*p)), 7)
		a.Free()
	}, []string{"overrun", "1 byte behind"}},
	{"bump: an overrun found by Realloc", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := a.Alloc(10, 1)
		poke(p, 10, 7)
		a.Realloc(p, 10, 20, 1)
	}, []string{"overrun", "1 byte behind 10 bytes"}},
	{"bump: an overrun found when a slice moves", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[uint16](&a, 5, 5)
		bump.MakeSlice[uint16](&a, 5, 5)
		poke(unsafe.Pointer(&s[0]), 10, 7)
		bump.Append(&a, s, 1)
	}, []string{"overrun", "1 byte behind 10 bytes"}},
}
