package gccycle_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// A keeper stands for an allocator that keeps memory.
type keeper struct {
	idle  *int
	calls atomic.Int64
}

// next receives from c, or fails the test if nothing comes within a minute.
func next[T any](t *testing.T, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(time.Minute):
		t.Fatal("no call within a minute after a collection")
	}
	return v
}

// cycles returns how many garbage collections were completed.
func cycles() uint64 {
	m := [...]metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(m[:])
	return m[0].Value.Uint64()
}

// alone lets a test have the listeners and the collections to itself: it waits
// until nobody listens, before the test and after it, and switches collections
// off that the test does not ask for.
func alone(t *testing.T) {
	t.Helper()
	wait := func() {
		testkit.Eventually(t, "nobody listens, and no sentinel is armed", func() bool {
			n, armed := gccycle.Listeners()
			return n == 0 && !armed
		})
	}
	wait()
	old := debug.SetGCPercent(-1)
	t.Cleanup(func() {
		debug.SetGCPercent(old)
		wait()
	})
}

// A listener is called once for each collection, with its object.
func TestWatch(t *testing.T) {
	alone(t)
	k := new(keeper)
	got := make(chan *keeper, 100)
	gccycle.Watch(k, func(k *keeper, near gccycle.Pressure) {
		if near {
			t.Error("near the memory limit, of which there is none")
		}
		select {
		case got <- k:
		default: // far too many
		}
	})
	for i := range 10 {
		runtime.GC()
		if next(t, got) != k {
			t.Fatalf("collection %d: called with another object", i)
		}
		for n := 0; n == 0; n, _ = gccycle.Listeners() { // until the round is over
			runtime.Gosched()
		}
	}
	if len(got) != 0 {
		t.Errorf("%d calls too many", len(got))
	}
	runtime.KeepAlive(k)
}

// What a call reports began after all calls of the round before: a collection
// that runs while listeners are being called is not reported by another call.
func TestCallsReportLaterCollections(t *testing.T) {
	alone(t)
	const listeners, rounds = 3, 5
	var ks [listeners]*keeper
	var ended atomic.Uint64 // the collections that were completed after the last call of a round
	var round atomic.Int64
	for i := range ks {
		ks[i] = new(keeper)
		gccycle.Watch(ks[i], func(*keeper, gccycle.Pressure) {
			if before, now := ended.Load(), cycles(); i == 0 && now <= before {
				t.Errorf("called after collection %d, which was over when the round before ended", before)
			}
			runtime.GC() // would find a sentinel that is made before the last call
			if i == listeners-1 {
				ended.Store(cycles())
				round.Add(1)
			}
		})
	}
	testkit.Eventually(t, "five rounds", func() bool { return round.Load() >= rounds })
	runtime.KeepAlive(&ks)
}

// The same while collections follow each other, so that calls come while the
// collector marks: what a call left behind is found dead by the time of the
// next one.
func TestCallsAreACollectionApart(t *testing.T) {
	alone(t)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	k := new(keeper)
	var probe weak.Pointer[keeper]
	done := make(chan bool, 1)
	gccycle.Watch(k, func(k *keeper, _ gccycle.Pressure) {
		if probe.Value() != nil {
			t.Error("what was dropped in the call before is still alive")
		}
		probe = drop()
		if k.calls.Add(1) == int64(rounds) {
			done <- true
		}
	})
	ballast := list(100_000) // marking takes a while
	stop := testkit.Hammer()
	next(t, done)
	stop()
	runtime.KeepAlive(k)
	runtime.KeepAlive(ballast)
}

// drop returns a weak pointer to an object that nothing refers to.
//
//go:noinline
func drop() weak.Pointer[keeper] { return weak.Make(new(keeper)) }

type link struct{ next *link }

// list returns a list of n links, which the collector marks one by one.
func list(n int) (l *link) {
	for range n {
		l = &link{l}
	}
	return l
}

// Objects die although they are watched, and take their listeners along; those
// that live are called on.
func TestListenersDie(t *testing.T) {
	alone(t)
	const n = 1000
	var objects, captured testkit.Census
	kept := make([]*keeper, 0, n/2)
	for i := range n {
		k := testkit.Enroll(&objects, new(keeper))
		v := testkit.Enroll(&captured, new(keeper))
		gccycle.Watch(k, func(k *keeper, _ gccycle.Pressure) {
			k.calls.Add(1)
			v.calls.Add(1)
		})
		if i%2 == 0 {
			kept = append(kept, k)
		}
	}
	testkit.CollectGarbage()
	if got := objects.Alive(); got != n/2 {
		t.Errorf("%d of the objects live, want %d", got, n/2)
	}
	testkit.Eventually(t, "listeners of the dead are gone", func() bool {
		count, armed := gccycle.Listeners()
		return count == n/2 && armed && captured.Alive() == n/2
	})
	for _, k := range kept {
		k.calls.Store(0)
	}
	testkit.Eventually(t, "all that live are called", func() bool {
		for _, k := range kept {
			if k.calls.Load() < 2 {
				return false
			}
		}
		return true
	})
	runtime.KeepAlive(kept)
	clear(kept)
	kept = nil
	testkit.Eventually(t, "nothing is left", func() bool {
		count, armed := gccycle.Listeners()
		return count == 0 && !armed && objects.Alive() == 0 && captured.Alive() == 0
	})
}

// An object that is dropped while collections go on, with its listener called
// again and again, is dead after two of them at most.
func TestCallsDoNotKeepAlive(t *testing.T) {
	alone(t)
	ballast := list(100_000)
	for range 20 {
		var objects testkit.Census
		for range 50 {
			gccycle.Watch(testkit.Enroll(&objects, new(keeper)), func(k *keeper, _ gccycle.Pressure) { k.calls.Add(1) })
		}
		runtime.GC()
		runtime.GC() // while the round for the first may be under way
		if n := objects.Alive(); n != 0 {
			t.Errorf("%d objects live after two collections", n)
		}
	}
	runtime.KeepAlive(ballast)
}

// Watch may be called at any time and from anywhere, a call included; calls come
// one after the other.
func TestWatchConcurrently(t *testing.T) {
	alone(t)
	const goroutines, each = 8, 100
	var (
		busy    atomic.Int64
		mu      sync.Mutex
		keepers []*keeper // all that are watched; the calls refer to this
	)
	watch := func(f func(*keeper)) {
		k := new(keeper)
		mu.Lock()
		keepers = append(keepers, k)
		mu.Unlock()
		gccycle.Watch(k, func(k *keeper, _ gccycle.Pressure) {
			if busy.Add(1) != 1 {
				t.Error("two calls at the same time")
			}
			k.calls.Add(1)
			f(k)
			busy.Add(-1)
		})
	}
	stop := testkit.Hammer()
	var wg sync.WaitGroup
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for range each {
				watch(func(k *keeper) {
					if k.calls.Load() == 1 {
						watch(func(*keeper) {})
					}
				})
			}
		}()
	}
	wg.Wait()
	stop()
	testkit.Eventually(t, "all are called twice", func() bool {
		mu.Lock()
		defer mu.Unlock()
		for _, k := range keepers {
			if k.calls.Load() < 2 {
				return false
			}
		}
		return len(keepers) == 2*goroutines*each
	})
	mu.Lock()
	keepers = nil
	mu.Unlock()
}

// What the list of listeners took is given back with them.
func TestListShrinks(t *testing.T) {
	alone(t)
	k := new(keeper)
	gccycle.Watch(k, func(*keeper, gccycle.Pressure) {})
	before := testkit.HeapInUse()
	many := make([]*keeper, 100_000)
	for i := range many {
		many[i] = new(keeper)
		gccycle.Watch(many[i], func(*keeper, gccycle.Pressure) {})
	}
	clear(many)
	many = nil
	testkit.Eventually(t, "only one listens", func() bool { n, _ := gccycle.Listeners(); return n == 1 })
	if after := testkit.HeapInUse(); after > before+200<<10 {
		t.Errorf("%d bytes of the heap stay after 100,000 listeners are gone", after-before)
	}
	runtime.KeepAlive(k)
}

// A call that panics ends the program, and tells where.
func TestPanicEndsProgram(t *testing.T) {
	if testkit.InChild(t) {
		k := new(keeper)
		gccycle.Watch(k, func(*keeper, gccycle.Pressure) { panic("listener gave up") })
		runtime.GC()
		time.Sleep(time.Minute)
		runtime.KeepAlive(k)
		return
	}
	out, err := testkit.Child(t)
	if err == nil || !strings.Contains(out, "panic: listener gave up") {
		t.Errorf("child ended with %v:\n%s", err, out)
	}
}

// A cache is told to give back what is idle.
type cache struct {
	mu   sync.Mutex
	idle []byte
}

func (c *cache) trim() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.idle = nil
}

func ExampleWatch() {
	c := &cache{idle: make([]byte, 1<<20)}
	told := make(chan gccycle.Pressure, 1)
	gccycle.Watch(c, func(c *cache, near gccycle.Pressure) {
		c.trim()
		select {
		case told <- near:
		default: // a later collection
		}
	})
	runtime.GC()
	fmt.Println("near the limit:", <-told)
	c.mu.Lock()
	fmt.Println("idle bytes:", len(c.idle))
	c.mu.Unlock()
	// Output:
	// near the limit: false
	// idle bytes: 0
}
