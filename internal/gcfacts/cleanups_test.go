package gcfacts_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"github.com/haven-mem/haven/internal/testkit"
)

// A ring is an object that is part of a cycle, as chunks and their owner are.
type ring struct{ next *ring }

//go:noinline
func newRing() *ring {
	a, b := new(ring), new(ring)
	a.next, b.next = b, a
	return a
}

// finalizerInCycle is the mistake: it reports whether the finalizer ran.
func finalizerInCycle() {
	ran := make(chan bool, 1)
	func() { runtime.SetFinalizer(newRing(), func(*ring) { ran <- true }) }()
	control := make(chan bool, 1)
	func() { runtime.SetFinalizer(new(ring), func(*ring) { control <- true }) }()
	collect()
	<-control // finalizers are run in one goroutine, in the order of the sweep
	collect()
	reportRun(ran)
}

// cleanupInCycle is the same with a cleanup.
func cleanupInCycle() {
	ran := make(chan bool, 1)
	func() { runtime.AddCleanup(newRing(), func(c chan bool) { c <- true }, ran) }()
	runtime.GC()
	select {
	case <-ran:
		fmt.Println("ran")
	case <-time.After(time.Minute):
		fmt.Println("did not run")
	}
}

func reportRun(ran chan bool) {
	select {
	case <-ran:
		fmt.Println("ran")
	default:
		fmt.Println("did not run")
	}
}

// TestCleanupsInCycles is fact 4: a finalizer on an object of a cycle never
// runs and keeps the cycle for ever; a cleanup runs.
func TestCleanupsInCycles(t *testing.T) {
	for child, want := range map[string]string{
		"finalizer-cycle": "did not run\n",
		"cleanup-cycle":   "ran\n",
	} {
		if out, ok := runChild(t, child, ""); !ok || out != want {
			t.Errorf("child %s: ended normally %v, printed %q, want %q", child, ok, out, want)
		}
	}
}

// TestCheckfinalizersFindsCycle is the second half of fact 4: the GODEBUG
// setting under which CI runs the tests does find the mistake.
func TestCheckfinalizersFindsCycle(t *testing.T) {
	if strings.HasPrefix(runtime.Version(), "go1.24") {
		t.Skip("GODEBUG=checkfinalizers came with go1.25")
	}
	out, ok := runChild(t, "finalizer-cycle", "checkfinalizers=1")
	if ok || !strings.Contains(out, "finalizer") {
		t.Errorf("ended normally %v, want a report about the finalizer:\n%.1500s", ok, out)
	}
}

// TestCleanupTellsOfCollection is fact 15: the cleanup of an object that nothing
// refers to runs after the next collection, each time, and a weak pointer among
// its arguments keeps nothing alive.
func TestCleanupTellsOfCollection(t *testing.T) {
	p, w := newObject()
	for i := range 3 {
		told := make(chan bool, 1)
		runtime.AddCleanup(new(ring), func(w weak.Pointer[object]) { told <- w.Value() != nil }, w)
		runtime.GC()
		select {
		case reachable := <-told:
			if !reachable {
				t.Errorf("collection %d: the object is gone while it is in use", i)
			}
		case <-time.After(time.Minute):
			t.Fatalf("collection %d: no cleanup within a minute", i)
		}
	}
	runtime.KeepAlive(p)
	collect()
	alive(t, w, false, "an object that only weak pointers refer to")
}

// global is no object of the heap.
var global object

// weakGlobal makes a weak pointer to it.
func weakGlobal() {
	w := weak.Make(&global)
	collect()
	if w.Value() != &global {
		panic("the weak pointer lost a global variable")
	}
}

// TestWeakPointerToGlobal is the second half of fact 15: from go1.25 on a weak
// pointer may be to a global variable, and before it ends the program.
func TestWeakPointerToGlobal(t *testing.T) {
	out, ok := runChild(t, "weak-global", "")
	if strings.HasPrefix(runtime.Version(), "go1.24") {
		if ok || !strings.Contains(out, "fatal error") {
			t.Errorf("ended normally %v, want the runtime to end it:\n%.1500s", ok, out)
		}
	} else if !ok {
		t.Errorf("a weak pointer to a global variable ended the program:\n%.1500s", out)
	}
}

// TestTinyObjectsDieTogether is fact 16: small objects without pointers share a
// block of 16 bytes, and one that is kept keeps its neighbours' cleanups from
// running; with a pointer in them, each dies by itself.
func TestTinyObjectsDieTogether(t *testing.T) {
	testkit.NeedsPacking(t)
	const n = 64
	var tiny [n]*[4]byte
	var apart [n]*struct{ p *byte }
	tinyDead, apartDead := 0, 0
	var tinyWeak, apartWeak [n]func() bool
	for i := range n {
		tiny[i], apart[i] = new([4]byte), new(struct{ p *byte })
		tw, aw := weak.Make(tiny[i]), weak.Make(apart[i])
		tinyWeak[i] = func() bool { return tw.Value() == nil }
		apartWeak[i] = func() bool { return aw.Value() == nil }
	}
	for i := range n { // every fourth stays, one in each block of the tiny ones
		if i%4 != 0 {
			tiny[i], apart[i] = nil, nil
		}
	}
	collect()
	for i := range n {
		if i%4 != 0 && tinyWeak[i]() {
			tinyDead++
		}
		if i%4 != 0 && apartWeak[i]() {
			apartDead++
		}
	}
	// Other goroutines may have put their own objects between ours, and the race
	// detector gives each a block.
	if tinyDead > n/4 && !raceEnabled {
		t.Errorf("%d of %d tiny objects died while a neighbour lived", tinyDead, n-n/4)
	}
	if apartDead != n-n/4 {
		t.Errorf("%d of %d objects with a pointer died, want all", apartDead, n-n/4)
	}
	runtime.KeepAlive(&tiny)
	runtime.KeepAlive(&apart)
}
