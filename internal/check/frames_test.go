//go:build haven_check

package check

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
)

// A stackWalk makes stacks of all kinds and compares what here says of each with
// what the runtime does.
type stackWalk struct {
	t     *testing.T
	rng   *rand.Rand
	seen  map[Site]int
	depth int
}

func (w *stackWalk) look() {
	fast, slow := here(1, w.depth), capture(1, w.depth)
	// The two calls are on one line, and return to two places in it.
	if fast.String() != slow.String() {
		w.t.Errorf("here says\n%sand the runtime\n%s", fast, slow)
	}
	w.seen[fast]++
}

func (w *stackWalk) inlined(n int) { w.step(n) }

//go:noinline
func (w *stackWalk) called(n int) { w.step(n); w.look() }

//go:noinline
func (w *stackWalk) wide(n int) {
	var room [40000]byte
	room[n&7] = byte(n)
	w.step(n)
	if room[n&7] != byte(n) {
		w.t.Error("the stack was overwritten")
	}
}

func generic[T any](w *stackWalk, n int) {
	var x [2]T
	_ = x
	w.step(n)
}

func (w *stackWalk) step(n int) {
	if n == 0 {
		w.look()
		return
	}
	switch w.rng.IntN(7) {
	case 0:
		w.inlined(n - 1)
	case 1:
		w.called(n - 1)
	case 2:
		w.wide(n - 1)
	case 3:
		generic[int](w, n-1)
	case 4:
		generic[*string](w, n-1)
	case 5:
		func() {
			defer func() { recover(); w.look() }()
			w.step(n - 1)
			panic("on purpose")
		}()
	case 6:
		var g sync.WaitGroup
		g.Add(1)
		go func() { defer g.Done(); w.step(n - 1) }() // with a small stack
		g.Wait()
	}
}

func TestHereOfAllStacks(t *testing.T) {
	for _, depth := range []int{shallow, deep} {
		w := &stackWalk{t, rand.New(rand.NewPCG(1, 2)), map[Site]int{}, depth}
		for range 2000 {
			w.step(w.rng.IntN(7))
			if t.Failed() {
				return
			}
		}
		if len(w.seen) < 100 {
			t.Errorf("%d different stacks of %d frames", len(w.seen), depth)
		}
	}
}

// What was seen before is not captured again, which is what makes it cheap: a site
// that is put in its place comes back.
func TestHereIsKnown(t *testing.T) {
	if _, ok := fingerprint(1); !ok {
		t.Skipf("frames cannot be followed on %s", runtime.GOARCH)
	}
	defer clear(known[:])
	const other = Site(0xABCDEF)
	for i := range 2 {
		s := here(1, shallow)
		if again := i > 0; again != (s == other) {
			t.Errorf("look %d: site %#x", i, s)
		}
		for i := range known {
			for k := range known[i] {
				if x := known[i][k].Load(); x != 0 {
					known[i][k].Store(x>>siteBits<<siteBits | uint64(other))
				}
			}
		}
	}
}

// Stacks that want the same place do not drive each other out, unless they are three.
func TestRecall(t *testing.T) {
	defer clear(known[:])
	fingerprint := func(n uint64) uint64 { return n<<siteBits | 77 }
	for n := range uint64(3) {
		remember(fingerprint(n+1), Site(n+1))
		for k := range n + 1 {
			want := Site(k + 1)
			if k+2 <= n {
				want = 0
			}
			if s := recall(fingerprint(k + 1)); s != want {
				t.Errorf("after %d, recall of %d: %d, want %d", n+1, k+1, s, want)
			}
		}
	}
	if s := recall(fingerprint(9)); s != 0 {
		t.Errorf("what nobody remembered is %d", s)
	}
}
