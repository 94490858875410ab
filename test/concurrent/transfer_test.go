package concurrent_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/haven-mem/haven/internal/testkit"
)

var (
	duration = flag.Duration("duration", 2*time.Second, "how long TestTransfer takes")
	seed     = flag.Uint64("seed", 1, "what the choices of TestTransfer follow from")
)

// TestTransfer runs for -duration, one half of it with garbage collections all
// the time.
func TestTransfer(t *testing.T) {
	t.Run("plain", transfer)
	t.Run("hammer", func(t *testing.T) {
		defer testkit.Hammer()()
		transfer(t)
	})
}

// transfer keeps some goroutines at work for half of -duration, each of which
// ends after a while and is followed by another, and verifies in the end that
// everything was given back.
func transfer(t *testing.T) {
	end := time.Now().Add(*duration / 2)
	x := &exchange{sources: sources()}
	var wg sync.WaitGroup
	for lane := range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for n := 0; time.Now().Before(end) && x.err.Load() == nil; n++ {
				done := make(chan struct{})
				go func() {
					defer close(done)
					if err := x.visit(rand.New(rand.NewPCG(*seed, uint64(lane)<<32|uint64(n)))); err != nil {
						x.err.CompareAndSwap(nil, &err)
					}
				}()
				<-done
				x.visits.Add(1)
			}
		}()
	}
	wg.Wait()
	t.Logf("%d blocks, %d of them from another goroutine, %d goroutines", x.blocks.Load(), x.foreign.Load(), x.visits.Load())
	if err := x.err.Load(); err != nil {
		t.Fatal(*err)
	}
	for i := range x.slots {
		if b := x.slots[i].Swap(nil); b != nil {
			if err := b.free(); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, s := range x.sources {
		if err := s.atRest(); err != nil {
			t.Errorf("%s: %v", s.name(), err)
		}
	}
}

// An exchange is where goroutines swap blocks.
type exchange struct {
	sources []source
	slots   [512]atomic.Pointer[block]

	blocks, foreign, visits atomic.Int64
	err                     atomic.Pointer[error]
}

// visit is the life of one goroutine. What it has in the end it leaves to
// others, or frees.
func (x *exchange) visit(rng *rand.Rand) error {
	var have [64]*block
	blocks, foreign := 0, 0
	defer func() { x.blocks.Add(int64(blocks)); x.foreign.Add(int64(foreign)) }()
	for range 500 + rng.IntN(1000) {
		i := rng.IntN(len(have))
		switch b := have[i]; {
		case b == nil:
			var err error
			if have[i], err = x.alloc(rng); err != nil {
				return err
			}
			if have[i] != nil {
				blocks++
			}
		case rng.IntN(2) == 0:
			if have[i] = x.swap(rng, b); have[i] != nil && have[i] != b {
				foreign++
			}
		default:
			if err := b.free(); err != nil {
				return err
			}
			have[i] = nil
		}
	}
	for _, b := range have {
		if b != nil && rng.IntN(2) == 0 {
			b = x.swap(rng, b)
		}
		if b != nil {
			if err := b.free(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *exchange) swap(rng *rand.Rand, b *block) *block {
	return x.slots[rng.IntN(len(x.slots))].Swap(b)
}

// alloc returns a block of one of the sources. Those that are in front in their
// list are taken more often.
func (x *exchange) alloc(rng *rand.Rand) (*block, error) {
	i := min(rng.IntN(len(x.sources)), rng.IntN(len(x.sources)))
	b, err := x.sources[i].alloc(rng)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", x.sources[i].name(), err)
	}
	return b, nil
}
