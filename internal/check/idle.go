package check

import (
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"

	"github.com/haven-mem/haven/internal/registry"
)

// Idle is what was put into a pool, and waits in a queue of its own before the pool
// may hand it out again. The zero Idle is ready; any number of goroutines may use
// it.
type Idle struct {
	mu    sync.Mutex
	queue []*waiter // the oldest first
	bytes int
	keeps int // of those in queue
	self  *idleSelf
	held  *atomic.Int64 // of waiting
}

type waiter struct {
	Waiter
	reported bool
}

// An idleSelf stands for an Idle in weak pointers.
type idleSelf struct{ q *Idle }

// mostKeeps bounds how many wait in one queue of those that may hold anything: what
// they hold does not count.
const mostKeeps = 64

// overhead is about what is kept for something that waits, in bytes.
const overhead = 512

// queues are those of all pools.
var queues registry.List[idleSelf]

// here returns what stands for q.
func (q *Idle) here() *idleSelf {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.self == nil {
		q.self = &idleSelf{q}
		q.held = heldBy(q.self)
		queues.Add(q.self)
	}
	return q.self
}

// Put takes down that l, which Check has found nothing wrong with, is idle from now
// on, and so is the header by which it was put, if that is not nil. It returns what
// is to be poisoned; or a report, if somebody else has put l meanwhile.
func (q *Idle) Put(l Loan, header unsafe.Pointer) (*Released, *Report) {
	site := Release()
	self := weak.Make(q.here())
	inPool := func() bool { return self.Value() != nil }
	loans.mu.Lock()
	defer loans.mu.Unlock()
	x := at(l.first())
	if bad := l.mistake(x); bad != nil {
		return nil, bad
	}
	what := Released{Owner: l.Owner, Type: l.Type, N: 1, Site: site}
	if x != nil {
		what.Marks = x.what.Marks
		remove(x)
	}
	idle := func(p unsafe.Pointer, size uintptr) {
		alive := onHeap(p)
		if alive == nil {
			alive = inPool
		}
		enter(&loan{first: uintptr(p), size: size, what: what, idle: true, alive: alive})
	}
	idle(l.P, l.Type.Size())
	if header != nil {
		idle(header, unsafe.Sizeof([]byte{}))
	}
	r := what
	r.Mem = l.P
	return &r, nil
}

// Wait poisons x, which Put has taken down and which is zero, and has it wait.
func (q *Idle) Wait(x Waiter) {
	for _, r := range x.What {
		r.Poison()
	}
	x.Cost = overhead + min(x.Cost, 1<<30) // any number may come from a user
	q.mu.Lock()
	defer q.mu.Unlock()
	q.queue = append(q.queue, &waiter{Waiter: x})
	q.bytes += x.Cost
	if x.Keeps {
		q.keeps++
	}
	waiting.Add(int64(x.Cost))
	q.held.Add(int64(x.Cost))
}

// Leave has what waits and is to leave the queue go back, what has waited longest first:
// as long as there are more than so many objects or bytes in it, or too many bytes in all
// queues, or all of it. It returns the report for the first that was written to, with
// which it ends.
func (q *Idle) Leave(all bool, objects, bytes int) *Report {
	n, _ := q.Waiting()
	for range n { // and not those that come meanwhile
		back, bad := q.next(all, objects, bytes)
		if back == nil {
			break
		}
		back()
		if bad != nil {
			return bad
		}
	}
	return nil
}

// next takes what is next out of the queue and returns what puts it back, or nil.
func (q *Idle) next(all bool, objects, bytes int) (back func(), bad *Report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	n := len(q.queue)
	if n == 0 || !all && n <= objects && q.keeps <= mostKeeps && q.bytes-n*overhead <= bytes && waiting.Load() <= int64(set.quarantine) {
		return nil, nil
	}
	x := q.queue[0]
	q.queue[0] = nil
	q.queue = q.queue[1:]
	q.bytes -= x.Cost
	if x.Keeps {
		q.keeps--
	}
	waiting.Add(-int64(x.Cost))
	q.held.Add(-int64(x.Cost))
	if !x.reported {
		if bad = x.damage(); bad != nil {
			bad.Now = Release().String()
		}
	}
	return x.Back, bad
}

func (x *waiter) damage() *Report {
	for _, r := range x.What {
		if bad := r.Damage(); bad != nil {
			return bad
		}
	}
	return nil
}

// Waiting returns how many objects wait, and what they hold; of a nil Idle none.
func (q *Idle) Waiting() (objects, bytes int) {
	if q == nil {
		return 0, 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.queue), q.bytes - len(q.queue)*overhead
}

// verify returns the reports for what waits and was written to.
func (q *Idle) verify() (found []*Report) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, x := range q.queue {
		if bad := x.damage(); bad != nil && !x.reported {
			found = append(found, bad)
			x.reported = true // once is enough
		}
	}
	return found
}

func verifyIdle() (found []*Report) {
	for s := range queues.All() {
		found = append(found, s.q.verify()...)
	}
	return found
}
