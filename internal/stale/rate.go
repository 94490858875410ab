package stale

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/check"
)

// Variable is the environment variable that says one release in how many is
// watched: 1 for each, 0 for none.
const Variable = "HAVEN_STALE"

// defaultRate is what holds where the variable is not set.
const defaultRate = 1024

var (
	// every is 1 in how many releases is watched; 0: none.
	every atomic.Uint32
	// all is how many callers of [All] want each release watched.
	all atomic.Int32
)

func init() {
	n := uint32(defaultRate)
	if check.Enabled {
		n = 1
	}
	if v, ok := os.LookupEnv(Variable); ok {
		if k, err := strconv.ParseUint(v, 10, 32); err == nil {
			n = uint32(k)
		} else {
			fmt.Fprintf(os.Stderr, "haven: %s=%q: want 0 for none, 1 for all, or one release in how many is watched; using %d\n", Variable, v, n)
		}
	}
	every.Store(n)
}

// Every returns one in how many releases is watched: 1 for each, 0 for none.
func Every() uint32 {
	if all.Load() > 0 {
		return 1
	}
	return every.Load()
}

// SampleEvery makes one release in n be watched from now on; 0: none. A countdown
// that is under way comes to its end first.
func SampleEvery(n uint32) { every.Store(n) }

// All has each release watched until the result is called.
func All() (end func()) {
	all.Add(1)
	announce()
	return func() {
		all.Add(-1)
		announce()
	}
}

// onAll are called by All, and at its end.
var onAll struct {
	mu sync.Mutex
	f  []func()
}

// OnAll has f called when [Each] may have changed, for owners whose releases count
// nothing down.
func OnAll(f func()) {
	onAll.mu.Lock()
	defer onAll.mu.Unlock()
	onAll.f = append(onAll.f, f)
}

func announce() {
	onAll.mu.Lock()
	defer onAll.mu.Unlock()
	for _, f := range onAll.f {
		f()
	}
}

// Draw reports whether one of n releases is to be watched, of owners whose releases
// count nothing down.
func Draw(n uint64) bool {
	of := uint64(every.Load())
	return of > 0 && rand.Uint64N(of) < n
}

// Each reports whether each release is watched.
func Each() bool { return Every() == 1 }

// affordable is the most bytes that are watched as often as any.
const affordable = 1 << 20

// Affords reports whether a release that is due is to be watched if the memory has so
// many bytes. To make it anew costs the more the larger it is, so what is larger than a
// MiB is watched as much less often.
func Affords(bytes int) bool {
	return bytes <= affordable || Each() || rand.IntN(bytes) < affordable
}
