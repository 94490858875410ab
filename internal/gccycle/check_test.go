package gccycle_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/gccycle"
	"github.com/haven-mem/haven/internal/testkit"
)

// look is a Check that does look.
func look() {
	gccycle.Due()
	gccycle.Check()
}

// counted returns an object whose listener counts its calls.
func counted() *keeper {
	k := new(keeper)
	gccycle.Watch(k, func(k *keeper, _ gccycle.Pressure) { k.calls.Add(1) })
	return k
}

// A sentinel whose cleanup never comes is replaced once three collections were
// completed since it was made, not before, by Check and by Watch.
func TestCheckReplacesStranded(t *testing.T) {
	for name, check := range map[string]func(){
		"Check": look,
		"Watch": func() { gccycle.Due(); counted() },
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			k := counted()
			gccycle.Strand()
			late := gccycle.Late()
			if now := cycles(); late != now+3 {
				t.Fatalf("late at collection %d, armed at %d", late, now)
			}
			for cycles() < late-1 {
				testkit.CollectGarbage()
				if cycles() < late {
					check()
					if got := gccycle.Late(); got != late {
						t.Fatalf("replaced at collection %d, late at %d", cycles(), late)
					}
				}
			}
			for cycles() < late {
				testkit.CollectGarbage()
			}
			if n := k.calls.Load(); n != 0 {
				t.Fatalf("%d calls for a sentinel that is stranded", n)
			}
			check()
			if got := gccycle.Late(); got != cycles()+3 {
				t.Fatalf("late at collection %d after the check at %d", got, cycles())
			}
			testkit.Eventually(t, "called again", func() bool { return k.calls.Load() >= 3 })
			runtime.KeepAlive(k)
		})
	}
}

// Of several sentinels for a round the first starts it and the others, which may
// be older than its calls, do nothing.
func TestRoundStartsOnce(t *testing.T) {
	alone(t)
	k := new(keeper)
	calls := make(chan bool, 1000)
	gccycle.Watch(k, func(*keeper, gccycle.Pressure) { calls <- true })
	for i := range 10 {
		for range 20 {
			gccycle.Arm()
		}
		late := gccycle.Late()
		runtime.GC()
		next(t, calls)
		for l := late; l == late || l == math.MaxUint64; l = gccycle.Late() { // until the round is over
			runtime.Gosched()
		}
		for range 100 {
			runtime.Gosched() // to the other cleanups
		}
		if len(calls) != 0 {
			t.Fatalf("collection %d: %d calls too many", i, len(calls))
		}
	}
	runtime.KeepAlive(k)
}

// A cleanup that comes after its sentinel was replaced starts the round all the
// same, so that no number of replacements puts it off; a second one for the same
// round does nothing.
func TestLateCleanupStartsRound(t *testing.T) {
	alone(t)
	k := counted()
	for i := range int64(10) {
		first := gccycle.Lapse()
		look()
		if gccycle.Late() == 0 {
			t.Fatal("a late sentinel is not replaced")
		}
		second := gccycle.Lapse()
		look()
		if first(); k.calls.Load() != i+1 {
			t.Fatalf("%d calls after a late cleanup, want %d", k.calls.Load(), i+1)
		}
		if second(); k.calls.Load() != i+1 {
			t.Fatalf("%d calls after a second cleanup for the round, want %d", k.calls.Load(), i+1)
		}
	}
	runtime.KeepAlive(k)
}

// While a round is under way Check arms no sentinel, however many collections
// come: it would be older than the calls.
func TestCheckWaitsForRound(t *testing.T) {
	alone(t)
	k := new(keeper)
	began, goOn := make(chan bool), make(chan bool)
	var ended atomic.Uint64
	gccycle.Watch(k, func(*keeper, gccycle.Pressure) {
		if now, before := cycles(), ended.Load(); now <= before {
			t.Errorf("called after collection %d, which was over when the call before ended", now)
		}
		began <- true
		<-goOn
		ended.Store(cycles())
	})
	go runtime.GC()
	for range 5 {
		next(t, began)
		for range 5 {
			runtime.GC()
			look()
			if late := gccycle.Late(); late != math.MaxUint64 {
				t.Fatalf("a sentinel is armed while a round is under way: late at collection %d", late)
			}
		}
		goOn <- true
		for gccycle.Late() == math.MaxUint64 {
			runtime.Gosched()
		}
		runtime.GC()
	}
	next(t, began)
	close(goOn)
	runtime.KeepAlive(k)
}

// Checks that look all the time, while collections follow each other, neither
// keep the sentinel alive nor put the rounds off, and calls stay a collection
// apart.
func TestCheckAllTheTime(t *testing.T) {
	alone(t)
	const rounds, goroutines = 50, 2
	k := new(keeper)
	done := make(chan bool, 1)
	var ended uint64
	gccycle.Watch(k, func(k *keeper, _ gccycle.Pressure) {
		if now := cycles(); now <= ended {
			t.Errorf("called after collection %d, which was over when the call before ended", now)
		}
		if k.calls.Add(1) == rounds {
			done <- true
		}
		look()
		ended = cycles()
	})
	ballast := list(100_000)
	stop := testkit.Hammer()
	var end atomic.Bool
	var wg sync.WaitGroup
	for range goroutines {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !end.Load() {
				look()
				runtime.Gosched()
			}
		}()
	}
	next(t, done)
	end.Store(true)
	wg.Wait()
	stop()
	runtime.KeepAlive(k)
	runtime.KeepAlive(ballast)
}

// Before anybody listens Check makes no sentinel.
func TestCheckForNobody(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t)
		return
	}
	look()
	if late := gccycle.Late(); late != 0 {
		t.Errorf("a sentinel is armed for nobody: late at collection %d", late)
	}
}

// Check looks once and then not for some time, and a look allocates nothing.
func TestCheckIsCheap(t *testing.T) {
	alone(t)
	look()
	if !gccycle.Waits() {
		t.Error("every Check looks")
	}
	k := counted()
	if n := testing.AllocsPerRun(100, look); n != 0 {
		t.Errorf("%v objects for a look", n)
	}
	runtime.KeepAlive(k)
}

// The runtime keeps the cleanup of a sentinel back when GOMAXPROCS becomes
// smaller while it sweeps; Check brings the calls back. That it happens takes
// luck; before go1.25 it does not.
func TestCheckAfterFewerProcs(t *testing.T) {
	if !testkit.InChild(t) {
		testkit.MustChild(t, "GOGC=off", "GOMEMLIMIT=off")
		return
	}
	debug.SetGCPercent(-1)
	k := counted()
	ballast := list(200_000) // sweeping takes a while
	stranded := func() bool {
		runtime.GOMAXPROCS(8)
		testkit.CollectGarbage() // brings back what was kept
		calls := k.calls.Load()
		done := make(chan bool)
		go func() { runtime.GC(); close(done) }()
		for from := cycles(); cycles() == from; {
			runtime.Gosched() // until it sweeps
		}
		runtime.GOMAXPROCS(1)
		<-done
		for range 5 { // five collections, and none calls
			testkit.CollectGarbage()
			if k.calls.Load() != calls {
				return false
			}
		}
		return true
	}
	found := 0
	for end := time.Now().Add(3 * time.Second); found < 3 && time.Now().Before(end); {
		if !stranded() {
			continue
		}
		found++
		calls := k.calls.Load()
		look()
		testkit.Eventually(t, "called again", func() bool { return k.calls.Load() > calls })
	}
	t.Logf("a cleanup was kept back %d times", found)
	runtime.KeepAlive(k)
	runtime.KeepAlive(ballast)
}
