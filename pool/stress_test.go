package pool_test

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/pool"
)

// A token has at most one owner at a time.
type token struct {
	owner  atomic.Int64
	cookie int64
	next   *token // to the heap
	size   int
}

// disturb changes GOMAXPROCS and has pools trimmed, until stop is called.
func disturb(t *testing.T, budgets ...*pool.Budget) (stop func()) {
	varyProcs(t)
	hammered := testkit.Hammer()
	var end atomic.Bool
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := 0; !end.Load(); i++ {
			runtime.GOMAXPROCS([]int{1, 3, 10, 2, 6}[i%5])
			for _, b := range budgets {
				switch i % 7 {
				case 3:
					b.Settle()
				case 5:
					b.Stats()
				}
			}
			runtime.Gosched()
		}
	}()
	return func() {
		end.Store(true)
		<-done
		hammered()
	}
}

// rounds is how much a goroutine of a stress test does.
func rounds() int {
	switch {
	case testing.Short():
		return 5_000
	case pool.Race:
		return 10_000
	}
	return 40_000
}

// Each object is handed out to one owner at a time, what it holds is what its last
// owner left, and nothing is lost, while GOMAXPROCS changes, garbage is collected,
// and what is idle is trimmed.
func TestStressPool(t *testing.T) {
	for name, conf := range map[string]pool.Config[token]{
		"plain":   {},
		"Max":     {Max: 300, Floor: 20},
		"exact":   {Max: 5},
		"costed":  {Cost: func(x *token) int { return x.size }, MaxBytes: 20_000, Max: 400},
		"Idle":    {Idle: 2 * time.Millisecond, Floor: 3},
		"hooks":   {Reset: func(x *token) { x.next = nil }},
		"by size": {MaxBytes: 4000},
	} {
		t.Run(name, func(t *testing.T) {
			p := pool.New(func() *token { return new(token) }, conf)
			stop := disturb(t, p.Budget())
			passed := make(chan *token, 50) // between goroutines
			var wg sync.WaitGroup
			for g := range 10 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					me := int64(g + 1)
					rng := rand.New(rand.NewPCG(7, uint64(g)))
					var out []*token
					put := func(x *token) {
						if x.cookie != int64(x.size)*31 || !x.owner.CompareAndSwap(me, 0) {
							t.Errorf("an object has another owner: %d, cookie %d, size %d", x.owner.Load(), x.cookie, x.size)
						}
						p.Put(x)
					}
					for range rounds() {
						switch k := rng.IntN(10); {
						case k < 5 && len(out) < 100:
							x := p.Get()
							if !x.owner.CompareAndSwap(0, me) {
								t.Errorf("an object of %d was handed out again", x.owner.Load())
								return
							}
							if x.cookie != int64(x.size)*31 {
								t.Errorf("cookie %d, size %d", x.cookie, x.size)
							}
							x.size = rng.IntN(200)
							x.cookie = int64(x.size) * 31
							x.next = new(token)
							out = append(out, x)
						case k == 9 && len(out) > 0:
							x := out[len(out)-1]
							x.owner.Store(0)
							select {
							case passed <- x:
								out = out[:len(out)-1]
							default:
								x.owner.Store(me)
							}
						case k == 8:
							select {
							case x := <-passed:
								if !x.owner.CompareAndSwap(0, me) {
									t.Error("an object on its way has an owner")
								}
								out = append(out, x)
							default:
							}
						case len(out) > 0:
							i := rng.IntN(len(out))
							put(out[i])
							out[i] = out[len(out)-1]
							out = out[:len(out)-1]
						}
					}
					for _, x := range out {
						put(x)
					}
				}()
			}
			wg.Wait()
			stop()
			noGC(t)
			p.Budget().Settle()
			s := checkStats(t, p.Stats())
			if s.InUse != len(passed) || s.DroppedTwice != 0 || s.DroppedPanic != 0 {
				t.Errorf("%d on their way: %+v", len(passed), s)
			}
			for x, n := range drain(t, p) {
				if n != 1 || x.owner.Load() != 0 {
					t.Errorf("an object is there %d times, its owner is %d", n, x.owner.Load())
				}
			}
			// All that was idle came back, or a timer was faster.
			if after := p.Stats(); after.Hits+after.Trimmed != s.Hits+s.Trimmed+uint64(s.Idle) {
				t.Errorf("objects lost: %+v, before: %+v", after, s)
			}
		})
	}
}

// Magazines are taken from cells that somebody else may be using at this very
// moment, and nothing is lost or has two owners.
func TestStressReclaim(t *testing.T) {
	for name, conf := range map[string]pool.Config[token]{
		"plain":  {},
		"costed": {Cost: func(x *token) int { return 1 }},
	} {
		t.Run(name, func(t *testing.T) {
			noGC(t)
			p := pool.New(nil, conf)
			var end atomic.Bool
			var wg sync.WaitGroup
			for g := range 4 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					me := int64(g + 1)
					for !end.Load() {
						var xs [3]*token
						for i := range xs {
							xs[i] = p.Get()
							if !xs[i].owner.CompareAndSwap(0, me) {
								t.Errorf("an object of %d was handed out again", xs[i].owner.Load())
								return
							}
						}
						for _, x := range xs {
							x.owner.Store(0)
							p.Put(x)
						}
					}
				}()
			}
			for range rounds() / 10 {
				p.Budget().Settle()
			}
			end.Store(true)
			wg.Wait()
			s := checkStats(t, p.Stats())
			if s.InUse != 0 || uint64(s.Idle) != s.Misses || len(drain(t, p)) != s.Idle {
				t.Errorf("objects lost: %+v", s)
			}
		})
	}
}

// The same for buffers, which are zero whenever they are handed out.
func TestStressBytes(t *testing.T) {
	for name, conf := range map[string]pool.BytesConfig{
		"plain": {},
		"tight": {MaxBytes: 300_000, Max: 100},
		"Idle":  {Idle: 2 * time.Millisecond, Floor: 5},
	} {
		t.Run(name, func(t *testing.T) {
			b := pool.NewBytes(conf)
			stop := disturb(t, b.Budget())
			var wg sync.WaitGroup
			for g := range 6 {
				wg.Add(1)
				go func() {
					defer wg.Done()
					rng := rand.New(rand.NewPCG(8, uint64(g)))
					var out []*[]byte
					for range rounds() / 4 {
						if rng.IntN(2) == 0 && len(out) < 50 {
							n := 8 + rng.IntN(1<<(6+rng.IntN(9)))
							p := b.Get(n)
							all := (*p)[:cap(*p)]
							for _, c := range all {
								if c != 0 {
									t.Errorf("a buffer of %d bytes is not zero", n)
									return
								}
							}
							for i := range all {
								all[i] = byte(g + 1)
							}
							binary.LittleEndian.PutUint64(*p, uint64(len(all)))
							out = append(out, p)
						} else if len(out) > 0 {
							i := rng.IntN(len(out))
							p := out[i]
							all := (*p)[:cap(*p)]
							if binary.LittleEndian.Uint64(*p) != uint64(len(all)) {
								t.Error("a buffer has another owner")
							}
							for _, c := range all[8:] {
								if c != byte(g+1) {
									t.Error("a buffer has another owner")
									return
								}
							}
							b.Put(p)
							out[i] = out[len(out)-1]
							out = out[:len(out)-1]
						}
					}
					for _, p := range out {
						b.Put(p)
					}
				}()
			}
			wg.Wait()
			stop()
			noGC(t)
			b.Budget().Settle()
			if s := checkStats(t, b.Stats()); s.InUse != 0 || s.DroppedTwice != 0 {
				t.Errorf("%+v", s)
			}
		})
	}
}
