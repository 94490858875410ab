package market_test

import (
	"math/rand/v2"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
)

// BenchmarkSubmit measures batches of 32 new orders and cancels with a million
// resting orders. An operation is a batch.
func BenchmarkSubmit(b *testing.B) {
	const resting, size = 1_000_000, 32
	d := market.NewDirectory(market.Symbols, market.Accounts)
	for _, v := range []struct {
		name string
		make func(*market.Directory, int) market.Market
		a    *arena.Arena
	}{
		{"heap", market.NewHeap, nil},
		{"haven", market.NewHaven, arena.NewArena()},
	} {
		b.Run("memory="+v.name, func(b *testing.B) {
			m := v.make(d, 2*resting)
			r := rand.New(rand.NewPCG(1, 1))
			var ids []uint64
			batch := make([]market.Instruction, size)
			enter := func(in *market.Instruction) {
				*in = market.Instruction{
					Symbol: uint16(r.IntN(market.Symbols)), Side: market.Side(r.IntN(2)),
					Quantity: 1 + r.Int64N(20), Ref: "c000-000000001",
				}
				away := 1 + r.Int64N(200)
				if in.Side == market.Buy {
					away = -away
				}
				in.Price = 10_000 + away
			}
			submit := func() {
				results, err := m.Submit(v.a, batch)
				if err != nil {
					b.Fatal(err)
				}
				for i := range results {
					if !batch[i].Cancel {
						ids = append(ids, results[i].ID)
					}
				}
				v.a.Reset()
			}
			for m.Counts().Resting < resting {
				for i := range batch {
					enter(&batch[i])
				}
				submit()
			}
			b.ReportAllocs()
			for b.Loop() {
				for i := range batch {
					if i%2 == 0 {
						enter(&batch[i])
						continue
					}
					k := r.IntN(len(ids))
					batch[i] = market.Instruction{Cancel: true, ID: ids[k]}
					ids[k] = ids[len(ids)-1]
					ids = ids[:len(ids)-1]
				}
				submit()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size, "ns/instruction")
		})
	}
}
