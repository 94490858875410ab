package market_test

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/internal/testkit"
)

// order returns a new order of account 0 that may rest.
func order(side market.Side, price, quantity int64) market.Instruction {
	return market.Instruction{Side: side, Price: price, Quantity: quantity, Ref: "ref"}
}

func cancel(id uint64) market.Instruction { return market.Instruction{Cancel: true, ID: id} }

// submit carries out a batch that must be carried out.
func submit(t *testing.T, m market.Market, a *arena.Arena, batch ...market.Instruction) []market.Result {
	t.Helper()
	results, err := m.Submit(a, batch)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	return results
}

// TestPriceThenTime enters three sellers and buys from them.
func TestPriceThenTime(t *testing.T) {
	variants(t, 10, func(t *testing.T, m market.Market, a *arena.Arena) {
		submit(t, m, a, order(market.Sell, 10_002, 5), order(market.Sell, 10_001, 5), order(market.Sell, 10_001, 5))
		r := submit(t, m, a, order(market.Buy, 10_002, 12))[0]
		want := []market.Trade{
			{Price: 10_001, Quantity: 5, Maker: 2, Taker: 4},
			{Price: 10_001, Quantity: 5, Maker: 3, Taker: 4},
			{Price: 10_002, Quantity: 2, Maker: 1, Taker: 4},
		}
		if r.Status != market.Filled || r.Filled != 12 || !reflect.DeepEqual(r.Trades, want) {
			t.Errorf("got %+v, want filled by\n%+v", r, want)
		}
		// The seller that is left keeps its place before a later one.
		submit(t, m, a, order(market.Sell, 10_002, 1))
		if r := submit(t, m, a, order(market.Buy, 10_002, 1))[0]; len(r.Trades) != 1 || r.Trades[0].Maker != 1 {
			t.Errorf("got %+v, want a trade with order 1", r)
		}
	})
}

// TestStatuses has an example of each.
func TestStatuses(t *testing.T) {
	variants(t, 10, func(t *testing.T, m market.Market, a *arena.Arena) {
		submit(t, m, a, order(market.Buy, 9_999, 5))
		immediate := order(market.Sell, 9_999, 7)
		immediate.Immediate = true
		results := submit(t, m, a, order(market.Buy, 9_990, 3), immediate, cancel(1))
		for i, want := range []market.Status{market.Resting, market.Expired, market.Gone} {
			if results[i].Status != want || results[i].Ref != "ref" {
				t.Errorf("result %d is %+v, want it %v", i, results[i], want)
			}
		}
		if r := results[1]; r.Filled != 5 || r.Remaining != 2 {
			t.Errorf("got %+v, want 5 of 7 filled", r)
		}
		r := submit(t, m, a, cancel(2))[0]
		if r.Status != market.Cancelled || r.Remaining != 3 || r.Ref != "ref" {
			t.Errorf("got %+v, want 3 lots cancelled", r)
		}
		if n := m.Counts().Resting; n != 0 {
			t.Errorf("%d orders rest, want none", n)
		}
	})
}

// TestStale cancels orders that are gone while others have their memory.
func TestStale(t *testing.T) {
	variants(t, 10, func(t *testing.T, m market.Market, a *arena.Arena) {
		submit(t, m, a, order(market.Buy, 9_999, 5), order(market.Buy, 9_998, 5))
		submit(t, m, a, cancel(1), order(market.Sell, 9_998, 5))
		submit(t, m, a, order(market.Buy, 9_999, 5), order(market.Buy, 9_998, 5))
		for _, id := range []uint64{0, 1, 2, 3, 6, 1 << 63} {
			_, err := m.Submit(a, []market.Instruction{order(market.Buy, 9_000+900, 1), cancel(id)})
			var unknown *market.UnknownError
			if !errors.As(err, &unknown) || unknown.Index != 1 || unknown.ID != id {
				t.Errorf("cancel of %d: error %v, want it unknown", id, err)
			}
		}
		if n := m.Counts().Resting; n != 2 {
			t.Errorf("%d orders rest, want 2", n)
		}
	})
}

// TestFull enters more orders than there is room for.
func TestFull(t *testing.T) {
	variants(t, 3, func(t *testing.T, m market.Market, a *arena.Arena) {
		submit(t, m, a, order(market.Buy, 9_990, 1), order(market.Buy, 9_991, 1))
		_, err := m.Submit(a, []market.Instruction{order(market.Buy, 9_992, 1), order(market.Buy, 9_993, 1)})
		if !errors.Is(err, market.ErrFull) || !strings.Contains(err.Error(), "room for 3") {
			t.Errorf("error %v, want ErrFull", err)
		}
		submit(t, m, a, order(market.Buy, 9_992, 1))
		if n := m.Counts().Resting; n != 3 {
			t.Errorf("%d orders rest, want 3", n)
		}
	})
}

// TestRequestLimit gives batches less memory than they need. Those that were
// carried out are carried out in full; the others change nothing.
func TestRequestLimit(t *testing.T) {
	const makers = 200
	outcomes := map[string]int{}
	for limit := 64; limit < 32<<10; limit += 64 {
		m := newNumbered(market.NewHaven(directory, 2*makers))
		var fill []market.Instruction
		for range makers {
			fill = append(fill, order(market.Sell, 10_001, 1))
		}
		submit(t, m, nil, fill...)
		batch := []market.Instruction{order(market.Buy, 10_001, makers-1), cancel(makers)}
		a := arena.NewArena(arena.Config{Limit: limit})
		results, err := submitLimited(m, a, batch)
		if err != nil {
			var full *arena.LimitError
			if !errors.As(err, &full) {
				t.Fatal(err)
			}
			outcomes["refused"]++
			if c := m.Counts(); c.Resting != makers || c.Trades != 0 {
				t.Fatalf("limit %d: %v, but %+v", limit, err, c)
			}
			continue
		}
		if n := len(results[0].Trades); n != makers-1 {
			t.Fatalf("limit %d: %d trades, want %d", limit, n, makers-1)
		}
		if results[1].Status != market.Cancelled {
			t.Fatalf("limit %d: got %+v, want it cancelled", limit, results[1])
		}
		if a.Stats().Reserved < makers*32 {
			outcomes["trades on the heap"]++
		} else {
			outcomes["carried out"]++
		}
	}
	if len(outcomes) != 3 {
		t.Errorf("got %v, want some of each of three outcomes", outcomes)
	}
}

// submitLimited returns the LimitError that Submit panics with.
func submitLimited(m market.Market, a *arena.Arena, batch []market.Instruction) (results []market.Result, err error) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case *arena.LimitError:
			err = v
		default:
			panic(v)
		}
	}()
	return m.Submit(a, batch)
}

// TestCheck spoils a market in each way that Check looks for.
func TestCheck(t *testing.T) {
	for _, how := range []string{"count", "total", "best", "price", "side", "symbol", "nothing remains", "id", "lost", "crossed"} {
		m := market.NewHeap(directory, 10)
		submit(t, m, nil, order(market.Buy, 9_999, 5))
		market.Spoil(m, 9_999, how)
		if err := m.Check(); err == nil {
			t.Errorf("%s: Check found nothing", how)
		}
	}
}

// TestOrderMemory looks for pointers in what the table has, and at its size.
func TestOrderMemory(t *testing.T) {
	if at := pointerIn(market.SlabOrder); at != "" {
		t.Errorf("%s is a pointer", at)
	}
	m := market.NewHaven(directory, 10)
	submit(t, m, nil, order(market.Buy, 9_999, 5))
	if s := market.TableStats(m); s.SlotSize != 64 || s.InUse != 1 {
		t.Errorf("%v, want one order in 64 bytes", s)
	}
}

// TestSubmitAllocations enters and cancels orders in memory that is there already.
func TestSubmitAllocations(t *testing.T) {
	testkit.NeedsReuse(t)
	testkit.NeedsExactAllocs(t)
	m := market.NewHaven(directory, 100)
	a := arena.NewArena()
	first := submit(t, m, a, order(market.Sell, 10_000, 1))[0].ID
	batch := []market.Instruction{
		order(market.Sell, 10_000, 1), order(market.Sell, 10_001, 1), order(market.Sell, 10_002, 1),
		order(market.Buy, 10_001, 2), cancel(first),
	}
	n := testing.AllocsPerRun(1000, func() {
		results, err := m.Submit(a, batch)
		if err != nil || len(results[3].Trades) != 2 || results[4].Ref != "ref" {
			t.Fatalf("error %v and %+v", err, results)
		}
		batch[4].ID = results[2].ID // as many go as come
		a.Reset()
	})
	if n != 0 {
		t.Errorf("a batch makes %v allocations, want none", n)
	}
}

// pointerIn returns the path of a pointer in a type, "" if there is none.
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Int32, reflect.Int64:
		return ""
	case reflect.Array:
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if at := pointerIn(t.Field(i).Type); at != "" {
				return t.Field(i).Name + ": " + at
			}
		}
		return ""
	}
	return fmt.Sprint(t)
}
