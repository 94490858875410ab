package registry_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/haven-mem/haven/internal/registry"
	"github.com/haven-mem/haven/internal/testkit"
)

// A named is what a list is of.
type named struct {
	name string
	n    int
}

// numbers returns the numbers of what a list has.
func numbers(l *registry.List[named]) (ns []int) {
	for p := range l.All() {
		ns = append(ns, p.n)
	}
	return ns
}

func wantNumbers(t *testing.T, l *registry.List[named], want ...int) {
	t.Helper()
	if got := numbers(l); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
}

func TestZeroList(t *testing.T) {
	var l registry.List[named]
	wantNumbers(t, &l)
	l.Add(nil)
	wantNumbers(t, &l)
	p := &named{n: 1}
	l.Add(p)
	l.Add(p)
	wantNumbers(t, &l, 1, 1)
	for q := range l.All() {
		if q != p {
			t.Error("listed another object")
		}
	}
	runtime.KeepAlive(p)
}

// The order is that of Add, whatever dies between.
func TestOrder(t *testing.T) {
	var l registry.List[named]
	kept := map[int]*named{}
	var want []int
	step := func(from, to int) {
		for i := from; i < to; i++ {
			p := &named{n: i}
			l.Add(p)
			kept[i] = p
			want = append(want, i)
		}
	}
	drop := func(dead func(i int) bool) {
		want = slices.DeleteFunc(want, func(i int) bool {
			if dead(i) {
				delete(kept, i)
			}
			return dead(i)
		})
		testkit.CollectGarbage()
	}
	step(0, 100)
	wantNumbers(t, &l, want...)
	drop(func(i int) bool { return i%3 == 0 })
	wantNumbers(t, &l, want...)
	step(100, 300)
	wantNumbers(t, &l, want...)
	drop(func(i int) bool { return i%7 != 0 })
	wantNumbers(t, &l, want...)
	wantNumbers(t, &l, want...) // after the loop that dropped what was dead
	step(300, 1000)
	wantNumbers(t, &l, want...)
	drop(func(int) bool { return true })
	wantNumbers(t, &l)
	step(1000, 1010)
	wantNumbers(t, &l, want...)
	runtime.KeepAlive(kept)
}

// A list keeps nothing alive, neither what was added nor what a loop saw.
func TestKeepsNothing(t *testing.T) {
	var l registry.List[named]
	var c testkit.Census
	kept := make([]*named, 100)
	for i := range kept {
		kept[i] = testkit.Enroll(&c, &named{n: i})
		l.Add(kept[i])
	}
	testkit.CollectGarbage()
	if n := len(numbers(&l)); n != 100 || c.Alive() != 100 {
		t.Errorf("%d listed, %d alive, want 100", n, c.Alive())
	}
	runtime.KeepAlive(kept)
	clear(kept[1:])
	testkit.CollectGarbage()
	if c.Alive() != 1 {
		t.Errorf("%d objects alive, want 1", c.Alive())
	}
	wantNumbers(t, &l, 0)
	runtime.KeepAlive(kept)
	runtime.KeepAlive(&l)
}

// A list in which objects come and go does not grow: neither if nobody ever
// looks at it, nor if nobody adds any more.
func TestDoesNotGrow(t *testing.T) {
	const n = 200_000
	slack := uint64(100 << 10)
	var l registry.List[named]
	before := testkit.HeapInUse()
	for i := range 20 {
		for range n / 20 {
			l.Add(&named{n: i})
		}
		testkit.CollectGarbage()
	}
	l.Add(&named{})
	// Of the last turn, at most, there is something.
	if after := testkit.HeapInUse(); after > before+slack+2*n/20*32 {
		t.Errorf("%d objects that came and went left %d bytes of the heap", n, after-before)
	}
	wantNumbers(t, &l)
	if after := testkit.HeapInUse(); after > before+slack {
		t.Errorf("%d bytes of the heap are left after a loop over none", after-before)
	}

	kept := make([]*named, n)
	for i := range kept {
		kept[i] = &named{n: i}
		l.Add(kept[i])
	}
	runtime.KeepAlive(kept)
	clear(kept[10:])
	kept = slices.Clone(kept[:10])
	testkit.CollectGarbage()
	if got := len(numbers(&l)); got != 10 {
		t.Errorf("%d listed, want 10", got)
	}
	if after := testkit.HeapInUse(); after > before+slack {
		t.Errorf("%d bytes of the heap are left after a loop over the last ten", after-before)
	}
	runtime.KeepAlive(kept)
	runtime.KeepAlive(&l)
}

// A loop's body may do everything with the list, and end the loop as it likes.
func TestLoopBody(t *testing.T) {
	var l registry.List[named]
	kept := []*named{{n: 1}, {n: 2}, {n: 3}}
	for _, p := range kept {
		l.Add(p)
	}
	var seen []int
	for p := range l.All() {
		q := &named{n: p.n + 10}
		kept = append(kept, q)
		l.Add(q) // is not seen by this loop
		seen = append(seen, p.n)
		for range l.All() {
			break
		}
	}
	if !slices.Equal(seen, []int{1, 2, 3}) {
		t.Errorf("the loop saw %v", seen)
	}
	testkit.PanicText(t, "body", func() {
		for range l.All() {
			panic("body")
		}
	})
	done := make(chan bool)
	go func() {
		defer close(done)
		for range l.All() {
			runtime.Goexit()
		}
	}()
	<-done
	wantNumbers(t, &l, 1, 2, 3, 11, 12, 13)

	// A loop goes on over what it began with while many are added.
	all := l.All()
	count := 0
	for p := range all {
		if count++; count == 1 {
			for i := range 1000 {
				kept = append(kept, &named{n: 100 + i})
				l.Add(kept[len(kept)-1])
			}
		}
		if p.n >= 100 {
			t.Fatal("the loop saw what was added while it ran")
		}
	}
	if count != 6 {
		t.Errorf("the loop saw %d objects, want 6", count)
	}
	n := 0
	for range all { // a second loop begins anew
		n++
	}
	if n != 1006 {
		t.Errorf("a second loop saw %d objects, want 1006", n)
	}
	runtime.KeepAlive(kept)
}

// What dies while a loop runs is left out.
func TestDiesInLoop(t *testing.T) {
	var l registry.List[named]
	kept := make([]*named, 10)
	for i := range kept {
		kept[i] = &named{n: i}
		l.Add(kept[i])
	}
	var seen []int
	for p := range l.All() {
		seen = append(seen, p.n)
		if p.n == 4 {
			clear(kept[5:])
			testkit.CollectGarbage()
		}
	}
	if !slices.Equal(seen, []int{0, 1, 2, 3, 4}) {
		t.Errorf("the loop saw %v", seen)
	}
	runtime.KeepAlive(kept)
}

// Many goroutines add, loop and drop while garbage is collected: each of them
// sees its own objects, all of them and in their order, as long as it has them.
func TestConcurrent(t *testing.T) {
	var l registry.List[named]
	stop := testkit.Hammer()
	defer stop()
	turns := 50
	if testing.Short() {
		turns = 10
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			name := fmt.Sprint("goroutine ", g)
			for range turns {
				var kept []*named
				for i := range 40 {
					p := &named{name, i}
					kept = append(kept, p)
					l.Add(p)
					l.Add(&named{"dropped", i})
				}
				next := 0
				for p := range l.All() {
					if p.name == name && next < len(kept) && p == kept[next] {
						next++
					}
				}
				if next != len(kept) {
					t.Errorf("%s saw %d of its %d objects in order", name, next, len(kept))
				}
				runtime.KeepAlive(kept)
			}
		}()
	}
	wg.Wait()
}

func ExampleList() {
	type cache struct{ name string }
	var caches registry.List[cache]

	users, orders := &cache{"users"}, &cache{"orders"}
	caches.Add(users)
	caches.Add(orders)
	for c := range caches.All() {
		fmt.Println(c.name)
	}
	runtime.KeepAlive(users)
	runtime.KeepAlive(orders)
	// Output:
	// users
	// orders
}
