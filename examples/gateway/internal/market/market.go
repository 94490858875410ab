package market

import (
	"errors"
	"fmt"
	"sync"

	"github.com/haven-mem/haven/arena"
)

// A Market has a book for each symbol of its directory. Any number of goroutines
// may use it; one lock makes the order in which their batches are carried out.
type Market interface {
	// Submit carries out a batch of instructions, which must be within the bounds
	// of Instruction and of the directory, as one: no other batch comes between. It
	// returns a result for each, in a.
	//
	// A batch with an order to cancel that the account does not have, and one for
	// which there might be no room, changes nothing; the error is an *UnknownError
	// or wraps ErrFull. A batch for which a has no room changes nothing either, and
	// Submit panics with the *arena.LimitError. Only what is not known before orders
	// trade, the trades, is on Go's heap if a has no room.
	Submit(a *arena.Arena, batch []Instruction) ([]Result, error)

	// Counts returns what happened so far.
	Counts() Counts

	// Depth returns up to n levels of one side of a book, the best one first, on
	// Go's heap.
	Depth(symbol uint16, side Side, n int) []Level

	// Check looks at each order and returns an error if the market contradicts
	// itself: if a book is crossed, a level does not add up or is not the best that
	// is taken for it, an order is not where its id, price, side or symbol says, or
	// there are not as many as in the store. It takes some 100 ns for each resting
	// order, in which the market stands still.
	Check() error
}

// Counts are what happened in a market since its start.
type Counts struct {
	Batches   uint64
	Orders    uint64 // new ones
	Cancelled uint64
	Trades    uint64
	Resting   int // orders in the books now
}

// A Level is what rests at one price.
type Level struct {
	Price  int64
	Total  int64 // lots
	Orders int
}

// ErrFull says that a batch might leave more orders in the books than the market
// has room for.
var ErrFull = errors.New("market: full")

// An UnknownError says that an order to cancel does not rest, or not for this
// account, which is not told apart.
type UnknownError struct {
	Index int // of the instruction in its batch
	ID    uint64
}

// Error names the instruction and the order.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("instruction %d: account has no resting order %d", e.Index, e.ID)
}

// An engine is a Market over a store.
type engine[Q, R any] struct {
	mu       sync.Mutex
	store    Store[Q, R]
	books    []book[Q, R]
	capacity int
	counts   Counts
}

func newEngine[Q, R any](d *Directory, capacity int, store Store[Q, R]) *engine[Q, R] {
	e := &engine[Q, R]{store: store, books: make([]book[Q, R], len(d.Symbols)), capacity: capacity}
	for i, s := range d.Symbols {
		e.books[i].sides = [...]ladder[Q]{Buy: newLadder[Q](s.Reference, 1), Sell: newLadder[Q](s.Reference, -1)}
	}
	return e
}

func (e *engine[Q, R]) Submit(a *arena.Arena, batch []Instruction) ([]Result, error) {
	results := arena.MakeSlice[Result](a, len(batch), len(batch))
	refs := arena.MakeSlice[R](a, len(batch), len(batch)) // of orders to cancel
	e.mu.Lock()
	defer e.mu.Unlock()
	if err := e.admit(a, batch, refs, results); err != nil {
		return nil, err
	}
	for i := range batch {
		in, out := &batch[i], &results[i]
		if !in.Cancel {
			e.books[in.Symbol].enter(e.store, a, in, out)
			e.counts.Orders++
			e.counts.Trades += uint64(len(out.Trades))
		} else if o := e.store.Get(refs[i]); o != nil {
			e.books[o.Symbol].cancel(e.store, refs[i], o, out)
			e.counts.Cancelled++
		} else {
			out.Status = Gone
		}
	}
	e.counts.Batches++
	return results, nil
}

// admit looks for what keeps a batch from being carried out, and does what may
// fail. Orders to cancel are all over the memory: all are looked up first, and
// then looked at, so that the processor does not wait for one after the other.
func (e *engine[Q, R]) admit(a *arena.Arena, batch []Instruction, refs []R, results []Result) error {
	resting := e.store.Len()
	for i := range batch {
		if in := &batch[i]; in.Cancel {
			refs[i] = e.store.Find(in.ID)
		} else if !in.Immediate {
			resting++
		}
	}
	for i := range batch {
		in := &batch[i]
		if !in.Cancel {
			continue
		}
		o := e.store.Get(refs[i])
		if o == nil || o.Account != in.Account {
			return &UnknownError{i, in.ID}
		}
		results[i].ID, results[i].Ref = in.ID, e.store.Ref(refs[i], a)
	}
	if resting > e.capacity {
		return fmt.Errorf("%w: %d orders rest, room for %d", ErrFull, e.store.Len(), e.capacity)
	}
	return nil
}

func (e *engine[Q, R]) Counts() Counts {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.counts
	c.Resting = e.store.Len()
	return c
}

func (e *engine[Q, R]) Depth(symbol uint16, side Side, n int) []Level {
	e.mu.Lock()
	defer e.mu.Unlock()
	l := &e.books[symbol].sides[side]
	list := []Level{}
	for i := l.best; i != none && len(list) < n; i = l.next(i) {
		list = append(list, Level{l.price(i), l.levels[i].total, l.levels[i].count})
	}
	return list
}
