package wire_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"testing"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/examples/gateway/internal/wire"
)

// TestAppendResults reads a reply with encoding/json.
func TestAppendResults(t *testing.T) {
	results := []market.Result{
		{ID: 0xfedcba9876543210, Ref: "my-17", Status: market.Resting, Filled: 12, Remaining: 13, Trades: []market.Trade{
			{Price: 9990, Quantity: 5, Maker: 1}, {Price: 9991, Quantity: 7, Maker: 1 << 40},
		}},
		{ID: 3, Ref: "a/b", Status: market.Cancelled, Remaining: 1_000_000_000},
		{ID: 4, Ref: "c", Status: market.Gone},
	}
	b := wire.AppendResults([]byte("before"), results)
	var got struct {
		Results []struct {
			ID, Ref, Status   string
			Filled, Remaining int64
			Trades            []struct {
				Price, Quantity int64
				Maker           string
			}
		}
	}
	if err := json.Unmarshal(b[len("before"):], &got); err != nil {
		t.Fatalf("%v in %s", err, b)
	}
	if len(got.Results) != len(results) {
		t.Fatalf("%d results, want %d", len(got.Results), len(results))
	}
	for i, r := range results {
		g := got.Results[i]
		if id, err := strconv.ParseUint(g.ID, 16, 64); err != nil || id != r.ID || len(g.ID) != 16 {
			t.Errorf("result %d has id %s, want %d", i, g.ID, r.ID)
		}
		if g.Ref != r.Ref || g.Status != r.Status.String() || g.Filled != r.Filled || g.Remaining != r.Remaining || len(g.Trades) != len(r.Trades) {
			t.Errorf("result %d is %+v, want %+v", i, g, r)
			continue
		}
		for k, want := range r.Trades {
			trade := g.Trades[k]
			if trade.Price != want.Price || trade.Quantity != want.Quantity || trade.Maker != fmt.Sprintf("%016x", want.Maker) {
				t.Errorf("result %d has trade %+v, want %+v", i, trade, want)
			}
		}
	}
	if n, room := len(b)-len("before"), wire.SizeOf(results); n > room {
		t.Errorf("the reply has %d bytes, SizeOf says %d", n, room)
	}
}
