package load_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/haven-mem/haven/examples/gateway/internal/load"
	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

// TestFlow sends the requests of two clients to a market. It must refuse none, and
// as many orders must rest after a cycle as before it.
func TestFlow(t *testing.T) {
	d := market.NewDirectory(market.Symbols, market.Accounts)
	m := market.NewHaven(d, 1_000_000)
	flows := []load.Flow{load.NewFlow(0), load.NewFlow(1)}
	seen := map[string]bool{} // references
	kinds := map[market.Status]int{}
	instructions := 0
	carryOut := func(f load.Flow, b load.Body) {
		t.Helper()
		messages, err := wire.Parse(nil, b.Body)
		if err != nil {
			t.Fatalf("%v in %s", err, b.Body)
		}
		batch, err := wire.Translate(nil, d, messages)
		if err != nil {
			t.Fatalf("%v in %s", err, b.Body)
		}
		if len(batch) != b.Count {
			t.Fatalf("%d instructions in %s, want %d", len(batch), b.Body, b.Count)
		}
		results, err := m.Submit(nil, batch)
		if err != nil {
			t.Fatalf("%v in %s", err, b.Body)
		}
		for i, r := range results {
			if !batch[i].Cancel && seen[r.Ref] {
				t.Fatalf("two orders have reference %s", r.Ref)
			}
			seen[r.Ref] = true
			kinds[r.Status]++
		}
		for _, i := range b.Deep {
			if results[i].Status != market.Resting {
				t.Fatalf("an order that is to rest is %+v", results[i])
			}
		}
		instructions += b.Count
		account := func(i int) uint32 { return batch[i].Account }
		if err := f.Remember(b, account, wire.AppendResults(nil, results)); err != nil {
			t.Fatal(err)
		}
	}
	const each = 300
	for _, f := range flows {
		for range each / 50 {
			carryOut(f, f.Fill(50))
		}
	}
	clear(kinds)
	instructions = 0
	for cycle := range 5 {
		for range load.Cycle {
			for _, f := range flows {
				carryOut(f, f.Next())
			}
		}
		for i, f := range flows {
			if n := f.Resting(); n != each {
				t.Fatalf("client %d has %d orders after cycle %d, want %d as before", i, n, cycle, each)
			}
		}
	}
	if err := m.Check(); err != nil {
		t.Error(err)
	}
	if n := kinds[market.Cancelled]; n*100 != 42*instructions || kinds[market.Gone] != 0 {
		t.Errorf("%d of %d instructions were cancels, and %d came too late; want 42 in 100, and none", n, instructions, kinds[market.Gone])
	}
	// Few orders are near the middle here, since a flow begins without.
	if c := m.Counts(); c.Trades < uint64(instructions/40) || c.Trades > uint64(instructions/8) {
		t.Errorf("%d trades in %d instructions, want about one in twenty", c.Trades, instructions)
	}
	if average := float64(instructions) / float64(5*2*load.Cycle); average < 28 || average > 38 {
		t.Errorf("a batch has %.1f instructions on average, want some 32.5", average)
	}
}

// TestSameFlow gives two gateways the same requests.
func TestSameFlow(t *testing.T) {
	a, b, other := load.NewFlow(3), load.NewFlow(3), load.NewFlow(4)
	x, y, z := a.Fill(20).Body, b.Fill(20).Body, other.Fill(20).Body
	if !bytes.Equal(x, y) {
		t.Errorf("client 3 sends\n%s\nand\n%s", x, y)
	}
	if bytes.Equal(x, z) {
		t.Errorf("clients 3 and 4 both send\n%s", x)
	}
}

// TestRemember gives a client replies that are not what it asked for.
func TestRemember(t *testing.T) {
	account := func(int) uint32 { return 0 }
	for _, reply := range []string{
		`{"results":[]}`,
		`{"results":[{"id":"0000000000000001"`,
		`{"results":[{"id":"0000000000000001"},{"id":"00`,
		`{"results":[{"id":"0000000000000001"},{"id":"000000000000000x"}]}`,
	} {
		f := load.NewFlow(0)
		if err := f.Remember(f.Fill(2), account, []byte(reply)); err == nil || !strings.Contains(err.Error(), "reply") {
			t.Errorf("%s: error %v, want one about the reply", reply, err)
		}
	}
}
