//go:build haven_check

package check_test

import (
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/bump"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/magazine"
	"github.com/haven-mem/haven/internal/testkit"
)

// poke writes a byte that many bytes from p.
func poke(p unsafe.Pointer, off int, v byte) { *(*byte)(unsafe.Add(p, off)) = v }

// bumpScenarios are the mistakes with untyped memory.
var bumpScenarios = append([]scenario{
	{"bump: a field written after Reset", func(here func(string)) {
		var a bump.Arena
		bump.New[[3]int](&a)
		here("allocated")
		p := bump.New[node](&a)
		bump.New[int](&a)
		here("released")
		a.Reset()
		p.n[1] = 7
		fail(check.Verify())
	}, []string{"write after release", ".n[1]", "a check_test.node of a bump arena"}},
	{"bump: an element written after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[node](&a, 700, 700)
		here("released")
		a.Reset()
		s[650].tail = 7
		fail(check.Verify())
	}, []string{"write after release", ".tail of element 650", "700 × check_test.node of a bump arena"}},
	{"bump: memory without a type written after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := a.Alloc(40, 8)
		here("released")
		a.Reset()
		poke(p, 11, 7)
		fail(check.Verify())
	}, []string{"write after release", "byte 11 of 40", "40 bytes of a bump arena"}},
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
	{"bump: a grown slice written after Reset", func(here func(string)) {
		var a bump.Arena
		var s bump.Slice[node]
		here("allocated")
		s.Append(&a, node{})
		s.Append(&a, node{}, node{})
		p := s.At(2)
		here("released")
		a.Reset()
		p.n[1] = 7
		fail(check.Verify())
	}, []string{"write after release", ".n[1] of element 2"}},
	{"bump: a pointer followed after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.New[node](&a)
		p.next = bump.New[node](&a)
		here("released")
		a.Reset()
		faults(func() { p.next.n[0]++ })
	}, []string{"use after release", "check_test.node of a bump arena"}},
	{"bump: a string read after Reset", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[string](&a, 3, 3)
		s[1] = bump.String(&a, "text")
		here("released")
		a.Reset()
		faults(func() { runtime.KeepAlive(strings.Clone(s[1][:3])) })
	}, []string{"use after release", "3 × string of a bump arena"}},
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
	{"bump: an overrun of what grew in place", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[uint16](&a, 5, 5)
		s = bump.Append(&a, s, 1)
		poke(unsafe.Pointer(&s[0]), 12, 7)
		fail(check.Verify())
	}, []string{"overrun", "1 byte behind 12 bytes", "6 × uint16"}},
	{"bump: an overrun of a string", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.String(&a, "text")
		bump.String(&a, "more")
		poke(unsafe.Pointer(unsafe.StringData(s)), 4, 7)
		fail(check.Verify())
	}, []string{"overrun", "1 byte behind 4 bytes"}},
	{"fixed: a field written after Reset", func(here func(string)) {
		f := bump.NewFixed(1000)
		here("allocated")
		p := bump.NewIn[[4]int](f)
		here("released")
		f.Reset()
		p[3] = 7
		fail(check.Verify())
	}, []string{"write after release", "[3] of [4]int", "a fixed arena of 1000 bytes"}},
	{"bump: a string of the heap", func(here func(string)) {
		var a bump.Arena
		bump.New[node](&a)
		here("allocated")
		p := bump.New[node](&a)
		p.name = strings.Repeat("heap", 20)
		fail(check.Verify())
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".name of check_test.node", "nothing else kept it", "a check_test.node of a bump arena"}},
	{"bump: an object of the heap in a slice", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		s := bump.MakeSlice[*node](&a, 9, 9)
		s[7] = new(node)
		fail(check.Verify())
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", "element 7 of *check_test.node"}},
	{"bump: many objects of the heap", func(here func(string)) {
		var a bump.Arena
		for range 1000 {
			here("allocated")
			bump.New[node](&a).next = new(node)
		}
		fail(check.Verify())
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".next of check_test.node"}},
	{"bump: an interface that holds a heap object", func(here func(string)) {
		var a bump.Arena
		here("allocated")
		p := bump.NewFrom(&a, node{any: new([4]int)})
		fail(check.Verify())
		runtime.KeepAlive(p)
	}, []string{"heap pointer in untyped memory", ".any of check_test.node"}},
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
		fail(check.Verify())
		runtime.KeepAlive(&a)
	}, []string{"heap pointer in untyped memory", ".next of check_test.node"}},
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
	{"arena: a value of NewOf written after Reset", func(here func(string)) {
		a := arena.NewArena(arena.Name("decoder"))
		arena.NewOf(a, reflect.TypeFor[node]())
		here("allocated")
		p := arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node)
		here("released")
		a.Reset()
		p.n[1] = 7
		fail(check.Verify())
	}, []string{"write after release", ".n[1] of element 1", `arena "decoder"`}},
	{"arena: a pointer in a value of NewOf followed after Release", func(here func(string)) {
		a := arena.NewArena(arena.Name("decoder"))
		m := a.Mark()
		for range 100 {
			arena.NewOf(a, reflect.TypeFor[node]())
		}
		here("allocated")
		p := arena.NewOf(a, reflect.TypeFor[node]()).Interface().(*node)
		p.next = p
		here("released")
		a.Release(m)
		faults(func() { p.next.n[0]++ })
	}, []string{"use after release", `arena "decoder"`}},
	{"arena: New while another goroutine is in New", func(here func(string)) {
		a := arena.NewArena(arena.Name("shared"))
		arena.New[node](a)
		m := a.Mark()
		p := arena.New[node](a)
		a.Release(m)
		p.n[0] = 1
		here("found")
		meanwhile(func() { arena.MakeSlice[int](a, 5, 5) })
		arena.New[node](a)
	}, []string{overlaps, `arena "shared" is for one at a time`, "found at", "meanwhile another goroutine at"}},
	{"lane: New while another goroutine is in New", func(here func(string)) {
		var l arena.Lane[node]
		p := l.New()
		l.Reset()
		p.n[0] = 1
		meanwhile(func() { l.New() })
		for {
			l.MakeSlice(1<<16, 1<<16)
			l.Reset()
		}
	}, []string{overlaps, "a Lane of its own"}},
	{"bump: Alloc while another goroutine is in Reset", func(here func(string)) {
		var a bump.Arena
		p := bump.New[node](&a)
		a.Reset()
		p.n[0] = 1
		meanwhile(func() { a.Alloc(1, 1) })
		for {
			a.Alloc(1<<20, 1)
			a.Reset()
		}
	}, []string{overlaps, "a bump arena is for one at a time"}},
	{"fixed: two goroutines allocate", func(here func(string)) {
		hammer(func() func() {
			f := bump.NewFixed(1 << 20)
			return func() {
				if _, err := f.TryAlloc(8, 8); err != nil {
					panic(err)
				}
			}
		})
	}, []string{overlaps, "a fixed arena of 1048576 bytes"}},
	{"bump: two goroutines allocate", func(here func(string)) {
		hammer(func() func() {
			var a bump.Arena
			return func() { bump.New[node](&a) }
		})
	}, []string{overlaps, "a bump arena"}},
	{"arena: two goroutines allocate", func(here func(string)) {
		hammer(func() func() {
			a := arena.NewArena(arena.Name("shared"))
			return func() { arena.New[node](a) }
		})
	}, []string{overlaps, `arena "shared"`}},
}, zoneScenarios()...)

// hammer uses a thing in two goroutines until that is reported, or time is up. Whatever
// else goes wrong in it does not count. As that may be the end of all use of the thing,
// there is a fresh one from time to time.
func hammer(fresh func() (use func())) {
	found := make(chan *check.Report, 1)
	check.Handle(func(r *check.Report) {
		if r.Other != "" {
			select {
			case found <- r:
			default:
			}
		}
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		use := fresh()
		var stop atomic.Bool
		for range 2 {
			go func() {
				for !stop.Load() {
					func() {
						defer func() { _ = recover() }()
						use()
					}()
				}
			}()
		}
		select {
		case r := <-found:
			panic(r)
		case <-time.After(time.Second / 5):
			stop.Store(true)
		}
	}
}

// leftToRace reports whether the mistake is one that the check build does not look for
// with -race.
func leftToRace(s scenario) bool {
	return slices.Contains(s.want, overlaps) || slices.Contains(s.want, copied) || slices.Contains(s.want, "heap pointer in untyped memory")
}

// zoneScenarios write before and behind allocations of many sizes and alignments, at
// every distance of one to eight bytes.
func zoneScenarios() (list []scenario) {
	kinds := []struct {
		name  string
		alloc func(size, align uintptr) unsafe.Pointer
	}{
		{"bump", new(bump.Arena).Alloc},
		{"fixed", bump.NewFixed(1 << 16).Alloc},
	}
	for _, k := range kinds {
		for i, size := range []uintptr{1, 3, 8, 24, 1000} {
			for _, off := range []int{-1, -8, 0, 7} {
				align := uintptr(1) << (2 * i)
				what, where := "underrun", "before"
				if off >= 0 {
					what, where = "overrun", "behind"
				}
				list = append(list, scenario{
					fmt.Sprintf("%s: %s at %d of %d bytes aligned to %d", k.name, what, off, size, align),
					func(here func(string)) {
						k.alloc(3, 1)
						here("allocated")
						p := k.alloc(size, align)
						k.alloc(3, 1)
						if off >= 0 {
							poke(p, int(size)+off, 0)
						} else {
							poke(p, off, 0)
						}
						fail(check.Verify())
					}, []string{what, where},
				})
			}
		}
	}
	return list
}

// A program that uses untyped memory rightly has no report.
func TestCorrectUntyped(t *testing.T) {
	var a bump.Arena
	f := bump.NewFixed(1 << 14)
	for round := range 100 {
		var head *node
		var all bump.Slice[*node]
		for i := range 20 + round {
			p := bump.NewFrom(&a, node{next: head, name: bump.String(&a, fmt.Sprint(i))})
			p.any, head = nil, p
			all.Append(&a, p)
			s := bump.Append(&a, bump.MakeSlice[int](&a, i, i), i)
			s = bump.Append(&a, s[:i/2:i/2], 7)
			s[0] = 1
			q := a.Realloc(a.Alloc(uintptr(i), 1), uintptr(i), uintptr(2*i), 16)
			clear(unsafe.Slice((*byte)(q), 2*i))
			bump.NewIn[[5]byte](f)[4] = 1
		}
		if err := check.Verify(); err != nil {
			t.Fatal(err)
		}
		a.Reset()
		f.Reset()
	}
	a.Free()
	if err := check.Verify(); err != nil {
		t.Fatal(err)
	}
}

// meanwhile has use run in another goroutine while the operation that finds a mistake
// is under way, and ends the process with the report of that.
func meanwhile(use func()) {
	check.Handle(func(r *check.Report) {
		if r.Other != "" {
			check.Handle(nil)
			panic(r)
		}
		done := make(chan struct{})
		go func() {
			use()
			close(done) // and not when it panics
		}()
		<-done
	})
}

// fixture is a global variable.
var fixture = node{name: "fixture"}

// Pointers out of untyped memory to what lives for another reason are right: given to
// KeepAlive, held by a variable, global, static, of another arena that is held, and
// replaced before what they pointed to went. Collections come at any time.
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
		for i := range 200 {
			p := bump.New[node](&a)
			p.next, last = last, p
			switch i % 8 {
			case 0:
				q := &node{name: strings.Repeat("x", i+1)}
				a.KeepAlive(q)
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

func init() { scenarios = append(scenarios, bumpScenarios...) }
