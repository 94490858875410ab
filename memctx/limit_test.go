package memctx_test

import (
	"errors"
	"math"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/haven-mem/haven/arena"
	"github.com/haven-mem/haven/internal/testkit"
	"github.com/haven-mem/haven/memctx"
)

// refused fails the test unless an allocation of so many bytes goes over a limit.
func refused(t testing.TB, c *memctx.Context, bytes int) *arena.LimitError {
	t.Helper()
	_, err := arena.TryMakeSlice[byte](c.Arena(), bytes, bytes)
	var le *arena.LimitError
	if !errors.As(err, &le) || !errors.Is(err, arena.ErrLimit) {
		t.Fatalf("error %v", err)
	}
	return le
}

// A limit holds for a context and all below it, to the byte.
func TestLimit(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 100_000})
	defer server.Delete()
	conn := server.Child("conn", memctx.Config{Ident: "17", Limit: 60_000})
	request := conn.Child("request")
	other := server.Child("conn", memctx.Config{Ident: "18"})
	fill(t, server, 10_000)
	fill(t, conn, 20_000)
	fill(t, request, 30_000)
	le := refused(t, request, 10_001)
	want := arena.LimitError{Name: "server/conn[17]", Limit: 60_000, Used: 50_000, Requested: 10_001, Chain: []arena.LimitUse{
		{Path: "server/conn[17]/request", Used: 30_000},
		{Path: "server/conn[17]", Used: 50_000, Limit: 60_000},
		{Path: "server", Used: 60_000, Limit: 100_000},
	}}
	if !reflect.DeepEqual(*le, want) {
		t.Errorf("error %+v\nwant  %+v", *le, want)
	}
	if got, want := le.Error(), "memory context server/conn[17] reached its limit: 10001 bytes requested, 50000 of 60000 bytes in chunks; asked by "+
		"server/conn[17]/request with 30000 bytes, below server/conn[17] with 50000 of 60000 bytes, below server with 60000 of 100000 bytes"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if le := refused(t, other, 40_001); le.Name != "server" || le.Used != 60_000 || len(le.Chain) != 2 {
		t.Errorf("error %+v", le)
	}
	fill(t, other, 40_000)
	if le := refused(t, conn, 300); le.Name != "server" || le.Used != 100_000 {
		t.Errorf("error %+v", le)
	}
	// New and the like panic with what TryNew and the like return.
	for _, f := range []func(){
		func() { arena.New[[20_000]byte](request.Arena()) },
		func() { arena.MakeSlice[[20_000]byte](request.Arena(), 0, 1) },
		func() { arena.LaneOf[[20_000]byte](request.Arena()).New() },
		func() { arena.String(request.Arena(), make([]byte, 20_000)) },
		func() { arena.NewOf(request.Arena(), reflect.TypeFor[[20_000]byte]()) },
	} {
		if err, ok := testkit.Panic(t, f).(*arena.LimitError); !ok || err.Name != "server" || err.Requested != 20_000 || len(err.Chain) != 3 {
			t.Errorf("panics with %+v", err)
		}
	}
	if _, err := arena.TryNew[[20_000]byte](request.Arena()); !isLimit(err) {
		t.Errorf("error %v", err)
	}
	checkAll(t, server)
	// What ends makes room.
	other.Delete()
	fill(t, conn.Child("request"), 5000)
	if n := namesOf(t, "server"); n.LimitErrors < 8 {
		t.Errorf("%v", n)
	}
	for c, want := range map[*memctx.Context]int{server: 65_000, conn: 55_000} {
		if s := c.Stats(); s.Total.Bytes != want || s.Limit == 0 {
			t.Errorf("%v, want %d bytes", s, want)
		}
	}
	if s := server.Stats(); s.Total.HighWater != 100_000 {
		t.Errorf("%v: the peak of a limited subtree is exact", s)
	}
	checkAll(t, server)
}

// What is idle in the arena that asks makes room; and where there is room for less
// than a chunk of the size that growth would like, the chunk is smaller.
func TestLimitOfSmallValues(t *testing.T) {
	root := memctx.New("root", memctx.Config{Limit: 10_000})
	defer root.Delete()
	c := root.Child("small values")
	n := 0
	for ; ; n++ {
		if _, err := arena.TryNew[[2]int64](c.Arena()); err != nil {
			break
		}
	}
	if n != 10_000/16 {
		t.Errorf("%d values of 16 bytes in a limit of 10000", n)
	}
	c.Reset()
	if _, err := arena.TryMakeSlice[uint16](c.Arena(), 5000, 5000); err != nil {
		t.Error(err)
	}
	checkAll(t, root)
}

// A warm arena comes with its memory where there is room for it, and without where
// there is not, which is no limit error.
func TestLimitBelowWarm(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // each has warm arenas of its own
	root := memctx.New("root")
	defer root.Delete()
	type none struct{}
	for _, limit := range []int{100, 2999, 3000, 5000} {
		for range 2 { // the second round leaves a chunk
			c := root.Child("too warm")
			arena.New[none](c.Arena())
			arena.New[[3000]byte](c.Arena())
			c.Delete()
		}
		before := namesOf(t, "too warm")
		if w := before.Warm; w.Idle != 1 || w.Reserved < 3000 {
			t.Fatalf("nothing to see: %v", w)
		}
		c := root.Child("too warm", memctx.Config{Limit: limit})
		s := c.Arena().Stats()
		if fits := before.Warm.Reserved <= limit; fits && s.Reserved != before.Warm.Reserved || !fits && s.Reserved != 0 {
			t.Errorf("%d bytes, of %d that were warm, below a limit of %d", s.Reserved, before.Warm.Reserved, limit)
		}
		checkAll(t, root) // which looks at chunks of no size, too
		if n := namesOf(t, "too warm"); n.LimitErrors != before.LimitErrors {
			t.Errorf("%v", n)
		}
		arena.New[int64](c.Arena())
		refused(t, c, limit)
		checkAll(t, root)
		c.Delete()
		checkAll(t, root, c)
	}
}

// What is set aside is taken ahead, sure for those who have it, and given back at
// the end.
func TestReserve(t *testing.T) {
	server := memctx.New("server", memctx.Config{Limit: 100_000})
	defer server.Delete()
	log := server.Child("log", memctx.Config{Reserve: 30_000})
	if s := log.Stats(); s.Reserve != 30_000 || s.Total.Bytes != 0 || memctx.Taken(server) != 30_000 {
		t.Errorf("%v; the server counts %d", s, memctx.Taken(server))
	}
	rest := server.Child("rest")
	if le := refused(t, rest, 70_001); le.Used != 30_000 || le.Name != "server" {
		t.Errorf("error %+v", le)
	}
	fill(t, rest, 70_000)
	entry := log.Child("entry")
	fill(t, entry, 20_000)
	fill(t, log, 10_000)
	if memctx.Taken(server) != 100_000 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	if le := refused(t, entry, 300); le.Name != "server" || le.Chain[1].Used != 30_000 {
		t.Errorf("error %+v", le)
	}
	checkAll(t, server)
	rest.Reset()
	rest.Arena().Trim(0)
	fill(t, log, 50_000) // beyond what is set aside
	if memctx.Taken(server) != 80_000 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	log.Reset() // which keeps it
	log.Arena().Trim(0)
	if memctx.Taken(server) != 30_000 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	checkAll(t, server, entry)

	// Reserves within reserves are not counted twice.
	inner := log.Child("inner", memctx.Config{Reserve: 20_000, Limit: 25_000})
	if memctx.Taken(server) != 30_000 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	fill(t, inner, 24_000)
	fill(t, log, 10_000)
	if memctx.Taken(server) != 34_000 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	refused(t, inner, 1001)
	inner.Delete()
	checkAll(t, server)

	// There is no room for a third.
	a := server.Child("log", memctx.Config{Reserve: 60_000})
	_, err := server.TryChild("log", memctx.Config{Ident: "2", Reserve: 10_001})
	var le *arena.LimitError
	if !errors.As(err, &le) {
		t.Fatalf("error %v", err)
	}
	want := arena.LimitError{Name: "server", Limit: 100_000, Used: 90_000, Requested: 10_001, Chain: []arena.LimitUse{
		{Path: "server/log[2]"}, {Path: "server", Used: 90_000, Limit: 100_000},
	}}
	if !reflect.DeepEqual(*le, want) {
		t.Errorf("error %+v\nwant  %+v", *le, want)
	}
	if r, _ := testkit.Panic(t, func() { server.Child("log", memctx.Config{Ident: "2", Reserve: 10_001}) }).(error); !isLimit(r) {
		t.Errorf("panics with %v", r)
	}
	b, err := server.TryChild("log", memctx.Config{Reserve: 10_000})
	if err != nil || b == nil {
		t.Errorf("error %v", err)
	}
	if s := server.Stats(); s.Children != 4 {
		t.Errorf("%v: a child that did not come to be", s)
	}
	checkAll(t, server)
	for _, c := range []*memctx.Context{log, a, b} {
		c.Delete()
	}
	if memctx.Taken(server) != 0 {
		t.Errorf("the server counts %d", memctx.Taken(server))
	}
	checkNames(t, "server", "log", "entry", "inner")
}

// Numbers at the end of what an int holds do not wrap around.
func TestHugeLimits(t *testing.T) {
	root := memctx.New("root", memctx.Config{Limit: math.MaxInt, Reserve: math.MaxInt})
	defer root.Delete()
	a := root.Child("a", memctx.Config{Reserve: math.MaxInt})
	if _, err := root.TryChild("b", memctx.Config{Reserve: 1}); !isLimit(err) {
		t.Errorf("error %v", err)
	}
	below := a.Child("below", memctx.Config{Reserve: 1000, Limit: math.MaxInt})
	fill(t, below, 5000)
	checkAll(t, root)
	small := below.Child("small", memctx.Config{Limit: 1000})
	if le := refused(t, small, 1001); le.Name != "root/a/below/small" {
		t.Errorf("error %+v", le)
	}
	root.Reset()
	// Without a limit, sums that no number holds are refused, too.
	free := memctx.New("root", memctx.Config{Reserve: 1})
	defer free.Delete()
	if _, err := free.TryChild("a", memctx.Config{Reserve: math.MaxInt}); err != nil {
		t.Error(err)
	}
	if _, err := free.TryChild("a", memctx.Config{Reserve: math.MaxInt}); !isLimit(err) {
		t.Errorf("error %v", err)
	}
	checkAll(t, root, free)
}

// However many take at the same time, a limit above them holds at every moment, and
// what is refused was really too much.
func TestLimitConcurrent(t *testing.T) {
	const workers = 6
	each := 3000
	if testing.Short() {
		each = 500
	}
	const limit = 150_000
	server := memctx.New("server", memctx.Config{Limit: limit})
	defer server.Delete()
	var live, most atomic.Int64 // bytes that workers know they have
	var done atomic.Bool
	var wg, watch sync.WaitGroup
	watch.Add(1)
	go func() {
		defer watch.Done()
		for !done.Load() {
			if n := memctx.Taken(server); n > limit || n < int(live.Load())-limit {
				t.Errorf("the server counts %d bytes", n)
			}
			if s := server.Stats(); s.Total.Bytes > workers*limit || s.Total.HighWater < s.Total.Bytes {
				t.Errorf("%v", s)
			}
		}
	}()
	var granted, refusals atomic.Int64
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			var conf memctx.Config
			if w%3 == 1 {
				conf.Limit = limit / 3
			}
			if w%3 == 2 {
				conf.Reserve = limit / 10
			}
			for n := range each {
				request, err := server.TryChild("request", conf)
				if err != nil {
					continue
				}
				query := request.Child("query")
				had := 0
				for k := range 5 {
					size := 500 + (n*977+k*5003+w*101)%20_000
					if _, err := arena.TryMakeSlice[byte](query.Arena(), size, size); err == nil {
						had += size
						granted.Add(1)
						if now := live.Add(int64(size)); now > limit {
							t.Errorf("%d bytes below a limit of %d", now, limit)
						} else if now > most.Load() {
							most.Store(now)
						}
					} else if isLimit(err) {
						refusals.Add(1)
					} else {
						t.Error(err)
					}
					arena.TryNew[[3]int](request.Arena())
				}
				live.Add(int64(-had))
				request.Delete()
			}
		}()
	}
	wg.Wait()
	done.Store(true)
	watch.Wait()
	if granted.Load() == 0 || most.Load() < limit/10 {
		t.Errorf("%d granted, %d refused, %d bytes at most", granted.Load(), refusals.Load(), most.Load())
	}
	if n := memctx.Taken(server); n != 0 {
		t.Errorf("%d bytes left", n)
	}
	checkAll(t, server)
	checkNames(t, "server", "request", "query")
}
