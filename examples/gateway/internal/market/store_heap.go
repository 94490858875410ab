package market

import "github.com/haven-mem/haven/arena"

// A heapOrder is an object of Go's heap, in the list of its level and in the map.
type heapOrder struct {
	Order
	gone       bool // filled or cancelled; who still has a pointer must look
	ref        string
	next, prev *heapOrder
}

// A heapQueue is the list of the orders of a level.
type heapQueue struct {
	first, last *heapOrder
}

// A heapStore keeps orders on Go's heap. Their ids are consecutive numbers.
type heapStore struct {
	byID   map[uint64]*heapOrder
	lastID uint64
}

// NewHeap returns a market for the symbols of a directory. Its orders are on Go's
// heap, and at most capacity of them rest at a time.
func NewHeap(d *Directory, capacity int) Market {
	return newEngine[heapQueue, *heapOrder](d, capacity, &heapStore{byID: map[uint64]*heapOrder{}})
}

func (s *heapStore) Open() uint64 {
	s.lastID++
	return s.lastID
}

func (s *heapStore) Drop(uint64) {}

func (s *heapStore) Push(q *heapQueue, o Order, ref string) {
	e := &heapOrder{Order: o, ref: ref, prev: q.last}
	if q.last == nil {
		q.first = e
	} else {
		q.last.next = e
	}
	q.last = e
	s.byID[o.ID] = e
}

func (s *heapStore) First(q *heapQueue) *Order { return &q.first.Order }

func (s *heapStore) Pop(q *heapQueue) { s.Remove(q, q.first) }

func (s *heapStore) Find(id uint64) *heapOrder { return s.byID[id] }

func (s *heapStore) Get(e *heapOrder) *Order {
	if e == nil || e.gone {
		return nil
	}
	return &e.Order
}

func (s *heapStore) Ref(e *heapOrder, _ *arena.Arena) string { return e.ref }

func (s *heapStore) Remove(q *heapQueue, e *heapOrder) {
	if e.prev == nil {
		q.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		q.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	delete(s.byID, e.ID)
	e.gone = true
}

func (s *heapStore) Len() int { return len(s.byID) }

func (s *heapStore) All(q *heapQueue, f func(*Order)) {
	for e := q.first; e != nil; e = e.next {
		f(&e.Order)
	}
}
