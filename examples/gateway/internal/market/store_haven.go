package market

import (
	"bytes"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/slab"
)

// A handle names a resting order. One that was filled or cancelled never matches
// again.
type handle = slab.Handle[slabOrder]

// A slabOrder is an element of a table. Neither it nor anything that refers to it
// has a pointer. With what the table adds it is a cache line, 64 bytes.
type slabOrder struct {
	Order
	next, prev handle
	ref        [MaxRef]byte // filled up with zeros
}

// A slabQueue is the list of the orders of a level.
type slabQueue struct {
	first, last handle
}

// A slabStore keeps orders in a table. The id of an order is its handle: it finds
// the order without a map, and once the order is gone it finds nothing.
type slabStore struct {
	orders *slab.Table[slabOrder]
}

// NewHaven returns a market for the symbols of a directory. Its orders are in a
// slab.Table, and at most capacity of them rest at a time.
func NewHaven(d *Directory, capacity int) Market {
	return newEngine[slabQueue, handle](d, capacity, &slabStore{
		// An order that is filled at once has a handle for as long as that takes.
		orders: slab.NewTable[slabOrder](slab.TableConfig{Name: "orders", Capacity: capacity + 1}),
	})
}

func (s *slabStore) Open() uint64 {
	h, _ := s.orders.Insert(slabOrder{})
	return h.Uint64()
}

func (s *slabStore) Drop(id uint64) { s.orders.Remove(s.Find(id)) }

func (s *slabStore) Push(q *slabQueue, o Order, ref string) {
	h := s.Find(o.ID)
	e, _ := s.orders.Get(h)
	e.Order, e.prev = o, q.last
	copy(e.ref[:], ref)
	if last, ok := s.orders.Get(q.last); ok {
		last.next = h
	} else {
		q.first = h
	}
	q.last = h
}

func (s *slabStore) First(q *slabQueue) *Order {
	e, _ := s.orders.Get(q.first)
	return &e.Order
}

func (s *slabStore) Pop(q *slabQueue) { s.Remove(q, q.first) }

func (s *slabStore) Find(id uint64) handle { return slab.HandleOf[slabOrder](id) }

func (s *slabStore) Get(h handle) *Order {
	if e, ok := s.orders.Get(h); ok {
		return &e.Order
	}
	return nil
}

// Ref copies: the text is in the order, whose memory is used again.
func (s *slabStore) Ref(h handle, a *arena.Arena) string {
	e, _ := s.orders.Get(h)
	ref, _, _ := bytes.Cut(e.ref[:], []byte{0})
	return arena.String(a, ref)
}

func (s *slabStore) Remove(q *slabQueue, h handle) {
	e, _ := s.orders.Get(h)
	if prev, ok := s.orders.Get(e.prev); ok {
		prev.next = e.next
	} else {
		q.first = e.next
	}
	if next, ok := s.orders.Get(e.next); ok {
		next.prev = e.prev
	} else {
		q.last = e.prev
	}
	s.orders.Remove(h)
}

func (s *slabStore) Len() int { return s.orders.Len() }

func (s *slabStore) All(q *slabQueue, f func(*Order)) {
	for e, ok := s.orders.Get(q.first); ok; e, ok = s.orders.Get(e.next) {
		f(&e.Order)
	}
}
