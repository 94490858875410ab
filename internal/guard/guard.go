// Package guard watches a few of the objects and chunks of a running program, so
// closely that a use after the release, or behind the end, is found when it happens.
//
// # How
//
// A sample of what allocators hand out lies in slots, at most [MaxSlots] of them. An
// object without pointers gets pages of its own, outside of Go's heap, with pages
// without access on both sides, at the start or at the end of them by chance. When it
// is released its pages lose their access as well. So the access that is wrong faults,
// in the instruction that makes it.
//
// Types with pointers have to stay where the garbage collector sees them. An object
// of theirs is one of Go's heap that is not used again: when it is released it is
// poisoned, as in the check build (package check), with pointers that lead to the
// pages of its slot, which have no access. Whoever follows one faults; whoever writes
// is found when the slot is taken for the next, or by [Verify]. Whoever reads a number
// is not found.
//
// Slots are used again in the order of the releases. What nobody releases keeps its
// slot.
//
// # Why it is sound
//
// Memory on pages of its own has no pointers in it, so the collector need not see it.
// It is never given back to the system, and loses its access only where the program
// says that nobody uses it any more. An arena that ends without Reset, whose values
// stay valid (the third law of DESIGN.md), keeps its slot for good. And pages are used
// again for values of the same type only (the second law).
//
// # What it costs
//
// When it is off, an atomic load for each Reset, and nothing where allocators have
// a fast path. When it is on, a sample takes some microseconds, mostly for two
// stacks and for the page tables. Samples are drawn at the rate of the releases but
// there are not more than [perTick] in each [tick], so that what they cost is bounded
// whatever a program does. In the check build, which watches everything, it is
// always off.
//
// The idea is that of Electric Fence, which GWP-ASan (in Chrome, Android and LLVM) made
// fit for production by sampling, and Linux' KFENCE by the clock.
package guard

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/check"
	"github.com/haven-mem/haven/internal/sanitize"
)

// Variable is the environment variable that turns the guard on: RATE or RATE,SLOTS.
const Variable = "HAVEN_GUARD"

// What is recommended.
const (
	Rate  = 1 << 14
	Slots = 64
)

// MaxSlots is the most slots that there can be.
const MaxSlots = 255

var (
	// every is 1 in how many releases is sampled; 0: none.
	every atomic.Uint32
	// left is how many more samples may be drawn in this tick.
	left atomic.Int32
)

func init() {
	check.Guard.Explain, check.Guard.Verify = explain, Verify
	v, ok := os.LookupEnv(Variable)
	if !ok {
		return
	}
	rate, slots, err := parse(v)
	if err == nil {
		err = Set(rate, slots)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "haven: %s=%q: %v; the guard is off\n", Variable, v, err)
	}
}

var errAccepted = fmt.Errorf("want 0 for none, or one release in how many is guarded, up to %d, and behind a comma the number of slots, 1 to %d", uint32(math.MaxUint32), MaxSlots)

// parse reads RATE or RATE,SLOTS.
func parse(text string) (rate, slots int, err error) {
	r, s, both := strings.Cut(text, ",")
	rate, err = strconv.Atoi(r)
	slots = Slots
	if both && err == nil {
		slots, err = strconv.Atoi(s)
	}
	if err != nil {
		err = errAccepted
	}
	return rate, slots, err
}

var setting sync.Mutex

// elsewhere is true in builds that watch each release by other means, where the guard
// stays off.
const elsewhere = check.Enabled || sanitize.Poisons

// Set makes about one release in rate be guarded from now on, in so many slots; a
// rate of 0: none, and what has a slot keeps it until it is released. It returns an
// error, and changes nothing, if one of them is out of range.
func Set(rate, slots int) error {
	if rate < 0 || uint64(rate) > math.MaxUint32 || (slots < 1 || slots > MaxSlots) && (rate != 0 || slots != 0) {
		return errAccepted
	}
	if elsewhere {
		return nil
	}
	setting.Lock()
	defer setting.Unlock()
	if rate > 0 && !open(slots) {
		return errors.New("the system has no room for the guard's addresses")
	}
	left.Store(perTick)
	every.Store(uint32(rate))
	run(rate > 1)
	changed()
	return nil
}

// On reports whether anything is sampled. It inlines.
func On() bool { return !elsewhere && every.Load() != 0 }

// Each reports whether everything is sampled for which there is a slot.
func Each() bool { return !elsewhere && every.Load() == 1 }

// stretch is the most releases in a step, on average.
const stretch = 256

// Stride returns how many releases are counted down at a time, on average, before [Draw] is
// asked for them, so that a new rate soon holds; 1 for each, and 0 if nothing is sampled.
func Stride() uint32 {
	if elsewhere {
		return 0
	}
	return min(stretch, every.Load())
}

// Draw returns how many of n releases are sampled.
func Draw(n uint64) int {
	of := uint64(every.Load())
	if of <= 1 {
		return int(min(of*n, MaxSlots))
	}
	k := n / of
	if rand.Uint64N(of) < n%of {
		k++
	}
	if k == 0 {
		return 0
	}
	k = min(k, perOwner)
	if rest := left.Add(-int32(k)); rest < 0 {
		k -= min(k, uint64(-int64(rest)))
	}
	return int(k)
}
