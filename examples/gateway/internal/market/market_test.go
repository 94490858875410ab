package market_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

const (
	symbols  = 3
	accounts = 4
)

var directory = market.NewDirectory(symbols, accounts)

// variants calls f for a market of each kind, with the memory that its batches
// use: nil for Go's heap.
func variants(t *testing.T, capacity int, f func(t *testing.T, m market.Market, a *arena.Arena)) {
	t.Run("heap", func(t *testing.T) { f(t, newNumbered(market.NewHeap(directory, capacity)), nil) })
	t.Run("haven", func(t *testing.T) { f(t, newNumbered(market.NewHaven(directory, capacity)), arena.NewArena()) })
}

// TestAgainstNaive compares each result and each trade with the naive model, over
// a million instructions, some of them cancels of orders that are filled,
// cancelled, somebody else's or never were.
func TestAgainstNaive(t *testing.T) {
	instructions := 1_000_000
	if testing.Short() {
		instructions = 100_000
	}
	variants(t, 1000, func(t *testing.T, m market.Market, a *arena.Arena) {
		t.Parallel()
		var model naive
		flow := newFlow(1)
		refused, gone, trades, n := 0, 0, 0, 0
		for batches := 0; n < instructions; batches++ {
			batch := flow.batch(&model)
			n += len(batch)
			got, err := m.Submit(a, batch)
			want, ok := model.submit(batch)
			if !ok {
				var unknown *market.UnknownError
				if !errors.As(err, &unknown) || got != nil {
					t.Fatalf("batch %d: got %v and error %v, want an UnknownError", batches, got, err)
				}
				refused++
			} else if err != nil {
				t.Fatalf("batch %d: %v", batches, err)
			}
			for i := range want {
				if !reflect.DeepEqual(got[i], want[i]) {
					t.Fatalf("batch %d, instruction %d, %+v:\n got %+v\nwant %+v", batches, i, batch[i], got[i], want[i])
				}
				trades += len(want[i].Trades)
				if want[i].Status == market.Gone {
					gone++
				}
			}
			if batches%5000 == 0 {
				compareDepth(t, m, &model)
			}
			a.Reset()
		}
		compareDepth(t, m, &model)
		if refused < instructions/1000 || gone < instructions/10000 || trades < instructions/10 {
			t.Errorf("%d batches refused, %d orders gone before their cancel, %d trades: too few to mean anything", refused, gone, trades)
		}
		if c := m.Counts(); c.Trades != uint64(trades) || c.Resting != len(model.orders) {
			t.Errorf("Counts: %+v, want %d trades and %d resting orders", c, trades, len(model.orders))
		}
		if a != nil {
			if s := market.TableStats(m.(*numbered).Market); s.InUse != len(model.orders) {
				t.Errorf("the table has %d orders, want %d", s.InUse, len(model.orders))
			}
		}
	})
}

func compareDepth(t *testing.T, m market.Market, model *naive) {
	t.Helper()
	if err := m.Check(); err != nil {
		t.Fatal(err)
	}
	for symbol := range uint16(symbols) {
		for _, side := range []market.Side{market.Buy, market.Sell} {
			got := m.Depth(symbol, side, 1000)
			want := model.depth(symbol, side)
			if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("symbol %d, %v:\n got %v\nwant %v", symbol, side, got, want)
			}
		}
	}
}

// A flow makes random batches: around one price, so that orders meet, with a
// number of resting orders that stays at some hundred.
type flow struct {
	r *rand.Rand
	n int
}

func newFlow(seed uint64) *flow { return &flow{r: rand.New(rand.NewPCG(seed, 0))} }

func (f *flow) batch(model *naive) []market.Instruction {
	batch := make([]market.Instruction, 1+f.r.IntN(8))
	for i := range batch {
		f.n++
		in := &batch[i]
		in.Account = uint32(f.r.IntN(accounts))
		if f.r.IntN(400) < len(model.orders) {
			in.Cancel = true
			o := &model.orders[f.r.IntN(len(model.orders))]
			in.ID, in.Account = o.id, o.in.Account
			switch f.r.IntN(500) {
			case 0:
				in.ID = f.r.Uint64N(model.lastID + 2) // an old one, as a rule
			case 1:
				in.Account = (in.Account + 1) % accounts
			}
			continue
		}
		in.Symbol = uint16(f.r.IntN(symbols))
		in.Side = market.Side(f.r.IntN(2))
		in.Immediate = f.r.IntN(8) == 0
		in.Quantity = 1 + f.r.Int64N(20)
		in.Price = 10_000 + int64(f.r.NormFloat64()*12)
		if in.Side == market.Buy {
			in.Price -= 8
		} else {
			in.Price += 8
		}
		in.Ref = fmt.Sprintf("%0*d", 1+f.r.IntN(market.MaxRef), f.n)
	}
	return batch
}
