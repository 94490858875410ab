package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/haven-mem/haven/examples/gateway/internal/market"
	"github.com/haven-mem/haven/memctx"
)

// both calls f for a gateway of each kind, which serves on a real connection.
func both(t *testing.T, f func(t *testing.T, g *gateway, url string)) {
	for _, memory := range []string{"heap", "haven"} {
		t.Run(memory, func(t *testing.T) {
			g, _ := newGateway(memory)
			srv := httptest.NewUnstartedServer(nil)
			srv.Config = g.server()
			srv.Start()
			defer srv.Close()
			f(t, g, srv.URL)
			if err := g.market.Check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// send sends a request and returns the status and the body of the reply.
func send(t *testing.T, method, url string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequest(method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, strings.TrimSpace(string(b))
}

func order(account, ref, side, tif string, price, quantity int) string {
	return fmt.Sprintf(`{"op":"new","account":"%s","ref":"%s","symbol":"HVN000","side":"%s","tif":"%s","price":%d,"quantity":%d}`,
		account, ref, side, tif, price, quantity)
}

// sell returns an order that rests, and buy one that does not.
func sell(price, quantity int) string {
	return order("acct-0001", "seller", "sell", "gtc", price, quantity)
}

func buy(price, quantity int) string {
	return order("acct-0002", "buyer", "buy", "ioc", price, quantity)
}

func batch(orders ...string) io.Reader {
	return strings.NewReader(`{"orders":[` + strings.Join(orders, ",") + `]}`)
}

// carryOut sends a batch that must be carried out.
func carryOut(t *testing.T, url string, orders ...string) {
	t.Helper()
	if status, reply := send(t, "POST", url+"/orders", batch(orders...)); status != http.StatusOK {
		t.Fatalf("got %d %s", status, reply)
	}
}

var idPattern = regexp.MustCompile(`"id":"([0-9a-f]{16})"`)

// idsOf returns the ids of the n results of a reply.
func idsOf(t *testing.T, reply string, n int) (ids []string) {
	t.Helper()
	for _, m := range idPattern.FindAllStringSubmatch(reply, -1) {
		ids = append(ids, m[1])
	}
	if len(ids) != n {
		t.Fatalf("%d ids in %s, want %d", len(ids), reply, n)
	}
	return ids
}

// TestOrders sells, buys and cancels.
func TestOrders(t *testing.T) {
	both(t, func(t *testing.T, g *gateway, url string) {
		status, reply := send(t, "POST", url+"/orders", batch(sell(10_001, 5), sell(10_000, 5)))
		ids := idsOf(t, reply, 2)
		want := `{"results":[` +
			`{"id":"` + ids[0] + `","ref":"seller","status":"resting","filled":0,"remaining":5},` +
			`{"id":"` + ids[1] + `","ref":"seller","status":"resting","filled":0,"remaining":5}]}`
		if status != http.StatusOK || reply != want {
			t.Errorf("got %d %s\nwant %s", status, reply, want)
		}
		cancel := `{"op":"cancel","account":"acct-0001","id":"` + ids[0] + `"}`
		status, reply = send(t, "POST", url+"/orders", batch(buy(10_001, 7), cancel))
		want = `{"results":[` +
			`{"id":"` + idsOf(t, reply, 2)[0] + `","ref":"buyer","status":"filled","filled":7,"remaining":0,"trades":[` +
			`{"price":10000,"quantity":5,"maker":"` + ids[1] + `"},{"price":10001,"quantity":2,"maker":"` + ids[0] + `"}]},` +
			`{"id":"` + ids[0] + `","ref":"seller","status":"cancelled","filled":0,"remaining":3}]}`
		if status != http.StatusOK || reply != want {
			t.Errorf("got %d %s\nwant %s", status, reply, want)
		}
	})
}

// endless is a body whose length is not known beforehand.
type endless struct{ left int }

func (e *endless) Read(p []byte) (int, error) {
	n := min(len(p), e.left)
	if e.left -= n; n == 0 {
		return 0, io.EOF
	}
	copy(p, bytes.Repeat([]byte(" "), n))
	return n, nil
}

// TestRefused sends what is not carried out, and looks that nothing has changed.
func TestRefused(t *testing.T) {
	large := strings.Repeat(" ", maxBody+1)
	both(t, func(t *testing.T, g *gateway, url string) {
		_, reply := send(t, "POST", url+"/orders", batch(sell(10_000, 5)))
		id := idsOf(t, reply, 1)[0]
		before := state(g)
		for _, c := range []struct {
			method, path string
			body         io.Reader
			status       int
			want         string
		}{
			{"POST", "/orders", batch(), 400, `{"error":"line 1, column 14: \"orders\" has no instructions"}`},
			{"POST", "/orders", strings.NewReader(""), 400, `{"error":"line 1, column 1: unexpected end of request (want '{')"}`},
			{"POST", "/orders", batch(buy(10_000, 5), "{]"), 400, `orders[1]: unexpected ']' (want the name of a field)`},
			{"POST", "/orders", batch(buy(10_000, 5), order("acct-0002", "r", "hold", "ioc", 10_000, 5)), 422, `{"error":"orders[1].side: \"hold\" is no side (want \"buy\" or \"sell\")"}`},
			{"POST", "/orders", batch(buy(10_000, 5), buy(10_000, 0)), 422, `{"error":"orders[1].quantity: 0 is not positive"}`},
			{"POST", "/orders", batch(buy(10_000, 5), buy(-1, 1)), 422, `{"error":"orders[1].price: -1 is not positive"}`},
			{"POST", "/orders", batch(buy(10_000, 5), `{"op":"cancel","account":"acct-0001","id":"00000000000000ff"}`), 422, `{"error":"orders[1].id: account acct-0001 has no resting order 00000000000000ff"}`},
			{"POST", "/orders", batch(buy(10_000, 5), `{"op":"cancel","account":"acct-0002","id":"`+id+`"}`), 422, `{"error":"orders[1].id: account acct-0002 has no resting order ` + id + `"}`},
			{"POST", "/orders", strings.NewReader(large), 413, `{"error":"request is too large (at most 65536 bytes are accepted)"}`},
			{"POST", "/orders", &endless{maxBody + 1}, 413, `{"error":"request is too large (at most 65536 bytes are accepted)"}`},
			{"POST", "/orders", &endless{100 << 20}, 413, `{"error":"request is too large (at most 65536 bytes are accepted)"}`},
			{"POST", "/orders", &endless{maxBody}, 400, `unexpected end of request`},
			{"POST", "/orders", strings.NewReader(large[1:]), 400, `unexpected end of request`},
			{"GET", "/orders", nil, 405, `Method Not Allowed`},
			{"GET", "/book/HVN999", nil, 404, `{"error":"there is no symbol \"HVN999\""}`},
		} {
			status, reply := send(t, c.method, url+c.path, c.body)
			if status != c.status || !strings.Contains(reply, c.want) {
				t.Errorf("%s %s: got %d %s\nwant %d %s", c.method, c.path, status, reply, c.status, c.want)
			}
		}
		if after := state(g); !reflect.DeepEqual(before, after) {
			t.Errorf("got %+v, want %+v as before", after, before)
		}
	})
}

// state is what must not change.
func state(g *gateway) []any {
	return []any{g.market.Counts(), g.market.Depth(0, market.Buy, 10), g.market.Depth(0, market.Sell, 10)}
}

// TestViews reads what the gateway shows of itself.
func TestViews(t *testing.T) {
	both(t, func(t *testing.T, g *gateway, url string) {
		carryOut(t, url, sell(10_000, 5), sell(10_000, 6), buy(10_000, 1))
		_, reply := send(t, "GET", url+"/book/HVN000", nil)
		if want := `{"buy":[],"sell":[{"Price":10000,"Total":10,"Orders":2}]}`; reply != want {
			t.Errorf("got %s, want %s", reply, want)
		}
		var stats struct {
			CPU    int64
			Market market.Counts
		}
		_, reply = send(t, "GET", url+"/stats", nil)
		want := market.Counts{Batches: 1, Orders: 3, Trades: 1, Resting: 2}
		if err := json.Unmarshal([]byte(reply), &stats); err != nil || stats.Market != want || stats.CPU <= 0 {
			t.Errorf("got %s and error %v, want %+v", reply, err, want)
		}
		if status, reply := send(t, "GET", url+"/check", nil); status != http.StatusOK || reply != `{"resting":2}` {
			t.Errorf("got %d %s", status, reply)
		}
	})
}

// TestMemory looks where the memory of requests was.
func TestMemory(t *testing.T) {
	requests := func() (n memctx.NameStats) {
		for s := range memctx.Names() {
			if s.Name == "POST /orders" {
				n = s
			}
		}
		return n
	}
	both(t, func(t *testing.T, g *gateway, url string) {
		before := requests()
		for range 10 {
			carryOut(t, url, sell(10_000, 5), buy(10_000, 5))
		}
		after := requests()
		made, warm := after.Created-before.Created, after.Warm.Gets-before.Warm.Gets
		switch g.memory {
		case nil:
			if made != 0 {
				t.Errorf("%d requests had a memory context, want none", made)
			}
		default:
			if made != 10 || warm != 10 || after.Abandoned != before.Abandoned {
				t.Errorf("%d of 10 requests had a memory context, %d an arena, %d were abandoned", made, warm, after.Abandoned-before.Abandoned)
			}
			if s := g.memory.Stats(); s.Limit != totalLimit || s.Children == 0 {
				t.Errorf("the context above is %+v", s)
			}
		}
	})
}
