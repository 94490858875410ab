package concurrent_test

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
)

// A subject is what histories are recorded of.
type subject interface {
	alloc() *target // nil if the capacity is reached
	free(*target)
	disturb(rng *rand.Rand) // something that must not be noticed
}

// A recorder runs clients on a subject and writes down what they do.
type recorder struct {
	subject  subject
	capacity int // of the subject; 0: none
	warm     int // the most objects that a client allocates and frees beforehand

	clock atomic.Int64

	mu  sync.Mutex
	bag []*target // what clients leave for others to free
}

const (
	clients    = 4
	operations = 12 // of each client
)

// record returns the history of some clients that allocate and free at random,
// and of one more that frees what is left when they are done. If there is a
// capacity, the last client also allocates all of it and once more, and frees
// that.
func (r *recorder) record(seed uint64) []event {
	logs := make([][]event, clients+1)
	kept := make([][]*target, clients)
	var ready atomic.Int32
	var wg sync.WaitGroup
	for i := range clients {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(seed, uint64(i)))
			r.warmUp(rng)
			for ready.Add(1); ready.Load() < clients; {
				runtime.Gosched()
			}
			logs[i], kept[i] = r.client(i, rng)
		}()
	}
	wg.Wait()

	last := &logs[clients]
	left := r.bag
	for _, k := range kept {
		left = append(left, k...)
	}
	r.bag = nil
	r.freeAll(last, left)
	if r.capacity > 0 {
		left = nil
		for range r.capacity + 1 {
			if p := r.allocOne(last, clients); p != nil {
				left = append(left, p)
			}
		}
		r.freeAll(last, left)
	}
	var all []event
	for _, l := range logs {
		all = append(all, l...)
	}
	return all
}

// warmUp leaves the magazines of the P more or less full.
func (r *recorder) warmUp(rng *rand.Rand) {
	if r.warm == 0 {
		return
	}
	var list []*target
	for range rng.IntN(r.warm) {
		list = append(list, r.subject.alloc())
	}
	for _, p := range list {
		r.subject.free(p)
	}
}

// client does some operations and returns what it did and what it still has.
func (r *recorder) client(id int, rng *rand.Rand) (log []event, have []*target) {
	log = make([]event, 0, operations)
	for len(log) < operations {
		switch rng.IntN(16) {
		case 0, 1:
			runtime.Gosched() // perhaps to go on with another P
		case 2:
			r.subject.disturb(rng)
		}
		if rng.IntN(2) == 0 {
			if p := r.allocOne(&log, id); p != nil {
				have = append(have, p)
			}
			continue
		}
		if p := r.choose(&have, rng); p != nil {
			r.freeOne(&log, id, p)
		}
	}
	return log, have
}

// choose returns an object for the client to free: one that it has, or one that
// another has left. Now and then the client leaves one itself, and there is none.
func (r *recorder) choose(have *[]*target, rng *rand.Rand) *target {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch n := rng.IntN(4); {
	case n == 0 && len(r.bag) > 0:
		return takeAny(&r.bag, rng)
	case len(*have) == 0:
		return nil
	case n == 1:
		r.bag = append(r.bag, takeAny(have, rng))
		return nil
	default:
		return takeAny(have, rng)
	}
}

// takeAny removes one of list.
func takeAny[E any](list *[]E, rng *rand.Rand) E {
	l := *list
	i := rng.IntN(len(l))
	e := l[i]
	l[i] = l[len(l)-1]
	*list = l[:len(l)-1]
	return e
}

func (r *recorder) allocOne(log *[]event, id int) *target {
	e := event{client: id, call: r.clock.Add(1)}
	e.obj = r.subject.alloc()
	e.ret = r.clock.Add(1)
	*log = append(*log, e)
	return e.obj
}

func (r *recorder) freeOne(log *[]event, id int, p *target) {
	e := event{client: id, free: true, obj: p, call: r.clock.Add(1)}
	r.subject.free(p)
	e.ret = r.clock.Add(1)
	*log = append(*log, e)
}

func (r *recorder) freeAll(log *[]event, list []*target) {
	for _, p := range list {
		r.freeOne(log, clients, p)
	}
}
