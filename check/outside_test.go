//go:build haven_check

package check_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// Pointers of untyped memory to heap objects that nothing else keeps.
var outside = []mistake{
	{"bump: a string of the heap", func(here func(string)) {
		var a bump.Arena
		bump.New[node](&a)
		here("allocated")
		p := bump.New[node](&a)
		p.name = strings.Repeat("heap", 20)
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".name of check_test.node", "nothing else kept it", "a check_test.node of a bump arena"}},
	{"bump: an object of the heap in a slice", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[*node](&a, 9, 9)
		s[7] = new(node)
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", "element 7 of *check_test.node"}},
	{"bump: many objects of the heap", func(here func(string)) {
		var a bump.Arena
		for range 1000 {
			here("allocated")
			bump.New[node](&a).next = new(node)
		}
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".next of check_test.node"}},
	{"bump: a pointer to the heap stored long after the allocation, and after a collection", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		for range 300 {
			bump.New[node](&a)
		}
		testkit.CollectGarbage()
		bump.New[node](&a)
		p.next = new(node)
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".next of check_test.node"}},
}

// Those that operations find without Verify.
var outsideMeanwhile = []mistake{
	{"bump: a heap object that is gone before the next allocation", func(here func(string)) {
		var a bump.Arena
		bump.New[node](&a)
		here("allocated")
		p := bump.New[node](&a)
		p.name = strings.Repeat("heap", 20)
		bump.New[node](&a)
		testkit.CollectGarbage()
		bump.New[node](&a)
	}, []string{"heap pointer in untyped memory", ".name of check_test.node", "nothing else kept it"}},
	{"bump: a heap object that is gone before Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		bump.New[int](&a)
		p.next = new(node)
		bump.New[node](&a)
		testkit.CollectGarbage()
		a.Reset()
	}, []string{"heap pointer in untyped memory", ".next of check_test.node"}},
	{"bump: a heap object that is gone before Free", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		for range 500 { // now there is a look with every 64th
			bump.New[int](&a)
		}
		p.any = new([3]int)
		for range 1200 { // and each is also at 128 others, in turns
			bump.New[int](&a)
		}
		testkit.CollectGarbage()
		a.Free()
	}, []string{"heap pointer in untyped memory", ".any of check_test.node"}},
	{"bump: a heap object in a slice that has moved", func(here func(string)) {
		var a bump.Arena
		s := bump.MakeSlice[*node](&a, 3, 3)
		s[1] = new(node)
		bump.MakeSlice[byte](&a, 1, 1)
		here("allocated")
		s = bump.Append(&a, s, nil)
		bump.New[node](&a)
		testkit.CollectGarbage()
		bump.New[node](&a)
		runtime.KeepAlive(s)
	}, []string{"heap pointer in untyped memory", "element 1 of *check_test.node"}},
}

func TestOutsidePointers(t *testing.T) {
	if magazine.Race {
		t.Skip("not with the race detector")
	}
	for _, m := range outside {
		t.Run(m.name, func(t *testing.T) {
			meanwhile, verified, sites := m.reports()
			m.is(t, append(meanwhile, verified...), sites)
		})
	}
	for _, m := range outsideMeanwhile {
		t.Run(m.name, func(t *testing.T) {
			meanwhile, _, sites := m.reports()
			m.is(t, meanwhile, sites)
		})
	}
}

// fixture is a global variable.
var fixture = node{name: "fixture"}

// Pointers out of untyped memory to what lives for another reason are right: held by
// a variable, global, static, of another arena that is held, and replaced before what
// they pointed to went. Collections come at any time.
func TestOutsidePointersKept(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 60
	}
	stop := testkit.Hammer()
	defer stop()
	var a, other bump.Arena
	held := map[int]*node{}
	for round := range rounds {
		var last *node
		var beside []*node
		for i := range 200 {
			p := bump.New[node](&a)
			p.next, last = last, p
			switch i % 8 {
			case 0:
				q := &node{name: strings.Repeat("x", i+1)}
				beside = append(beside, q)
				p.any = q
				p.name = q.name[i/2:]
			case 1:
				held[i] = new(node)
				p.any = &held[i].n[2]
			case 2:
				p.next, p.name = &fixture, "static"
			case 3:
				p.any = bump.New[node](&other)
			case 4:
				p.any = strings.ToUpper
				p.name = fmt.Sprint(i)
				p.any, p.name = nil, ""
			case 5:
				p.any = i % 3
			case 6:
				s := bump.Append(&a, []*node(nil), p, held[1])
				s = bump.Append(&a, s, p, p, p)
				s[1] = nil
			}
		}
		if round%8 == 0 {
			if err := check.Verify(); err != nil {
				t.Fatal(err)
			}
		}
		a.Reset()
		clear(held)
		runtime.KeepAlive(beside)
	}
	runtime.KeepAlive(&other)
}

// What a slice holds that was copied to where it could grow is nobody's any more, and a
// word that has changed does not point to what it pointed to.
func TestOutsidePointersLeft(t *testing.T) {
	var a bump.Arena
	s := bump.MakeSlice[*node](&a, 3, 3)
	s[1] = new(node)
	bump.MakeSlice[byte](&a, 1, 1)
	grown := bump.Append(&a, s, nil)
	grown[1] = nil
	p := bump.New[node](&a)
	p.next = new(node)
	bump.New[node](&a)
	p.next = nil
	for range 3 {
		bump.New[node](&a)
		testkit.CollectGarbage()
	}
	bump.New[node](&a)
	if err := check.Verify(); err != nil {
		t.Error(err)
	}
	a.Reset()
}

// A program that makes the mistake all the time, while collections never end, gets
// reports and nothing worse: an address of what is gone is never taken for a pointer.
func TestOutsidePointersLost(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GODEBUG=clobberfree=1,invalidptr=1")
		return
	}
	rounds := 2000
	if testing.Short() {
		rounds = 300
	}
	stop := testkit.Hammer()
	defer stop()
	var a bump.Arena
	found := 0
	check.Handle(func(*check.Report) { found++ }) // an operation's
	defer check.Handle(nil)
	for round := range rounds {
		var last *node
		for i := range 150 {
			p := bump.New[node](&a)
			p.next, last = last, p
			p.any = new([5]int)
			p.name = strings.Repeat("x", i)
			if i%20 == 0 {
				bump.MakeSlice[*node](&a, 3, 3)[1] = new(node)
				runtime.Gosched()
			}
		}
		if round%50 == 0 && check.Verify() != nil {
			found++
		}
		if round%100 == 0 { // what is gone by the time it is looked at
			bump.New[node](&a).any = new([1 << 20]byte)
			runtime.GC()
			runtime.GC()
			for range 100 {
				bump.New[node](&a)
			}
		}
		if round%30 == 0 { // by the next operation
			var b bump.Arena
			bump.New[node](&b).any = new([1 << 20]byte)
			runtime.GC()
			bump.New[node](&b)
		}
		a.Reset()
	}
	if found == 0 && !magazine.Race {
		t.Error("nothing was found")
	}
}

// Pointers to memory of the system's in untyped memory are right, and of no interest.
func TestOutsidePointersForeign(t *testing.T) {
	mapped := testkit.Mapped(t, 1<<16)
	var a bump.Arena
	for i := range 500 {
		p := bump.New[*[64]byte](&a)
		*p = (*[64]byte)(mapped[i*64:])
		if i%100 == 0 {
			runtime.GC()
			if err := check.Verify(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := check.Verify(); err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(&a)
}
