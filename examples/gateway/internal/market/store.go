package market

import "github.com/haven-mem/haven/arena"

// An Order is what both stores keep of a resting order. It has no pointers, and is
// small: much of what an order costs is to fetch it from memory.
type Order struct {
	ID        uint64
	Price     int32 // ticks
	Remaining int32 // lots
	Account   uint32
	Symbol    uint16
	Side      Side
}

// A Store keeps resting orders: each in a queue of orders at one price, of type
// Q, and all of them by their id. The zero Q is an empty queue. An R refers to an
// order as the store does. A Store is the only part of a market that differs
// between Go's heap and Haven.
//
// The pointers to orders that First and Get return are good until the order is
// taken out. An R stays good: it refers to nothing afterwards.
type Store[Q, R any] interface {
	// Open returns an id for an order that comes, other than any before. Push or
	// Drop is to follow.
	Open() uint64
	// Drop forgets the id of an order that is not going to rest.
	Drop(id uint64)
	// Push puts an order at the end of a queue. Its id must be one of Open.
	Push(q *Q, o Order, ref string)
	// First returns the first order of a queue, which must not be empty.
	First(q *Q) *Order
	// Pop takes out the first order of a queue, which must not be empty.
	Pop(q *Q)
	// Find returns what refers to the order with this id, or to nothing if no such
	// order rests.
	Find(id uint64) R
	// Get returns the order that r refers to, or nil if it does not rest any more.
	Get(r R) *Order
	// Ref returns the client's name for an order, in a.
	Ref(r R, a *arena.Arena) string
	// Remove takes out an order, wherever it is in its queue q.
	Remove(q *Q, r R)
	// Len returns the number of all orders.
	Len() int
	// All calls f for the orders of a queue, the first one first.
	All(q *Q, f func(*Order))
}
