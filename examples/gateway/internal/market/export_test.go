package market

import (
	"reflect"

	"github.com/haven-mem/haven/slab"
)

// SlabOrder is the type of the table's elements.
var SlabOrder = reflect.TypeFor[slabOrder]()

// TableStats returns the numbers of the table of a market of NewHaven.
func TableStats(m Market) slab.TableStats {
	return m.(*engine[slabQueue, handle]).store.(*slabStore).orders.Stats()
}

// Spoil does something to a market of NewHeap that must not be. It must have a
// buy order with id 1 at price p of symbol 0, and none that is better.
func Spoil(m Market, p int64, how string) {
	e := m.(*engine[heapQueue, *heapOrder])
	side := &e.books[0].sides[Buy]
	l := side.at(p)
	switch o := l.queue.first; how {
	case "count":
		l.count++
	case "total":
		l.total++
	case "best":
		side.best--
	case "price":
		o.Price++
	case "side":
		o.Side = Sell
	case "symbol":
		o.Symbol++
	case "nothing remains":
		o.Remaining = 0
		l.total = 0
	case "id":
		o.ID++
	case "lost":
		l.queue = heapQueue{}
		l.count, l.total, side.best = 0, 0, none
	case "crossed":
		o = &heapOrder{Order: Order{ID: e.store.Open(), Price: int32(p), Remaining: 1, Side: Sell}}
		e.store.Push(&e.books[0].sides[Sell].at(p).queue, o.Order, "")
		e.books[0].sides[Sell].added(p, 1)
	default:
		panic("unknown: " + how)
	}
}
