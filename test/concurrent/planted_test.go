package concurrent_test

import (
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/slab"
)

// The subjects of this file have bugs on purpose, to see them found.

// A doubling hands out an object that is in use, now and then.
type doubling struct {
	cacheSubject
	mu   sync.Mutex
	used map[*target]int // owners
	n    int
}

func (s *doubling) alloc() *target {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.n++; s.n%8 == 0 {
		for p := range s.used {
			s.used[p]++
			return p
		}
	}
	p := s.cacheSubject.alloc()
	s.used[p] = 1
	return p
}

func (s *doubling) free(p *target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.used[p]--; s.used[p] > 0 {
		return
	}
	delete(s.used, p)
	s.cacheSubject.free(p)
}

// A losing forgets what was freed, now and then.
type losing struct {
	cacheSubject
	n atomic.Int64
}

func (s *losing) free(p *target) {
	if s.n.Add(1)%8 != 0 {
		s.cacheSubject.free(p)
	}
}

// A list is a cache that is right but for what its fields say.
type list struct {
	mu       sync.Mutex
	objects  []*target
	places   atomic.Int64
	capacity int64

	// look, then take: the lock is left in between.
	look bool
	// count, then compare: who is refused holds a place for a moment, which
	// somebody else may be refused for.
	count bool
	// weak: the count is read, and written later.
	weak bool
}

func (s *list) disturb(*rand.Rand) {}

func (s *list) alloc() *target {
	switch {
	case s.count:
		if s.places.Add(1) > s.capacity {
			runtime.Gosched()
			s.places.Add(-1)
			return nil
		}
	case s.weak:
		n := s.places.Load()
		if n >= s.capacity {
			return nil
		}
		runtime.Gosched()
		s.places.Add(1)
	default:
		for {
			n := s.places.Load()
			if n >= s.capacity {
				return nil
			}
			if s.places.CompareAndSwap(n, n+1) {
				break
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.objects)
	if n == 0 {
		return new(target)
	}
	p := s.objects[n-1]
	if s.look {
		s.mu.Unlock()
		runtime.Gosched()
		s.mu.Lock()
		if n = len(s.objects); n == 0 {
			return p
		}
	}
	s.objects = s.objects[:n-1]
	return p
}

func (s *list) free(p *target) {
	s.mu.Lock()
	s.objects = append(s.objects, p)
	s.mu.Unlock()
	s.places.Add(-1)
}

// TestPlanted checks that the checker finds each bug, by the right one of its
// two reasons, and finds nothing in the list that has none. A bug that takes two
// goroutines to meet is not in every history, but in one of many.
func TestPlanted(t *testing.T) {
	const object, capacity = "object", "capacity"
	const planted = 200 // histories
	for _, c := range []struct {
		name     string
		capacity int
		reason   string // "": there is no bug
		always   bool   // each history must show it
		make     func() subject
	}{
		{"doubling", 0, object, false, func() subject {
			return &doubling{cacheSubject: cacheSubject{slab.NewCache[target]()}, used: map[*target]int{}}
		}},
		{"losing", 4, capacity, false, func() subject {
			return &losing{cacheSubject: cacheSubject{slab.NewCache(slab.Config[target]{Capacity: 4})}}
		}},
		{"one too many", 4, capacity, true, func() subject { return cacheSubject{slab.NewCache(slab.Config[target]{Capacity: 5})} }},
		{"one too few", 4, capacity, true, func() subject { return cacheSubject{slab.NewCache(slab.Config[target]{Capacity: 3})} }},
		{"look, then take", 20, object, false, func() subject { return &list{capacity: 20, look: true} }},
		{"count, then compare", 2, capacity, false, func() subject { return &list{capacity: 2, count: true} }},
		{"compare, then count", 2, capacity, false, func() subject { return &list{capacity: 2, weak: true} }},
		{"none", 2, "", true, func() subject { return &list{capacity: 2} }},
	} {
		t.Run(c.name, func(t *testing.T) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2 * clients))
			r := &recorder{capacity: c.capacity}
			found := 0
			for i := range planted {
				r.subject = c.make()
				err := linearizable(r.record(uint64(i)), c.capacity)
				if err == nil {
					continue
				}
				found++
				if c.reason == "" || !strings.Contains(strings.SplitN(err.Error(), "\n", 2)[0], c.reason) {
					t.Fatalf("history %d, want a complaint about %q: %v", i, c.reason, err)
				}
			}
			t.Logf("found in %d of %d histories", found, planted)
			if c.reason != "" && (found == 0 || c.always && found < planted) {
				t.Errorf("found in %d of %d histories", found, planted)
			}
		})
	}
}
