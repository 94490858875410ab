package check

import (
	"unsafe"
	"weak"
)

// Idle is what was put into a pool, and waits before the pool may hand it out again. The
// zero Idle is ready; any number of goroutines may use it.
type Idle struct{ queue }

// overhead is about what is kept for something that waits, in bytes.
const overhead = 512

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
	x.Cost = min(x.Cost, 1<<30) // any number may come from a user
	q.wait(x, overhead)
}
