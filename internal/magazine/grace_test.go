package magazine_test

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/internal/magazine"
)

// stops are the ways to stop the world for a moment that the package relies on.
var stops = map[string]func(){
	"ReadMemStats": func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
	},
	"GC": runtime.GC,
}

// twoPs lets two goroutines run at the same time.
func twoPs(t *testing.T) {
	t.Helper()
	old := runtime.GOMAXPROCS(0)
	if old < 2 {
		runtime.GOMAXPROCS(2)
		t.Cleanup(func() { runtime.GOMAXPROCS(old) })
	}
}

// TestStopWaitsForPinned is GC.md fact 18: a stop of the world that begins while
// a goroutine is pinned is not over before the goroutine is unpinned.
func TestStopWaitsForPinned(t *testing.T) {
	if !magazine.Pinned {
		t.Skip("no goroutine is pinned in this build")
	}
	twoPs(t)
	const want = 30 // stops that begin while the goroutine is pinned
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			// Both goroutines wait by looking, so that each keeps its P.
			var spin atomic.Int64 // how long to stay pinned, 0 between turns, -1 at the end
			var pinned, left atomic.Bool
			ended := make(chan bool)
			go func() {
				defer close(ended)
				for {
					n := spin.Load()
					if n < 0 {
						return
					}
					if n == 0 {
						runtime.Gosched()
						continue
					}
					magazine.Enter()
					pinned.Store(true)
					for range n {
						spin.Load() // takes time
					}
					left.Store(true)
					magazine.Exit()
					spin.Store(0)
				}
			}()
			for turns, n := 0, want; n > 0; turns++ {
				if turns == 10_000 {
					t.Fatalf("in %d turns %d stops began while the goroutine was pinned, want %d", turns, want-n, want)
				}
				pinned.Store(false)
				left.Store(false)
				spin.Store(1 << (8 + rand.IntN(11)))
				for !pinned.Load() {
				}
				if !left.Load() {
					n--
				}
				stop()
				if !left.Load() {
					t.Error("the world was stopped while a goroutine was pinned")
				}
				for spin.Load() != 0 {
				}
			}
			spin.Store(-1)
			<-ended
		})
	}
}

// It is being pinned that holds a stop up: while a goroutine runs without, the
// world is stopped in the midst of its work.
func TestStopInterruptsUnpinned(t *testing.T) {
	twoPs(t)
	for name, stop := range stops {
		t.Run(name, func(t *testing.T) {
			var running, release atomic.Bool
			ended := make(chan bool)
			go func() {
				for !release.Load() {
					running.Store(true)
				}
				ended <- true
			}()
			for !running.Load() {
				runtime.Gosched()
			}
			stop() // would wait for ever
			release.Store(true)
			<-ended
		})
	}
}
