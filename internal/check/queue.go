package check

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/haven-mem/haven/internal/registry"
)

// A queue has what one owner took back, one by one, and may hand out again when it has
// waited. The zero queue is ready; any number of goroutines may use it.
type queue struct {
	mu    sync.Mutex
	list  []*waiter // the oldest first
	bytes int       // Cost of all
	keeps int       // those that do
	self  *queueSelf
	held  *atomic.Int64 // of waiting
}

// A Waiter is what was taken back and waits before it can be handed out again.
type Waiter struct {
	What  []*Released
	Cost  int    // bytes that it holds
	Keeps bool   // it holds others behind pointers, nobody knows how many
	Back  func() // called when it has waited: puts back what it held
}

type waiter struct {
	Waiter
	weight int64 // in waiting
}

// A queueSelf stands for a queue in weak pointers, which must not refer to a global
// variable (GC.md fact 15), as a zero Cache may well be.
type queueSelf struct{ q *queue }

var (
	// queues are those of all owners.
	queues registry.List[queueSelf]
	// waiting is how many bytes wait in all of them.
	waiting atomic.Int64
)

// mostKeeps bounds how many wait in one queue of those that may hold anything: what
// they hold does not count.
const mostKeeps = 64

// here returns what stands for q.
func (q *queue) here() *queueSelf {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.self == nil {
		q.self, q.held = &queueSelf{q}, new(atomic.Int64)
		runtime.AddCleanup(q.self, func(n *atomic.Int64) { waiting.Add(-n.Load()) }, q.held)
		queues.Add(q.self)
	}
	return q.self
}

// wait poisons x, which is zero, and has it wait. It takes so many bytes more than it
// costs.
func (q *queue) wait(x Waiter, more int) {
	for _, r := range x.What {
		r.Poison()
	}
	q.here()
	q.mu.Lock()
	defer q.mu.Unlock()
	w := &waiter{Waiter: x, weight: int64(x.Cost + more)}
	q.list = append(q.list, w)
	q.count(w, 1)
}

// count counts a waiter in, or with -1 out. The lock is held.
func (q *queue) count(w *waiter, n int) {
	q.bytes += n * w.Cost
	if w.Keeps {
		q.keeps += n
	}
	waiting.Add(int64(n) * w.weight)
	q.held.Add(int64(n) * w.weight)
}

// Leave has what waits and is to leave the queue go back, what has waited longest first:
// as long as there are more than so many objects or bytes in it, or too many bytes in all
// queues, or all of it. It returns the report for the first that was written to, with
// which it ends.
func (q *queue) Leave(all bool, objects, bytes int) *Report {
	n, _ := q.Waiting()
	for range n { // and not those that come meanwhile
		x := q.next(all, objects, bytes)
		if x == nil {
			break
		}
		bad := x.damage()
		x.Back()
		if bad != nil {
			bad.Now = Release().String()
			return bad
		}
	}
	return nil
}

// next takes what is next out of the queue, or returns nil.
func (q *queue) next(all bool, objects, bytes int) *waiter {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 || !all && len(q.list) <= objects && q.keeps <= mostKeeps && q.bytes <= bytes && waiting.Load() <= int64(set.quarantine) {
		return nil
	}
	x := q.list[0]
	q.list[0] = nil
	q.list = q.list[1:]
	q.count(x, -1)
	return x
}

// damage returns the report for a write to what waits, once.
func (x *waiter) damage() *Report {
	for _, r := range x.What {
		if bad := r.damage(); bad != nil {
			return bad
		}
	}
	return nil
}

// Waiting returns how many objects wait, and what they hold.
func (q *queue) Waiting() (objects, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.list), q.bytes
}

// verifyQueues returns the reports for what waits and was written to.
func verifyQueues() (found []*Report) {
	for s := range queues.All() {
		s.q.mu.Lock()
		for _, x := range s.q.list {
			if bad := x.damage(); bad != nil {
				found = append(found, bad)
			}
		}
		s.q.mu.Unlock()
	}
	return found
}
