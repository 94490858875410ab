//go:build haven_check

package check_test

import (
	"fmt"
	"strconv"
	"testing"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/slab"
)

// TestCorrectProgram makes no mistake, and has no report.
func TestCorrectProgram(t *testing.T) {
	a := arena.NewArena(arena.Config{Name: "correct"})
	c := slab.NewCache[node](slab.Config[node]{Name: "correct"})
	for range 200 {
		var head *node
		for i := range 50 {
			p := arena.New[node](a)
			p.next, p.name = head, arena.String(a, strconv.Itoa(i))
			head = p
			m := a.Mark()
			arena.MakeSlice[int](a, i, i)
			a.Release(m)
		}
		var held []*node
		for p := head; p != nil; p = p.next {
			q := c.Alloc()
			*q = *p
			held = append(held, q)
		}
		for _, q := range held {
			c.Free(q)
		}
		a.Reset()
		if err := check.Verify(); err != nil {
			t.Fatal(err)
		}
	}
	if check.Explain("another panic") != nil {
		t.Error("a panic of another kind is explained")
	}
}

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

// A program that uses untyped memory rightly has no report.
func TestCorrectUntyped(t *testing.T) {
	var a bump.Arena
	for round := range 100 {
		var head *node
		var all []*node
		for i := range 20 + round {
			p := bump.NewFrom(&a, node{next: head, name: bump.String(&a, fmt.Sprint(i))})
			p.any, head = nil, p
			all = bump.Append(&a, all, p)
			s := bump.Append(&a, bump.MakeSlice[int](&a, i, i), i)
			s = bump.Append(&a, s[:i/2:i/2], 7)
			s[0] = 1
			q := a.Realloc(a.Alloc(uintptr(i), 1), uintptr(i), uintptr(2*i), 16)
			clear(unsafe.Slice((*byte)(q), 2*i))
		}
		if err := check.Verify(); err != nil {
			t.Fatal(err)
		}
		a.Reset()
	}
	a.Free()
	if err := check.Verify(); err != nil {
		t.Fatal(err)
	}
}
