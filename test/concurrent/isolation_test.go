package concurrent_test

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/check"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// A record is what a request writes: a secret of its own, in every word that is
// not a pointer.
type record struct {
	next   *record
	text   string
	secret [4]uint64
}

// TestIsolation has a million short requests go through the same warm memory:
// none may see what another wrote. What is handed out is zero, and what was
// written is there at the end.
func TestIsolation(t *testing.T) {
	requests := int64(1_000_000 / slowdown)
	if testing.Short() {
		requests /= 10
	}
	defer testkit.Hammer()()
	server := memctx.New("isolation-server")
	names := []string{"isolation-get", "isolation-put", "isolation-list"}
	var served atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, 8)
	for i := range cap(errs) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(*seed, uint64(i)))
			for n := served.Add(1); n <= requests; n = served.Add(1) {
				request := server.Child(names[rng.IntN(len(names))])
				err := serve(request.Arena(), mix(uint64(n)), rng)
				request.Delete()
				if err != nil {
					errs <- fmt.Errorf("request %d: %w", n, err)
					served.Store(requests)
					return
				}
			}
		}()
	}
	wg.Wait()
	close(errs)
	for err := range errs {
		t.Error(err)
	}
	if hits := warmHits(names); hits == 0 {
		t.Error("no request had warm memory")
	} else {
		t.Logf("%d requests, %d of them with warm memory", requests, hits)
	}
	server.Delete()
	check.VerifyNone(t)
}

func warmHits(names []string) (hits uint64) {
	for n := range memctx.Names() {
		for _, name := range names {
			if n.Name == name {
				hits += n.Warm.Hits
			}
		}
	}
	return hits
}

// serve writes a few values of each kind and reads them back.
func serve(a *arena.Arena, secret uint64, rng *rand.Rand) error {
	var list *record
	var blobs [3][]byte
	text := fmt.Sprintf("%016x", secret)
	n := 1 + rng.IntN(8)
	for range n {
		r := arena.New[record](a)
		if *r != (record{}) {
			return fmt.Errorf("a new record is %+v", *r)
		}
		*r = record{list, arena.String(a, text), [4]uint64{secret, secret, secret, secret}}
		list = r
	}
	for i := range blobs {
		b := arena.MakeSlice[byte](a, rng.IntN(300), 300)
		for j, c := range b[:cap(b)] {
			if c != 0 {
				return fmt.Errorf("byte %d of %d of a new slice is %#x", j, cap(b), c)
			}
			b[:cap(b)][j] = byte(secret)
		}
		blobs[i] = b[:cap(b)]
	}
	for r := list; r != nil; r = r.next {
		n--
		if r.secret != [4]uint64{secret, secret, secret, secret} || r.text != text {
			return fmt.Errorf("a record is %+v, want secret %#x and text %s", *r, secret, text)
		}
	}
	if n != 0 {
		return fmt.Errorf("the list of records is %d too short", n)
	}
	for i, b := range blobs {
		for j, c := range b {
			if c != byte(secret) {
				return fmt.Errorf("byte %d of slice %d is %#x, want %#x", j, i, c, byte(secret))
			}
		}
	}
	return nil
}
