//go:build haven_check

package check_test

import (
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/slab"
)

func init() { scenarios = append(scenarios, slabScenarios...) }

var slabScenarios = []scenario{
	{"local: two goroutines allocate", func(here func(string)) {
		hammer(func() func() {
			var l slab.Local[node]
			return func() { l.Alloc() }
		})
	}, []string{overlaps, "a Local is for one at a time", "meanwhile another goroutine at"}},
	{"local: two goroutines free", func(here func(string)) {
		hammer(func() func() {
			var l slab.Local[node]
			return func() { l.Free(l.Alloc()) }
		})
	}, []string{overlaps, "a Local is for one at a time"}},
	{"table: two goroutines insert", func(here func(string)) {
		hammer(func() func() {
			t := slab.NewTable[node](slab.Name("sessions"))
			return func() { t.Insert(node{}) }
		})
	}, []string{overlaps, `table "sessions" is for one at a time`}},
	{"table: two goroutines remove", func(here func(string)) {
		hammer(func() func() {
			t := slab.NewTable[node](slab.Name("sessions"))
			return func() {
				h, _ := t.Insert(node{})
				t.Remove(h)
			}
		})
	}, []string{overlaps, `table "sessions" is for one at a time`}},
	{"local: a field written after Free", func(here func(string)) {
		var l slab.Local[node]
		here("allocated")
		p := l.Alloc()
		here("released")
		l.Free(p)
		p.n[2] = 1
		fail(check.Verify())
	}, []string{"write after release", ".n[2]", "a Local", "check_test.node"}},
	{"local: a field written after Free, found by Trim", func(here func(string)) {
		var l slab.Local[node]
		here("allocated")
		p := l.Alloc()
		here("released")
		l.Free(p)
		p.tail++
		l.Trim()
	}, []string{"write after release", ".tail"}},
	{"local: a second Free", func(here func(string)) {
		var l slab.Local[node]
		l.Alloc()
		here("allocated")
		p := l.Alloc()
		here("released")
		l.Free(p)
		l.Free(p)
	}, []string{"second free", "a Local"}},
	{"local: a pointer of another Local", func(here func(string)) {
		var l, m slab.Local[node]
		m.Alloc()
		here("allocated")
		p := l.Alloc()
		m.Free(p)
	}, []string{"foreign", "a Local"}},
	{"local: a pointer of a cache", func(here func(string)) {
		c := slab.NewCache[node](slab.Name("orders"))
		var l slab.Local[node]
		l.Alloc()
		here("allocated")
		p := c.Alloc()
		l.Free(p)
	}, []string{"foreign", `cache "orders"`, "a Local"}},
	{"local: a pointer of the heap", func(here func(string)) {
		var l slab.Local[node]
		l.Alloc()
		l.Free(new(node))
	}, []string{"foreign", "a Local"}},
	{"local: a pointer into an object", func(here func(string)) {
		var l slab.Local[[2]int64]
		here("allocated")
		p := l.Alloc()
		l.Alloc()
		l.Free((*[2]int64)(unsafe.Pointer(&p[1])))
	}, []string{"interior pointer", "points 8 bytes"}},
	{"local: a pointer followed after Free", func(here func(string)) {
		var l slab.Local[node]
		here("allocated")
		p := l.Alloc()
		p.next = new(node)
		here("released")
		l.Free(p)
		faults(func() { kept = p.next.next })
	}, []string{"use after release", "a Local"}},
	{"table: a field written after Remove", func(here func(string)) {
		table := slab.NewTable[node](slab.Name("sessions"))
		here("allocated")
		h, p := table.Insert(node{})
		here("released")
		table.Remove(h)
		p.n[0] = 1
		fail(check.Verify())
	}, []string{"write after release", ".n[0]", `table "sessions"`}},
	{"table: a string read after Remove", func(here func(string)) {
		table := slab.NewTable[node](slab.Name("sessions"))
		here("allocated")
		h, p := table.Insert(node{name: "ada"})
		here("released")
		table.Remove(h)
		faults(func() { sink = p.name[0] })
	}, []string{"use after release", `table "sessions"`}},
}

var sink byte

// A global variable is no object of the heap.
var (
	globalCache slab.Cache[node]
	globalLocal slab.Local[node]
	globalTable slab.Table[node]
)

// TestCorrectSlabs makes no mistake, and has no report.
func TestCorrectSlabs(t *testing.T) {
	l, table := &globalLocal, &globalTable
	for round := range 50 {
		var held []*node
		var handles []slab.Handle[node]
		for i := range 50 * (round%7 + 1) {
			p := l.Alloc()
			if *p != (node{}) {
				t.Fatalf("object %d is %v", i, *p)
			}
			p.n[0], p.name = int64(i), "held"
			held = append(held, p)
			h, q := table.Insert(*p)
			q.next = p
			handles = append(handles, h)
		}
		for i, p := range held {
			q, ok := table.Get(handles[i])
			if !ok || q.next != p || p.n[0] != int64(i) {
				t.Fatalf("element %d is %v", i, q)
			}
			table.Remove(handles[i])
			if table.Remove(handles[i]) {
				t.Fatal("an element is removed twice")
			}
			if _, ok := table.Get(handles[i]); ok {
				t.Fatal("a stale handle matches")
			}
			l.Free(p)
		}
		globalCache.Free(globalCache.Alloc())
		if round%10 == 9 {
			l.Trim()
		}
		if err := check.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	if s := l.Stats(); s.InUse != 0 || s.Objects != s.Cached+s.Resting {
		t.Errorf("%+v", s)
	}
	if s := table.Stats(); s.InUse != 0 || s.Slots != s.Free {
		t.Errorf("%+v", s)
	}
}
